// Between values along the axis (times, loads) and frames of the film.

/** The frame at a value of the axis, a fraction between two frames; the ends outside of the film. */
export function frameAt(times: readonly number[], value: number): number {
  const last = times.length - 1;
  if (!(value > times[0]!)) return 0;
  if (value >= times[last]!) return last;
  let low = 0;
  for (let high = last; high - low > 1; ) {
    const middle = (low + high) >> 1;
    if (times[middle]! <= value) low = middle;
    else high = middle;
  }
  const step = times[low + 1]! - times[low]!;
  return step > 0 ? low + (value - times[low]!) / step : low;
}

/** The value along the axis at a frame, which may lie between two. */
export function valueAt(times: readonly number[], frame: number): number {
  const low = Math.max(0, Math.min(times.length - 1, Math.floor(frame)));
  const high = Math.min(times.length - 1, low + 1);
  const fraction = Math.min(1, Math.max(0, frame - low));
  return times[low]! + (times[high]! - times[low]!) * fraction;
}

/** The states of a film of `seconds` (0: as long as the run, between 2 and 20 s). Motions run evenly in time, equilibria frame by frame. */
export function filmStates(times: readonly number[], axis: 'time' | 'load', seconds: number, framesPerSecond: number): number[] {
  const last = times.length - 1;
  const span = times[last]! - times[0]!;
  const natural = axis === 'time' ? span : last / 10;
  const length = seconds > 0 ? seconds : Math.min(20, Math.max(2, natural));
  const count = Math.max(1, Math.round(length * framesPerSecond));
  return Array.from({ length: count }, (_, i) => {
    const part = count > 1 ? i / (count - 1) : 1;
    return axis === 'time' ? frameAt(times, times[0]! + part * span) : part * last;
  });
}
