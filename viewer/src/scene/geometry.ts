// Triangles of the shapes. A triangle knows which of its edges are drawn; corners that agree in all they know are one vertex.
import * as THREE from 'three';
import type { MeshData, Vec3 } from '../film/header';
import { cross, dot, norm, scale, subtract } from './lie';

type Corner = { at: Vec3; normal: Vec3 };

const distances = [
  [0, 0, 1, 1], // to the edge ab of the corners a b c d
  [1, 0, 0, 1], // bc
  [1, 1, 0, 0], // cd
  [0, 1, 1, 0], // da
];

/** Collects triangles. A corner knows its distance (0 or 1) to each of up to four edges that are drawn; 1 to those that are not. */
export class Triangles {
  private readonly positions: number[] = [];
  private readonly normals: number[] = [];
  private readonly edges: number[] = [];
  private readonly tones: number[] = [];

  /** `drawn`: whether the edge opposite to each corner is drawn. */
  triangle(corners: [Corner, Corner, Corner], drawn: [boolean, boolean, boolean], tone: number): void {
    corners.forEach((corner, i) => {
      const to = drawn.map((isDrawn, k) => (isDrawn && k !== i ? 0 : 1));
      this.corner(corner, [...to, 1], tone);
    });
  }

  /** Corners a b c d in order; drawn: edges ab, bc, cd, da. Both triangles know the edges of all, so that lines have no gaps. */
  quad(a: Corner, b: Corner, c: Corner, d: Corner, drawn: [boolean, boolean, boolean, boolean], tone = 0): void {
    const corners = [a, b, c, d];
    for (const i of [0, 1, 2, 0, 2, 3]) {
      const to = distances.map((distance, edge) => (drawn[edge] ? distance[i]! : 1));
      this.corner(corners[i]!, to, tone);
    }
  }

  /** `more`: further numbers of each corner, in the order in which they were made. */
  geometry(more: Record<string, number[]> = {}): THREE.BufferGeometry {
    const columns: [string, number, number[]][] = [
      ['position', 3, this.positions],
      ['normal', 3, this.normals],
      ['aEdge', 4, this.edges],
      ['aTone', 1, this.tones],
      ...Object.entries(more).map(([name, numbers]): [string, number, number[]] => [name, 1, numbers]),
    ];
    const vertices = new Map<string, number>();
    const kept: number[] = [];
    const index: number[] = [];
    for (let i = 0; i < this.positions.length / 3; ++i) {
      const key = columns
        .map(([, size, numbers]) =>
          numbers
            .slice(size * i, size * (i + 1))
            .map(Math.fround)
            .join(),
        )
        .join();
      let vertex = vertices.get(key);
      if (vertex === undefined) {
        vertex = kept.length;
        vertices.set(key, vertex);
        kept.push(i);
      }
      index.push(vertex);
    }
    const geometry = new THREE.BufferGeometry().setIndex(index);
    for (const [name, size, numbers] of columns) {
      const array = new Float32Array(kept.flatMap((i) => numbers.slice(size * i, size * (i + 1))));
      geometry.setAttribute(name, new THREE.BufferAttribute(array, size));
    }
    return geometry;
  }

  private corner({ at, normal }: Corner, edges: number[], tone: number): void {
    this.positions.push(...at);
    this.normals.push(...normal);
    this.edges.push(...edges);
    this.tones.push(tone);
  }
}

/** A surface of revolution about z: points (radius, z) and normals (radial, axial) along the profile; rings at `ringEdges` are drawn. */
interface ProfilePoint {
  r: number;
  z: number;
  nr: number;
  nz: number;
}

