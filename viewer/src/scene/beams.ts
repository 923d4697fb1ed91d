// Beams on the graphics card: the poses of all nodes are in textures, a run of elements is an instance of pieces of tube whose vertices the
// card puts on the curves H exp(xi d) between two nodes. Between two frames, and for enlarged displacements, only numbers change.
import * as THREE from 'three';
import type { Film } from '../film/film';
import type { BeamData } from '../film/header';
import { beamColour } from './colours';
import { Triangles } from './geometry';
import type { Vec3 } from '../film/header';
import type { Moment } from './poses';
import { dressedDepthMaterial, dressedMaterial, toColor, unknownValue, type SharedUniforms } from './shading';

const textureWidth = 1024;
/** Elements of an instance, at most: cards, and what stands for one, take long for each instance. */
const longestRun = 16;

export const beamVertex = /* glsl */ `
  precision highp isampler2D;
  attribute vec4 aEdge;
  attribute float aTone;
  attribute float aInner; // of a vertex: 1 on the inside of a tube
  attribute float aPart; // of a vertex: its element in the run
  attribute vec4 aElement; // first node, first element, half width, half height
  attribute vec3 aMore; // inner radius, end (0: pieces; 1, 2: the cap at the first, second node), elements
  attribute vec3 aTint;
  uniform sampler2D uPositionA, uPositionB, uPosition0, uValues;
  uniform isampler2D uRotationA, uRotationB, uRotation0;
  uniform float uFraction, uExaggeration, uThickness, uLeast, uFirstId;
  uniform int uValuesOn; // 1 nodes, 2 elements

  ivec2 texelOf(int i) { return ivec2(i % ${textureWidth}, i / ${textureWidth}); }
  vec3 pointOf(sampler2D t, int i) { return texelFetch(t, texelOf(i), 0).xyz; }
  vec4 turnOf(isampler2D t, int i) { return vec4(texelFetch(t, texelOf(i), 0)) / 32767.0; }

  // Quaternions are w x y z.
  vec4 product(vec4 a, vec4 b) {
    return vec4(a.x * b.x - dot(a.yzw, b.yzw), a.x * b.yzw + b.x * a.yzw + cross(a.yzw, b.yzw));
  }
  vec4 inverseOf(vec4 q) { return vec4(q.x, -q.yzw); }
  vec3 turned(vec4 q, vec3 v) { return v + 2.0 * cross(q.yzw, cross(q.yzw, v) + q.x * v); }
  vec4 quatExp(vec3 w) {
    float angle = length(w);
    float s = angle < 1e-3 ? 0.5 - angle * angle / 48.0 : sin(0.5 * angle) / angle;
    return vec4(cos(0.5 * angle), s * w);
  }
  vec3 quatLog(vec4 q) {
    if (q.x < 0.0) q = -q;
    float s = length(q.yzw);
    return (s < 1e-6 ? 2.0 : 2.0 * atan(s, q.x) / s) * q.yzw;
  }

  void nodePose(int i, out vec3 p, out vec4 q) {
    p = pointOf(uPositionA, i);
    q = turnOf(uRotationA, i);
    if (uFraction > 0.0) {
      vec4 next = turnOf(uRotationB, i);
      p = mix(p, pointOf(uPositionB, i), uFraction);
      q = mix(q, dot(q, next) < 0.0 ? -next : next, uFraction);
    }
    q = normalize(q);
    if (uExaggeration != 1.0) {
      vec3 p0 = pointOf(uPosition0, i);
      vec4 q0 = normalize(turnOf(uRotation0, i));
      p = p0 + uExaggeration * (p - p0);
      q = product(quatExp(uExaggeration * quatLog(product(q, inverseOf(q0)))), q0);
    }
  }

  // Coefficients a, b of T(w) = I + a [w] + b [w]^2 and c of its inverse I - [w]/2 + c [w]^2; s is the square of the angle.
  vec3 coefficients(float s) {
    if (s < 0.25) {
      return vec3(0.5 - s / 24.0 + s * s / 720.0 - s * s * s / 40320.0,
                  1.0 / 6.0 - s / 120.0 + s * s / 5040.0 - s * s * s / 362880.0,
                  1.0 / 12.0 + s / 720.0 + s * s / 30240.0 + s * s * s / 1209600.0);
    }
    float angle = sqrt(s);
    return vec3((1.0 - cos(angle)) / s, (angle - sin(angle)) / (s * angle), (1.0 - 0.5 * angle / tan(0.5 * angle)) / s);
  }

  // The point xi of the curve from pose 1 to pose 2.
  void helicoid(vec3 p1, vec4 q1, vec3 p2, vec4 q2, float xi, out vec3 p, out vec4 q) {
    vec3 w = quatLog(product(inverseOf(q1), q2));
    vec3 r = turned(inverseOf(q1), p2 - p1);
    vec3 wr = cross(w, r);
    vec3 u = xi * (r - 0.5 * wr + coefficients(dot(w, w)).z * cross(w, wr));
    w *= xi;
    vec3 k = coefficients(dot(w, w));
    vec3 wu = cross(w, u);
    p = p1 + turned(q1, u + k.x * wu + k.y * cross(w, wu));
    q = product(q1, quatExp(w));
  }

  void place(out vec3 where, out vec3 upright) {
    bool isThere = aPart < aMore.z - 0.5; // the last run of a beam may be shorter
    float part = isThere ? aPart : 0.0;
    int node = int(aElement.x + part + 0.5);
    float element = aElement.y + part;
    float xi = aMore.y > 0.5 ? aMore.y - 1.0 : position.x;
    vec3 p1, p2, p;
    vec4 q1, q2, q;
    nodePose(node, p1, q1);
    nodePose(node + 1, p2, q2);
    helicoid(p1, q1, p2, q2, xi, p, q);
    // Thin beams are drawn a pixel wide, so that they are seen at all.
    vec2 size = aInner > 0.5 ? vec2(aMore.x) * uThickness : max(aElement.zw * uThickness, vec2(uLeast));
    vec2 mirror = vec2(aMore.y == 1.0 ? -1.0 : 1.0, 1.0); // the first cap looks backwards
    where = isThere ? p + turned(q, vec3(0.0, position.yz * mirror * size)) : p1;
    upright = turned(q, aMore.y == 1.0 ? -normal : normal);
    vEdge = aEdge;
    vTone = aTone;
    vTint = aTint;
    vId = uFirstId + element;
    vValue = 0.0;
    if (uValuesOn == 1) {
      float first = texelFetch(uValues, texelOf(node), 0).x;
      float second = texelFetch(uValues, texelOf(node + 1), 0).x;
      vValue = min(first, second) < -0.9e30 ? ${unknownValue.toExponential()} : mix(first, second, xi);
    } else if (uValuesOn == 2) {
      vValue = texelFetch(uValues, texelOf(int(element + 0.5)), 0).x;
    }
  }
`;

