// Draws the heat map: one pixel for each cell, stretched once; then what lies over it.
import { css, type Palette } from './colour';
import { marksOf, rowTop, statesBox, ticks, type Box, type Layout } from './layout';
import { byteOf, columnOfStep, pool, ranksOfRow, rowOfRank, type Range, type Tile } from './tile';
import type { Incident } from './types';

export interface Inks {
  text: string;
  quiet: string;
  surface: string;
  paper: string;
  bad: string;
  odd: string;
  grey: string;
}

/** The colour of each byte, with the palette spread over `range`. */
export function coloursOf(tile: Tile, range: Range, palette: Palette): Uint32Array {
  const from = byteOf(tile, range.from);
  const to = byteOf(tile, range.to);
  const colours = new Uint32Array(256);
  for (let byte = 0; byte < 256; ++byte) {
    const share = to > from ? (byte - from) / (to - from) : 0;
    colours[byte] = palette.ramp[Math.round(255 * Math.max(0, Math.min(1, share)))]!;
  }
  colours[tile.notFinite] = palette.notFinite;
  colours[tile.missing] = palette.missing;
  return colours;
}

/** The cells as a picture of rows x columns pixels. */
export function picture(tile: Tile, layout: Layout, colours: Uint32Array): HTMLCanvasElement {
  const canvas = document.createElement('canvas');
  canvas.width = tile.columns;
  canvas.height = layout.rows;
  const context = canvas.getContext('2d')!;
  const image = context.createImageData(tile.columns, layout.rows);
  const pixels = new Uint32Array(image.data.buffer);
  const bytes = pool(tile, layout.rows);
  for (let at = 0; at < bytes.length; ++at) pixels[at] = colours[bytes[at]!]!;
  context.putImageData(image, 0, 0);
  return canvas;
}

export function drawPicture(context: CanvasRenderingContext2D, layout: Layout, image: HTMLCanvasElement, inks: Inks): void {
  const { plot, left, rows } = layout;
  context.fillStyle = inks.paper;
  context.fillRect(plot.x, plot.y, plot.width, plot.height);
  context.imageSmoothingEnabled = false;
  if (layout.columns > 0) context.drawImage(image, left, plot.y, plot.x + plot.width - left, plot.height);
  // Ranks that have room are kept apart.
  if (plot.height / rows < 10 * layout.scale) return;
  context.fillStyle = inks.surface;
  for (let row = 1; row < rows; ++row) context.fillRect(plot.x, rowTop(layout, row) - 1, plot.width, Math.ceil(layout.scale));
}

const WORST_STATES = ['lost', 'silent', 'unseen', 'ended'];

/** A strip beside the ranks: who is silent, lost, unseen or has ended. */
export function drawStates(context: CanvasRenderingContext2D, layout: Layout, states: readonly string[], inks: Inks): void {
  const box = statesBox(layout);
  const colours: Record<string, string> = { lost: inks.bad, silent: inks.odd, unseen: inks.grey, ended: inks.grey };
  for (let row = 0; row < layout.rows; ++row) {
    const { from, to } = ranksOfRow(states.length, layout.rows, row);
    const here = states.slice(from, to);
    const state = WORST_STATES.find((each) => here.includes(each));
    if (state === undefined) continue;
    context.fillStyle = colours[state]!;
    const top = rowTop(layout, row);
    context.fillRect(box.x, top, box.width, Math.max(1, rowTop(layout, row + 1) - top - (layout.rows < 40 ? 1 : 0)));
  }
}

export function drawAxes(context: CanvasRenderingContext2D, layout: Layout, tile: Tile, inks: Inks): void {
  const { plot, scale } = layout;
  context.font = `${11 * scale}px system-ui, sans-serif`;
  context.fillStyle = inks.quiet;
  context.textAlign = 'right';
  context.textBaseline = 'middle';
  const end = statesBox(layout).x - 5 * scale;
  for (const rank of ticks(0, tile.ranks - 1, plot.height / (20 * scale))) {
    const row = rowOfRank(tile.ranks, layout.rows, rank);
    const middle = (rowTop(layout, row) + rowTop(layout, row + 1)) / 2;
    context.fillText(String(rank), end, Math.max(6 * scale, Math.min(plot.height - 6 * scale, middle)));
  }
  if (tile.columns === 0) return;
  context.textBaseline = 'top';
  const first = tile.firstSteps[0]!;
  const last = tile.lastSteps[tile.columns - 1]!;
  const room = plot.x + plot.width - layout.left;
  let free = Number.NEGATIVE_INFINITY;
  for (const step of ticks(first, last, room / (80 * scale))) {
    const text = `step ${step}`;
    const half = context.measureText(text).width / 2;
    const middle = layout.left + (columnOfStep(tile, step) + 0.5) * layout.columnWidth;
    const at = Math.max(half, Math.min(plot.x + plot.width - half, middle));
    if (at - half < free) continue;
    free = at + half + 12 * scale;
    context.textAlign = 'center';
    context.fillText(text, at, plot.height + 6 * scale);
    context.fillRect(middle, plot.height, Math.max(1, scale), 3 * scale);
  }
}

