// What reaches from a foot along a vector, many at once: arrows, rods, coils. The card stretches one geometry into all.
import * as THREE from 'three';
import { Triangles } from './geometry';
import type { Vec3 } from '../film/header';
import { dressedMaterial, toColor, type SharedUniforms } from './shading';
import type { Rgb } from './colours';

// A vertex (x, y, k): k >= 0 is k heads behind the tip, k > 50 the foot; k < 0 is the part -k of the way. x and y are in widths.
const spanVertex = /* glsl */ `
  attribute vec4 aEdge;
  attribute vec3 aFoot, aVector, aTint;
  uniform float uWidth;
  void place(out vec3 where, out vec3 upright) {
    float length_ = max(length(aVector), 1e-30);
    vec3 along = aVector / length_;
    vec3 side = normalize(abs(along.z) < 0.9 ? cross(along, vec3(0.0, 0.0, 1.0)) : cross(along, vec3(1.0, 0.0, 0.0)));
    vec3 other = cross(along, side);
    float head = min(3.2 * uWidth, 0.4 * length_);
    float width = min(uWidth, 0.15 * length_);
    float z = position.z > 50.0 ? 0.0 : position.z < 0.0 ? -position.z * length_ : max(0.0, length_ - position.z * head);
    where = aFoot + z * along + width * (position.x * side + position.y * other);
    upright = normal.x * side + normal.y * other + normal.z * along;
    vEdge = aEdge;
    vTone = 0.0;
    vTint = aTint;
    vValue = 0.0;
    vId = 0.0;
  }
`;

const sides = 10;
const foot = 100;

/** `heads` 1: a force; 2: a moment. */
export function arrowGeometry(heads: 1 | 2): THREE.BufferGeometry {
  const triangles = new Triangles();
  const ring = (r: number, k: number, j: number, normal: Vec3) => {
    const angle = (2 * Math.PI * j) / sides;
    const [c, s] = [Math.cos(angle), Math.sin(angle)];
    return { at: [r * c, r * s, k] as Vec3, normal: [normal[0] * c, normal[0] * s, normal[2]] as Vec3 };
  };
  const band = (lowR: number, lowK: number, highR: number, highK: number, normal: Vec3) => {
    for (let j = 0; j < sides; ++j) {
      triangles.quad(
        ring(lowR, lowK, j, normal),
        ring(lowR, lowK, j + 1, normal),
        ring(highR, highK, j + 1, normal),
        ring(highR, highK, j, normal),
        [false, false, false, false],
      );
    }
  };
  band(0, foot, 0.42, foot, [0, 0, -1]);
  band(0.42, foot, 0.42, heads, [1, 0, 0]);
  for (let head = 0; head < heads; ++head) {
    band(0.42, head + 1, 1.15, head + 1, [0, 0, -1]);
    band(1.15, head + 1, 0, head, [0.94, 0, 0.34]);
  }
  return triangles.geometry();
}

/** Something stiff that keeps its length. */
export function rodGeometry(): THREE.BufferGeometry {
  const triangles = new Triangles();
  for (let j = 0; j < sides; ++j) {
    const at = (k: number, i: number) => {
      const [c, s] = [Math.cos((2 * Math.PI * i) / sides), Math.sin((2 * Math.PI * i) / sides)];
      return { at: [c, s, k] as Vec3, normal: [c, s, 0] as Vec3 };
    };
    triangles.quad(at(foot, j), at(foot, j + 1), at(0, j + 1), at(0, j), [false, false, false, false]);
  }
  return triangles.geometry();
}

/** A muscle: thin at its ends, where it becomes tendon. */
export function spindleGeometry(): THREE.BufferGeometry {
  const rings = 16;
  const triangles = new Triangles();
  const radius = (part: number) => 0.2 + 0.8 * Math.sin(Math.PI * Math.min(1, Math.max(0, (part - 0.1) / 0.8))) ** 2;
  const corner = (i: number, j: number) => {
    const [c, s] = [Math.cos((2 * Math.PI * j) / sides), Math.sin((2 * Math.PI * j) / sides)];
    const part = Math.max(1e-6, i / rings);
    return { at: [radius(part) * c, radius(part) * s, -part] as Vec3, normal: [c, s, 0] as Vec3 };
  };
  for (let i = 0; i < rings; ++i) {
    for (let j = 0; j < sides; ++j)
      triangles.quad(corner(i, j), corner(i, j + 1), corner(i + 1, j + 1), corner(i + 1, j), [false, false, false, false]);
  }
  return triangles.geometry();
}

