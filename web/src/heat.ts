// The heat map with its cursor, for pointer and keyboard, and its colour scale.
import { css, palette } from './colour';
import { el, say } from './dom';
import { count, quantity, steps } from './format';
import { cellAt, heightFor, layoutOf, type Layout } from './layout';
import {
  coloursOf,
  drawAxes,
  drawCursor,
  drawMarks,
  drawPicture,
  drawStates,
  gradient,
  picture,
  type Cell,
  type Inks,
} from './paint';
import { colourOf, isDark } from './theme';
import { colourRange, columnOfStep, medians, valueOf, worstOfRow, type Range, type Tile } from './tile';
import type { Incident, Metric } from './types';

export const METRIC_NAMES: Record<Metric, string> = {
  self: 'self',
  wait: 'wait',
  data: 'data',
  local_loss: 'loss',
  memory: 'memory',
};

export interface Shown {
  tile: Tile;
  states: readonly string[];
  incidents: readonly Incident[];
  stepSeconds: number;
}

interface Made {
  layout: Layout;
  image: HTMLCanvasElement;
  range: Range;
  medians: (number | null)[];
  inks: Inks;
}

export class HeatMap {
  private shown: Shown | undefined;
  private made: Made | undefined;
  /** The step stays where it is while columns move; undefined: the newest. */
  private cursor: { rank: number; step: number | undefined } | undefined;
  private frame = 0;

  constructor(
    private readonly canvas: HTMLCanvasElement,
    private readonly readout: HTMLElement,
    private readonly legend: HTMLElement,
    private readonly choose: (rank: number) => void,
  ) {
    new ResizeObserver(() => this.redraw()).observe(canvas.parentElement!);
    canvas.addEventListener('pointermove', (event) => this.point(event));
    canvas.addEventListener('pointerdown', (event) => this.point(event));
    canvas.addEventListener('pointerleave', () => {
      if (document.activeElement !== canvas) this.moveTo(undefined);
    });
    canvas.addEventListener('click', () => this.cursor && this.choose(this.cursor.rank));
    canvas.addEventListener('keydown', (event) => this.key(event));
    canvas.addEventListener('focus', () => this.cursor ?? this.moveTo({ rank: 0, step: undefined }));
    canvas.addEventListener('blur', () => this.moveTo(undefined));
  }

  show(shown: Shown): void {
    this.shown = shown;
    this.redraw();
  }

  /** Nothing is known of the job that is shown now. */
  clear(): void {
    this.shown = undefined;
    this.cursor = undefined;
    this.canvas.getContext('2d')!.clearRect(0, 0, this.canvas.width, this.canvas.height);
    say(this.readout, '');
  }

  pointTo(rank: number, step: number): void {
    this.canvas.scrollIntoView({ block: 'center' });
    this.canvas.focus({ preventScroll: true });
    this.moveTo({ rank, step });
  }

  /** Makes the picture anew: another tile, size or theme. */
  redraw(): void {
    if (!this.shown) return;
    const { tile, stepSeconds } = this.shown;
    const width = this.canvas.parentElement!.clientWidth;
    if (width === 0) return;
    const scale = window.devicePixelRatio || 1;
    const height = heightFor(tile.ranks);
    this.canvas.style.height = `${height}px`;
    this.canvas.width = Math.round(width * scale);
    this.canvas.height = Math.round(height * scale);
    const colours = palette(isDark());
    const range = colourRange(tile, stepSeconds);
    const layout = layoutOf(tile, width, scale);
    this.made = {
      layout,
      range,
      image: tile.columns > 0 ? picture(tile, layout, coloursOf(tile, range, colours)) : this.canvas,
      medians: medians(tile),
      inks: {
        text: colourOf('--text'),
        quiet: colourOf('--quiet'),
        surface: colourOf('--surface'),
        paper: colourOf('--paper'),
        bad: colourOf('--bad'),
        odd: colourOf('--odd'),
        grey: colourOf('--line-strong'),
      },
    };
    this.drawLegend();
    this.draw();
    if (performance.getEntriesByName('heat-painted').length === 0) performance.mark('heat-painted');
  }

  private draw(): void {
    if (!this.shown || !this.made) return;
    const { tile, states, incidents } = this.shown;
    const { layout, image, inks } = this.made;
    const context = this.canvas.getContext('2d')!;
    context.clearRect(0, 0, this.canvas.width, this.canvas.height);
    drawPicture(context, layout, image, inks);
    if (states.length === tile.ranks) drawStates(context, layout, states, inks);
    drawAxes(context, layout, tile, inks);
    drawMarks(context, layout, tile, incidents, inks);
    const cell = this.cell();
    if (cell) drawCursor(context, layout, tile, cell, inks);
    say(this.readout, this.describe(cell));
  }

