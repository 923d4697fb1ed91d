// What is known of a thing at the moment shown.
import * as THREE from 'three';
import type { Film } from '../film/film';
import type { FieldInfo, Vec3 } from '../film/header';
import type { Identities } from './identity';
import { add, helicoid, norm, normalized, scale, subtract, type Pose, type Quat } from './lie';
import type { Moment, PoseTrack } from './poses';
import type { Pick, Target } from './stage';

type Fact = Pick['facts'][number];

const statuses = ['open', 'sticking', 'sliding'];
const axes = ['x', 'y', 'z'];

export class Facts {
  constructor(
    private readonly film: Film,
    private readonly tracks: Record<'bodies' | 'obstacles' | 'markers' | 'joints', PoseTrack>,
    private readonly identities: Identities,
  ) {}

  /** Where the thing is drawn, relative to the origin. */
  position(target: Target, moment: Moment): Vec3 | null {
    if (!this.identities.exists(target)) return null;
    const channel = this.channel(target);
    if (channel === 'contacts') return (this.contact(target.item, moment.frame)?.slice(0, 3) as Vec3 | undefined) ?? null;
    if (channel === 'nodes') return this.film.isLoaded(moment.frame, ['nodes']) ? this.poseAt(target, moment.frame).position : null;
    return this.tracks[channel].point(target.index);
  }

  of(target: Target, moment: Moment, shown: FieldInfo | null, hit: THREE.Vector3 | null): Pick | null {
    const { header } = this.film;
    const place = this.position(target, moment);
    if (!place) return null;
    const absolute = (p: Vec3): Vec3 => add(p, header.origin);
    const point = hit ? ([hit.x, hit.y, hit.z] as Vec3) : place;
    const facts: Fact[] = [];
    const vector = (label: string, v: Vec3, unit: string) =>
      axes.forEach((axis, i) => facts.push({ label: `${label} ${axis}`, value: v[i]!, unit }));
    if (target.kind === 'contact') this.addContact(facts, target.item, moment.frame);
    else {
      if (target.kind === 'beam') this.addElement(facts, target);
      if (target.kind === 'body' && header.bodies[target.index]!.shapes.length === 0) {
        facts.push({ label: 'shape', value: 'not given, drawn as a small ball', unit: '' });
      }
      if (target.kind === 'joint') this.addJoint(facts, target.index, moment.frame);
      vector('position', absolute(this.poseAt(target, moment.frame).position), 'm');
      const velocity = this.velocity(target, moment.frame);
      if (velocity) {
        vector('velocity', velocity, 'm/s');
        facts.push({ label: 'speed', value: norm(velocity), unit: 'm/s' });
      }
    }
    this.addFields(facts, target, moment.frame, shown);
    return { target, name: this.name(target, moment.frame), point: absolute(point), facts };
  }

  name({ kind, index, item }: Target, frame: number): string {
    const { header } = this.film;
    switch (kind) {
      case 'body':
        return header.bodies[index]!.name;
      case 'obstacle':
        return header.obstacles[index]!.name;
      case 'marker':
        return header.markers[index]!.name;
      case 'joint':
        return header.joints[index]!.name;
      case 'beam':
        return `${header.beams[index]!.name}, element ${item + 1}`;
      case 'contact': {
        const line = this.contact(item, frame);
        const part = (column: number) => header.parts[line?.[column] ?? -1]?.name ?? 'unknown';
        return `contact of ${part(12)} with ${part(13)}`;
      }
    }
  }

  private channel({ kind }: Target): 'bodies' | 'obstacles' | 'markers' | 'joints' | 'nodes' | 'contacts' {
    const channels = {
      body: 'bodies',
      obstacle: 'obstacles',
      marker: 'markers',
      joint: 'joints',
      beam: 'nodes',
      contact: 'contacts',
    } as const;
    return channels[kind];
  }

  private contact(item: number, frame: number): number[] | null {
    const columns = this.film.header.channels['contacts']?.columns.length ?? 0;
    if (columns === 0 || !this.film.isLoaded(frame, ['contacts'])) return null;
    const { values, count } = this.film.numbers('contacts', frame);
    return item < count ? Array.from(values.subarray(item * columns, (item + 1) * columns)) : null;
  }

  private stored(channel: string, item: number, frame: number): Pose {
    const { position, rotation } = this.film.poses(channel, frame);
    return {
      position: [...position.subarray(3 * item, 3 * item + 3)] as Vec3,
      rotation: normalized([...rotation.subarray(4 * item, 4 * item + 4)] as Quat),
    };
  }

