// What is drawn about the things: contacts and their forces, markers, directors, joints and reactions.
import * as THREE from 'three';
import type { Film, NumberFrame } from '../film/film';
import type { FieldInfo, FilmHeader, Vec3 } from '../film/header';
import { arrowGeometry, coilGeometry, rodGeometry, Spans, spindleGeometry } from './spans';
import { axisColours, palettes, type Rgb } from './colours';
import { boxGeometry, cylinderGeometry, sphereGeometry } from './geometry';
import type { Identities } from './identity';
import { subtract } from './lie';
import { Points } from './points';
import type { PoseTrack } from './poses';
import { dressedMaterial, solidVertex, toColor, type SharedUniforms } from './shading';
import type { Layer, Theme } from './stage';

const statusColours: Record<Theme, Rgb[]> = {
  light: [
    [0.62, 0.66, 0.7],
    [0, 0.45, 0.7],
    [0.84, 0.37, 0],
  ],
  dark: [
    [0.5, 0.54, 0.58],
    [0.34, 0.71, 0.91],
    [1, 0.62, 0.2],
  ],
};

/** Length of an arrow for the largest force that was seen, in parts of the model's extent. */
const longest = 0.14;

/** The largest norm of three columns from `column` on, over frames that are looked at evenly. */
export async function largestNorm(film: Film, channel: string, column: number, samples = 24): Promise<number> {
  const columns = film.header.channels[channel]?.columns.length ?? 0;
  if (columns === 0) return 0;
  const step = Math.max(1, Math.floor(film.frames / samples));
  let most = 0;
  for (let frame = film.frames - 1; frame >= 0; frame -= step) {
    await film.load(frame, [channel]);
    const { values, count } = film.numbers(channel, frame);
    for (let i = 0, at = column; i < count; ++i, at += columns) {
      const size = Math.hypot(values[at]!, values[at + 1]!, values[at + 2]!);
      if (size > most && Number.isFinite(size)) most = size;
    }
  }
  return most;
}

export interface ContactLook {
  theme: Theme;
  has: (layer: Layer) => boolean;
  metresPerNewton: number;
  moved: ((line: Float32Array) => Vec3) | null;
}

export class Contacts {
  readonly points: Points;
  readonly forces: Spans;
  private readonly columns: number;

  constructor(
    private readonly header: FilmHeader,
    shared: SharedUniforms,
    private readonly firstId: number,
  ) {
    this.points = new Points(shared);
    this.forces = new Spans(shared, arrowGeometry(1));
    this.columns = header.channels['contacts']?.columns.length ?? 0;
  }

  /** `moved` gives where a contact is drawn when displacements are enlarged. */
  place(lines: NumberFrame | null, field: FieldInfo | null, look: ContactLook): void {
    const { theme, has, metresPerNewton, moved } = look;
    this.points.begin();
    this.forces.begin();
    const count = lines?.count ?? 0;
    const column = field?.on === 'contacts' && field.channel === 'contacts' ? field.column : -1;
    for (let i = 0; i < count; ++i) {
      const line = lines!.values.subarray(i * this.columns, (i + 1) * this.columns);
      const at = moved ? moved(line) : line;
      const colour = statusColours[theme][line[11]!] ?? palettes[theme].contact;
      if (has('contacts')) this.points.add(at, colour, this.firstId + i, column >= 0 ? line[column] : NaN);
      if (has('forces') && metresPerNewton > 0) {
        const vector = [line[6]! * metresPerNewton, line[7]! * metresPerNewton, line[8]! * metresPerNewton];
        this.forces.add(at, vector, palettes[theme].force);
      }
    }
    this.points.end(column >= 0);
    this.forces.end((count > 3000 ? 0.004 : 0.009) * this.header.extent);
  }

  setPixels(ratio: number): void {
    this.points.setPixels(ratio * 8);
  }

  dispose(): void {
    this.points.dispose();
    this.forces.dispose();
  }
}

/** The three directors of markers, bodies and nodes. */
export class Frames {
  readonly arrows: Spans;

  constructor(
    private readonly film: Film,
    shared: SharedUniforms,
  ) {
    this.arrows = new Spans(shared, arrowGeometry(1));
  }

