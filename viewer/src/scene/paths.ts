// Paths of markers, bodies and ends of beams over the whole film, read when they are first wanted.
import * as THREE from 'three';
import { Line2 } from 'three/examples/jsm/lines/Line2.js';
import { LineGeometry } from 'three/examples/jsm/lines/LineGeometry.js';
import { LineMaterial } from 'three/examples/jsm/lines/LineMaterial.js';
import type { Film } from '../film/film';
import { palettes } from './colours';
import type { Moment } from './poses';
import { toColor } from './shading';
import type { Theme } from './stage';

interface Source {
  channel: string;
  item: number;
}

interface Drawn {
  past: Line2;
  all: THREE.Line;
}

const most = 50; // paths of all markers

export class Paths {
  readonly group = new THREE.Group();
  private names: string[] | null = null;
  private readonly points = new Map<string, Float32Array>(); // of a source, [frames][3]
  private drawn: Drawn[] = [];
  private drawnFor = '';
  private reading: Promise<void> | null = null;
  private readonly past = new LineMaterial({ linewidth: 2.5, clipping: true });
  private readonly all = new THREE.LineBasicMaterial({ transparent: true, opacity: 0.35 });

  constructor(private readonly film: Film) {}

  setNames(names: string[] | null): void {
    this.names = names;
  }

  setTheme(theme: Theme): void {
    toColor(palettes[theme].path, this.past.color);
    toColor(palettes[theme].path, this.all.color);
  }

  /** Whether all is read; if not, `read` does. */
  get isRead(): boolean {
    return this.sources().every((source) => this.points.has(this.key(source)));
  }

  read(): Promise<void> {
    this.reading ??= this.readMissing().finally(() => (this.reading = null));
    return this.reading;
  }

  /** Draws what is read, up to the moment strongly. */
  place({ frame }: Moment, exaggeration: number): void {
    const sources = this.sources().filter((source) => this.points.has(this.key(source)));
    const signature = `${sources.map((source) => this.key(source)).join()} ${exaggeration}`;
    if (signature !== this.drawnFor) this.rebuild(sources, exaggeration);
    this.drawnFor = signature;
    for (const { past } of this.drawn) {
      past.geometry.instanceCount = frame;
      past.visible = frame > 0;
    }
  }

  dispose(): void {
    for (const { past, all } of this.drawn) {
      past.geometry.dispose();
      all.geometry.dispose();
    }
    this.past.dispose();
    this.all.dispose();
  }

  private key({ channel, item }: Source): string {
    return `${channel} ${item}`;
  }

  private sources(): Source[] {
    const { header } = this.film;
    if (!this.names) {
      if (header.markers.length > 0) return header.markers.slice(0, most).map((_, item) => ({ channel: 'markers', item }));
      return header.bodies.slice(0, most).map((_, item) => ({ channel: 'bodies', item }));
    }
    return this.names.flatMap((name) => {
      const marker = header.markers.findIndex((one) => one.name === name);
      if (marker >= 0) return [{ channel: 'markers', item: marker }];
      const body = header.bodies.findIndex((one) => one.name === name);
      if (body >= 0) return [{ channel: 'bodies', item: body }];
      for (const beam of header.beams) {
        if (name === `${beam.name} start`) return [{ channel: 'nodes', item: beam.firstNode }];
        if (name === `${beam.name} end` || name === beam.name) return [{ channel: 'nodes', item: beam.firstNode + beam.nodes - 1 }];
      }
      return [];
    });
  }

  private async readMissing(): Promise<void> {
    const missing = this.sources().filter((source) => !this.points.has(this.key(source)));
    if (missing.length === 0) return;
    const channels = [...new Set(missing.map(({ channel }) => channel))];
    const { frames } = this.film;
    const arrays = missing.map((source) => ({ source, array: new Float32Array(3 * frames) }));
    for (let frame = 0; frame < frames; ++frame) {
      if (!this.film.isLoaded(frame, channels)) await this.film.load(frame, channels);
      for (const { source, array } of arrays) {
        array.set(this.film.poses(source.channel, frame).position.subarray(3 * source.item, 3 * source.item + 3), 3 * frame);
      }
    }
    for (const { source, array } of arrays) this.points.set(this.key(source), array);
  }

  private rebuild(sources: Source[], exaggeration: number): void {
    for (const { past, all } of this.drawn) {
      past.geometry.dispose();
      all.geometry.dispose();
    }
    this.group.clear();
    this.drawn = this.film.frames < 2 ? [] : sources.map((source) => this.draw(this.points.get(this.key(source))!, exaggeration));
    for (const { past, all } of this.drawn) this.group.add(all, past);
  }

  private draw(points: Float32Array, exaggeration: number): Drawn {
    const enlarged = points.map((x, i) => points[i % 3]! + exaggeration * (x - points[i % 3]!));
    const past = new Line2(new LineGeometry().setPositions(enlarged), this.past);
    const geometry = new THREE.BufferGeometry().setAttribute('position', new THREE.BufferAttribute(enlarged, 3));
    const all = new THREE.Line(geometry, this.all);
    past.frustumCulled = all.frustumCulled = false;
    return { past, all };
  }
}
