// All that is drawn about the bodies and beams: see the classes for each. It knows what must be loaded for it.
import * as THREE from 'three';
import type { Film } from '../film/film';
import type { FieldInfo, Vec3 } from '../film/header';
import { palettes } from './colours';
import { Ground } from './ground';
import type { Identities } from './identity';
import { Labels, type Label } from './labels';
import type { ArrowKey } from './hud';
import { add, conjugate, normalized, rotate, scale, subtract, type Quat } from './lie';
import { arrowScale, Contacts, Frames, Joints, largestNorm, Links, Markers, Reactions } from './marks';
import { Measure } from './measure';
import { Paths } from './paths';
import { PoseTrack, type Moment } from './poses';
import { cutAway, type SharedUniforms } from './shading';
import type { Layer, Theme } from './stage';

export type Tracks = Record<'bodies' | 'obstacles' | 'markers' | 'joints' | 'links', PoseTrack>;

/** More names than this hide what they name. */
const mostLabels = 150;

export class Annotations {
  readonly group = new THREE.Group();
  readonly measure: Measure;
  readonly paths: Paths;
  private readonly contacts: Contacts;
  private readonly frames: Frames;
  private readonly joints: Joints;
  private readonly links: Links;
  private readonly reactions: Reactions;
  private readonly markers: Markers;
  private readonly ground: Ground;
  private readonly labels = new Labels();
  private readonly nodes: PoseTrack;
  private readonly largest = new Map<string, number>(); // force, reaction, moment: known when looked for
  private theme: Theme = 'light';
  private arrowFactor = 1;

  constructor(
    private readonly film: Film,
    shared: SharedUniforms,
    identities: Identities,
    private readonly tracks: Tracks,
    private readonly has: (layer: Layer) => boolean,
  ) {
    const { header } = film;
    this.contacts = new Contacts(header, shared, identities.contacts);
    this.frames = new Frames(film, shared);
    this.joints = new Joints(header, shared, identities.joints);
    this.links = new Links(header, shared);
    this.reactions = new Reactions(header, shared);
    this.markers = new Markers(shared, identities);
    this.ground = new Ground(header, tracks.obstacles);
    this.paths = new Paths(film);
    this.measure = new Measure(shared, header);
    this.nodes = new PoseTrack(film, 'nodes');
    this.group.add(this.contacts.points.group, this.contacts.forces.mesh, this.frames.arrows.mesh, this.joints.group, this.reactions.group);
    this.group.add(this.links.group);
    this.group.add(this.markers.points.group, this.ground.group, this.paths.group, this.labels.group, this.measure.group);
  }

  /** Cuts contacts, arrows and the grid; names and paths stay. */
  cut(planes: THREE.Plane[]): void {
    for (const group of [this.contacts.points.group, this.contacts.forces.mesh, this.frames.arrows.mesh, this.links.group])
      cutAway(group, planes);
    this.ground.cut(planes);
  }

  setTheme(theme: Theme): void {
    this.theme = theme;
    for (const part of [this.joints, this.ground, this.paths, this.measure]) part.setTheme(theme);
  }

  setArrowScale(factor: number): void {
    this.arrowFactor = factor;
  }

  channels(): string[] {
    const wanted: string[] = [];
    if (this.has('contacts') || this.has('forces')) wanted.push('contacts');
    if (this.has('reactions')) wanted.push('reactions');
    return wanted;
  }

  /** What must be known of the whole film before arrows have their lengths. */
  async prepare(): Promise<void> {
    const { channels } = this.film.header;
    const look = async (name: string, channel: string, column: number) => {
      if (!this.largest.has(name) && channels[channel]) this.largest.set(name, await largestNorm(this.film, channel, column));
    };
    if (this.has('forces')) await look('force', 'contacts', 6);
    if (this.has('reactions')) {
      await look('reaction', 'reactions', 0);
      await look('moment', 'reactions', 3);
    }
  }

  get isPrepared(): boolean {
    const { channels } = this.film.header;
    const isKnown = (name: string, channel: string) => this.largest.has(name) || !channels[channel];
    return (!this.has('forces') || isKnown('force', 'contacts')) && (!this.has('reactions') || isKnown('moment', 'reactions'));
  }

