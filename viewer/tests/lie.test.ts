import { describe, expect, it } from 'vitest';
import type { Vec3 } from '../src/film/header';
import { helicoid, multiply, poseDifference, poseExp, quatExp, quatLog, rotate, scale, type Pose, type Quat } from '../src/scene/lie';

type Matrix = number[][];

const product = (a: Matrix, b: Matrix): Matrix => a.map((row) => b[0]!.map((_, j) => row.reduce((sum, x, k) => sum + x * b[k]![j]!, 0)));

/** Exponential of a 4 x 4 matrix by its series after halving: knows nothing of rotations. */
function matrixExp(m: Matrix): Matrix {
  const halvings = 20;
  const small = m.map((row) => row.map((x) => x / 2 ** halvings));
  let term: Matrix = [0, 1, 2, 3].map((i) => [0, 1, 2, 3].map((j) => (i === j ? 1 : 0)));
  let sum = term;
  for (let k = 1; k <= 8; ++k) {
    term = product(term, small).map((row) => row.map((x) => x / k));
    sum = sum.map((row, i) => row.map((x, j) => x + term[i]![j]!));
  }
  for (let k = 0; k < halvings; ++k) sum = product(sum, sum);
  return sum;
}

const twist = (u: Vec3, w: Vec3): Matrix => [
  [0, -w[2], w[1], u[0]],
  [w[2], 0, -w[0], u[1]],
  [-w[1], w[0], 0, u[2]],
  [0, 0, 0, 0],
];

function matrixOf({ position, rotation }: Pose): Matrix {
  const columns = ([[1, 0, 0], [0, 1, 0], [0, 0, 1]] as Vec3[]).map((axis) => rotate(rotation, axis)); // prettier-ignore
  return [0, 1, 2].map((i) => [columns[0]![i]!, columns[1]![i]!, columns[2]![i]!, position[i]!]).concat([[0, 0, 0, 1]]);
}

function expectSame(a: Matrix, b: Matrix, digits = 9): void {
  a.forEach((row, i) => row.forEach((x, j) => expect(x).toBeCloseTo(b[i]![j]!, digits)));
}

const cases: { u: Vec3; w: Vec3 }[] = [
  { u: [1, 0, 0], w: [0, 0, 0] },
  { u: [1, 0.2, -0.3], w: [1e-9, 0, 1e-9] },
  { u: [1, 0.2, -0.3], w: [0.006, -0.005, 0.004] }, // on both sides of the switch to series
  { u: [1, 0.2, -0.3], w: [0.007, -0.008, 0.004] },
  { u: [0.7, -0.1, 0.2], w: [0.5, 1.2, -0.3] },
  { u: [0.7, 3, 0.2], w: [-2, 1.5, 1.2] },
];

describe('the helicoidal curve', () => {
  const start: Pose = { position: [3, -1, 2], rotation: quatExp([0.3, -0.8, 1.1]) };

  it.each(cases)('is H exp(xi d) for d = %o', ({ u, w }) => {
    const end = product(matrixOf(start), matrixExp(twist(u, w)));
    expectSame(
      matrixOf({ position: [3, -1, 2], rotation: start.rotation }),
      matrixOf(helicoid(start, { position: [0, 1, 0], rotation: [1, 0, 0, 0] }, 0)),
    );
    const second: Pose = {
      position: [end[0]![3]!, end[1]![3]!, end[2]![3]!],
      rotation: multiply(start.rotation, quatExp(w)),
    };
    for (const xi of [0.25, 0.5, 0.9, 1]) {
      expectSame(matrixOf(helicoid(start, second, xi)), product(matrixOf(start), matrixExp(twist(scale(u, xi), scale(w, xi)))));
    }
  });

  it('does not depend on the sign of a quaternion', () => {
    const second: Pose = { position: [4, -1, 2], rotation: multiply(start.rotation, quatExp([0.4, 0.2, 0])) };
    const other: Pose = { ...second, rotation: second.rotation.map((x) => -x) as Quat };
    expectSame(matrixOf(helicoid(start, second, 0.3)), matrixOf(helicoid(start, other, 0.3)));
  });

  it('of an arc of a circle is that arc', () => {
    const half = helicoid(
      { position: [0, 0, 0], rotation: [1, 0, 0, 0] },
      { position: [1, 1, 0], rotation: quatExp([0, 0, Math.PI / 2]) },
      0.5,
    );
    expect(half.position[0]).toBeCloseTo(Math.SQRT1_2, 12);
    expect(half.position[1]).toBeCloseTo(1 - Math.SQRT1_2, 12);
  });
});

it('differences undo exponentials', () => {
  for (const { u, w } of cases.slice(0, 5)) {
    const found = poseDifference({ position: [0, 0, 0], rotation: [1, 0, 0, 0] }, poseExp(u, w));
    [...u, ...w].forEach((x, i) => expect([...found.u, ...found.w][i]).toBeCloseTo(x, 10));
  }
  expect(quatLog(quatExp([0, 0, 3])).at(2)).toBeCloseTo(3, 12);
});
