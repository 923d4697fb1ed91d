// A dimension line between two points.
import * as THREE from 'three';
import type { FilmHeader, Vec3 } from '../film/header';
import { palettes } from './colours';
import { Labels } from './labels';
import { add, norm, scale, subtract } from './lie';
import { shortNumber } from './numbers';
import { Points } from './points';
import { toColor, type SharedUniforms } from './shading';
import type { Theme } from './stage';

export class Measure {
  readonly group = new THREE.Group();
  readonly labels = new Labels();
  private readonly ends: Points;
  private readonly line: THREE.Line;
  private readonly material = new THREE.LineBasicMaterial({ depthTest: false });
  private points: [Vec3, Vec3] | null = null;
  private theme: Theme = 'light';

  constructor(
    shared: SharedUniforms,
    private readonly header: FilmHeader,
  ) {
    this.ends = new Points(shared);
    this.line = new THREE.Line(new THREE.BufferGeometry(), this.material);
    this.line.frustumCulled = false;
    this.line.renderOrder = 9;
    this.group.add(this.line, this.ends.group, this.labels.group);
    this.group.visible = false;
  }

  /** Absolute points; returns their distance. */
  set(points: [Vec3, Vec3] | null): number {
    this.points = points;
    this.draw();
    return points ? norm(subtract(points[1], points[0])) : 0;
  }

  setTheme(theme: Theme): void {
    this.theme = theme;
    this.draw();
  }

  setPixels(pixels: number): void {
    this.ends.setPixels(pixels);
  }

  dispose(): void {
    this.line.geometry.dispose();
    this.material.dispose();
    this.ends.dispose();
    this.labels.dispose();
  }

  private draw(): void {
    const { points } = this;
    this.group.visible = points !== null;
    this.ends.begin();
    if (points) {
      const { text, background } = palettes[this.theme];
      const [a, b] = points.map((point) => subtract(point, this.header.origin)) as [Vec3, Vec3];
      this.line.geometry.setAttribute('position', new THREE.BufferAttribute(new Float32Array([...a, ...b]), 3));
      toColor(text, this.material.color);
      for (const end of [a, b]) this.ends.add(end, text, 0);
      const label = `${shortNumber(norm(subtract(b, a)))} m`;
      this.labels.set([{ text: label, at: scale(add(a, b), 0.5), colour: text, halo: background, anchor: [0.5, -0.2] }]);
    } else this.labels.set([]);
    this.ends.end(false);
  }
}
