// Bodies and obstacles: one instanced mesh per geometry; sizes are scales of unit shapes, so that a thousand balls of all sizes are one mesh.
import * as THREE from "three";
import type { FilmHeader, ShapeData, Vec3 } from "../film/header";
import { bodyColour, palettes } from "./colours";
import * as shapes from "./geometry";
import {
  add,
  conjugate,
  dot,
  multiply,
  norm,
  rotate,
  scale,
  subtract,
  type Pose,
  type Quat,
} from "./lie";
import type { PoseTrack } from "./poses";
import {
  dressedMaterial,
  makePlateUniforms,
  mostPlates,
  plateVertex,
  solidVertex,
  toColor,
  unknownValue,
  type SharedUniforms,
} from "./shading";

interface Piece {
  geometry: string; // key of a unit geometry
  scale: Vec3;
  position: Vec3; // in the part
  rotation: Quat;
}

interface Instance extends Piece {
  part: number;
}

type MakeGeometry = (segments: number) => THREE.BufferGeometry;

/** Segments about the axis of round shapes, from near to far. */
const levels = [64, 32, 16, 8, 4];

/** One mesh: all pieces with one geometry. */
class Batch {
  readonly mesh: THREE.InstancedMesh;
  readonly values: THREE.InstancedBufferAttribute;
  private readonly tints: THREE.InstancedBufferAttribute;
  private readonly local: Float32Array; // [pieces][12]: columns of rotation times scale, position
  private readonly radius: number;
  private readonly geometries: (THREE.BufferGeometry | undefined)[] = [];
  private readonly ids: THREE.InstancedBufferAttribute;
  private level = -1;

  constructor(
    private readonly pieces: Instance[],
    private readonly make: MakeGeometry,
    private readonly isRound: boolean,
    material: THREE.Material,
    firstId: number,
  ) {
    const count = pieces.length;
    this.values = new THREE.InstancedBufferAttribute(
      new Float32Array(count).fill(unknownValue),
      1,
    );
    this.tints = new THREE.InstancedBufferAttribute(
      new Float32Array(3 * count),
      3,
    );
    this.ids = new THREE.InstancedBufferAttribute(new Float32Array(count), 1);
    this.local = new Float32Array(12 * count);
    pieces.forEach((piece, i) => {
      this.ids.setX(i, firstId + piece.part);
      const columns = ([0, 1, 2] as const).map((axis) => {
        const unit: Vec3 = [0, 0, 0];
        unit[axis] = piece.scale[axis];
        return rotate(piece.rotation, unit);
      });
      this.local.set([...columns.flat(), ...piece.position], 12 * i);
    });
    this.radius = Math.max(...pieces.map((piece) => Math.max(...piece.scale)));
    this.mesh = new THREE.InstancedMesh(
      this.geometryOf(levels.length - 1),
      material,
      count,
    );
    this.mesh.frustumCulled = false;
    this.mesh.instanceMatrix.setUsage(THREE.DynamicDrawUsage);
  }

  /** Fewer segments for shapes that are small in the picture, or many. */
  setDetail(pixelsPerMetre: number): void {
    if (!this.isRound) return this.setLevel(0);
    const pixels = this.radius * pixelsPerMetre;
    let level =
      pixels > 120
        ? 0
        : pixels > 30
          ? 1
          : pixels > 8
            ? 2
            : pixels > 2.5
              ? 3
              : 4;
    while (
      level < levels.length - 1 &&
      this.pieces.length * levels[level]! ** 2 > 6e6
    )
      ++level;
    this.setLevel(level);
  }

  paint(tint: (part: number) => THREE.Color): void {
    this.pieces.forEach(({ part }, i) =>
      this.tints.setXYZ(i, ...(tint(part).toArray() as Vec3)),
    );
    this.tints.needsUpdate = true;
  }

  setValues(values: (part: number) => number): void {
    this.pieces.forEach(({ part }, i) => {
      const value = values(part);
      this.values.setX(i, Number.isNaN(value) ? unknownValue : value);
    });
    this.values.needsUpdate = true;
  }

