// Numbers as text. Thin spaces keep a number and its unit together, and group the digits of what is counted; ranks and
// steps are names, which people search for, and stay as they are.

const NARROW = '\u202f';

/** Three digits that count, without an exponent between 0.001 and 10^15. */
export function digits(value: number): string {
  if (value === 0) return '0';
  const size = Math.abs(value);
  if (size >= 1e15 || size < 1e-3) return value.toExponential(1);
  if (size >= 99.95) return Math.round(value).toLocaleString('en-US').replace(/,/g, NARROW);
  return value.toFixed(size >= 9.995 ? 1 : size >= 0.9995 ? 2 : 3);
}

/** A duration in the unit that suits it: "52.0 ms", "3.20 s", "2 h 05 min". */
export function seconds(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return `0${NARROW}s`;
  if (size < 1e-3) return `${digits(value * 1e6)}${NARROW}µs`;
  if (size < 0.9995) return `${digits(value * 1e3)}${NARROW}ms`;
  if (size < 120) return `${digits(value)}${NARROW}s`;
  const minutes = Math.round(size / 60);
  if (minutes < 120) return `${minutes}${NARROW}min`;
  return `${Math.floor(minutes / 60)}${NARROW}h ${String(minutes % 60).padStart(2, '0')}${NARROW}min`;
}

/** How long ago: whole seconds, as they are counted. */
export function age(value: number): string {
  return value < 120 ? `${Math.max(0, Math.round(value))}${NARROW}s` : seconds(value);
}

export function bytes(value: number): string {
  const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'];
  let size = value;
  let unit = 0;
  while (size >= 1024 && unit + 1 < units.length) {
    size /= 1024;
    ++unit;
  }
  return `${unit === 0 ? String(Math.round(size)) : digits(size)}${NARROW}${units[unit]}`;
}

/** A number of a heat tile with its unit. */
export function quantity(value: number, unit: string): string {
  if (unit === 'seconds') return seconds(value);
  if (unit === 'bytes') return bytes(value);
  return digits(value);
}

export function count(value: number): string {
  return value.toLocaleString('en-US').replace(/,/g, NARROW);
}

/** "ranks 2, 5-9 and 40 more": runs are joined, and no more than `most` of them told. */
export function ranks(list: readonly number[], most = 4): string {
  const runs: [number, number][] = [];
  for (const rank of list) {
    const last = runs[runs.length - 1];
    if (last && rank === last[1] + 1) last[1] = rank;
    else runs.push([rank, rank]);
  }
  const told = runs.slice(0, most);
  const left = list.length - told.reduce((sum, [from, to]) => sum + to - from + 1, 0);
  const text = told.map(([from, to]) => (from === to ? `${from}` : `${from}-${to}`)).join(', ');
  return `${list.length === 1 ? 'rank' : 'ranks'} ${text}${left > 0 ? ` and ${count(left)} more` : ''}`;
}

/** Clock time of the reader's zone. */
export function clock(at: string | null): string {
  if (at === null) return 'unknown';
  return new Date(at).toLocaleTimeString('en-GB', { hour12: false });
}

/** The steps of a column: "step 812" or "steps 812-820". */
export function steps(first: number, last: number): string {
  return first === last ? `step ${first}` : `steps ${first}-${last}`;
}