  place(isVisible: boolean, tracks: PoseTrack[], nodes: PoseTrack): void {
    this.arrows.begin();
    const { extent } = this.film.header;
    if (isVisible) {
      for (const track of tracks) this.add(track, 0.05 * extent, 1);
      this.add(nodes, 0.035 * extent, Math.ceil(nodes.count / 600));
    }
    this.arrows.end(0.006 * extent);
  }

  private add(track: PoseTrack, length: number, step: number): void {
    for (let i = 0; i < track.count; i += step) {
      const [w, x, y, z] = track.pose(i).rotation;
      const at = track.point(i);
      const directors = [
        [1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)],
        [2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)],
        [2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)],
      ];
      directors.forEach((d, k) =>
        this.arrows.add(
          at,
          d.map((c) => c * length),
          axisColours[k]!,
        ),
      );
    }
  }
}

type Symbol = 'pin' | 'slide' | 'block' | 'ball' | 'plate';

/** The axis of a joint is its third director. */
export function symbolOf(kind: string): Symbol {
  const word = kind.toLowerCase();
  if (/spherical|universal/.test(word)) return 'ball';
  if (/revolute|rotation|screw|angle|cylindrical/.test(word)) return 'pin';
  if (/prismatic|translation|length/.test(word)) return 'slide';
  if (/planar/.test(word)) return 'plate';
  return 'block';
}

const symbolSizes: Record<Symbol, [number, number, number]> = {
  pin: [0.011, 0.011, 0.045],
  slide: [0.014, 0.014, 0.05],
  block: [0.022, 0.022, 0.022],
  ball: [0.012, 0.012, 0.012],
  plate: [0.025, 0.025, 0.006],
};

/** Joints as small symbols that shine through what hides them. */
export class Joints {
  readonly group = new THREE.Group();
  private readonly meshes: { mesh: THREE.InstancedMesh; joints: number[]; size: [number, number, number] }[] = [];
  private readonly tint: THREE.InstancedBufferAttribute[] = [];

  constructor(
    private readonly header: FilmHeader,
    shared: SharedUniforms,
    firstId: number,
  ) {
    const dress = { shared, own: { uTone: { value: 0.9 }, uColoured: { value: 0 } }, vertex: solidVertex };
    const near = dressedMaterial(dress, 'solid');
    const hidden = dressedMaterial({ ...dress, isTransparent: true }, 'solid');
    hidden.depthFunc = THREE.GreaterDepth;
    hidden.opacity = 0.35;
    for (const symbol of Object.keys(symbolSizes) as Symbol[]) {
      const joints = header.joints.flatMap(({ kind }, i) => (kind !== 'distance' && symbolOf(kind) === symbol ? [i] : []));
      if (joints.length === 0) continue;
      const isRound = symbol === 'pin' || symbol === 'plate';
      const geometry = symbol === 'ball' ? sphereGeometry(16) : isRound ? cylinderGeometry(24, true) : boxGeometry();
      const tints = new THREE.InstancedBufferAttribute(new Float32Array(3 * joints.length), 3);
      geometry.setAttribute('aTint', tints);
      geometry.setAttribute('aValue', new THREE.InstancedBufferAttribute(new Float32Array(joints.length), 1));
      geometry.setAttribute('aId', new THREE.InstancedBufferAttribute(new Float32Array(joints.map((i) => firstId + i)), 1));
      this.tint.push(tints);
      for (const material of [near, hidden]) {
        const mesh = new THREE.InstancedMesh(geometry, material, joints.length);
        mesh.frustumCulled = false;
        mesh.renderOrder = material === hidden ? 3 : 0;
        if (material === near) mesh.layers.enable(1);
        this.meshes.push({ mesh, joints, size: symbolSizes[symbol] });
        this.group.add(mesh);
      }
    }
  }

  setTheme(theme: Theme): void {
    const colour = toColor(palettes[theme].joint);
    for (const tints of this.tint) {
      for (let i = 0; i < tints.count; ++i) tints.setXYZ(i, colour.r, colour.g, colour.b);
      tints.needsUpdate = true;
    }
  }