  place(track: PoseTrack): void {
    const { local } = this;
    const { position, rotation } = track;
    const matrices = this.mesh.instanceMatrix.array as Float32Array;
    for (let i = 0; i < this.pieces.length; ++i) {
      const part = this.pieces[i]!.part;
      let [w, x, y, z] = [
        rotation[4 * part]!,
        rotation[4 * part + 1]!,
        rotation[4 * part + 2]!,
        rotation[4 * part + 3]!,
      ];
      const s = 2 / (w * w + x * x + y * y + z * z || 1);
      const r00 = 1 - s * (y * y + z * z),
        r01 = s * (x * y - w * z),
        r02 = s * (x * z + w * y);
      const r10 = s * (x * y + w * z),
        r11 = 1 - s * (x * x + z * z),
        r12 = s * (y * z - w * x);
      const r20 = s * (x * z - w * y),
        r21 = s * (y * z + w * x),
        r22 = 1 - s * (x * x + y * y);
      for (let column = 0; column < 4; ++column) {
        const from = 12 * i + 3 * column;
        const to = 16 * i + 4 * column;
        const a = local[from]!,
          b = local[from + 1]!,
          c = local[from + 2]!;
        matrices[to] = r00 * a + r01 * b + r02 * c;
        matrices[to + 1] = r10 * a + r11 * b + r12 * c;
        matrices[to + 2] = r20 * a + r21 * b + r22 * c;
        matrices[to + 3] = 0;
      }
      const to = 16 * i + 12;
      matrices[to]! += position[3 * part]!;
      matrices[to + 1]! += position[3 * part + 1]!;
      matrices[to + 2]! += position[3 * part + 2]!;
      matrices[to + 3] = 1;
    }
    this.mesh.instanceMatrix.needsUpdate = true;
  }

  dispose(): void {
    this.geometries.forEach((geometry) => geometry?.dispose());
    this.mesh.dispose();
  }

  private setLevel(level: number): void {
    if (level === this.level) return;
    this.level = level;
    this.mesh.geometry = this.geometryOf(level);
  }

  private geometryOf(level: number): THREE.BufferGeometry {
    let geometry = this.geometries[level];
    if (!geometry) {
      geometry = this.make(levels[level]!);
      geometry.setAttribute("aTint", this.tints);
      geometry.setAttribute("aValue", this.values);
      geometry.setAttribute("aId", this.ids);
      this.geometries[level] = geometry;
    }
    return geometry;
  }
}

const planarThickness = (header: FilmHeader, radius: number) =>
  Math.min(0.03 * header.extent, 0.3 * radius);
const isPlanarShape = ({ kind }: ShapeData) =>
  kind === "disc" || kind === "polygon";

const polygonCorners = (header: FilmHeader, mesh: number): Vec3[] => {
  const data = header.meshes[mesh];
  return data ? shapes.decodeMesh(data).vertices : [];
};
const polygonRadius = (header: FilmHeader, mesh: number) =>
  Math.max(0, ...polygonCorners(header, mesh).map(norm));

/** A body without a shape is a small ball, so that it is seen. */
const signOfMass = (header: FilmHeader): ShapeData => ({
  kind: "sphere",
  size: [0.008 * header.extent],
  hollow: false,
  position: [0, 0, 0],
  rotation: [1, 0, 0, 0],
  mesh: -1,
});

/** Edge and thickness [m] of the plate that stands for a half-space. */
export function plateSize(header: FilmHeader): {
  edge: number;
  depth: number;
  thickness: number;
} {
  const diagonal = norm(subtract(header.bounds[1], header.bounds[0]));
  const edge = 1.6 * Math.max(header.extent, diagonal);
  return header.planar
    ? { edge, depth: 0.06 * edge, thickness: 0.06 * edge }
    : { edge, depth: edge, thickness: 0.012 * edge };
}

/** The half-spaces n . x <= d of these parts, relative to the origin; no more than the card can be told. */
export function halfSpaces(
  parts: FilmHeader["obstacles"],
  track: PoseTrack,
): { normal: Vec3; offset: number }[] {
  const all = parts.flatMap(({ shapes: own }, i) =>
    own
      .filter(({ kind }) => kind === "half-space")
      .map((shape) => {
        const { position, rotation } = track.pose(i);
        const normal = rotate(multiply(rotation, shape.rotation), [0, 0, 1]);
        return {
          normal,
          offset: dot(normal, add(position, rotate(rotation, shape.position))),
        };
      }),
  );
  return all.slice(0, mostPlates);
}

/** Middle of the plate of a half-space on its plane, below the middle of the scene, in the frame of the shape. */
export function plateCentre(
  shape: ShapeData,
  header: FilmHeader,
  start: Pose,
): Vec3 {
  const middle = scale(add(header.bounds[0], header.bounds[1]), 0.5);
  const inPart = rotate(
    conjugate(start.rotation),
    subtract(middle, start.position),
  );
  const [x, y] = rotate(
    conjugate(shape.rotation),
    subtract(inPart, shape.position),
  );
  return [x, y, 0];
}

