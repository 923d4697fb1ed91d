import { expect, test } from 'vitest';
import { extremumAt, nearestSample, nextExtremum, snapToExtremum } from '../src/ui/extremum';

test('peaks and valleys lie between lower and higher neighbours', () => {
  const values = [0, 2, 1, 1.5, 1.5];
  expect(values.map((_, i) => extremumAt(values, i))).toEqual([0, 1, -1, 0, 0]);
});

test('of a flat top the first sample counts, a step is none', () => {
  expect([0, 1, 1, 1, 0].map((_, i, all) => extremumAt(all, i))).toEqual([0, 1, 0, 0, 0]);
  expect([0, 1, 1, 2].map((_, i, all) => extremumAt(all, i))).toEqual([0, 0, 0, 0]);
});

test('unknown values are no extrema and make none', () => {
  expect([0, NaN, 0, 1, NaN].map((_, i, all) => extremumAt(all, i))).toEqual([0, 0, 0, 0, 0]);
});

test('a sine is walked from peak to valley in both directions', () => {
  const sine = Float32Array.from({ length: 101 }, (_, i) => Math.sin((2 * Math.PI * i) / 100));
  expect(nextExtremum(sine, 0, 1)).toBe(25);
  expect(nextExtremum(sine, 25, 1)).toBe(75);
  expect(nextExtremum(sine, 75, 1)).toBeNull();
  expect(nextExtremum(sine, 75, -1)).toBe(25);
});

test('a click near a peak snaps to it, one far away does not', () => {
  const peak = Array.from({ length: 41 }, (_, i) => -Math.abs(i - 20));
  const place = (i: number, value: number) => ({ x: 10 * i, y: 100 - value });
  expect(snapToExtremum([peak], 0, 40, place, { x: 207, y: 108 }, 14)).toBe(20);
  expect(snapToExtremum([peak], 0, 40, place, { x: 207, y: 130 }, 14)).toBeNull();
  expect(snapToExtremum([peak], 22, 40, place, { x: 207, y: 108 }, 14)).toBeNull();
});

test('of two curves the nearer extremum counts', () => {
  const low = [0, 0, 0, 1, 0, 0, 0];
  const high = [9, 9, 9, 9, 10, 9, 9];
  const place = (i: number, value: number) => ({ x: 5 * i, y: -10 * value });
  expect(snapToExtremum([low, high], 0, 6, place, { x: 18, y: -98 }, 14)).toBe(4);
  expect(snapToExtremum([low, high], 0, 6, place, { x: 18, y: -12 }, 14)).toBe(3);
});

test('on a path that turns back the nearest point counts, not the nearest abscissa', () => {
  const path = [
    { x: 0, y: 0 },
    { x: 50, y: 50 },
    { x: 30, y: 80 },
    { x: 60, y: 120 },
  ];
  expect(nearestSample(4, (i) => path[i]!, { x: 33, y: 79 })).toBe(2);
  expect(nearestSample(4, () => null, { x: 0, y: 0 })).toBeNull();
});