  private cell(): Cell | undefined {
    const tile = this.shown?.tile;
    if (!tile || !this.cursor || tile.columns === 0) return undefined;
    const { rank, step } = this.cursor;
    const column = step === undefined ? tile.columns - 1 : Math.max(0, columnOfStep(tile, step));
    return { rank: Math.min(rank, tile.ranks - 1), column };
  }

  private describe(cell: Cell | undefined): string {
    const { tile, states } = this.shown!;
    if (tile.columns === 0) return 'No step has ended yet.';
    if (!cell) {
      const rows = this.made!.layout.rows;
      if (rows >= tile.ranks) return `${count(tile.ranks)} ranks, ${count(tile.columns)} columns. Point at one to read it.`;
      return `${count(tile.ranks)} ranks: each line shows the worst of ${Math.ceil(tile.ranks / rows)}. Point at one to read it.`;
    }
    const value = valueOf(tile, tile.bytes[cell.rank * tile.columns + cell.column]!);
    const text = value === null ? 'not reported' : Number.isNaN(value) ? 'not finite' : quantity(value, tile.unit);
    const median = this.made!.medians[cell.column];
    const state = states[cell.rank];
    return [
      `rank ${cell.rank}${state && state !== 'living' ? ` (${state})` : ''}`,
      steps(tile.firstSteps[cell.column]!, tile.lastSteps[cell.column]!),
      `${METRIC_NAMES[tile.metric]} ${text}`,
      median === null || median === undefined ? '' : `median of ranks ${quantity(median, tile.unit)}`,
    ]
      .filter((part) => part !== '')
      .join(' · ');
  }

  private drawLegend(): void {
    const { tile } = this.shown!;
    const colours = palette(isDark());
    const { range } = this.made!;
    const high = `${quantity(range.to, tile.unit)}${tile.high > range.to * 1.001 ? ' and more' : ''}`;
    const swatch = (colour: string, text: string): HTMLElement => {
      const box = el('span', { class: 'swatch' });
      box.style.background = colour;
      return el('span', { class: 'swatch-label' }, box, text);
    };
    const ramp = el('span', { class: 'ramp' });
    ramp.style.background = gradient(colours);
    const parts: Node[] = [el('span', {}, quantity(range.from, tile.unit)), ramp, el('span', {}, high)];
    if (tile.bytes.includes(tile.missing)) parts.push(swatch(css(colours.missing), 'not reported'));
    if (tile.bytes.includes(tile.notFinite)) parts.push(swatch(css(colours.notFinite), 'not finite'));
    this.legend.replaceChildren(...parts);
    this.legend.setAttribute('aria-label', `Colours from ${quantity(range.from, tile.unit)} to ${high}`);
  }

  private moveTo(cursor: { rank: number; step: number | undefined } | undefined): void {
    this.cursor = cursor;
    cancelAnimationFrame(this.frame);
    this.frame = requestAnimationFrame(() => this.draw());
  }

  private point(event: PointerEvent): void {
    if (!this.shown || !this.made || this.shown.tile.columns === 0) return;
    const { tile } = this.shown;
    const { layout } = this.made;
    const { row, column } = cellAt(layout, event.offsetX * layout.scale, event.offsetY * layout.scale);
    this.moveTo({ rank: worstOfRow(tile, layout.rows, row, column), step: tile.firstSteps[column]! });
  }

  private key(event: KeyboardEvent): void {
    const cell = this.cell();
    if (!cell || event.ctrlKey || event.metaKey || event.altKey) return;
    const { tile } = this.shown!;
    const far = event.shiftKey ? 10 : 1;
    const page = Math.max(1, Math.round(tile.ranks / 10));
    let { rank, column } = cell;
    switch (event.key) {
      case 'ArrowLeft': column -= far; break;
      case 'ArrowRight': column += far; break;
      case 'ArrowUp': rank -= far; break;
      case 'ArrowDown': rank += far; break;
      case 'PageUp': rank -= page; break;
      case 'PageDown': rank += page; break;
      case 'Home': column = 0; break;
      case 'End': column = tile.columns - 1; break;
      case 'w': case 'W': rank = worstOfRow(tile, 1, 0, column); break;
      case 'Enter': case ' ': this.choose(rank); break;
      default: return;
    }
    event.preventDefault();
    column = Math.max(0, Math.min(tile.columns - 1, column));
    rank = Math.max(0, Math.min(tile.ranks - 1, rank));
    // At the newest step the cursor stays with what is new.
    this.moveTo({ rank, step: column === tile.columns - 1 ? undefined : tile.firstSteps[column]! });
  }
}
