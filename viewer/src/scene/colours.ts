// Colours of the picture: maps from values to colours, palettes of the themes.
import type { FieldInfo } from '../film/header';

export type Rgb = [number, number, number]; // sRGB, 0 ... 1

const parse = (hex: string): Rgb => [0, 2, 4].map((at) => parseInt(hex.slice(at, at + 2), 16) / 255) as Rgb;
const table = (text: string): Rgb[] => text.split(' ').map(parse);

// Control points between which colours are interpolated in Oklab, where equal steps look equal. Lightness rises evenly in the first; it
// falls evenly to both sides of the middle in the second.
const sequential = table('2b0b57 3d3b8e 2a678f 1f8d88 3db072 8fce4b f3e53a');
const diverging = table('1c3f94 3f78c4 86b1df eceff1 eda98a d1604a 941c2f');
const categorical = table('9aa5b1 0072b2 d55e00 009e73 cc79a7 e69f00 56b4e9 f0e442');
export const unknownColour: Rgb = parse('a0a4a8');

const toLinear = (c: number) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
const fromLinear = (c: number) => (c <= 0.0031308 ? c * 12.92 : 1.055 * c ** (1 / 2.4) - 0.055);

export function toOklab([red, green, blue]: Rgb): [number, number, number] {
  const [r, g, b] = [toLinear(red), toLinear(green), toLinear(blue)];
  const l = Math.cbrt(0.4122214708 * r + 0.5363325363 * g + 0.0514459929 * b);
  const m = Math.cbrt(0.2119034982 * r + 0.6806995451 * g + 0.1073969566 * b);
  const s = Math.cbrt(0.0883024619 * r + 0.2817188376 * g + 0.6299787005 * b);
  return [
    0.2104542553 * l + 0.793617785 * m - 0.0040720468 * s,
    1.9779984951 * l - 2.428592205 * m + 0.4505937099 * s,
    0.0259040371 * l + 0.7827717662 * m - 0.808675766 * s,
  ];
}