function revolve(triangles: Triangles, profile: ProfilePoint[], segments: number, ringEdges: number[], isChequered = false): void {
  const corner = (p: ProfilePoint, k: number): Corner => {
    const angle = (2 * Math.PI * k) / segments;
    const [c, s] = [Math.cos(angle), Math.sin(angle)];
    return { at: [p.r * c, p.r * s, p.z], normal: [p.nr * c, p.nr * s, p.nz] };
  };
  const quarter = segments / 4;
  for (let i = 0; i + 1 < profile.length; ++i) {
    const [low, high] = [profile[i]!, profile[i + 1]!];
    for (let k = 0; k < segments; ++k) {
      const isOdd = Math.floor(k / quarter) % 2 === 1;
      const tone = isOdd !== (isChequered && low.z + high.z < 0) ? 1 : 0;
      const [startsQuarter, endsQuarter] = [k % quarter === 0, (k + 1) % quarter === 0];
      const [a, b, c, d] = [corner(low, k), corner(low, k + 1), corner(high, k + 1), corner(high, k)];
      const [lowEdge, highEdge] = [ringEdges.includes(i), ringEdges.includes(i + 1)];
      if (high.r === 0) triangles.triangle([a, b, c], [endsQuarter, startsQuarter, lowEdge], tone);
      else if (low.r === 0) triangles.triangle([a, c, d], [highEdge, startsQuarter, endsQuarter], tone);
      else triangles.quad(a, b, c, d, [lowEdge, endsQuarter, highEdge, startsQuarter], tone);
    }
  }
}

const arc = (from: number, to: number, steps: number): ProfilePoint[] =>
  Array.from({ length: steps + 1 }, (_, i) => {
    const angle = from + ((to - from) * i) / steps;
    // Exactly zero on the axis, so that the poles are closed.
    const r = Math.abs(Math.abs(angle) - Math.PI / 2) < 1e-9 ? 0 : Math.cos(angle);
    return { r, z: Math.sin(angle), nr: Math.cos(angle), nz: Math.sin(angle) };
  });

const flat = (fromR: number, toR: number, z: number, nz: number): ProfilePoint[] => [
  { r: fromR, z, nr: 0, nz },
  { r: toR, z, nr: 0, nz },
];

export function sphereGeometry(segments: number): THREE.BufferGeometry {
  const triangles = new Triangles();
  revolve(triangles, arc(-Math.PI / 2, Math.PI / 2, segments / 2), segments, [segments / 4], true);
  return triangles.geometry();
}

/** The half z >= 0 of a ball. */
export function domeGeometry(segments: number): THREE.BufferGeometry {
  const triangles = new Triangles();
  revolve(triangles, arc(0, Math.PI / 2, segments / 4), segments, [0]);
  return triangles.geometry();
}

/** Radius 1, z from -1/2 to 1/2; with both ends, or the side alone. */
export function cylinderGeometry(segments: number, hasEnds: boolean): THREE.BufferGeometry {
  const triangles = new Triangles();
  const side = [-0.5, 0.5].map((z) => ({ r: 1, z, nr: 1, nz: 0 }));
  revolve(triangles, side, segments, hasEnds ? [0, 1] : []);
  if (hasEnds) {
    revolve(triangles, flat(0, 1, -0.5, -1), segments, [1]);
    revolve(triangles, flat(1, 0, 0.5, 1), segments, [0]);
  }
  return triangles.geometry();
}

/** Outer radius 1, z from -1/2 to 1/2. */
export function tubeGeometry(inner: number, segments: number): THREE.BufferGeometry {
  const triangles = new Triangles();
  revolve(
    triangles,
    [-0.5, 0.5].map((z) => ({ r: 1, z, nr: 1, nz: 0 })),
    segments,
    [0, 1],
  );
  revolve(
    triangles,
    [0.5, -0.5].map((z) => ({ r: inner, z, nr: -1, nz: 0 })),
    segments,
    [0, 1],
  );
  revolve(triangles, flat(inner, 1, -0.5, -1), segments, [0, 1]);
  revolve(triangles, flat(1, inner, 0.5, 1), segments, [0, 1]);
  return triangles.geometry();
}

/** Base of radius 1 at z = -1/4, tip at z = 3/4: the centre of mass is the origin. */
export function coneGeometry(segments: number): THREE.BufferGeometry {
  const triangles = new Triangles();
  const slope = Math.SQRT1_2;
  revolve(
    triangles,
    [
      { r: 1, z: -0.25, nr: slope, nz: slope },
      { r: 0, z: 0.75, nr: slope, nz: slope },
    ],
    segments,
    [0],
  );
  revolve(triangles, flat(0, 1, -0.25, -1), segments, [1]);
  return triangles.geometry();
}

