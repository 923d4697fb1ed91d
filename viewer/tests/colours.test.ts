import { describe, expect, it } from 'vitest';
import type { FieldInfo } from '../src/film/header';
import { colourMap, colourOf, fromOklab, toOklab, unknownColour, type Rgb } from '../src/scene/colours';
import { depthOf, idColour, idOf } from '../src/scene/shading';

const field = (range: [number, number], categories?: string[]): FieldInfo => ({
  name: 'f',
  label: 'f',
  unit: '',
  on: 'bodies',
  channel: 'f',
  column: 0,
  range,
  isSampled: false,
  ...(categories ? { categories } : {}),
});

const distance = (a: Rgb, b: Rgb) => Math.hypot(...toOklab(a).map((x, i) => x - toOklab(b)[i]!));

describe('colour maps', () => {
  it('know Oklab: white, and the published value of red', () => {
    expect(toOklab([1, 1, 1])[0]).toBeCloseTo(1, 6);
    expect(toOklab([1, 0, 0])).toEqual([expect.closeTo(0.628, 3), expect.closeTo(0.2249, 3), expect.closeTo(0.1258, 3)]);
    expect(fromOklab(toOklab([0.2, 0.5, 0.8]))).toEqual([0.2, 0.5, 0.8].map((x) => expect.closeTo(x, 5)));
  });

  it('are perceptually even: steps of equal length, the sequential one ever lighter', () => {
    for (const range of [
      [0, 1],
      [-1, 1],
    ] as [number, number][]) {
      // prettier-ignore
      const { colours } = colourMap(field(range), null);
      const steps = colours.slice(1).map((colour, i) => distance(colour, colours[i]!));
      const mean = steps.reduce((a, b) => a + b) / steps.length;
      const inner = steps.filter((_, i) => i !== 127); // the halves of the diverging map meet there
      expect(Math.max(...inner)).toBeLessThan(1.35 * mean);
      expect(Math.min(...inner)).toBeGreaterThan(0.6 * mean);
    }
    const lightness = colourMap(field([0, 1]), null).colours.map((colour) => toOklab(colour)[0]);
    lightness.slice(1).forEach((l, i) => expect(l).toBeGreaterThan(lightness[i]!));
  });

  it('diverge about zero when the range has both signs', () => {
    const map = colourMap(field([-1, 4]), null);
    expect(map.kind).toBe('diverging');
    expect(map.range).toEqual([-4, 4]);
    expect(toOklab(colourOf(map, 0))[0]).toBeGreaterThan(0.9);
    expect(distance(colourOf(map, -4), colourOf(map, 4))).toBeGreaterThan(0.2);
    expect(colourMap(field([0, 4]), null).kind).toBe('sequential');
  });

  it('keep the range that is asked for, and stand a range without length', () => {
    expect(colourMap(field([-1, 4]), [0, 2]).range).toEqual([0, 2]);
    const [low, high] = colourMap(field([3, 3]), null).range;
    expect(low).toBeLessThan(3);
    expect(high).toBeGreaterThan(3);
    expect(colourMap(field([NaN, NaN]), null).range).toEqual([0, 1]);
  });

  it('show NaN grey and keep values beyond the range at its ends', () => {
    const map = colourMap(field([0, 1]), null);
    expect(colourOf(map, NaN)).toEqual(unknownColour);
    expect(colourOf(map, -9)).toEqual(map.colours[0]);
    expect(colourOf(map, 9)).toEqual(map.colours.at(-1));
  });

  it('have distinct colours for categories, one for each number', () => {
    const map = colourMap(field([0, 2], ['open', 'sticking', 'sliding']), null);
    const colours = [0, 1, 2].map((value) => colourOf(map, value));
    expect(colours).toEqual(map.colours);
    for (const [i, a] of colours.entries()) for (const b of colours.slice(i + 1)) expect(distance(a, b)).toBeGreaterThan(0.15);
  });
});

it('ids and depths survive as colours', () => {
  for (const id of [0, 1, 255, 256, 65535, 65536, 1234567, 16777215]) expect(idOf(idColour(id))).toBe(id);
  expect(idColour(0x010203)).toEqual([1, 2, 3]);
  expect(depthOf([255, 255, 255])).toBe(1);
  expect(depthOf([128, 0, 0])).toBeCloseTo(0.5, 6);
});
