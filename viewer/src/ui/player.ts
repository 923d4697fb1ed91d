// The clock of the film: where the film stands after some seconds of playing.
import type { FilmHeader } from '../film/header';
import { frameAt, valueAt } from '../scene/time';

export const speeds = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100];

/** Frames a second at speed 1 of what does not run in time. */
const framesPerSecond = 10;

export class Pace {
  private readonly times: number[];
  private readonly isInTime: boolean;

  constructor({ times, axis }: FilmHeader) {
    this.times = times;
    const isRising = times.every((time, i) => i === 0 || time >= times[i - 1]!);
    this.isInTime = axis.kind === 'time' && isRising && times.at(-1)! > times[0]!;
  }

  /** Whether speed 1 is that of the clock on the wall. */
  get isReal(): boolean {
    return this.isInTime;
  }

  /** The state (frame, with fraction) after `seconds` at a speed; above the last frame where the film has ended. */
  after(state: number, seconds: number, speed: number): number {
    const last = this.times.length - 1;
    if (!this.isInTime) return state + seconds * speed * framesPerSecond;
    const time = valueAt(this.times, state) + seconds * speed;
    return time > this.times[last]! ? last + 1 : Math.max(state, frameAt(this.times, time));
  }

  /** The speed at which the film lasts about ten seconds, or 1 if it is neither too quick nor too slow to look at. */
  usualSpeed(): number {
    const span = this.isInTime ? this.times.at(-1)! - this.times[0]! : (this.times.length - 1) / framesPerSecond;
    if (span >= 1.5 && span <= 40) return 1;
    const wanted = Math.log(Math.max(span, 1e-9) / 10);
    return speeds.reduce((best, speed) => (Math.abs(Math.log(speed) - wanted) < Math.abs(Math.log(best) - wanted) ? speed : best));
  }
}

/** The next speed of the list in a direction. */
export function nextSpeed(speed: number, direction: 1 | -1): number {
  if (direction > 0) return speeds.find((one) => one > speed * 1.001) ?? speed;
  return speeds.findLast((one) => one < speed * 0.999) ?? speed;
}