type Section = BeamData['section']['shape'];

const corner = (xi: number, y: number, z: number, normal: Vec3) => ({ at: [xi, y, z] as Vec3, normal });
const none: [boolean, boolean, boolean, boolean] = [false, false, false, false];

/** Vertices (xi, y, z), y and z in half sizes of the section. A strip along the second director is toned, so that twist is seen. */
function pieceGeometry(section: Section, sides: number, steps: number): THREE.BufferGeometry {
  const triangles = new Triangles();
  const inner: number[] = [];
  for (let i = 0; i < steps; ++i) {
    const [a, b] = [i / steps, (i + 1) / steps];
    if (section === 'rectangle') {
      for (let side = 0; side < 4; ++side) {
        const turn = (y: number, z: number): [number, number] =>
          [
            [y, z],
            [-z, y],
            [-y, -z],
            [z, -y],
          ][side] as [number, number];
        const normal: Vec3 = [0, ...turn(1, 0)];
        const [low, high] = [turn(1, -1), turn(1, 1)];
        // From the first node to the second is upwards, the normal to the viewer.
        triangles.quad(corner(a, ...low, normal), corner(a, ...high, normal), corner(b, ...high, normal), corner(b, ...low, normal), [
          false,
          true,
          false,
          true,
        ]);
        inner.push(0, 0, 0, 0, 0, 0);
      }
      continue;
    }
    for (const wall of section === 'tube' ? [0, 1] : [0]) {
      for (let k = 0; k < sides; ++k) {
        const at = (j: number) => (2 * Math.PI * (j - 0.5)) / sides;
        const point = (xi: number, angle: number) => {
          const [y, z] = [Math.cos(angle), Math.sin(angle)];
          return corner(xi, y, z, wall ? [0, -y, -z] : [0, y, z]);
        };
        const [low, high] = wall ? [at(k + 1), at(k)] : [at(k), at(k + 1)];
        // A broad strip along the second director, a narrow one opposite.
        const across = Math.min(k, sides - k);
        const isStrip = sides >= 6 && (across < sides / 10 || (sides >= 12 && sides / 2 - across < sides / 40));
        triangles.quad(point(a, low), point(a, high), point(b, high), point(b, low), none, isStrip ? 1 : 0);
        inner.push(wall, wall, wall, wall, wall, wall);
      }
    }
  }
  return triangles.geometry({ aInner: inner });
}

