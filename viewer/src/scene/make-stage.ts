import * as THREE from 'three';
import type { Film } from '../film/film';
import type { FieldInfo, Vec3 } from '../film/header';
import { Annotations, type Tracks } from './annotations';
import { Beams } from './beams';
import { CameraRig, frontView } from './camera';
import { colourMap, palettes, type ColourMap } from './colours';
import { Facts } from './facts';
import { Hud, type HudText } from './hud';
import { Identities } from './identity';
import { Picker } from './picking';
import { decorate } from './picture';
import { momentOf, PoseTrack, type Moment } from './poses';
import { cutAway, makeSharedUniforms, setColourMap, setPalette, toColor } from './shading';
import { Shells } from './shells';
import { Solids } from './solids';
import type { Colouring, Layer, MakeStage, Pick, Stage, Target, Theme, ViewName } from './stage';

const usualLayers: Layer[] = ['bodies', 'obstacles', 'beams', 'edges', 'joints', 'links', 'grid'];

function makeRenderer(canvas: HTMLCanvasElement): THREE.WebGLRenderer {
  try {
    const renderer = new THREE.WebGLRenderer({ canvas, antialias: true });
    renderer.shadowMap.type = THREE.PCFSoftShadowMap;
    renderer.localClippingEnabled = true;
    return renderer;
  } catch {
    throw new Error(
      'This browser cannot draw in three dimensions (WebGL 2 is missing or switched off). ' +
        'Switch on hardware acceleration in its settings, or open the page in another browser.',
    );
  }
}

class ThreeStage implements Stage {
  private readonly renderer: THREE.WebGLRenderer;
  private readonly scene = new THREE.Scene();
  private readonly shared = makeSharedUniforms();
  private readonly identities: Identities;
  private readonly tracks: Tracks;
  private readonly rig: CameraRig;
  private readonly bodies: Solids;
  private readonly obstacles: Solids;
  private readonly beams: Beams;
  private readonly shells: Shells;
  private readonly annotations: Annotations;
  private readonly hud = new Hud();
  private readonly picker: Picker;
  private readonly facts_: Facts;
  private readonly headlight = new THREE.DirectionalLight(0xffffff, 0.5);
  private readonly sun = new THREE.DirectionalLight(0xffffff, 2.2);
  private readonly hemisphere = new THREE.HemisphereLight(0xffffff, 0xffffff, 1.7);
  private readonly layers = new Set<Layer>(usualLayers);
  private readonly cameraListeners: (() => void)[] = [];
  private theme: Theme = 'light';
  private field: FieldInfo | null = null;
  private map: ColourMap | null = null;
  private painted: { field: FieldInfo | null; frame: number } | null = null;
  private state = 0; // shown
  private wanted = 0; // asked for
  private isRefreshing = false;
  private moment: Moment = { frame: 0, fraction: 0 };
  private displacement = 1;
  private thickness = 1;
  private followed: { target: Target; at: Vec3 } | null = null;
  private size: { width: number; height: number; ratio: number } | null = null; // null: not on the screen
  private drawing = 0; // request of an animation frame
  private order = 0; // of calls of show
  private latest: Promise<void> = Promise.resolve();
  private isReady = false;
  private isHolding = false; // a picture is made
  private readonly breaks: ReadonlySet<number>;
  private restoring: ReturnType<typeof setTimeout> | undefined;

  constructor(
    readonly canvas: HTMLCanvasElement,
    private readonly film: Film,
  ) {
    const { header } = film;
    this.breaks = new Set(header.breaks);
    this.renderer = makeRenderer(canvas);
    this.identities = new Identities(header);
    const track = (channel: string) => new PoseTrack(film, channel);
    this.tracks = {
      bodies: track('bodies'),
      obstacles: track('obstacles'),
      markers: track('markers'),
      joints: track('joints'),
      links: track('links'),
    };
    for (const one of Object.values(this.tracks)) one.update(this.moment, 1);
    this.bodies = new Solids(header, 'bodies', this.shared, this.identities.bodies, this.tracks.bodies);
    this.obstacles = new Solids(header, 'obstacles', this.shared, this.identities.obstacles, this.tracks.obstacles);
    this.beams = new Beams(film, this.shared, this.identities.elements);
    this.shells = new Shells(film, this.shared);
    this.annotations = new Annotations(film, this.shared, this.identities, this.tracks, (layer) => this.layers.has(layer));
    this.scene.add(this.bodies.group, this.obstacles.group, this.beams.group, this.shells.group, this.annotations.group);
    this.rig = new CameraRig(canvas, header, (byUser) => this.cameraMoved(byUser));
    this.picker = new Picker(this.renderer, this.scene, this.shared);
    this.facts_ = new Facts(film, this.tracks, this.identities);
    this.light();
    this.place(); // a card needs all textures from the first picture on
    this.isReady = true;
    this.setTheme('light');
    canvas.addEventListener('webglcontextrestored', () => this.requestDraw());
  }

