// Rotations as quaternions (w, x, y, z) and the helicoidal curve between two poses.
import type { Vec3 } from '../film/header';

export type Quat = [number, number, number, number];
export interface Pose {
  position: Vec3;
  rotation: Quat;
}

export const add = (a: Vec3, b: Vec3): Vec3 => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
export const subtract = (a: Vec3, b: Vec3): Vec3 => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
export const scale = (a: Vec3, s: number): Vec3 => [a[0] * s, a[1] * s, a[2] * s];
export const dot = (a: Vec3, b: Vec3): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
export const norm = (a: Vec3): number => Math.hypot(a[0], a[1], a[2]);
export const cross = (a: Vec3, b: Vec3): Vec3 => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];

export function multiply(a: Quat, b: Quat): Quat {
  return [
    a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
    a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
    a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
    a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
  ];
}

export const conjugate = (q: Quat): Quat => [q[0], -q[1], -q[2], -q[3]];

export function normalized(q: Quat): Quat {
  const length = Math.hypot(q[0], q[1], q[2], q[3]);
  return length > 0 ? [q[0] / length, q[1] / length, q[2] / length, q[3] / length] : [1, 0, 0, 0];
}

export function rotate(q: Quat, v: Vec3): Vec3 {
  const u: Vec3 = [q[1], q[2], q[3]];
  const t = scale(cross(u, v), 2);
  return add(add(v, scale(t, q[0])), cross(u, t));
}

/** The rotation by the vector `w` (axis times angle). */
export function quatExp(w: Vec3): Quat {
  const angle = norm(w);
  const s = angle < 1e-4 ? 0.5 - (angle * angle) / 48 : Math.sin(angle / 2) / angle;
  return [Math.cos(angle / 2), w[0] * s, w[1] * s, w[2] * s];
}

/** Rotation vector of the shorter way round, angle in [0, pi]. */
export function quatLog(q: Quat): Vec3 {
  const sign = q[0] < 0 ? -1 : 1;
  const s = norm([q[1], q[2], q[3]]);
  const factor = s < 1e-7 ? 2 : (2 * Math.atan2(s, sign * q[0])) / s;
  return scale([q[1], q[2], q[3]], sign * factor);
}

/** Coefficients of  T(w) = I + a [w] + b [w]^2,  exp(w, u) having the translation T(w) u. */
function tangentCoefficients(angle: number): [number, number] {
  const square = angle * angle;
  if (angle < 1e-2) return [0.5 - square / 24 + (square * square) / 720, 1 / 6 - square / 120 + (square * square) / 5040];
  return [(1 - Math.cos(angle)) / square, (angle - Math.sin(angle)) / (square * angle)];
}

/** The pose exp(d) of the increment d = (translation u, rotation w). */
export function poseExp(u: Vec3, w: Vec3): Pose {
  const [a, b] = tangentCoefficients(norm(w));
  const wu = cross(w, u);
  return { position: add(u, add(scale(wu, a), scale(cross(w, wu), b))), rotation: quatExp(w) };
}

/** The increment (u, w) with  first exp(u, w) = second. */
export function poseDifference(first: Pose, second: Pose): { u: Vec3; w: Vec3 } {
  const back = conjugate(first.rotation);
  const w = quatLog(multiply(back, second.rotation));
  const r = rotate(back, subtract(second.position, first.position));
  // T(w)^-1 = I - [w]/2 + c [w]^2,  c = (1 - (angle/2) cot(angle/2)) / angle^2
  const angle = norm(w);
  const c = angle < 1e-2 ? 1 / 12 + (angle * angle) / 720 : (1 - angle / 2 / Math.tan(angle / 2)) / (angle * angle);
  const wr = cross(w, r);
  return { u: add(r, add(scale(wr, -0.5), scale(cross(w, wr), c))), w };
}

/** The point xi of the curve  first exp(xi d)  that reaches `second` at xi = 1. */
export function helicoid(first: Pose, second: Pose, xi: number): Pose {
  const { u, w } = poseDifference(first, second);
  const step = poseExp(scale(u, xi), scale(w, xi));
  return {
    position: add(first.position, rotate(first.rotation, step.position)),
    rotation: multiply(first.rotation, step.rotation),
  };
}