/** A section seen against the first director's direction: the end of a beam. */
function capGeometry(section: Section, sides: number): THREE.BufferGeometry {
  const triangles = new Triangles();
  const inner: number[] = [];
  const normal: Vec3 = [1, 0, 0];
  if (section === 'rectangle') {
    const all: [boolean, boolean, boolean, boolean] = [true, true, true, true];
    triangles.quad(corner(0, -1, -1, normal), corner(0, 1, -1, normal), corner(0, 1, 1, normal), corner(0, -1, 1, normal), all);
    return triangles.geometry({ aInner: [0, 0, 0, 0, 0, 0] });
  }
  for (let k = 0; k < sides; ++k) {
    const point = (j: number, r: number) => {
      const angle = (2 * Math.PI * (j - 0.5)) / sides;
      return corner(0, r * Math.cos(angle), r * Math.sin(angle), normal);
    };
    if (section === 'tube') {
      triangles.quad(point(k, 1), point(k + 1, 1), point(k + 1, 1), point(k, 1), [true, false, true, false]);
      inner.push(0, 0, 1, 0, 1, 1);
    } else {
      triangles.triangle([point(k, 1), point(k + 1, 1), corner(0, 0, 0, normal)], [false, false, sides >= 12], 0);
      inner.push(0, 0, 0);
    }
  }
  return triangles.geometry({ aInner: inner });
}

/** The same `count` times, with the number of the repetition. */
function repeated(plain: THREE.BufferGeometry, count: number): THREE.BufferGeometry {
  const vertices = plain.getAttribute('position').count;
  const index = Array.from(plain.index!.array);
  const geometry = new THREE.BufferGeometry().setIndex(
    Array.from({ length: count }, (_, part) => index.map((i) => i + part * vertices)).flat(),
  );
  for (const [name, attribute] of Object.entries(plain.attributes)) {
    const array = new Float32Array(count * attribute.array.length);
    for (let part = 0; part < count; ++part) array.set(attribute.array, part * attribute.array.length);
    geometry.setAttribute(name, new THREE.BufferAttribute(array, attribute.itemSize));
  }
  const parts = Float32Array.from({ length: count * vertices }, (_, i) => Math.floor(i / vertices));
  return geometry.setAttribute('aPart', new THREE.BufferAttribute(parts, 1));
}

