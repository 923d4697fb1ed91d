// Poses of a channel at a state of the film: between two frames, and with displacements enlarged.
import type { Film } from '../film/film';
import type { Vec3 } from '../film/header';
import { conjugate, multiply, normalized, quatExp, quatLog, scale, type Pose, type Quat } from './lie';

/** A state: `frame` is a whole number, `fraction` in [0, 1) the way to the next. */
export interface Moment {
  frame: number;
  fraction: number;
}

/** `breaks` are frames that do not go on from the one before: nothing lies between the two. */
export function momentOf(state: number, frames: number, breaks?: ReadonlySet<number>): Moment {
  const within = Math.min(frames - 1, Math.max(0, state));
  let frame = Math.floor(within + 1e-9);
  const fraction = Math.max(0, within - frame);
  if (frame > frames - 1) frame = frames - 1;
  if (breaks?.has(frame + 1)) return { frame, fraction: 0 };
  return { frame, fraction: fraction < 1e-6 ? 0 : fraction };
}

export class PoseTrack {
  readonly count: number;
  readonly position: Float32Array; // [items][3]
  readonly rotation: Float32Array; // [items][4]
  private first: { position: Float32Array; rotation: Int16Array } | null = null;

  constructor(
    private readonly film: Film,
    readonly channel: string,
  ) {
    this.count = film.header.channels[channel]?.items ?? 0;
    this.position = new Float32Array(3 * this.count);
    this.rotation = new Float32Array(4 * this.count);
  }

  /** Reads the state; needs the frame (and the next), and frame 0 once. */
  update({ frame, fraction }: Moment, exaggeration: number): void {
    if (this.count === 0) return;
    if (!this.first) {
      const { position, rotation } = this.film.poses(this.channel, 0);
      this.first = { position: position.slice(), rotation: rotation.slice() };
    }
    const a = this.film.poses(this.channel, frame);
    this.position.set(a.position);
    for (let i = 0; i < a.rotation.length; ++i) this.rotation[i] = a.rotation[i]! / 32767;
    if (fraction > 0) this.blend(this.film.poses(this.channel, frame + 1), fraction);
    if (exaggeration !== 1) for (let i = 0; i < this.count; ++i) this.exaggerate(i, exaggeration);
  }

  pose(i: number): Pose {
    const [p, q] = [this.position, this.rotation];
    return {
      position: [p[3 * i]!, p[3 * i + 1]!, p[3 * i + 2]!],
      rotation: normalized([q[4 * i]!, q[4 * i + 1]!, q[4 * i + 2]!, q[4 * i + 3]!]),
    };
  }

  point(i: number): Vec3 {
    return [this.position[3 * i]!, this.position[3 * i + 1]!, this.position[3 * i + 2]!];
  }

  private blend(b: { position: Float32Array; rotation: Int16Array }, fraction: number): void {
    const { position: p, rotation: q } = this;
    for (let i = 0; i < p.length; ++i) p[i]! += fraction * (b.position[i]! - p[i]!);
    for (let i = 0; i < q.length; i += 4) {
      const [w, x, y, z] = [b.rotation[i]!, b.rotation[i + 1]!, b.rotation[i + 2]!, b.rotation[i + 3]!];
      const isSame = q[i]! * w + q[i + 1]! * x + q[i + 2]! * y + q[i + 3]! * z >= 0;
      const weight = (isSame ? fraction : -fraction) / 32767;
      const rest = 1 - fraction;
      q[i] = rest * q[i]! + weight * w;
      q[i + 1] = rest * q[i + 1]! + weight * x;
      q[i + 2] = rest * q[i + 2]! + weight * y;
      q[i + 3] = rest * q[i + 3]! + weight * z;
    }
  }

  private exaggerate(i: number, factor: number): void {
    const { position, rotation } = this.first!;
    for (let k = 3 * i; k < 3 * i + 3; ++k) this.position[k] = position[k]! + factor * (this.position[k]! - position[k]!);
    const q0 = normalized(Array.from(rotation.subarray(4 * i, 4 * i + 4)) as Quat);
    const turn = quatLog(multiply(this.pose(i).rotation, conjugate(q0)));
    this.rotation.set(multiply(quatExp(scale(turn, factor)), q0), 4 * i);
  }
}
