// The grid that gives the scene its scale: on the plates of half-spaces, else below everything; in planar scenes behind it.
import * as THREE from 'three';
import type { FilmHeader, Vec3 } from '../film/header';
import { frontView } from './camera';
import { palettes } from './colours';
import { Labels, type Label } from './labels';
import { add, cross, dot, multiply, rotate, scale } from './lie';
import { roundTicks, shortNumber } from './numbers';
import type { PoseTrack } from './poses';
import { toColor } from './shading';
import { halfSpaces, plateCentre, plateSize } from './solids';
import type { Theme } from './stage';

interface Plane {
  origin: Vec3; // where both coordinates are zero, relative to the film's origin
  axes: [Vec3, Vec3];
  ranges: [[number, number], [number, number]];
  /** Coordinates are those of the inertial frame, and worth a label. */
  names: [string, string] | null;
  /** What of the lines lies in other half-spaces is not drawn. */
  beyond: THREE.Plane[];
}

function ground(header: FilmHeader): Plane {
  const { right, up, toViewer } = frontView(header.up);
  const [low, high] = header.bounds;
  const corners = Array.from({ length: 8 }, (_, i): Vec3 => [i & 1 ? high[0] : low[0], i & 2 ? high[1] : low[1], i & 4 ? high[2] : low[2]]);
  const across: [Vec3, Vec3] = header.planar ? [right.toArray(), up.toArray()] : [right.toArray(), scale(toViewer.toArray(), -1)];
  const normal: Vec3 = header.planar ? toViewer.toArray() : up.toArray();
  const depth = Math.min(...corners.map((corner) => dot(corner, normal))) - (header.planar ? 0.05 : 0.002) * header.extent;
  const ranges = across.map((axis) => {
    const along = corners.map((corner) => dot(corner, axis));
    const [from, to] = [Math.min(...along), Math.max(...along)];
    const margin = Math.max(0.25 * (to - from), 0.2 * header.extent);
    const shift = dot(header.origin, axis);
    return [from - margin + shift, to + margin + shift];
  }) as Plane['ranges'];
  const shifts = across.map((axis) => -dot(header.origin, axis)) as [number, number];
  const origin = add(scale(normal, depth), add(scale(across[0], shifts[0]), scale(across[1], shifts[1])));
  const nameOf = (axis: Vec3) => ['x', 'y', 'z'][axis.findIndex((c) => Math.abs(c) > 0.999)];
  const names = across.map(nameOf);
  const isSigned = across.every((axis) => dot(axis, [1, 1, 1]) > 0);
  return { origin, axes: across, ranges, names: names[0] && names[1] && isSigned ? [names[0], names[1]] : null, beyond: [] };
}

function plates(header: FilmHeader, obstacles: PoseTrack): Plane[] {
  // Clipping planes keep n . x + c > 0.
  const beyond = halfSpaces(header.obstacles, obstacles).map(
    ({ normal, offset }) => new THREE.Plane(new THREE.Vector3(...normal), -offset + 1e-4 * header.extent),
  );
  return header.obstacles.flatMap((obstacle, i) =>
    obstacle.shapes
      .filter((shape) => shape.kind === 'half-space')
      .map((shape): Plane => {
        const pose = obstacles.pose(i);
        const turn = multiply(pose.rotation, shape.rotation);
        const middle = plateCentre(shape, header, pose);
        const { edge } = plateSize(header);
        const at = add(pose.position, rotate(pose.rotation, shape.position));
        const range = (centre: number): [number, number] => [centre - edge / 2, centre + edge / 2];
        return {
          origin: add(at, rotate(turn, [0, 0, 0.0015 * header.extent])),
          axes: [rotate(turn, [1, 0, 0]), rotate(turn, [0, 1, 0])],
          ranges: [range(middle[0]), range(middle[1])],
          names: null,
          beyond,
        };
      }),
  );
}

export class Ground {
  readonly group = new THREE.Group();
  readonly labels = new Labels();
  private readonly planes: Plane[];
  private readonly lines: THREE.Group[] = []; // of each plane
  private readonly isOnPlates: boolean;
  private readonly material = new THREE.LineBasicMaterial({ transparent: true, depthWrite: false });
  private readonly strong = new THREE.LineBasicMaterial({ transparent: true, depthWrite: false });