interface Run {
  beam: BeamData;
  index: number;
  e: number; // first element
  count: number;
  end: number;
}

interface Attributes {
  aElement: THREE.InstancedBufferAttribute;
  aMore: THREE.InstancedBufferAttribute;
  aTint: THREE.InstancedBufferAttribute;
}

/** A circle that only stands for a stiffness is kept slender. */
function drawnSection({ section }: BeamData, extent: number): BeamData['section'] {
  const most = 0.02 * extent;
  if (!section.assumed || section.width <= most) return section;
  return { ...section, width: most, height: most };
}

/** All beams with one kind of section. */
class SectionBatch {
  readonly body: THREE.Mesh<THREE.InstancedBufferGeometry>;
  readonly caps: THREE.Mesh<THREE.InstancedBufferGeometry>;
  private readonly attributes: [Attributes, Attributes];
  private readonly counts: [number, number]; // instances
  private readonly elements: number;
  private readonly run: number; // elements of an instance
  private readonly cache = new Map<string, THREE.InstancedBufferGeometry>();
  private readonly radius: number;
  private readonly elementLength: number;

  constructor(
    private readonly section: Section,
    beams: { beam: BeamData; index: number }[],
    material: THREE.Material,
    depth: THREE.Material,
    private readonly extent: number,
  ) {
    const elementsOf = (beam: BeamData) => Math.max(0, beam.nodes - 1);
    this.elements = beams.reduce((sum, { beam }) => sum + elementsOf(beam), 0);
    const run = Math.max(1, Math.min(longestRun, Math.ceil(this.elements / beams.length)));
    this.run = run;
    const runs = beams.flatMap(({ beam, index }) =>
      Array.from({ length: Math.ceil(elementsOf(beam) / run) }, (_, i): Run => {
        return { beam, index, e: i * run, count: Math.min(run, elementsOf(beam) - i * run), end: 0 };
      }),
    );
    const ends = beams.flatMap(({ beam, index }): Run[] =>
      beam.nodes < 2
        ? []
        : [
            { beam, index, e: 0, count: 1, end: 1 },
            { beam, index, e: beam.nodes - 2, count: 1, end: 2 },
          ],
    );
    this.counts = [runs.length, ends.length];
    this.attributes = [this.attributesOf(runs), this.attributesOf(ends)];
    this.radius = Math.max(...beams.map(({ beam }) => Math.max(drawnSection(beam, extent).width, drawnSection(beam, extent).height) / 2));
    const lengths = beams.map(({ beam }) => ((beam.arclength.at(-1) ?? 0) - (beam.arclength[0] ?? 0)) / Math.max(1, beam.nodes - 1));
    this.elementLength = Math.max(...lengths);
    this.body = new THREE.Mesh(this.geometryOf(false, 4, 1), material);
    this.caps = new THREE.Mesh(this.geometryOf(true, 4, 1), material);
    for (const mesh of [this.body, this.caps]) {
      mesh.frustumCulled = false;
      mesh.layers.enable(1);
      mesh.customDepthMaterial = depth;
      mesh.castShadow = mesh.receiveShadow = true;
    }
  }

  /** More sides and steps for what is large in the picture, within what a card draws at ease. */
  setDetail(pixelsPerMetre: number, thickness: number): void {
    const radius = this.radius * thickness * pixelsPerMetre;
    const length = this.elementLength * pixelsPerMetre;
    let sides = radius > 60 ? 48 : radius > 15 ? 24 : radius > 4 ? 12 : radius > 1.2 ? 6 : 3;
    let steps = length > 240 ? 24 : length > 60 ? 12 : length > 16 ? 4 : length > 6 ? 2 : 1;
    const budget = 3e6;
    while (2 * sides * steps * this.elements > budget && (steps > 1 || sides > 3)) {
      if (steps > 1) steps = Math.ceil(steps / 2);
      else sides = sides > 12 ? 12 : sides > 6 ? 6 : 3;
    }
    this.body.geometry = this.geometryOf(false, sides, steps);
    this.caps.geometry = this.geometryOf(true, sides, 1);
  }

