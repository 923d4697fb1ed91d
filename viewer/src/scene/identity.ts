// Numbers of all things that can be picked: one range of ids after the other, 0 is nothing.
import type { FilmHeader } from '../film/header';
import type { Target } from './stage';

export class Identities {
  readonly obstacles = 1;
  readonly bodies: number;
  readonly markers: number;
  readonly joints: number;
  readonly elements: number;
  readonly contacts: number; // as many as a frame has

  constructor(private readonly header: FilmHeader) {
    this.bodies = this.obstacles + header.obstacles.length;
    this.markers = this.bodies + header.bodies.length;
    this.joints = this.markers + header.markers.length;
    this.elements = this.joints + header.joints.length;
    this.contacts = this.elements + header.beams.reduce((sum, beam) => sum + Math.max(0, beam.nodes - 1), 0);
  }

  target(id: number): Target | null {
    if (id < this.obstacles) return null;
    if (id < this.bodies) return { kind: 'obstacle', index: id - this.obstacles, item: 0 };
    if (id < this.markers) return { kind: 'body', index: id - this.bodies, item: 0 };
    if (id < this.joints) return { kind: 'marker', index: id - this.markers, item: 0 };
    if (id < this.elements) return { kind: 'joint', index: id - this.joints, item: 0 };
    if (id >= this.contacts) return { kind: 'contact', index: 0, item: id - this.contacts };
    const element = id - this.elements;
    const index = this.header.beams.findLastIndex((beam) => beam.nodes > 1 && beam.firstElement <= element);
    return { kind: 'beam', index, item: element - this.header.beams[index]!.firstElement };
  }

  id({ kind, index, item }: Target): number {
    switch (kind) {
      case 'obstacle':
        return this.obstacles + index;
      case 'body':
        return this.bodies + index;
      case 'marker':
        return this.markers + index;
      case 'joint':
        return this.joints + index;
      case 'beam':
        return this.elements + (this.header.beams[index]?.firstElement ?? 0) + item;
      case 'contact':
        return this.contacts + item;
    }
  }

  /** Whether there is such a thing; of contacts only the frame knows. */
  exists({ kind, index, item }: Target): boolean {
    const { header } = this;
    switch (kind) {
      case 'obstacle':
        return header.obstacles[index] !== undefined;
      case 'body':
        return header.bodies[index] !== undefined;
      case 'marker':
        return header.markers[index] !== undefined;
      case 'joint':
        return header.joints[index] !== undefined;
      case 'beam':
        return item >= 0 && item < (header.beams[index]?.nodes ?? 0) - 1;
      case 'contact':
        return item >= 0;
    }
  }
}