  show(state: number): Promise<void> {
    this.wanted = state;
    const order = ++this.order;
    this.latest = this.load(state, order);
    return this.latest;
  }

  resize(width: number, height: number, ratio: number): void {
    this.size = { width: Math.max(1, width), height: Math.max(1, height), ratio };
    if (this.restoring !== undefined) return;
    this.fit(this.size);
    this.draw();
  }

  setTheme(theme: Theme): void {
    this.theme = theme;
    const palette = palettes[theme];
    this.scene.background = toColor(palette.background);
    toColor(palette.sky, this.hemisphere.color);
    toColor(palette.earth, this.hemisphere.groundColor);
    setPalette(this.shared, palette);
    this.bodies.setTheme(theme);
    this.obstacles.setTheme(theme);
    this.annotations.setTheme(theme);
    this.refresh(); // contacts and arrows have the colours of the theme
  }

  colourBy(colouring: Colouring | null): void {
    const field = colouring ? this.film.header.fields.find(({ name }) => name === colouring.field) : undefined;
    if (colouring && !field) throw new Error(`There is no field "${colouring.field}" to colour by.`);
    this.field = field ?? null;
    this.map = field ? colourMap(field, colouring!.range) : null;
    if (this.map) setColourMap(this.shared, this.map);
    this.refresh();
  }

  setLayer(layer: Layer, visible: boolean): void {
    if (visible) this.layers.add(layer);
    else this.layers.delete(layer);
    this.refresh();
  }

  hasLayer(layer: Layer): boolean {
    return this.layers.has(layer);
  }

  setPaths(names: string[] | null): void {
    this.annotations.paths.setNames(names);
    this.refresh();
  }

  setArrowScale(factor: number): void {
    this.annotations.setArrowScale(factor);
    this.refresh();
  }

  view(name: ViewName): void {
    this.rig.view(name);
  }

  camera(): string {
    return this.rig.text();
  }

  setCamera(text: string): void {
    this.rig.setText(text);
  }

  orthographic(on: boolean): void {
    this.rig.orthographic(on);
    this.requestDraw();
  }

  follow(target: Target | null): void {
    const at = target ? this.facts_.position(target, this.moment) : null;
    this.followed = target && at ? { target, at } : null;
  }

  zoom(factor: number): void {
    this.rig.zoom(factor);
  }

  orbit(azimuth: number, elevation: number): void {
    this.rig.orbit(azimuth, elevation);
  }

  pan(right: number, up: number): void {
    this.rig.pan(right, up);
  }

  cut(plane: { normal: Vec3; offset: number } | null): void {
    const planes = plane ? [this.clippingPlane(plane)] : [];
    this.shared.uCut.value = plane ? 1 : 0;
    for (const { group } of [this.bodies, this.obstacles, this.beams, this.shells]) cutAway(group, planes);
    this.annotations.cut(planes);
    this.requestDraw();
  }

  exaggerate(displacement: number, thickness: number): void {
    this.displacement = displacement;
    this.thickness = thickness;
    this.refresh();
  }

  pick(x: number, y: number): Pick | null {
    if (!this.size) return null;
    const hit = this.picker.pick(this.rig.camera, x, y, this.size.width, this.size.height);
    const target = hit && this.identities.target(hit.id);
    return target && this.facts_.of(target, this.moment, this.field, hit.point);
  }

  highlight(target: Target | null): void {
    this.shared.uHighlight.value = target ? this.identities.id(target) : -1;
    this.requestDraw();
  }

  facts(target: Target): Pick | null {
    return this.identities.exists(target) ? this.facts_.of(target, this.moment, this.field, null) : null;
  }

  measure(points: [Vec3, Vec3] | null): number {
    this.requestDraw();
    return this.annotations.measure.set(points);
  }

  async picture(width: number, height: number, state?: number): Promise<HTMLCanvasElement> {
    this.isHolding = true; // one drawing is enough
    try {
      if (state !== undefined) void this.show(state);
      await this.settled();
      this.fit({ width, height, ratio: 1 });
      this.render(height, 1);
      const legend = this.field && this.map ? { field: this.field, map: this.map } : null;
      const hud = this.hudText(height);
      return decorate(this.canvas, { header: this.film.header, state: this.state, theme: this.theme, legend, hud });
    } finally {
      this.isHolding = false;
      this.restoreSoon();
    }
  }

