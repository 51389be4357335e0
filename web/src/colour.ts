// The heat map's colours: lightness rises or falls all the way, so they are told apart without seeing hues.

type Rgb = readonly [number, number, number];

const parse = (hex: string): Rgb => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)) as unknown as Rgb;

// Dark on dark for what is usual, light for what stands out; on paper the other way round.
const ON_DARK = ['#2a1247', '#45327e', '#3b5a8c', '#2c7f8e', '#23a386', '#5cc765', '#b4dd3c', '#fdeb5a'].map(parse);
const ON_LIGHT = ['#f6f7ea', '#e0edd3', '#b5dcc3', '#6fc0c0', '#3796bd', '#2c69a8', '#2f3d8f', '#2a115c'].map(parse);

export interface Palette {
  /** 256 colours from low to high, as 0xAABBGGRR: what ImageData holds on a little-endian machine. */
  readonly ramp: Uint32Array;
  readonly notFinite: number;
  readonly missing: number;
}

export const pack = ([red, green, blue]: Rgb): number => ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;

export function css(colour: number): string {
  return `rgb(${colour & 255}, ${(colour >> 8) & 255}, ${(colour >> 16) & 255})`;
}

export function palette(dark: boolean): Palette {
  const stops = dark ? ON_DARK : ON_LIGHT;
  const ramp = new Uint32Array(256);
  for (let at = 0; at < 256; ++at) {
    const place = (at / 255) * (stops.length - 1);
    const low = Math.min(Math.floor(place), stops.length - 2);
    const mix = (channel: 0 | 1 | 2): number =>
      Math.round(stops[low]![channel] + (place - low) * (stops[low + 1]![channel] - stops[low]![channel]));
    ramp[at] = pack([mix(0), mix(1), mix(2)]);
  }
  return { ramp, notFinite: pack(parse('#e5337f')), missing: pack(parse(dark ? '#1b1f26' : '#e6e8ec')) };
}

/** WCAG's relative luminance, from 0 to 1. */
export function luminance(colour: number): number {
  const linear = (channel: number): number => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * linear(colour & 255) + 0.7152 * linear((colour >> 8) & 255) + 0.0722 * linear((colour >> 16) & 255);
}