/** What stands for a shape: pieces of unit geometries. `start` is the pose of the part in the first frame. */
function piecesOf(shape: ShapeData, header: FilmHeader, start: Pose): Piece[] {
  const [a = 1, b = 1, c = 1] = shape.size;
  const base = { position: shape.position, rotation: shape.rotation };
  // Planar shapes get a thickness behind their plane, so that contacts in the plane are seen.
  const thickness = planarThickness(
    header,
    shape.kind === "polygon" ? polygonRadius(header, shape.mesh) : a,
  );
  const one = (geometry: string, size: Vec3): Piece[] => [
    { ...base, geometry, scale: size },
  ];
  const shifted = (piece: Piece, offset: Vec3, turn: Quat): Piece => ({
    ...piece,
    position: add(shape.position, rotate(shape.rotation, offset)),
    rotation: multiply(shape.rotation, turn),
  });
  switch (shape.kind) {
    case "sphere":
      return one("sphere", [a, a, a]);
    case "ellipsoid":
      return one("sphere", [a, b, c]);
    case "box":
      return one("box", [a, b, c]);
    case "cylinder":
      return one("cylinder", [a, a, b]);
    case "tube":
      return one(`tube ${(b / a).toFixed(3)}`, [a, a, c]);
    case "cone":
      return one("cone", [a, a, b]);
    case "disc": {
      // A hollow disc is a rim about the space in which others move.
      const outer = shape.hollow ? a + thickness : a;
      const piece = {
        ...base,
        geometry: shape.hollow ? `tube ${(a / outer).toFixed(3)}` : "cylinder",
        scale: [outer, outer, thickness] as Vec3,
      };
      return [shifted(piece, [0, 0, -thickness / 2], [1, 0, 0, 0])];
    }
    case "capsule": {
      const dome: Piece = { ...base, geometry: "dome", scale: [a, a, a] };
      return [
        { ...base, geometry: "side", scale: [a, a, b] },
        shifted(dome, [0, 0, b / 2], [1, 0, 0, 0]),
        shifted(dome, [0, 0, -b / 2], [0, 1, 0, 0]),
      ];
    }
    case "polygon":
      return [
        shifted(
          {
            ...base,
            geometry: `polygon ${shape.mesh} ${shape.hollow ? "rim" : "full"}`,
            scale: [1, 1, thickness],
          },
          [0, 0, -thickness / 2],
          [1, 0, 0, 0],
        ),
      ];
    case "mesh":
      return one(`mesh ${shape.mesh}`, [1, 1, 1]);
    case "half-space":
      return [halfSpacePiece(shape, header, start)];
  }
}

function halfSpacePiece(
  shape: ShapeData,
  header: FilmHeader,
  start: Pose,
): Piece {
  const { edge, depth, thickness } = plateSize(header);
  // In a planar scene the plate is seen from its side: it is shallow along the direction that is seen along.
  const axis = rotate(
    conjugate(multiply(start.rotation, shape.rotation)),
    [0, 0, 1],
  );
  const behind = header.planar ? scale(axis, -depth / 2) : ([0, 0, 0] as Vec3);
  const middle = add(
    plateCentre(shape, header, start),
    add(behind, [0, 0, -thickness / 2]),
  );
  const size: Vec3 =
    Math.abs(axis[0]) > Math.abs(axis[1])
      ? [depth, edge, thickness]
      : [edge, depth, thickness];
  return {
    geometry: "plate",
    scale: size,
    position: add(shape.position, rotate(shape.rotation, middle)),
    rotation: shape.rotation,
  };
}

function geometryMaker(
  key: string,
  header: FilmHeader,
): { make: MakeGeometry; isRound: boolean } {
  const [kind, first, second] = key.split(" ");
  const still = (geometry: () => THREE.BufferGeometry) => ({
    make: geometry,
    isRound: false,
  });
  const round = (make: MakeGeometry) => ({ make, isRound: true });
  switch (kind) {
    case "sphere":
      return round(shapes.sphereGeometry);
    case "dome":
      return round(shapes.domeGeometry);
    case "cylinder":
      return round((segments) => shapes.cylinderGeometry(segments, true));
    case "side":
      return round((segments) => shapes.cylinderGeometry(segments, false));
    case "cone":
      return round(shapes.coneGeometry);
    case "tube":
      return round((segments) => shapes.tubeGeometry(Number(first), segments));
    case "polygon": {
      const corners = polygonCorners(header, Number(first));
      const width = planarThickness(
        header,
        polygonRadius(header, Number(first)),
      );
      return still(() =>
        second === "full"
          ? shapes.polygonGeometry(corners)
          : shapes.rimGeometry(corners, width),
      );
    }
    case "mesh": {
      const mesh = header.meshes[Number(first)];
      return still(() =>
        mesh ? shapes.meshGeometry(mesh) : new THREE.BufferGeometry(),
      );
    }
    case "plate":
      return still(() => shapes.boxGeometry(true));
    default:
      return still(() => shapes.boxGeometry());
  }
}

