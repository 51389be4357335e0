// What a step of one rank is made of, beside the median of all ranks.
import uPlot from 'uplot';
import { el, say } from './dom';
import { seconds } from './format';
import { colourOf } from './theme';
import { medians, rowOf, type Tile } from './tile';

export const PARTS = ['self', 'wait', 'data'] as const;
export type Part = (typeof PARTS)[number];
export type Tiles = Partial<Record<Part, Tile>>;

const TITLES: Record<Part, string> = {
  self: 'self: computing, data',
  wait: 'wait: in collectives',
  data: 'data: part of self',
};
const HEIGHT = 104;

/** Columns as in the heat map and, for the rank and the median, a number each; null where there is none. */
type Series = [number[], (number | null)[], (number | null)[]];

function seriesOf(tile: Tile, rank: number): Series {
  return [tile.lastSteps.map((_, column) => column), rowOf(tile, rank), medians(tile)];
}

const middle = (values: readonly (number | null)[]): number | null => {
  const known = values.filter((value): value is number => value !== null).sort((a, b) => a - b);
  return known.length === 0 ? null : known[Math.floor((known.length - 1) / 2)]!;
};

/** Columns that the sentence is about. */
const RECENT = 20;

/** "self 52.0 ms, 1.7 times the median of 31.0 ms · wait …", of the newest columns. */
export function sentence(tiles: Tiles, rank: number): string {
  const parts = PARTS.map((part) => {
    const tile = tiles[part];
    if (!tile || rank >= tile.ranks) return '';
    const own = middle(rowOf(tile, rank).slice(-RECENT));
    const usual = middle(medians(tile).slice(-RECENT));
    if (own === null || usual === null) return '';
    const ratio = usual > 0 ? own / usual : 1;
    const beside = ratio > 1.05 || ratio < 0.95 ? `${ratio.toFixed(ratio < 9.95 ? 1 : 0)}× the median of ` : 'median ';
    return `${part} ${seconds(own)} (${beside}${seconds(usual)})`;
  }).filter((part) => part !== '');
  return parts.length === 0 ? 'No times of this rank are known.' : parts.join(' · ');
}

export class Breakdown {
  private plots = new Map<Part, uPlot>();
  private last: { tiles: Tiles; rank: number } | undefined;

  constructor(
    private readonly parent: HTMLElement,
    private readonly text: HTMLElement,
  ) {
    new ResizeObserver(() => this.resize()).observe(parent);
  }

  show(tiles: Tiles, rank: number): void {
    const renamed = this.last?.rank !== rank;
    this.last = { tiles, rank };
    say(this.text, sentence(tiles, rank));
    if (renamed) this.drop();
    for (const part of PARTS) {
      const tile = tiles[part];
      if (!tile || rank >= tile.ranks || tile.columns === 0) continue;
      const series = seriesOf(tile, rank);
      const plot = this.plots.get(part);
      if (plot) plot.setData(series);
      else this.plots.set(part, this.make(part, rank, series));
    }
  }

  clear(): void {
    this.drop();
    this.last = undefined;
    say(this.text, '');
  }

  /** The theme has changed. */
  redraw(): void {
    this.drop();
    if (this.last) this.show(this.last.tiles, this.last.rank);
  }

  private make(part: Part, rank: number, series: Series): uPlot {
    const own = colourOf('--accent');
    const usual = colourOf('--quiet');
    const axis = { stroke: usual, grid: { stroke: colourOf('--line'), width: 1 }, ticks: { show: false }, font: '11px system-ui' };
    const key = (name: string, colour: string, dashed: boolean): HTMLElement => {
      const line = el('span', { class: dashed ? 'key dashed' : 'key' });
      line.style.borderColor = colour;
      return el('span', {}, line, name);
    };
    const box = el(
      'figure',
      { class: 'plot' },
      el('figcaption', {}, el('span', {}, TITLES[part]), key(`rank ${rank}`, own, false), key('median', usual, true)),
    );
    this.parent.append(box);
    const stepAt = (column: number): string => String(this.last?.tiles[part]?.lastSteps[column] ?? '');
    const values = (_: uPlot, splits: number[]): string[] => splits.map(seconds);
    const options: uPlot.Options = {
      width: Math.max(120, this.parent.clientWidth),
      height: HEIGHT,
      legend: { show: false },
      cursor: { sync: { key: 'breakdown' }, drag: { x: false, y: false } },
      scales: { x: { time: false }, y: { range: (_, low, high) => [Math.min(0, low), high > 0 ? high * 1.1 : 1] } },
      axes: [
        { ...axis, size: 24, space: 80, incrs: [1, 2, 5, 10, 20, 50, 100, 200], values: (_, splits) => splits.map(stepAt) },
        { ...axis, size: 62, space: 28, values },
      ],
      series: [
        {},
        { stroke: own, width: 2, points: { show: false } },
        { stroke: usual, width: 1.5, dash: [5, 4], points: { show: false } },
      ],
    };
    return new uPlot(options, series, box);
  }

  private resize(): void {
    const width = Math.max(120, this.parent.clientWidth);
    for (const plot of this.plots.values()) if (plot.width !== width) plot.setSize({ width, height: HEIGHT });
  }

  private drop(): void {
    for (const plot of this.plots.values()) plot.destroy();
    this.plots.clear();
    this.parent.replaceChildren();
  }
}