  constructor(header: FilmHeader, obstacles: PoseTrack) {
    const onPlates = header.planar ? [] : plates(header, obstacles);
    this.isOnPlates = onPlates.length > 0;
    for (const material of [this.material, this.strong]) material.clippingPlanes = onPlates[0]?.beyond ?? [];
    this.planes = onPlates.length > 0 ? onPlates : [ground(header)];
    for (const plane of this.planes) this.addLines(plane);
    this.group.add(this.labels.group);
  }

  setTheme(theme: Theme): void {
    const { faint, text, background } = palettes[theme];
    for (const material of [this.material, this.strong]) toColor(this.isOnPlates ? text : faint, material.color);
    this.material.opacity = this.isOnPlates ? 0.16 : 0.55;
    this.strong.opacity = this.isOnPlates ? 0.35 : 1;
    this.labels.set(this.planes.flatMap((plane) => this.labelsOf(plane, text, background)));
  }

  /** Lines on a plate are seen from its free side only, as the plate is. */
  face(camera: THREE.Camera): void {
    if (!this.isOnPlates) return;
    const away = new THREE.Vector3();
    this.planes.forEach(({ origin, axes }, i) => {
      if (camera instanceof THREE.OrthographicCamera) camera.getWorldDirection(away).negate();
      else away.copy(camera.position).sub(new THREE.Vector3(...origin));
      this.lines[i]!.visible = dot(cross(axes[0], axes[1]), [away.x, away.y, away.z]) > 0;
    });
  }

  /** Cuts the lines too, besides where plates end. */
  cut(planes: THREE.Plane[]): void {
    for (const material of [this.material, this.strong]) material.clippingPlanes = [...(this.planes[0]?.beyond ?? []), ...planes];
  }

  dispose(): void {
    this.labels.dispose();
    this.group.traverse((thing) => {
      if (thing instanceof THREE.LineSegments) thing.geometry.dispose();
    });
  }

  private step({ ranges }: Plane): number {
    const ticks = roundTicks(0, Math.max(...ranges.map(([from, to]) => to - from)), 16);
    return ticks[1]! - ticks[0]!;
  }

  private point({ origin, axes }: Plane, s: number, t: number): Vec3 {
    return add(origin, add(scale(axes[0], s), scale(axes[1], t)));
  }

  private addLines(plane: Plane): void {
    const step = this.step(plane);
    const lines: [Vec3[], Vec3[]] = [[], []];
    for (const axis of [0, 1] as const) {
      const [from, to] = plane.ranges[axis];
      const [low, high] = plane.ranges[1 - axis]!;
      for (let i = Math.ceil(from / step - 1e-9); i * step <= to * (1 + 1e-12) + 1e-9 * step; ++i) {
        const ends = [low, high].map((other) => (axis === 0 ? this.point(plane, i * step, other) : this.point(plane, other, i * step)));
        lines[i % 5 === 0 ? 1 : 0].push(...ends);
      }
    }
    const group = new THREE.Group();
    this.lines.push(group);
    this.group.add(group);
    lines.forEach((points, isStrong) => {
      const geometry = new THREE.BufferGeometry().setAttribute('position', new THREE.BufferAttribute(new Float32Array(points.flat()), 3));
      group.add(new THREE.LineSegments(geometry, isStrong ? this.strong : this.material));
    });
  }

  private labelsOf(plane: Plane, colour: Label['colour'], halo: Label['halo']): Label[] {
    if (!plane.names) return [];
    const step = this.step(plane);
    const [named, others]: [Label[], Label[]] = [[], []]; // those with the names of the axes come first: they are to stay
    for (const axis of [0, 1] as const) {
      const [from, to] = plane.ranges[axis];
      const other = plane.ranges[1 - axis]![axis === 0 ? 0 : 1];
      const every = Math.max(1, Math.ceil((to - from) / step / 5));
      let isFirst = true;
      for (let i = Math.ceil(from / step); i * step <= to; ++i) {
        if (i % every !== 0) continue;
        const at = axis === 0 ? this.point(plane, i * step, other) : this.point(plane, other, i * step);
        const text = shortNumber(i * step);
        const label: Label = { text, at, colour, halo, anchor: [0.5, 1], isHidden: true };
        if (isFirst) named.push({ ...label, text: `${plane.names[axis]} = ${text} m` });
        else others.push(label);
        isFirst = false;
      }
    }
    return [...named, ...others];
  }
}