export function fromOklab([lightness, a, b]: [number, number, number]): Rgb {
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  const clamp = (c: number) => Math.min(1, Math.max(0, fromLinear(c)));
  return [
    clamp(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    clamp(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    clamp(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}

/** A map of `count` colours from 0 to 1 whose steps are equally long in Oklab. */
function evenMap(points: Rgb[], count: number): Rgb[] {
  const labs = points.map(toOklab);
  const lengths = [0];
  for (let i = 1; i < labs.length; ++i) {
    lengths.push(lengths[i - 1]! + Math.hypot(...labs[i]!.map((x, k) => x - labs[i - 1]![k]!)));
  }
  const total = lengths.at(-1)!;
  return Array.from({ length: count }, (_, i) => {
    const at = (i / (count - 1)) * total;
    let k = 1;
    while (k < labs.length - 1 && lengths[k]! < at) ++k;
    const part = (at - lengths[k - 1]!) / (lengths[k]! - lengths[k - 1]!);
    return fromOklab(labs[k]!.map((x, c) => labs[k - 1]![c]! + part * (x - labs[k - 1]![c]!)) as [number, number, number]);
  });
}

const mapSize = 256;
const half = (mapSize + 1) >> 1;
const maps = {
  sequential: evenMap(sequential, mapSize),
  diverging: [...evenMap(diverging.slice(0, 4), half).slice(0, mapSize / 2), ...evenMap(diverging.slice(3), half).slice(-mapSize / 2)],
};

/** How values of a field become colours; the legend and the picture use the same. */
export interface ColourMap {
  kind: 'sequential' | 'diverging' | 'categories';
  colours: Rgb[];
  range: [number, number];
}

/** The map of a field: named categories, else diverging about zero if the range has both signs, else from dark to light. */
export function colourMap(field: FieldInfo, range: [number, number] | null): ColourMap {
  if (field.categories) {
    const count = field.categories.length;
    const colours = Array.from({ length: count }, (_, i) => categorical[i % categorical.length]!);
    return { kind: 'categories', colours, range: [-0.5, count - 0.5] };
  }
  let [low, high] = range ?? field.range;
  if (!Number.isFinite(low) || !Number.isFinite(high)) [low, high] = [0, 1];
  if (low > high) [low, high] = [high, low];
  if (!range && low < 0 && high > 0) {
    const most = Math.max(-low, high);
    return { kind: 'diverging', colours: maps.diverging, range: [-most, most] };
  }
  if (low === high) [low, high] = low === 0 ? [0, 1] : [low - Math.abs(low) / 2, high + Math.abs(high) / 2];
  const isSigned = low < 0 && high > 0 && Math.abs(low + high) <= 0.01 * (high - low);
  return { kind: isSigned ? 'diverging' : 'sequential', colours: isSigned ? maps.diverging : maps.sequential, range: [low, high] };
}

export function colourOf(map: ColourMap, value: number): Rgb {
  if (Number.isNaN(value)) return unknownColour;
  const part = (value - map.range[0]) / (map.range[1] - map.range[0]);
  const last = map.colours.length - 1;
  return map.colours[Math.max(0, Math.min(last, Math.floor(part * map.colours.length)))]!;
}

export const css = ([r, g, b]: Rgb, alpha = 1): string =>
  `rgba(${Math.round(r * 255)}, ${Math.round(g * 255)}, ${Math.round(b * 255)}, ${alpha})`;

const bodyColours = table('6f94b8 d9a066 86a873 b58bb0 c97b72 6fb0ae c2b280 8f8fb8');
const beamColours = table('c8743c 4d83a8 6f9e5b a5679b 3f9c95 b39b3e');

export const bodyColour = (i: number): Rgb => bodyColours[i % bodyColours.length]!;
export const beamColour = (i: number): Rgb => beamColours[i % beamColours.length]!;
export const axisColours: [Rgb, Rgb, Rgb] = [parse('d1495b'), parse('3c9d5b'), parse('3b6fd1')];

export interface Palette {
  background: Rgb;
  text: Rgb;
  faint: Rgb; // of grid lines
  obstacle: Rgb;
  edge: Rgb;
  highlight: Rgb;
  force: Rgb;
  reaction: Rgb;
  moment: Rgb;
  marker: Rgb;
  joint: Rgb;
  link: Rgb;
  muscle: Rgb;
  path: Rgb;
  contact: Rgb;
  sky: Rgb;
  earth: Rgb;
}

export const palettes: Record<'light' | 'dark', Palette> = {
  light: {
    background: parse('f5f6f8'),
    text: parse('22272e'),
    faint: parse('b9c0c9'),
    obstacle: parse('c3c8ce'),
    edge: parse('20262d'),
    highlight: parse('f2b705'),
    force: parse('c2304b'),
    reaction: parse('7a3fb0'),
    moment: parse('b06a1f'),
    marker: parse('1d5fd1'),
    joint: parse('39424e'),
    link: parse('5d6875'),
    muscle: parse('b5483d'),
    path: parse('1d5fd1'),
    contact: parse('e04f1f'),
    sky: parse('ffffff'),
    earth: parse('b5b0a8'),
  },
  dark: {
    background: parse('14181d'),
    text: parse('e4e8ec'),
    faint: parse('3a434e'),
    obstacle: parse('59626d'),
    edge: parse('06080a'),
    highlight: parse('ffcf33'),
    force: parse('ff6b7f'),
    reaction: parse('c08cff'),
    moment: parse('f0a64f'),
    marker: parse('6fa8ff'),
    joint: parse('c4ccd6'),
    link: parse('9aa5b1'),
    muscle: parse('d96a5c'),
    path: parse('6fa8ff'),
    contact: parse('ff8a4f'),
    sky: parse('dfe8f2'),
    earth: parse('4a4640'),
  },
};