/** Edges of length 1. A plate has no face at z = -1/2: from below it is not there. */
export function boxGeometry(isPlate = false): THREE.BufferGeometry {
  const triangles = new Triangles();
  for (let axis = 0; axis < 3; ++axis) {
    for (const side of isPlate && axis === 2 ? [1] : [-1, 1]) {
      const corner = (s: number, t: number): Corner => {
        const at: Vec3 = [0, 0, 0];
        const normal: Vec3 = [0, 0, 0];
        at[axis] = side / 2;
        normal[axis] = side;
        at[(axis + 1) % 3] = (s * side) / 2;
        at[(axis + 2) % 3] = t / 2;
        return { at, normal };
      };
      const all: [boolean, boolean, boolean, boolean] = [true, true, true, true];
      triangles.quad(corner(-1, -1), corner(1, -1), corner(1, 1), corner(-1, 1), all, axis === 0 && side > 0 ? 1 : 0);
    }
  }
  return triangles.geometry();
}

export function decodeMesh(data: MeshData): { vertices: Vec3[]; triangles: [number, number, number][] } {
  const bytes = (text: string) => Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer;
  const numbers = new Float32Array(bytes(data.vertices));
  const indices = new Uint32Array(bytes(data.triangles));
  const vertices = Array.from({ length: numbers.length / 3 }, (_, i) => [...numbers.subarray(3 * i, 3 * i + 3)] as Vec3);
  const triangles = Array.from(
    { length: indices.length / 3 },
    (_, i) => [...indices.subarray(3 * i, 3 * i + 3)] as [number, number, number],
  );
  return { vertices, triangles };
}

/** A mesh: edges are drawn, and normals kept apart, where faces meet at more than 30 degrees or there is but one face. */
export function meshGeometry(data: MeshData): THREE.BufferGeometry {
  const { vertices, triangles } = decodeMesh(data);
  const crease = Math.cos(Math.PI / 6);
  // Vertices at one place are one, whatever the file says.
  const places = new Map<string, number>();
  const same = vertices.map((v, i) => {
    const key = v.join(' ');
    if (!places.has(key)) places.set(key, i);
    return places.get(key)!;
  });
  const faces = triangles.map((corners) => {
    const [a, b, c] = corners.map((i) => vertices[i] ?? [0, 0, 0]) as [Vec3, Vec3, Vec3];
    const area = cross(subtract(b, a), subtract(c, a));
    const size = norm(area);
    return { corners: corners.map((i) => same[i] ?? 0), area, normal: size > 0 ? scale(area, 1 / size) : ([0, 0, 1] as Vec3) };
  });
  const atVertex = new Map<number, number[]>();
  const atEdge = new Map<string, number[]>();
  const edgeKey = (a: number, b: number) => (a < b ? `${a} ${b}` : `${b} ${a}`);
  const note = <K>(map: Map<K, number[]>, key: K, face: number) => {
    const list = map.get(key);
    if (list) list.push(face);
    else map.set(key, [face]);
  };
  faces.forEach(({ corners }, f) =>
    corners.forEach((corner, i) => {
      note(atVertex, corner, f);
      note(atEdge, edgeKey(corner, corners[(i + 1) % 3]!), f);
    }),
  );
  const result = new Triangles();
  for (const { corners, normal } of faces) {
    const points = corners.map((corner) => {
      let sum: Vec3 = [0, 0, 0];
      for (const other of atVertex.get(corner)!) {
        const { normal: n, area } = faces[other]!;
        if (dot(n, normal) > crease) sum = [sum[0] + area[0], sum[1] + area[1], sum[2] + area[2]];
      }
      const size = norm(sum);
      return { at: vertices[corner]!, normal: size > 0 ? scale(sum, 1 / size) : normal };
    });
    const drawn = [1, 2, 0].map((i) => {
      const around = atEdge.get(edgeKey(corners[i]!, corners[(i + 1) % 3]!))!;
      return around.length !== 2 || dot(faces[around[0]!]!.normal, faces[around[1]!]!.normal) < crease;
    });
    result.triangle(points as [Corner, Corner, Corner], drawn as [boolean, boolean, boolean], 0);
  }
  return result.geometry();
}