  place(track: PoseTrack): void {
    const [matrix, position, turn, size] = [new THREE.Matrix4(), new THREE.Vector3(), new THREE.Quaternion(), new THREE.Vector3()];
    const metres = (0.8 * this.header.extent) / Math.max(1, Math.sqrt(track.count / 8)); // many joints are drawn smaller
    for (const { mesh, joints, size: parts } of this.meshes) {
      size.set(...parts).multiplyScalar(metres);
      joints.forEach((joint, i) => {
        const pose = track.pose(joint);
        const [w, x, y, z] = pose.rotation;
        mesh.setMatrixAt(i, matrix.compose(position.set(...pose.position), turn.set(x, y, z, w), size));
      });
      mesh.instanceMatrix.needsUpdate = true;
    }
  }

  dispose(): void {
    for (const { mesh } of this.meshes) {
      mesh.geometry.dispose();
      mesh.dispose();
    }
  }
}

/** Width of links in parts of the model's extent. */
const linkWidths = { distance: 0.0025, spring: 0.009, cable: 0.0015, muscle: 0.014, guide: 0.0015 };
type LinkKind = keyof typeof linkWidths;

/** Springs as coils, joints that hold a distance as rods, cables and guides as thin ones, muscles as spindles. */
export class Links {
  readonly group = new THREE.Group();
  private readonly spans: Record<LinkKind, Spans>;

  constructor(
    private readonly header: FilmHeader,
    shared: SharedUniforms,
  ) {
    const rod = rodGeometry();
    this.spans = {
      distance: new Spans(shared, rod),
      spring: new Spans(shared, coilGeometry()),
      cable: new Spans(shared, rod),
      muscle: new Spans(shared, spindleGeometry()),
      guide: new Spans(shared, rod),
    };
    this.group.add(...Object.values(this.spans).map(({ mesh }) => mesh));
  }

  place(ends: PoseTrack | null, theme: Theme): void {
    const { link, muscle } = palettes[theme];
    for (const spans of Object.values(this.spans)) spans.begin();
    this.header.links.forEach(({ kind }, i) => {
      if (!ends) return;
      const foot = ends.point(2 * i);
      this.spans[kind].add(foot, subtract(ends.point(2 * i + 1), foot), kind === 'muscle' ? muscle : link);
    });
    for (const [kind, spans] of Object.entries(this.spans)) spans.end(linkWidths[kind as LinkKind] * this.header.extent);
  }

  dispose(): void {
    for (const spans of Object.values(this.spans)) spans.dispose();
  }
}

/** Reaction forces (one head) and moments (two heads) of joints. */
export class Reactions {
  readonly group = new THREE.Group();
  private readonly forces: Spans;
  private readonly moments: Spans;

  constructor(
    private readonly header: FilmHeader,
    shared: SharedUniforms,
  ) {
    this.forces = new Spans(shared, arrowGeometry(1));
    this.moments = new Spans(shared, arrowGeometry(2));
    this.group.add(this.forces.mesh, this.moments.mesh);
  }

  place(reactions: NumberFrame | null, joints: PoseTrack, theme: Theme, perForce: number, perMoment: number): void {
    this.forces.begin();
    this.moments.begin();
    if (reactions) {
      for (let i = 0; i < joints.count; ++i) {
        const at = joints.point(i);
        const [fx, fy, fz, mx, my, mz] = reactions.values.subarray(6 * i, 6 * i + 6);
        this.forces.add(at, [fx! * perForce, fy! * perForce, fz! * perForce], palettes[theme].reaction);
        this.moments.add(at, [mx! * perMoment, my! * perMoment, mz! * perMoment], palettes[theme].moment);
      }
    }
    for (const arrows of [this.forces, this.moments]) arrows.end(0.01 * this.header.extent);
  }

  dispose(): void {
    this.forces.dispose();
    this.moments.dispose();
  }
}

/** Metres of arrow per unit of what it stands for. */
export const arrowScale = (most: number, extent: number, factor: number): number => (most > 0 ? (longest * extent * factor) / most : 0);

export class Markers {
  readonly points: Points;

  constructor(
    shared: SharedUniforms,
    private readonly identities: Identities,
  ) {
    this.points = new Points(shared);
  }

  place(isVisible: boolean, track: PoseTrack, theme: Theme): void {
    this.points.begin();
    if (isVisible)
      for (let i = 0; i < track.count; ++i) this.points.add(track.point(i), palettes[theme].marker, this.identities.markers + i);
    this.points.end(false);
  }
}