/** A spring: straight ends and turns between them. The wire is a ribbon of crossed bands, round enough at its size. */
export function coilGeometry(): THREE.BufferGeometry {
  const [turns, perTurn, lead, wire] = [8, 20, 0.12, 0.28];
  const steps = turns * perTurn;
  const centre = (i: number): Vec3 => {
    const along = i / steps;
    const radius = 1.6 * Math.min(1, (4 * turns * Math.min(along, 1 - along)) / 2);
    const angle = (2 * Math.PI * i) / perTurn;
    return [radius * Math.cos(angle), radius * Math.sin(angle), -(lead + (1 - 2 * lead) * along)];
  };
  const triangles = new Triangles();
  const corner = (at: Vec3, i: number, j: number) => {
    const angle = (2 * Math.PI * j) / 6;
    const turn = (2 * Math.PI * i) / perTurn;
    const [out, up] = [Math.cos(angle), Math.sin(angle)];
    const normal: Vec3 = [out * Math.cos(turn), out * Math.sin(turn), up];
    return { at: [at[0] + wire * normal[0], at[1] + wire * normal[1], at[2] - 0.008 * up] as Vec3, normal };
  };
  const band = (from: Vec3, i: number, to: Vec3, k: number) => {
    for (let j = 0; j < 6; ++j) {
      triangles.quad(corner(from, i, j + 1), corner(from, i, j), corner(to, k, j), corner(to, k, j + 1), [false, false, false, false]);
    }
  };
  for (let i = 0; i < steps; ++i) band(centre(i), i, centre(i + 1), i + 1);
  const end = (low: number, high: number) => {
    const at = (k: number, j: number) => {
      const [c, s] = [Math.cos((2 * Math.PI * j) / 6), Math.sin((2 * Math.PI * j) / 6)];
      return { at: [wire * c, wire * s, -k] as Vec3, normal: [c, s, 0] as Vec3 };
    };
    for (let j = 0; j < 6; ++j) triangles.quad(at(low, j), at(low, j + 1), at(high, j + 1), at(high, j), [false, false, false, false]);
  };
  end(1e-6, lead);
  end(1 - lead, 1);
  return triangles.geometry();
}

export class Spans {
  readonly mesh: THREE.Mesh<THREE.InstancedBufferGeometry>;
  private capacity = 0;
  private count = 0;
  private feet = new Float32Array();
  private vectors = new Float32Array();
  private tints = new Float32Array();
  private readonly colour = new THREE.Color();
  private readonly width = { value: 1 };

  constructor(
    shared: SharedUniforms,
    private readonly plain: THREE.BufferGeometry,
  ) {
    const dress = { shared, own: { uTone: { value: 1 }, uColoured: { value: 0 }, uWidth: this.width }, vertex: spanVertex };
    this.mesh = new THREE.Mesh(new THREE.InstancedBufferGeometry(), dressedMaterial(dress, 'span'));
    this.mesh.frustumCulled = false;
    this.mesh.visible = false;
  }

  begin(): void {
    this.count = 0;
  }

  add(foot: ArrayLike<number>, vector: ArrayLike<number>, rgb: Rgb): void {
    if (!Number.isFinite(vector[0]! + vector[1]! + vector[2]! + foot[0]! + foot[1]! + foot[2]!)) return;
    if (vector[0] === 0 && vector[1] === 0 && vector[2] === 0) return;
    if (this.count === this.capacity) this.grow();
    const at = 3 * this.count++;
    toColor(rgb, this.colour);
    for (let k = 0; k < 3; ++k) {
      this.feet[at + k] = foot[k]!;
      this.vectors[at + k] = vector[k]!;
    }
    this.tints[at] = this.colour.r;
    this.tints[at + 1] = this.colour.g;
    this.tints[at + 2] = this.colour.b;
  }

  /** `width` [m] of heads, rods and coils. */
  end(width: number): void {
    this.width.value = width;
    const { geometry } = this.mesh;
    geometry.instanceCount = this.count;
    for (const name of ['aFoot', 'aVector', 'aTint']) {
      const attribute = geometry.getAttribute(name) as THREE.InstancedBufferAttribute | undefined;
      if (!attribute) continue;
      attribute.clearUpdateRanges();
      attribute.addUpdateRange(0, 3 * this.count);
      attribute.needsUpdate = true;
    }
    this.mesh.visible = this.count > 0;
  }

  dispose(): void {
    this.mesh.geometry.dispose();
  }

  private grow(): void {
    this.capacity = Math.max(64, 2 * this.capacity);
    const more = (old: Float32Array) => {
      const array = new Float32Array(3 * this.capacity);
      array.set(old);
      return array;
    };
    [this.feet, this.vectors, this.tints] = [more(this.feet), more(this.vectors), more(this.tints)];
    this.mesh.geometry.dispose();
    const geometry = new THREE.InstancedBufferGeometry();
    geometry.setIndex(this.plain.index);
    for (const [name, attribute] of Object.entries(this.plain.attributes)) geometry.setAttribute(name, attribute);
    for (const [name, array] of [['aFoot', this.feet] as const, ['aVector', this.vectors] as const, ['aTint', this.tints] as const]) {
      geometry.setAttribute(name, new THREE.InstancedBufferAttribute(array, 3).setUsage(THREE.DynamicDrawUsage));
    }
    this.mesh.geometry = geometry;
  }
}