  /** As the run has it, without enlargement; of an element its middle. */
  private poseAt(target: Target, frame: number): Pose {
    const channel = this.channel(target);
    if (channel !== 'nodes') return this.stored(channel, target.index, frame);
    const node = this.film.header.beams[target.index]!.firstNode + target.item;
    return helicoid(this.stored('nodes', node, frame), this.stored('nodes', node + 1, frame), 0.5);
  }

  /** By differences of the neighbouring frames that are loaded. */
  private velocity(target: Target, frame: number): Vec3 | null {
    const { axis, times } = this.film.header;
    const channel = this.channel(target);
    if (axis.kind !== 'time') return null;
    const isThere = (f: number) => f >= 0 && f < this.film.frames && this.film.isLoaded(f, [channel]);
    const [from, to] = [isThere(frame - 1) ? frame - 1 : frame, isThere(frame + 1) ? frame + 1 : frame];
    const step = times[to]! - times[from]!;
    if (!(step > 0)) return null;
    return scale(subtract(this.poseAt(target, to).position, this.poseAt(target, from).position), 1 / step);
  }

  private addElement(facts: Fact[], { index, item }: Target): void {
    const { arclength, section } = this.film.header.beams[index]!;
    const [from, to] = [arclength[item], arclength[item + 1]];
    if (from !== undefined && to !== undefined) facts.push({ label: 'arc length', value: (from + to) / 2, unit: 'm' });
    const size = {
      rectangle: `${section.width} x ${section.height} m`,
      circle: `diameter ${section.width} m`,
      tube: `diameter ${section.width} m`,
    };
    facts.push({
      label: 'section',
      value: section.assumed ? 'not given, drawn as a circle' : `${section.shape}, ${size[section.shape]}`,
      unit: '',
    });
  }

  private addJoint(facts: Fact[], index: number, frame: number): void {
    const { kind, first, second } = this.film.header.joints[index]!;
    facts.push({ label: 'kind', value: kind, unit: '' }, { label: 'joins', value: `${first} and ${second}`, unit: '' });
    if (!this.film.header.channels['reactions'] || !this.film.isLoaded(frame, ['reactions'])) return;
    const { values } = this.film.numbers('reactions', frame);
    axes.forEach((axis, i) => facts.push({ label: `reaction force ${axis}`, value: values[6 * index + i]!, unit: 'N' }));
    axes.forEach((axis, i) => facts.push({ label: `reaction moment ${axis}`, value: values[6 * index + 3 + i]!, unit: 'N m' }));
  }

  private addContact(facts: Fact[], item: number, frame: number): void {
    const line = this.contact(item, frame);
    if (!line) return;
    const [normal, force] = [line.slice(3, 6) as Vec3, line.slice(6, 9) as Vec3];
    const pressing = normal[0] * force[0] + normal[1] * force[1] + normal[2] * force[2];
    const point = add(line.slice(0, 3) as Vec3, this.film.header.origin);
    axes.forEach((axis, i) => facts.push({ label: `position ${axis}`, value: point[i]!, unit: 'm' }));
    facts.push(
      { label: 'state', value: statuses[line[11]!] ?? 'unknown', unit: '' },
      { label: 'gap', value: line[9]!, unit: 'm' },
      { label: 'slip', value: line[10]!, unit: 'm/s' },
      { label: 'normal force', value: pressing, unit: 'N' },
      { label: 'friction force', value: norm(subtract(force, scale(normal, pressing))), unit: 'N' },
    );
  }

  private addFields(facts: Fact[], target: Target, frame: number, shown: FieldInfo | null): void {
    const on = { body: ['bodies'], beam: ['nodes', 'elements'], contact: [], obstacle: [], marker: [], joint: [] }[target.kind] as string[];
    const beam = this.film.header.beams[target.index];
    const fields = this.film.header.fields.filter((field) => on.includes(field.on));
    for (const field of [...fields].sort((a, b) => Number(b === shown) - Number(a === shown))) {
      if (!this.film.isLoaded(frame, [field.channel])) {
        this.film.load(frame, [field.channel]).catch(() => undefined); // there the next time
        continue;
      }
      const item = target.kind === 'body' ? target.index : target.item + (field.on === 'nodes' ? beam!.firstNode : beam!.firstElement);
      const columns = this.film.header.channels[field.channel]!.columns.length;
      const value = this.film.numbers(field.channel, frame).values[item * columns + field.column] ?? NaN;
      facts.push({ label: field.label, value: field.categories?.[value] ?? value, unit: field.unit });
    }
  }
}