/** What holds others inside is looked through: hollow balls, and tubes that stand still. */
function wayOf(
  shape: ShapeData,
  kind: "bodies" | "obstacles",
): "plate" | "hollow" | "solid" {
  if (shape.kind === "half-space") return "plate";
  const holds =
    (shape.hollow && !isPlanarShape(shape)) ||
    (shape.kind === "tube" && kind === "obstacles");
  return holds ? "hollow" : "solid";
}

export class Solids {
  readonly group = new THREE.Group();
  readonly count: number;
  private readonly batches: Batch[] = [];
  private readonly coloured = { value: 0 };
  private readonly plates = makePlateUniforms();

  constructor(
    private readonly header: FilmHeader,
    private readonly kind: "bodies" | "obstacles",
    shared: SharedUniforms,
    firstId: number,
    start: PoseTrack,
  ) {
    const parts = header[kind];
    this.count = parts.length;
    const byKey = new Map<string, Instance[]>();
    parts.forEach((part, index) => {
      const own =
        part.shapes.length === 0 && kind === "bodies"
          ? [signOfMass(header)]
          : part.shapes;
      for (const shape of own) {
        for (const piece of piecesOf(shape, header, start.pose(index))) {
          const key = `${wayOf(shape, kind)}|${piece.geometry}`;
          const list = byKey.get(key) ?? [];
          list.push({ ...piece, part: index });
          byKey.set(key, list);
        }
      }
    });
    const dress = {
      shared,
      own: { uTone: { value: 0.86 }, uColoured: this.coloured },
      vertex: solidVertex,
    };
    const solid = dressedMaterial(dress, "solid");
    const hollow = dressedMaterial({ ...dress, isTransparent: true }, "solid");
    const plate = dressedMaterial(
      {
        ...dress,
        own: { ...dress.own, ...this.plates },
        vertex: plateVertex(),
        isPlate: true,
      },
      "plate",
    );
    const materials: Record<string, THREE.Material> = { solid, hollow, plate };
    for (const [key, instances] of byKey) {
      const [way, geometry] = key.split("|") as [string, string];
      const { make, isRound } = geometryMaker(geometry, header);
      const batch = new Batch(
        instances,
        make,
        isRound,
        materials[way]!,
        firstId,
      );
      batch.mesh.layers.enable(way === "hollow" ? 2 : 1);
      batch.mesh.castShadow = way === "solid";
      batch.mesh.receiveShadow = way !== "hollow";
      batch.mesh.renderOrder = way === "hollow" ? 2 : 0;
      this.batches.push(batch);
      this.group.add(batch.mesh);
    }
    this.setTheme("light");
  }

  setTheme(theme: "light" | "dark"): void {
    const colour = new THREE.Color();
    for (const batch of this.batches) {
      batch.paint((part) =>
        toColor(
          this.kind === "bodies" ? bodyColour(part) : palettes[theme].obstacle,
          colour,
        ),
      );
    }
  }

  place(track: PoseTrack): void {
    for (const batch of this.batches) batch.place(track);
    const planes = halfSpaces(this.header[this.kind], track);
    this.plates.uPlateCount.value = planes.length;
    this.plates.uPlateThickness.value = plateSize(this.header).thickness * 1.01;
    planes.forEach(({ normal, offset }, i) =>
      this.plates.uPlates.value[i]!.set(...normal, offset),
    );
  }

  setDetail(pixelsPerMetre: number): void {
    for (const batch of this.batches) batch.setDetail(pixelsPerMetre);
  }

  /** Values of a field by part; null: colours by part. */
  setValues(values: ((part: number) => number) | null): void {
    this.coloured.value = values ? 1 : 0;
    if (values) for (const batch of this.batches) batch.setValues(values);
  }

  dispose(): void {
    for (const batch of this.batches) batch.dispose();
  }
}
