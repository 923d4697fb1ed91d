// Sheets: meshes whose vertices move from frame to frame.
import * as THREE from 'three';
import type { Film } from '../film/film';
import type { ShellData } from '../film/header';
import { beamColour } from './colours';
import type { Moment } from './poses';
import { dressedDepthMaterial, dressedMaterial, solidVertex, unknownValue, type SharedUniforms } from './shading';

/** Two triangles for each face of a mesh of vertices row by row. */
export function sheetTriangles({ rows, columns }: Pick<ShellData, 'rows' | 'columns'>): number[] {
  const triangles: number[] = [];
  for (let row = 0; row < rows; ++row) {
    for (let column = 0; column < columns; ++column) {
      const a = row * (columns + 1) + column;
      const b = a + columns + 1;
      triangles.push(a, a + 1, b + 1, a, b + 1, b);
    }
  }
  return triangles;
}

export class Shells {
  readonly group = new THREE.Group();
  private readonly sheets: { data: ShellData; geometry: THREE.BufferGeometry }[] = [];
  private first: Float32Array | null = null;
  private readonly material: THREE.Material;
  private readonly depth: THREE.Material;

  constructor(
    private readonly film: Film,
    shared: SharedUniforms,
  ) {
    const dress = { shared, own: { uTone: { value: 1 }, uColoured: { value: 0 } }, vertex: solidVertex };
    this.material = dressedMaterial(dress, 'sheet');
    this.depth = dressedDepthMaterial(dress, 'sheet');
    film.header.shells?.forEach((data, i) => this.add(data, i));
  }

  /** Needs the frame (and the next), and frame 0 once. */
  place({ frame, fraction }: Moment, exaggeration: number): void {
    if (this.sheets.length === 0) return;
    this.first ??= this.film.numbers('shells', 0).values.slice();
    const now = this.film.numbers('shells', frame).values;
    const next = fraction > 0 ? this.film.numbers('shells', frame + 1).values : now;
    for (const { data, geometry } of this.sheets) {
      const position = geometry.getAttribute('position') as THREE.BufferAttribute;
      const begin = 3 * data.firstVertex;
      for (let k = 0; k < position.array.length; ++k) {
        const here = now[begin + k]! + fraction * (next[begin + k]! - now[begin + k]!);
        position.array[k] = this.first[begin + k]! + exaggeration * (here - this.first[begin + k]!);
      }
      position.needsUpdate = true;
      geometry.computeVertexNormals();
    }
  }

  dispose(): void {
    for (const { geometry } of this.sheets) geometry.dispose();
    this.material.dispose();
    this.depth.dispose();
  }

  private add(data: ShellData, index: number): void {
    const { rows, columns } = data;
    const count = (rows + 1) * (columns + 1);
    const geometry = new THREE.BufferGeometry();
    const numbers = (name: string, size: number, of: (vertex: number) => number[]) =>
      geometry.setAttribute(name, new THREE.BufferAttribute(new Float32Array(Array.from({ length: count }, (_, i) => of(i)).flat()), size));
    const shareOf = (vertex: number) => [(vertex % (columns + 1)) / columns, Math.floor(vertex / (columns + 1)) / rows];
    numbers('position', 3, () => [0, 0, 0]);
    numbers('normal', 3, () => [0, 0, 1]);
    numbers('aEdge', 4, (vertex) => shareOf(vertex).flatMap((share) => [share, 1 - share])); // its outline is drawn
    numbers('aTint', 3, () => new THREE.Color().setRGB(...beamColour(index), THREE.SRGBColorSpace).toArray());
    numbers('aTone', 1, () => [0]);
    numbers('aValue', 1, () => [unknownValue]);
    numbers('aId', 1, () => [-2]);
    geometry.setIndex(sheetTriangles(data));
    const mesh = new THREE.Mesh(geometry, this.material);
    mesh.customDepthMaterial = this.depth;
    mesh.castShadow = mesh.receiveShadow = true;
    mesh.frustumCulled = false;
    this.group.add(mesh);
    this.sheets.push({ data, geometry });
  }
}
