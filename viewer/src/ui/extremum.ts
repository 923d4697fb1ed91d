// Peaks and valleys of curves that are given by samples.

/** Whether a sample is a peak (+1), a valley (-1) or neither (0). Of a flat top the first sample counts; ends and unknown values do not. */
export function extremumAt(values: ArrayLike<number>, i: number): -1 | 0 | 1 {
  const value = values[i]!;
  if (i <= 0 || i >= values.length - 1 || !Number.isFinite(value)) return 0;
  const before = values[i - 1]!;
  let next = i + 1;
  while (next < values.length && values[next] === value) ++next;
  if (next >= values.length) return 0;
  const after = values[next]!;
  if (before < value && after < value) return 1;
  if (before > value && after > value) return -1;
  return 0;
}

/** The next peak or valley after a sample in a direction, or null. */
export function nextExtremum(values: ArrayLike<number>, from: number, direction: 1 | -1): number | null {
  for (let i = from + direction; i > 0 && i < values.length - 1; i += direction) if (extremumAt(values, i) !== 0) return i;
  return null;
}

export interface Pixel {
  x: number;
  y: number;
}

/** The extremum of any of the curves that is nearest to a point of the picture, if one is within `reach` pixels. Samples from ... to. */
export function snapToExtremum(
  curves: ArrayLike<number>[],
  from: number,
  to: number,
  place: (sample: number, value: number) => Pixel,
  point: Pixel,
  reach: number,
): number | null {
  let best: number | null = null;
  let least = reach;
  for (const values of curves) {
    for (let i = Math.max(1, from); i <= to && i < values.length - 1; ++i) {
      if (extremumAt(values, i) === 0) continue;
      const { x, y } = place(i, values[i]!);
      const distance = Math.hypot(x - point.x, y - point.y);
      if (distance <= least) [best, least] = [i, distance];
    }
  }
  return best;
}

/** The sample of a curve that is drawn nearest to a point, whatever the order of its abscissae. */
export function nearestSample(count: number, place: (sample: number) => Pixel | null, point: Pixel): number | null {
  let best: number | null = null;
  let least = Infinity;
  for (let i = 0; i < count; ++i) {
    const at = place(i);
    if (!at) continue;
    const distance = Math.hypot(at.x - point.x, at.y - point.y);
    if (distance < least) [best, least] = [i, distance];
  }
  return best;
}
