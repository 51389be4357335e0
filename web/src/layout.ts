// Where things are in the heat map, in device pixels. No DOM here.
import { columnOfStep, rowOfRank, type Tile } from './tile';
import type { Incident } from './types';

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Layout {
  /** The picture; the newest column ends at its right edge. */
  plot: Box;
  /** Rows of the picture: one a rank, or fewer where ranks are more than pixels. */
  rows: number;
  columns: number;
  columnWidth: number;
  /** Left edge of the oldest column. */
  left: number;
  scale: number;
}

const GUTTER_LEFT = 46;
const GUTTER_RIGHT = 1;
const GUTTER_BOTTOM = 20;
const STATES_WIDTH = 6;
const ROW_MOST = 26;
/** A line of one pixel is easily overlooked. */
const ROW_LEAST = 2;
export const COLUMNS_LEAST = 60;
const HEIGHT_MOST = 400;
const HEIGHT_LEAST = 84;

/** Height of the canvas in CSS pixels. */
export function heightFor(ranks: number): number {
  return Math.max(HEIGHT_LEAST, Math.min(HEIGHT_MOST, ranks * ROW_MOST)) + GUTTER_BOTTOM;
}

/** A job with fewer than COLUMNS_LEAST columns leaves room at the left. */
export function layoutOf(tile: Tile, width: number, scale: number): Layout {
  const plot = {
    x: Math.round((GUTTER_LEFT + STATES_WIDTH + 2) * scale),
    y: 0,
    width: Math.round((width - GUTTER_LEFT - STATES_WIDTH - 2 - GUTTER_RIGHT) * scale),
    height: Math.round((heightFor(tile.ranks) - GUTTER_BOTTOM) * scale),
  };
  const columnWidth = plot.width / Math.max(COLUMNS_LEAST, tile.columns);
  return {
    plot,
    rows: Math.min(tile.ranks, Math.floor(plot.height / (ROW_LEAST * scale))),
    columns: tile.columns,
    columnWidth,
    left: plot.x + plot.width - columnWidth * tile.columns,
    scale,
  };
}

export const statesBox = (layout: Layout): Box => ({
  ...layout.plot,
  x: layout.plot.x - Math.round((STATES_WIDTH + 2) * layout.scale),
  width: Math.round(STATES_WIDTH * layout.scale),
});

export function rowTop(layout: Layout, row: number): number {
  return Math.round((row * layout.plot.height) / layout.rows);
}

/** Row and column at a place of the canvas, pulled to the nearest there is. */
export function cellAt(layout: Layout, x: number, y: number): { row: number; column: number } {
  const clamp = (value: number, most: number): number => Math.max(0, Math.min(most, Math.floor(value)));
  return {
    row: clamp(((y - layout.plot.y) / layout.plot.height) * layout.rows, layout.rows - 1),
    column: clamp((x - layout.left) / layout.columnWidth, layout.columns - 1),
  };
}

/**
 * The boxes that mark an incident: its ranks from when it began, to when it was found where it is over, else to the
 * newest column. Neighbouring ranks share a box; an incident of the whole job is one box over all ranks.
 */
export function marksOf(layout: Layout, tile: Tile, incident: Incident): Box[] {
  if (tile.columns === 0) return [];
  const last = incident.over ? columnOfStep(tile, incident.found_step) : tile.columns - 1;
  if (last < 0) return [];
  const first = Math.max(0, columnOfStep(tile, incident.since_step));
  const x = layout.left + first * layout.columnWidth;
  const width = (last - first + 1) * layout.columnWidth;
  const runs: [number, number][] = [];
  const culprits = incident.culprit_ranks.filter((rank) => rank < tile.ranks);
  for (const rank of culprits) {
    const row = rowOfRank(tile.ranks, layout.rows, rank);
    const run = runs[runs.length - 1];
    if (run && row <= run[1] + 1) run[1] = row;
    else runs.push([row, row]);
  }
  if (culprits.length === 0) runs.push([0, layout.rows - 1]);
  // Around thin rows, not over them.
  const grow = layout.plot.height / layout.rows < 12 * layout.scale ? 4 * layout.scale : 0;
  return runs.map(([from, to]) => {
    const top = rowTop(layout, from);
    const height = rowTop(layout, to + 1) - top;
    return { x, y: top - grow, width, height: height + 2 * grow };
  });
}

/** Round numbers for an axis: at most `most` of them within [first, last]. */
export function ticks(first: number, last: number, most: number): number[] {
  if (last <= first) return [first];
  const rough = (last - first) / Math.max(1, most);
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1)));
  const stride = [1, 2, 5, 10].map((factor) => factor * power).find((step) => step >= rough)!;
  const found = [];
  for (let at = Math.ceil(first / stride) * stride; at <= last; at += stride) found.push(at);
  return found;
}