  dispose(): void {
    for (const geometry of this.cache.values()) geometry.dispose();
  }

  private attributesOf(items: Run[]): Attributes {
    const attribute = (size: number) => new THREE.InstancedBufferAttribute(new Float32Array(size * items.length), size);
    const result = { aElement: attribute(4), aMore: attribute(3), aTint: attribute(3) };
    const { extent } = this;
    const colour = new THREE.Color();
    items.forEach(({ beam, index, e, count, end }, i) => {
      const { width, height, innerRadius } = drawnSection(beam, extent);
      result.aElement.setXYZW(i, beam.firstNode + e, beam.firstElement + e, width / 2, height / 2);
      result.aMore.setXYZ(i, innerRadius, end, count);
      toColor(beamColour(index), colour);
      result.aTint.setXYZ(i, colour.r, colour.g, colour.b);
    });
    return result;
  }

  private geometryOf(isCap: boolean, sides: number, steps: number): THREE.InstancedBufferGeometry {
    const key = `${isCap} ${sides} ${steps}`;
    let geometry = this.cache.get(key);
    if (!geometry) {
      geometry = new THREE.InstancedBufferGeometry();
      const plain = isCap ? repeated(capGeometry(this.section, sides), 1) : repeated(pieceGeometry(this.section, sides, steps), this.run);
      geometry.setIndex(plain.index);
      for (const [name, attribute] of Object.entries(plain.attributes)) geometry.setAttribute(name, attribute);
      for (const [name, attribute] of Object.entries(this.attributes[isCap ? 1 : 0])) geometry.setAttribute(name, attribute);
      geometry.instanceCount = this.counts[isCap ? 1 : 0];
      this.cache.set(key, geometry);
    }
    return geometry;
  }
}

/** Poses of the nodes at one frame, on the card. */
class NodeTexture {
  readonly position: THREE.DataTexture;
  readonly rotation: THREE.DataTexture;
  frame = -1;

  constructor(nodes: number) {
    const height = Math.max(1, Math.ceil(nodes / textureWidth));
    this.position = new THREE.DataTexture(
      new Float32Array(4 * textureWidth * height),
      textureWidth,
      height,
      THREE.RGBAFormat,
      THREE.FloatType,
    );
    this.rotation = new THREE.DataTexture(
      new Int16Array(4 * textureWidth * height),
      textureWidth,
      height,
      THREE.RGBAIntegerFormat,
      THREE.ShortType,
    );
    this.rotation.internalFormat = 'RGBA16I';
    for (const texture of [this.position, this.rotation]) {
      texture.minFilter = texture.magFilter = THREE.NearestFilter;
      texture.needsUpdate = true; // a card needs a texture of the right type even if it is not looked at
    }
  }

  read(film: Film, frame: number): void {
    if (frame === this.frame) return;
    const { position, rotation } = film.poses('nodes', frame);
    const to = this.position.image.data as Float32Array;
    for (let from = 0, at = 0; from < position.length; from += 3, at += 4) {
      to[at] = position[from]!;
      to[at + 1] = position[from + 1]!;
      to[at + 2] = position[from + 2]!;
    }
    (this.rotation.image.data as Int16Array).set(rotation);
    this.position.needsUpdate = this.rotation.needsUpdate = true;
    this.frame = frame;
  }

  dispose(): void {
    this.position.dispose();
    this.rotation.dispose();
  }
}

export class Beams {
  readonly group = new THREE.Group();
  readonly elements: number;
  private readonly batches: SectionBatch[] = [];
  private readonly first: NodeTexture;
  private a: NodeTexture;
  private b: NodeTexture;
  private readonly values: THREE.DataTexture;
  private readonly uniforms: Record<string, THREE.IUniform>;

