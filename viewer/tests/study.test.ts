import { describe, expect, test } from 'vitest';
import { throws } from '../fixtures/studies';
import {
  axisOf,
  categoriesOf,
  checkStudy,
  commandOf,
  histogramOf,
  marksOf,
  numbersOf,
  passingRows,
  sortRows,
  thinned,
  type StudyColumn,
} from '../src/study/data';

const column = (values: (number | null)[], texts?: string[]): StudyColumn => ({
  name: 'x',
  unit: '',
  role: 'output',
  values,
  ...(texts ? { texts } : {}),
});

describe('a study', () => {
  test('is refused with a word if it cannot be read, or is empty', () => {
    expect(() => checkStudy({ format: 2, columns: [] })).toThrow('tendril view');
    expect(() => checkStudy(null)).toThrow('tendril view');
    expect(() => checkStudy({ ...throws(), runs: [] })).toThrow('no finished runs');
    expect(checkStudy(throws()).points).toBe(240);
  });

  test('counts texts in the order of their appearance', () => {
    const texts = column([null, null, null], ['b', 'a', 'b']);
    expect(categoriesOf(texts)).toEqual(['b', 'a']);
    expect([...numbersOf(texts)]).toEqual([0, 1, 0]);
    expect(axisOf(texts)).toEqual({
      low: -0.5,
      high: 1.5,
      ticks: [
        { at: 0, text: 'b' },
        { at: 1, text: 'a' },
      ],
    });
  });

  test('has axes from the least to the largest number, also where they are one', () => {
    expect(axisOf(column([2, null, -1]))).toMatchObject({ low: -1, high: 2 });
    expect(axisOf(column([4, 4]))).toMatchObject({ low: 2, high: 6 });
    expect(axisOf(column([null]))).toMatchObject({ low: 0, high: 1 });
    expect(axisOf(column([0, 1]), [3])).toMatchObject({ low: 0, high: 3 });
  });

  test('sorts both ways with missing numbers last and equal ones in order', () => {
    const numbers = [3, NaN, 1, 3, 2];
    expect(sortRows([0, 1, 2, 3, 4], numbers, false)).toEqual([2, 4, 0, 3, 1]);
    expect(sortRows([0, 1, 2, 3, 4], numbers, true)).toEqual([0, 3, 4, 2, 1]);
  });

  test('passes rows whose numbers lie in all ranges', () => {
    const columns = [
      [1, 2, 3, NaN],
      [5, 6, 7, 6],
    ];
    expect(passingRows(columns, 4, new Map())).toEqual([0, 1, 2, 3]);
    expect(passingRows(columns, 4, new Map([[0, [1.5, 9]]]))).toEqual([1, 2]);
    expect(
      passingRows(
        columns,
        4,
        new Map([
          [0, [1.5, 9] as const],
          [1, [0, 6] as const],
        ]),
      ),
    ).toEqual([1]);
  });

  test('thins rows evenly', () => {
    expect(thinned([1, 2, 3], 5)).toEqual([1, 2, 3]);
    expect(thinned([0, 1, 2, 3, 4, 5, 6, 7], 4)).toEqual([0, 2, 4, 6]);
  });

  test('counts every finite number in its histogram once', () => {
    const numbers = Array.from({ length: 1000 }, (_, i) => i / 999);
    const histogram = histogramOf([...numbers, NaN, Infinity])!;
    expect(histogram.counts.reduce((a, b) => a + b)).toBe(1000);
    expect(histogram.low).toBe(0);
    expect(histogram.low + histogram.width * histogram.counts.length).toBeCloseTo(1, 12);
    // 2 * 0.5 / 10 = 0.1: ten bins of a hundred each.
    expect(histogram.counts).toHaveLength(10);
    expect(Math.max(...histogram.counts) - Math.min(...histogram.counts)).toBeLessThanOrEqual(1);
    expect(histogramOf([7, 7])!.counts.reduce((a, b) => a + b)).toBe(2);
    expect(histogramOf([NaN])).toBeNull();
  });

  test('marks what a certification says, and only that', () => {
    expect(marksOf(null)).toEqual([]);
    expect(marksOf({ bound: 0.1 })).toEqual([]);
    expect(marksOf({ mean: 1, threshold: 2, quantiles: { '0.95': 3 } })).toEqual([
      { at: 3, text: '95 % quantile' },
      { at: 1, text: 'mean' },
      { at: 2, text: 'threshold' },
    ]);
  });

  test('says how to run a row again', () => {
    const study = throws();
    study.columns[1]!.values[0] = 0.1;
    expect(commandOf(study, 0)).toBe(
      "tendril run 'scenes/ball throw.yaml' --set h=0.01 --set height=ground --set speed=0.1 --set angle=10",
    );
  });
});