function outline(context: CanvasRenderingContext2D, box: Box, layout: Layout, inks: Inks, dashed: boolean): void {
  const { scale } = layout;
  context.setLineDash([]);
  context.strokeStyle = inks.surface;
  context.lineWidth = 4 * scale;
  context.strokeRect(box.x, box.y, box.width, box.height);
  if (dashed) context.setLineDash([4 * scale, 3 * scale]);
  context.strokeStyle = dashed ? inks.text : inks.bad;
  context.lineWidth = 1.75 * scale;
  context.strokeRect(box.x, box.y, box.width, box.height);
  context.setLineDash([]);
}

/** Incidents whose place is marked at most, and boxes of one of them. */
const MARKS_MOST = 24;
const BOXES_MOST = 64;

export function drawMarks(
  context: CanvasRenderingContext2D,
  layout: Layout,
  tile: Tile,
  incidents: readonly Incident[],
  inks: Inks,
): void {
  const { plot, scale } = layout;
  context.save();
  context.beginPath();
  context.rect(plot.x - 2 * scale, -2, plot.width + 4 * scale, plot.height + 4);
  context.clip();
  context.font = `600 ${11 * scale}px system-ui, sans-serif`;
  context.textBaseline = 'middle';
  context.textAlign = 'left';
  for (const incident of incidents.slice(0, MARKS_MOST).reverse()) {
    const boxes = marksOf(layout, tile, incident).slice(0, BOXES_MOST);
    for (const box of boxes) outline(context, box, layout, inks, incident.over);
    const box = boxes[0];
    if (box) drawTag(context, layout, box, `#${incident.id}`, incident.over ? inks.text : inks.bad, inks.surface);
  }
  context.restore();
}

/** The incident's number, before its box or, at the left edge, inside it. */
function drawTag(context: CanvasRenderingContext2D, layout: Layout, box: Box, text: string, ink: string, paper: string): void {
  const { plot, scale } = layout;
  const width = context.measureText(text).width + 8 * scale;
  const height = 15 * scale;
  const x = box.x - width >= plot.x ? box.x - width : box.x;
  const y = Math.max(0, Math.min(plot.height - height, box.y + (Math.min(box.height, 2 * height) - height) / 2));
  context.fillStyle = ink;
  context.fillRect(x, y, width, height);
  context.fillStyle = paper;
  context.fillText(text, x + 4 * scale, y + height / 2 + 0.5 * scale);
}

export interface Cell {
  rank: number;
  column: number;
}

export function drawCursor(context: CanvasRenderingContext2D, layout: Layout, tile: Tile, cell: Cell, inks: Inks): void {
  const { plot, scale } = layout;
  const row = rowOfRank(tile.ranks, layout.rows, cell.rank);
  const top = rowTop(layout, row);
  const height = Math.max(3 * scale, rowTop(layout, row + 1) - top);
  const x = layout.left + cell.column * layout.columnWidth;
  const width = Math.max(3 * scale, layout.columnWidth);
  context.globalAlpha = 0.55;
  context.fillStyle = inks.text;
  context.fillRect(plot.x, top + height / 2, plot.width, Math.max(1, scale / 2));
  context.fillRect(x + width / 2, plot.y, Math.max(1, scale / 2), plot.height);
  context.globalAlpha = 1;
  context.strokeStyle = inks.surface;
  context.lineWidth = 4 * scale;
  context.strokeRect(x, top, width, height);
  context.strokeStyle = inks.text;
  context.lineWidth = 2 * scale;
  context.strokeRect(x, top, width, height);
}

/** The colour scale with the numbers at its ends. */
export function gradient(palette: Palette): string {
  const stops = Array.from({ length: 17 }, (_, at) => css(palette.ramp[Math.round((at / 16) * 255)]!));
  return `linear-gradient(to right, ${stops.join(', ')})`;
}