  constructor(
    private readonly film: Film,
    shared: SharedUniforms,
    firstId: number,
  ) {
    const { beams, channels } = film.header;
    const nodes = channels['nodes']?.items ?? 0;
    [this.first, this.a, this.b] = [new NodeTexture(nodes), new NodeTexture(nodes), new NodeTexture(nodes)];
    const height = Math.max(1, Math.ceil(nodes / textureWidth));
    this.values = new THREE.DataTexture(new Float32Array(textureWidth * height), textureWidth, height, THREE.RedFormat, THREE.FloatType);
    this.values.needsUpdate = true;
    this.uniforms = {
      uTone: { value: 0.6 },
      uColoured: { value: 0 },
      uPositionA: { value: null },
      uPositionB: { value: null },
      uPosition0: { value: this.first.position },
      uRotationA: { value: null },
      uRotationB: { value: null },
      uRotation0: { value: this.first.rotation },
      uValues: { value: this.values },
      uValuesOn: { value: 0 },
      uFraction: { value: 0 },
      uExaggeration: { value: 1 },
      uThickness: { value: 1 },
      uLeast: { value: 0 },
      uFirstId: { value: firstId },
    };
    this.elements = beams.reduce((sum, beam) => sum + Math.max(0, beam.nodes - 1), 0);
    const dress = { shared, own: this.uniforms, vertex: beamVertex };
    const material = dressedMaterial(dress, 'beam');
    const depth = dressedDepthMaterial(dress, 'beam');
    for (const section of ['circle', 'rectangle', 'tube'] as const) {
      const own = beams.map((beam, index) => ({ beam, index })).filter(({ beam }) => beam.section.shape === section);
      if (own.length === 0) continue;
      const batch = new SectionBatch(section, own, material, depth, film.header.extent);
      this.batches.push(batch);
      this.group.add(batch.body, batch.caps);
    }
  }

  /** Needs the frame (and the next) loaded, and frame 0 once. */
  place({ frame, fraction }: Moment, exaggeration: number, thickness: number): void {
    if (this.elements === 0) return;
    this.first.read(this.film, 0);
    if (this.b.frame === frame) [this.a, this.b] = [this.b, this.a];
    this.a.read(this.film, frame);
    if (fraction > 0) this.b.read(this.film, frame + 1);
    const set = (name: string, value: unknown) => (this.uniforms[name]!.value = value);
    set('uPositionA', this.a.position);
    set('uPositionB', this.b.position);
    set('uRotationA', this.a.rotation);
    set('uRotationB', this.b.rotation);
    set('uFraction', fraction);
    set('uExaggeration', exaggeration);
    set('uThickness', thickness);
  }

  /** Values of a field, one number per node or element; null: colours by beam. */
  setValues(on: 'nodes' | 'elements', value: ((item: number) => number) | null): void {
    this.uniforms['uColoured']!.value = value ? 1 : 0;
    this.uniforms['uValuesOn']!.value = !value ? 0 : on === 'nodes' ? 1 : 2;
    if (!value) return;
    const data = this.values.image.data as Float32Array;
    const count = on === 'nodes' ? (this.film.header.channels['nodes']?.items ?? 0) : this.elements;
    for (let i = 0; i < count; ++i) {
      const number = value(i);
      data[i] = Number.isNaN(number) ? unknownValue : number;
    }
    this.values.needsUpdate = true;
  }

  setDetail(pixelsPerMetre: number, thickness: number): void {
    this.uniforms['uLeast']!.value = 0.7 / pixelsPerMetre;
    for (const batch of this.batches) batch.setDetail(pixelsPerMetre, thickness);
  }

  setShadows(on: boolean): void {
    for (const { body, caps } of this.batches) body.castShadow = caps.castShadow = on;
  }

  dispose(): void {
    for (const batch of this.batches) batch.dispose();
    for (const texture of [this.first, this.a, this.b]) texture.dispose();
    this.values.dispose();
  }
}
