import { expect, test } from 'vitest';
import { FilmWriter } from '../fixtures/writer';
import { nextSpeed, Pace, speeds } from '../src/ui/player';

const pace = (times: number[], kind: 'time' | 'load' = 'time') => {
  const { header } = new FilmWriter('run', times, 1, [
    [0, 0, 0],
    [1, 1, 1],
  ]);
  return new Pace({ ...header, axis: { kind, label: kind, unit: '' } });
};

test('time runs evenly through uneven steps', () => {
  const film = pace([0, 1, 1.5, 4]);
  expect(film.isReal).toBe(true);
  expect(film.after(0, 0.5, 1)).toBeCloseTo(0.5, 12);
  expect(film.after(0, 1.25, 1)).toBeCloseTo(1.5, 12);
  expect(film.after(1, 0.5, 2)).toBeCloseTo(2.2, 12);
});

test('the end is passed, not rounded away', () => {
  expect(pace([0, 1, 2]).after(1.9, 0.2, 1)).toBeGreaterThan(2);
});

test('loads, and times that stand still, go frame by frame', () => {
  for (const film of [pace([0, 2, 1, 3], 'load'), pace([1, 1, 1])]) {
    expect(film.isReal).toBe(false);
    expect(film.after(0, 0.1, 1)).toBeCloseTo(1, 12);
    expect(film.after(0, 0.1, 0.5)).toBeCloseTo(0.5, 12);
  }
});

test('a repeated time does not stop the film', () => {
  const film = pace([0, 1, 1, 2]);
  let state = 0.9;
  for (let i = 0; i < 20; ++i) state = film.after(state, 0.1, 1);
  expect(state).toBeGreaterThan(3);
});

test('films of milliseconds and of hours are slowed and quickened', () => {
  expect(pace([0, 10]).usualSpeed()).toBe(1);
  expect(pace([0, 0.1]).usualSpeed()).toBe(0.01);
  expect(pace([0, 500]).usualSpeed()).toBe(50);
});

test('speeds go up and down the list and stop at its ends', () => {
  expect(nextSpeed(1, 1)).toBe(2);
  expect(nextSpeed(1, -1)).toBe(0.5);
  expect(nextSpeed(speeds.at(-1)!, 1)).toBe(100);
  expect(nextSpeed(speeds[0]!, -1)).toBe(0.01);
});