  place(moment: Moment, exaggeration: number, field: FieldInfo | null): void {
    const { film, has, theme, tracks } = this;
    const lengthOf = (name: string) => this.arrowLength(name);
    const numbers = (channel: string, isWanted: boolean) =>
      isWanted && film.header.channels[channel] ? film.numbers(channel, moment.frame) : null;
    const moved = exaggeration === 1 ? null : (line: Float32Array) => this.movedContact(line, moment.frame);
    this.contacts.place(numbers('contacts', has('contacts') || has('forces')), field, {
      theme,
      has,
      metresPerNewton: lengthOf('force'),
      moved,
    });
    this.reactions.place(numbers('reactions', has('reactions')), tracks.joints, theme, lengthOf('reaction'), lengthOf('moment'));
    if (has('frames') || has('labels')) this.nodes.update(moment, exaggeration);
    this.frames.place(has('frames'), [tracks.markers, tracks.bodies], this.nodes);
    this.joints.group.visible = has('joints');
    if (has('joints')) this.joints.place(tracks.joints);
    this.links.place(has('links') ? tracks.links : null, theme);
    this.markers.place(has('markers'), tracks.markers, theme);
    this.ground.group.visible = has('grid');
    this.paths.group.visible = has('paths');
    if (has('paths')) this.paths.place(moment, exaggeration);
    this.labels.set(has('labels') ? this.names() : []);
  }

  /** Keeps points and texts at their size: `metresPerPixel` at unit distance, `ratio` device pixels per pixel. */
  fit(camera: THREE.Camera, metresPerPixel: number, ratio: number): void {
    this.ground.face(camera);
    this.contacts.setPixels(ratio);
    this.markers.points.setPixels(10 * ratio);
    this.measure.setPixels(9 * ratio);
    for (const labels of [this.labels, this.ground.labels, this.measure.labels]) labels.fit(metresPerPixel);
    this.ground.labels.declutter(camera, metresPerPixel);
  }

  dispose(): void {
    for (const part of [this.contacts, this.joints, this.links, this.reactions, this.ground, this.paths, this.labels, this.measure])
      part.dispose();
    this.markers.points.dispose();
    this.frames.arrows.dispose();
  }

  /** What lengths of arrows mean, of the layers that are on. */
  arrowKeys(): ArrowKey[] {
    const palette = palettes[this.theme];
    const keys: (ArrowKey & { isOn: boolean })[] = [
      { isOn: this.has('forces'), colour: palette.force, unit: 'N', length: this.arrowLength('force') },
      { isOn: this.has('reactions'), colour: palette.reaction, unit: 'N', length: this.arrowLength('reaction') },
      { isOn: this.has('reactions'), colour: palette.moment, unit: 'N m', length: this.arrowLength('moment') },
    ];
    return keys.filter(({ isOn, length }) => isOn && length > 0);
  }

  /** Forces that are round-off beside the moments of the same joints, and moments beside forces, have no arrows. */
  private arrowLength(name: string): number {
    const { extent } = this.film.header;
    const most = this.largest.get(name) ?? 0;
    const [reaction, moment] = [this.largest.get('reaction') ?? 0, this.largest.get('moment') ?? 0];
    const beside = name === 'reaction' ? moment / extent : name === 'moment' ? reaction * extent : 0;
    return most > 1e-9 * beside ? arrowScale(most, extent, this.arrowFactor) : 0;
  }

  /** A contact goes with the body it is on, where the enlarged displacements put that. */
  private movedContact(line: Float32Array, frame: number): Vec3 {
    const at: Vec3 = [line[0]!, line[1]!, line[2]!];
    const { parts } = this.film.header;
    const body = [12, 13].map((column) => parts[line[column]!]?.body ?? -1).find((number) => number >= 0);
    if (body === undefined) return at;
    const { position, rotation } = this.film.poses('bodies', frame);
    const from = position.subarray(3 * body, 3 * body + 3);
    const turn = normalized([...rotation.subarray(4 * body, 4 * body + 4)] as Quat);
    const inBody = rotate(conjugate(turn), subtract(at, [from[0]!, from[1]!, from[2]!]));
    const shown = this.tracks.bodies.pose(body);
    return add(shown.position, rotate(shown.rotation, inBody));
  }

  private names(): Label[] {
    const { header } = this.film;
    const { text: colour, background: halo } = palettes[this.theme];
    const { tracks, has } = this;
    const labels: Label[] = [];
    const name = (text: string, at: Vec3) => labels.push({ text, at, colour, halo, anchor: [0.5, -0.35] });
    header.markers.forEach((one, i) => name(one.name, tracks.markers.point(i)));
    if (has('joints')) header.joints.forEach((one, i) => name(one.name, tracks.joints.point(i)));
    if (has('beams')) header.beams.forEach((beam) => name(beam.name, this.middle(beam.firstNode, beam.nodes)));
    if (has('bodies')) header.bodies.forEach((one, i) => name(one.name, tracks.bodies.point(i)));
    if (has('obstacles')) header.obstacles.forEach((one, i) => name(one.name, tracks.obstacles.point(i)));
    return labels.slice(0, mostLabels);
  }

  private middle(first: number, count: number): Vec3 {
    const low = this.nodes.point(first + Math.floor((count - 1) / 2));
    const high = this.nodes.point(first + Math.ceil((count - 1) / 2));
    return scale(add(low, high), 0.5);
  }
}