  onCamera(listener: () => void): void {
    this.cameraListeners.push(listener);
  }

  dispose(): void {
    cancelAnimationFrame(this.drawing);
    clearTimeout(this.restoring);
    this.hud.dispose();
    this.annotations.dispose();
    this.rig.dispose();
    this.bodies.dispose();
    this.obstacles.dispose();
    this.beams.dispose();
    this.shells.dispose();
    this.renderer.dispose();
  }

  // Loading

  private channels(): string[] {
    const wanted = new Set(['bodies', 'obstacles', 'markers', 'joints', 'links', 'nodes', 'shells', ...this.annotations.channels()]);
    if (this.field) wanted.add(this.field.channel);
    return [...wanted].filter((channel) => {
      const info = this.film.header.channels[channel];
      return info !== undefined && (info.layout === 'list' || info.items > 0);
    });
  }

  private async load(state: number, order: number): Promise<void> {
    const moment = momentOf(state, this.film.frames, this.breaks);
    if (!this.annotations.isPrepared) await this.annotations.prepare();
    const channels = this.channels();
    const frames = moment.fraction > 0 ? [moment.frame, moment.frame + 1] : [moment.frame];
    for (const frame of frames) if (!this.film.isLoaded(frame, channels)) await this.film.load(frame, channels);
    if (order !== this.order) return; // a later call has taken over
    for (const frame of frames) void this.film.load(frame, channels); // keeps them, and fetches ahead
    this.state = moment.frame + moment.fraction;
    this.moment = moment;
    this.place();
    if (!this.isHolding) this.draw();
    if (this.layers.has('paths') && !this.annotations.paths.isRead) {
      void this.annotations.paths.read().then(
        () => this.refresh(),
        () => undefined, // the same failure is told by show
      );
    }
  }

  /** Shows the state again, once for all changes that are made at one time. */
  private refresh(): void {
    if (!this.isReady || this.isRefreshing) return;
    this.isRefreshing = true;
    this.latest = Promise.resolve().then(() => {
      this.isRefreshing = false;
      return this.load(this.wanted, ++this.order);
    });
    this.latest.catch(() => undefined); // whoever awaits a picture is told
  }

  /** Until all that was asked for is in its place. */
  private async settled(): Promise<void> {
    for (let seen: Promise<void> | null = null; seen !== this.latest; ) {
      seen = this.latest;
      await seen;
    }
    if (this.layers.has('paths') && !this.annotations.paths.isRead) {
      await this.annotations.paths.read();
      this.place();
    }
  }

  private place(): void {
    const { moment, displacement } = this;
    for (const track of Object.values(this.tracks)) track.update(moment, displacement);
    this.bodies.place(this.tracks.bodies);
    this.obstacles.place(this.tracks.obstacles);
    this.beams.place(moment, displacement, this.thickness);
    this.shells.place(moment, displacement);
    this.bodies.group.visible = this.layers.has('bodies');
    this.obstacles.group.visible = this.layers.has('obstacles');
    this.beams.group.visible = this.layers.has('beams');
    this.shared.uEdges.value = this.layers.has('edges') ? 1 : 0;
    this.annotations.place(moment, displacement, this.field);
    this.paint();
    this.followOn();
  }

  /** Gives the things the values of the field. Values belong to frames: between two, those of the first. */
  private paint(): void {
    const { field } = this;
    const { frame } = this.moment;
    if (this.painted?.field === field && (field === null || this.painted.frame === frame)) return;
    this.painted = { field, frame };
    const numbers = field && field.on !== 'contacts' ? this.film.numbers(field.channel, frame) : null;
    const columns = field ? this.film.header.channels[field.channel]!.columns.length : 1;
    const value = numbers ? (item: number) => numbers.values[item * columns + field!.column] ?? NaN : null;
    this.bodies.setValues(field?.on === 'bodies' ? value : null);
    this.beams.setValues(field?.on === 'nodes' ? 'nodes' : 'elements', field?.on === 'nodes' || field?.on === 'elements' ? value : null);
  }

  private followOn(): void {
    if (!this.followed) return;
    const at = this.facts_.position(this.followed.target, this.moment);
    if (!at) return;
    const by = new THREE.Vector3(...at).sub(new THREE.Vector3(...this.followed.at));
    this.followed.at = at;
    this.rig.shift(by);
  }

  // Drawing

  private cameraMoved(byUser: boolean): void {
    this.requestDraw();
    if (byUser) for (const listener of this.cameraListeners) listener();
  }

