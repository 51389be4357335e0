// Heat tiles: ranks x recent steps as bytes, and what a picture needs of them. No DOM here.
import type { HeatDocument, Metric } from './types';

export interface Tile {
  readonly metric: Metric;
  readonly unit: string;
  readonly ranks: number;
  readonly columns: number;
  readonly firstSteps: readonly number[];
  readonly lastSteps: readonly number[];
  readonly logarithmic: boolean;
  readonly low: number;
  readonly high: number;
  /** The byte of `high`; those above it are no numbers. */
  readonly maxByte: number;
  readonly notFinite: number;
  readonly missing: number;
  /** Rank r in column c is bytes[r * columns + c]. */
  readonly bytes: Uint8Array;
}

/** Throws where the document is not a whole tile. */
export function decode(document: HeatDocument): Tile {
  const text = atob(document.data);
  const { ranks, columns } = document;
  if (text.length !== ranks * columns || document.first_steps.length !== columns || document.last_steps.length !== columns)
    throw new Error('the heat tile is not whole');
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; ++at) bytes[at] = text.charCodeAt(at);
  return {
    metric: document.metric as Metric,
    unit: document.unit,
    ranks,
    columns,
    firstSteps: document.first_steps,
    lastSteps: document.last_steps,
    logarithmic: document.scale === 'logarithmic',
    low: document.low,
    high: document.high,
    maxByte: document.max_byte,
    notFinite: document.not_finite_byte,
    missing: document.missing_byte,
    bytes,
  };
}

/** What a byte stands for; NaN for "not finite", null for "not reported". */
export function valueOf(tile: Tile, byte: number): number | null {
  if (byte === tile.missing) return null;
  if (byte === tile.notFinite) return Number.NaN;
  return tile.logarithmic
    ? tile.low * (tile.high / tile.low) ** (byte / tile.maxByte)
    : tile.low + ((tile.high - tile.low) * byte) / tile.maxByte;
}

/** The byte of a number, with a fraction; beyond the scale where the number is. */
export function byteOf(tile: Tile, value: number): number {
  if (tile.high <= tile.low) return 0;
  if (!tile.logarithmic) return ((value - tile.low) / (tile.high - tile.low)) * tile.maxByte;
  return value <= 0 ? -1 : (Math.log(value / tile.low) / Math.log(tile.high / tile.low)) * tile.maxByte;
}

export interface Range {
  from: number;
  to: number;
}

/**
 * The numbers between which colours are spread: from the lowest hundredth to the highest two hundredths' begin, and
 * wide enough that a difference which costs the job nothing gets no colour. For times that is half a step.
 */
export function colourRange(tile: Tile, stepSeconds: number): Range {
  const counts = new Float64Array(256);
  for (const byte of tile.bytes) counts[byte]! += 1;
  let total = 0;
  for (let byte = 0; byte <= tile.maxByte; ++byte) total += counts[byte]!;
  const at = (share: number): number => {
    let left = share * total;
    for (let byte = 0; byte <= tile.maxByte; ++byte) {
      left -= counts[byte]!;
      if (left < 0) return valueOf(tile, byte)!;
    }
    return tile.high;
  };
  if (total === 0) return { from: 0, to: 1 };
  const from = at(0.01);
  const least = tile.unit === 'seconds' ? 0.5 * stepSeconds : 0.1 * Math.abs(from);
  return { from, to: Math.max(at(0.98), from + least, from + Number.EPSILON) };
}

/** Which of two bytes of one metric should be seen: one that is no number, else the worse. Waiting little is worse. */
function worse(tile: Tile, one: number, other: number): number {
  if (one > tile.maxByte || other > tile.maxByte) {
    if (one === tile.notFinite || other === tile.notFinite) return tile.notFinite;
    return Math.min(one, other);
  }
  return tile.metric === 'wait' ? Math.min(one, other) : Math.max(one, other);
}

/** The ranks of row `row` of `rows`: all of them share the rows evenly. */
export function ranksOfRow(ranks: number, rows: number, row: number): Range {
  return { from: Math.floor((row * ranks) / rows), to: Math.floor(((row + 1) * ranks) / rows) };
}

export function rowOfRank(ranks: number, rows: number, rank: number): number {
  return Math.min(rows - 1, Math.floor(((rank + 1) * rows - 1) / ranks));
}

/** [rows][columns]: each row shows the worst of its ranks, so that no rank is lost between pixels. */
export function pool(tile: Tile, rows: number): Uint8Array {
  if (rows >= tile.ranks) return tile.bytes;
  const { columns, bytes } = tile;
  const pooled = new Uint8Array(rows * columns);
  for (let row = 0; row < rows; ++row) {
    const { from, to } = ranksOfRow(tile.ranks, rows, row);
    for (let column = 0; column < columns; ++column) {
      let shown = bytes[from * columns + column]!;
      for (let rank = from + 1; rank < to; ++rank) {
        const byte = bytes[rank * columns + column]!;
        if (byte !== shown) shown = worse(tile, shown, byte);
      }
      pooled[row * columns + column] = shown;
    }
  }
  return pooled;
}

/** The rank of a row whose byte is the one that is shown. */
export function worstOfRow(tile: Tile, rows: number, row: number, column: number): number {
  const { from, to } = ranksOfRow(tile.ranks, rows, row);
  let found = from;
  for (let rank = from + 1; rank < to; ++rank) {
    const now = tile.bytes[found * tile.columns + column]!;
    const byte = tile.bytes[rank * tile.columns + column]!;
    if (byte !== now && worse(tile, now, byte) === byte) found = rank;
  }
  return found;
}

/** The median of all ranks in each column; null where none has reported. */
export function medians(tile: Tile): (number | null)[] {
  const { columns, bytes } = tile;
  const counts = new Uint32Array(256 * columns);
  for (let at = 0, column = 0; at < bytes.length; ++at) {
    counts[256 * column + bytes[at]!]! += 1;
    if (++column === columns) column = 0;
  }
  return Array.from({ length: columns }, (_, column) => {
    const own = counts.subarray(256 * column, 256 * column + tile.maxByte + 1);
    const total = own.reduce((sum, count) => sum + count, 0);
    let left = Math.floor((total - 1) / 2);
    const byte = own.findIndex((count) => (left -= count) < 0);
    return total === 0 ? null : valueOf(tile, byte);
  });
}

/** One rank's numbers; null where there is none, or none that is finite. */
export function rowOf(tile: Tile, rank: number): (number | null)[] {
  return Array.from({ length: tile.columns }, (_, column) => {
    const value = valueOf(tile, tile.bytes[rank * tile.columns + column]!);
    return value === null || Number.isNaN(value) ? null : value;
  });
}

/** The column that holds a step; the nearest one where none does, -1 for a step before the tile. */
export function columnOfStep(tile: Tile, step: number): number {
  if (tile.columns === 0 || step < tile.firstSteps[0]!) return -1;
  let column = tile.columns - 1;
  while (column > 0 && tile.firstSteps[column]! > step) --column;
  return column;
}