/** Corners in the plane x, y, counter-clockwise, and the outward normals of the sides that start in them. */
function outline(corners: Vec3[]): { points: THREE.Vector2[]; normals: THREE.Vector2[] } {
  const points = corners.map(([x, y]) => new THREE.Vector2(x, y));
  if (THREE.ShapeUtils.area(points) < 0) points.reverse();
  const normals = points.map((point, i) => {
    const along = points[(i + 1) % points.length]!.clone().sub(point).normalize();
    return new THREE.Vector2(along.y, -along.x);
  });
  return { points, normals };
}

const allDrawn: [boolean, boolean, boolean, boolean] = [true, true, true, true];

/** A polygon given thickness: z from -1/2 to 1/2. */
export function polygonGeometry(corners: Vec3[]): THREE.BufferGeometry {
  const { points, normals } = outline(corners);
  const triangles = new Triangles();
  const count = points.length;
  const at = (i: number, z: number, normal: Vec3): Corner => ({ at: [points[i]!.x, points[i]!.y, z], normal });
  for (let i = 0; i < count; ++i) {
    const j = (i + 1) % count;
    const normal: Vec3 = [normals[i]!.x, normals[i]!.y, 0];
    triangles.quad(at(i, -0.5, normal), at(j, -0.5, normal), at(j, 0.5, normal), at(i, 0.5, normal), allDrawn);
  }
  const isSide = (i: number, j: number) => (i + 1) % count === j || (j + 1) % count === i;
  for (const face of THREE.ShapeUtils.triangulateShape(points, [])) {
    const [a, b, c] = face as [number, number, number];
    for (const side of [-1, 1] as const) {
      const [p, q] = side > 0 ? [b, c] : [c, b];
      const normal: Vec3 = [0, 0, side];
      triangles.triangle(
        [at(a, side / 2, normal), at(p, side / 2, normal), at(q, side / 2, normal)],
        [isSide(p, q), isSide(q, a), isSide(a, p)],
        0,
      );
    }
  }
  return triangles.geometry();
}

/** A rim of this width about a polygon: z from -1/2 to 1/2. */
export function rimGeometry(corners: Vec3[], width: number): THREE.BufferGeometry {
  const { points, normals } = outline(corners);
  const triangles = new Triangles();
  const count = points.length;
  const outer = points.map((point, i) => {
    const [before, after] = [normals[(i + count - 1) % count]!, normals[i]!];
    return point.clone().addScaledVector(before.clone().add(after), width / Math.max(0.2, 1 + before.dot(after)));
  });
  const at = (list: THREE.Vector2[], i: number, z: number, normal: Vec3): Corner => ({ at: [list[i]!.x, list[i]!.y, z], normal });
  for (let i = 0; i < count; ++i) {
    const j = (i + 1) % count;
    const n: Vec3 = [normals[i]!.x, normals[i]!.y, 0];
    const inwards: Vec3 = [-n[0], -n[1], 0];
    triangles.quad(at(outer, i, -0.5, n), at(outer, j, -0.5, n), at(outer, j, 0.5, n), at(outer, i, 0.5, n), allDrawn);
    triangles.quad(
      at(points, j, -0.5, inwards),
      at(points, i, -0.5, inwards),
      at(points, i, 0.5, inwards),
      at(points, j, 0.5, inwards),
      allDrawn,
    );
    const [up, down]: [Vec3, Vec3] = [
      [0, 0, 1],
      [0, 0, -1],
    ];
    const alongOnly: [boolean, boolean, boolean, boolean] = [true, false, true, false];
    triangles.quad(at(points, j, 0.5, up), at(points, i, 0.5, up), at(outer, i, 0.5, up), at(outer, j, 0.5, up), alongOnly);
    triangles.quad(at(points, i, -0.5, down), at(points, j, -0.5, down), at(outer, j, -0.5, down), at(outer, i, -0.5, down), alongOnly);
  }
  return triangles.geometry();
}