  private requestDraw(): void {
    if (!this.isReady || this.drawing) return;
    this.drawing = requestAnimationFrame(() => this.draw());
  }

  private draw(): void {
    cancelAnimationFrame(this.drawing);
    this.drawing = 0;
    if (this.restoring !== undefined) return; // pictures are being made; the canvas has their size
    if (!this.size) return;
    const { width, height, ratio } = this.size;
    this.render(height, ratio);
    this.hud.render(this.renderer, width, height, this.hudText(height));
  }

  private render(height: number, ratio: number): void {
    const pixels = this.rig.pixelsPerMetre(height);
    for (const solids of [this.bodies, this.obstacles]) solids.setDetail(pixels * ratio);
    this.beams.setDetail(pixels * ratio, this.thickness);
    const isParallel = this.rig.isOrthographic;
    this.annotations.fit(this.rig.camera, isParallel ? 1 / pixels : 1 / (pixels * this.rig.distance), ratio);
    this.headlight.position.copy(this.rig.camera.position);
    this.headlight.target.position.copy(this.rig.target);
    this.headlight.target.updateMatrixWorld();
    this.renderer.render(this.scene, this.rig.camera);
  }

  private hudText(height: number): HudText {
    const palette = palettes[this.theme];
    return {
      camera: this.rig.camera,
      pixelsPerMetre: this.rig.pixelsPerMetre(height),
      isPerspective: !this.rig.isOrthographic,
      palette,
      arrows: this.annotations.arrowKeys(),
    };
  }

  /** Gives the canvas its own size back when no further picture is asked for at once. */
  private restoreSoon(): void {
    clearTimeout(this.restoring);
    this.restoring = setTimeout(() => {
      this.restoring = undefined;
      if (this.size) this.fit(this.size);
      this.draw();
    }, 100);
  }

  private fit({ width, height, ratio }: { width: number; height: number; ratio: number }): void {
    this.renderer.setPixelRatio(ratio);
    this.renderer.setSize(width, height, false);
    if (this.size) Object.assign(this.canvas.style, { width: `${this.size.width}px`, height: `${this.size.height}px` });
    this.rig.setAspect(width / height);
  }

  /** Soft light from above, a sun from the left in front, and a little from the viewer, so that no face is black. */
  private light(): void {
    const { header } = this.film;
    const { right, up, toViewer } = frontView(header.up);
    const [low, high] = header.bounds.map((corner) => new THREE.Vector3(...corner)) as [THREE.Vector3, THREE.Vector3];
    const middle = low.clone().add(high).multiplyScalar(0.5);
    const radius = Math.max(0.5 * low.distanceTo(high), 0.5 * header.extent, 1e-9) * 1.1;
    this.sun.position.copy(middle).addScaledVector(up, 2.4 * radius);
    this.sun.position.addScaledVector(right, -1.1 * radius).addScaledVector(toViewer, (header.planar ? 2 : 0.9) * radius);
    this.sun.target.position.copy(middle);
    this.hemisphere.position.copy(up);
    const { camera } = this.sun.shadow;
    Object.assign(camera, { left: -radius, right: radius, top: radius, bottom: -radius, near: 0.5 * radius, far: 5 * radius });
    this.sun.shadow.mapSize.set(2048, 2048);
    this.sun.shadow.normalBias = 0.01 * radius;
    this.sun.shadow.bias = -0.0005;
    this.sun.shadow.intensity = 0.6;
    const isCheap = this.bodies.count <= 2000 && this.beams.elements <= 20000;
    this.renderer.shadowMap.enabled = isCheap && !header.planar;
    this.sun.castShadow = this.renderer.shadowMap.enabled;
    for (const light of [this.sun, this.headlight, this.hemisphere]) {
      light.layers.enable(1);
      light.layers.enable(2);
    }
    this.scene.add(this.sun, this.sun.target, this.headlight, this.headlight.target, this.hemisphere);
  }

  private clippingPlane({ normal, offset }: { normal: Vec3; offset: number }): THREE.Plane {
    const n = new THREE.Vector3(...normal);
    const constant = offset - n.dot(new THREE.Vector3(...this.film.header.origin));
    const length = n.length() || 1;
    return new THREE.Plane(n.divideScalar(-length), constant / length);
  }
}

export const makeStage: MakeStage = async (canvas: HTMLCanvasElement, film: Film): Promise<Stage> => {
  const channels = ['bodies', 'obstacles', 'markers', 'joints', 'links', 'nodes', 'shells'].filter(
    (name) => (film.header.channels[name]?.items ?? 0) > 0,
  );
  await film.load(0, channels);
  return new ThreeStage(canvas, film);
};
