// What the reader looks at: frame, colours, layers, cut, selection. The panels change it here, hear of changes, and keep nothing of their own.
import type { Film } from '../film/film';
import type { FilmHeader, Vec3 } from '../film/header';
import { layers as allLayers } from '../scene/commands';
import type { Colouring, Layer, Pick, Stage, Target, Theme, ViewName } from '../scene/stage';
import { emptyState, type LinkState } from './hash';
import { nextSpeed, Pace } from './player';

export type Topic = 'frame' | 'playing' | 'look' | 'selection' | 'camera' | 'theme' | 'trouble';
export type CutAxis = 'x' | 'y' | 'z' | 'view';

export interface Cut {
  axis: CutAxis;
  normal: Vec3;
  offset: number; // absolute
}

const themeKey = 'tendril.theme';
const longestTick = 1; // s; slower drawing slows the film down
const patience = 150; // ms before a wait is shown
const readAhead = 0.3; // s of playing

const dot = (a: Vec3, b: Vec3): number => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
const sameTarget = (a: Target | null, b: Target | null): boolean =>
  a !== null && b !== null && a.kind === b.kind && a.index === b.index && a.item === b.item;

export function storedTheme(): Theme {
  try {
    const stored = localStorage.getItem(themeKey);
    if (stored === 'light' || stored === 'dark') return stored;
  } catch {
    // Pages from files may have no storage: the system's theme then.
  }
  return matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
}

export class Session {
  readonly header: FilmHeader;
  readonly pace: Pace;
  readonly usualLayers: ReadonlySet<Layer>;
  state = 0; // shown or asked for, may lie between two frames
  isPlaying = false;
  isLooping = false;
  isLoading = false;
  speed: number;
  theme: Theme;
  colouring: Colouring | null = null;
  arrowScale = 1;
  displacement = 1;
  thickness = 1;
  isParallel = false;
  cut: Cut | null = null;
  followed: Target | null = null;
  selection: Pick | null = null;
  /** Start of the next distance; the distance measured last. */
  measureFrom: Pick | null = null;
  isMeasuring = false;
  measured: { from: Pick; to: Pick; distance: number; frame: number } | null = null;
  pathNames: string[] | null = null;
  trouble = '';
  private readonly listeners = new Map<Topic, (() => void)[]>();
  private shown = 0; // frame of the picture; `state` may be ahead of it
  private selectedAt = 0; // frame
  private readonly centres = new WeakSet<Pick>(); // that stand for the centres of things, not for places that were clicked
  private isShowing = false;
  private needsShow = false;
  private lastTick = 0;

  constructor(
    readonly film: Film,
    readonly stage: Stage,
  ) {
    this.header = film.header;
    this.pace = new Pace(film.header);
    this.speed = this.pace.usualSpeed();
    this.usualLayers = new Set(allLayers.filter((layer) => stage.hasLayer(layer)));
    this.theme = storedTheme();
    stage.setTheme(this.theme);
    stage.onCamera(() => this.tell('camera'));
    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => this.adoptTheme(storedTheme()));
  }

  get frame(): number {
    return Math.min(this.last, Math.round(this.state));
  }
  get last(): number {
    return this.film.frames - 1;
  }
  get value(): number {
    return this.header.times[this.frame]!;
  }

  on(topic: Topic, listener: () => void): void {
    this.listeners.set(topic, [...(this.listeners.get(topic) ?? []), listener]);
  }

  private tell(topic: Topic): void {
    for (const listener of this.listeners.get(topic) ?? []) listener();
  }

  complain(error: unknown): void {
    this.trouble = error instanceof Error ? error.message : String(error);
    this.tell('trouble');
  }

  // Frames

  /** Channels that the picture of a frame needs. */
  shownChannels(): string[] {
    const { channels, fields } = this.header;
    const names = ['bodies', 'obstacles', 'markers', 'joints', 'links', 'nodes'].filter((name) => (channels[name]?.items ?? 0) > 0);
    if (channels['contacts'] && (this.stage.hasLayer('contacts') || this.stage.hasLayer('forces'))) names.push('contacts');
    if (channels['reactions'] && this.stage.hasLayer('reactions')) names.push('reactions');
    const field = fields.find(({ name }) => name === this.colouring?.field);
    return field && !names.includes(field.channel) ? [...names, field.channel] : names;
  }

  goTo(frame: number): void {
    this.state = Math.min(this.last, Math.max(0, Math.round(frame)));
    this.show();
  }

  step(by: number): void {
    this.pause();
    this.goTo(this.frame + by);
  }

  /** Shows the newest state once the one before it is drawn: what comes in between is dropped. */
  private show(): void {
    this.tell('frame');
    if (this.isShowing) {
      this.needsShow = true;
      return;
    }
    this.isShowing = true;
    this.needsShow = false;
    const { frame } = this;
    const isHere = this.film.isLoaded(Math.floor(this.state), this.shownChannels()); // else slow drawing would count as loading
    const waiting = isHere ? undefined : setTimeout(() => this.setLoading(true), patience);
    this.stage
      .show(this.state)
      .then(() => (this.shown = frame))
      .catch((error: unknown) => {
        this.pause();
        this.complain(error);
      })
      .finally(() => {
        clearTimeout(waiting);
        this.isShowing = false;
        this.setLoading(false);
        this.refreshSelection();
        if (this.needsShow) this.show();
      });
  }

  private setLoading(isLoading: boolean): void {
    if (this.isLoading === isLoading) return;
    this.isLoading = isLoading;
    this.tell('playing');
  }

  play(): void {
    if (this.last === 0) return;
    if (this.frame >= this.last) this.state = 0;
    this.isPlaying = true;
    this.lastTick = performance.now();
    requestAnimationFrame((now) => this.tick(now));
    this.tell('playing');
  }

  pause(): void {
    if (!this.isPlaying) return;
    this.isPlaying = false;
    this.tell('playing');
    this.goTo(this.frame); // numbers belong to frames
  }

  toggle(): void {
    if (this.isPlaying) this.pause();
    else this.play();
  }

  private tick(now: number): void {
    if (!this.isPlaying) return;
    requestAnimationFrame((next) => this.tick(next));
    if (this.isShowing) {
      if (this.isLoading) this.lastTick = now; // the film waits for what is loaded
      return;
    }
    const seconds = Math.min(longestTick, Math.max(0, (now - this.lastTick) / 1000));
    this.lastTick = now;
    const next = this.pace.after(this.state, seconds, this.speed);
    if (next < this.last) this.state = next;
    else if (this.isLooping) this.state = this.state < this.last ? this.last : 0;
    else {
      this.state = this.last;
      this.pause();
      return;
    }
    this.show();
    this.prepare();
  }

  /** Fetches what will be shown soon: at high speeds the next piece of the film is not the next that is needed. */
  private prepare(): void {
    const ahead = Math.min(this.last, Math.floor(this.pace.after(this.state, readAhead, this.speed)));
    const channels = this.shownChannels();
    if (this.film.isLoaded(ahead, channels)) return;
    this.film.load(ahead, channels).catch(() => undefined); // what fails here fails again, and is told, when it is shown
  }

  setSpeed(speed: number): void {
    this.speed = speed;
    this.tell('playing');
  }

  changeSpeed(direction: 1 | -1): void {
    this.setSpeed(nextSpeed(this.speed, direction));
  }

  setLooping(isLooping: boolean): void {
    this.isLooping = isLooping;
    this.tell('playing');
  }

  // Look

  /** The reader's choice, which is remembered. */
  setTheme(theme: Theme): void {
    try {
      localStorage.setItem(themeKey, theme);
    } catch {
      // Without storage the choice lasts as long as the page.
    }
    this.adoptTheme(theme);
  }

  private adoptTheme(theme: Theme): void {
    this.theme = theme;
    this.stage.setTheme(theme);
    this.tell('theme');
  }

  colourBy(colouring: Colouring | null): void {
    const isKnown = !colouring || this.header.fields.some(({ name }) => name === colouring.field);
    this.colouring = isKnown ? colouring : null;
    this.stage.colourBy(this.colouring);
    const field = this.header.fields.find(({ name }) => name === this.colouring?.field);
    if (field?.on === 'contacts' && !this.stage.hasLayer('contacts')) this.stage.setLayer('contacts', true);
    this.tell('look');
  }

  nextColour(direction: 1 | -1): void {
    const names = [null, ...this.header.fields.map(({ name }) => name)];
    const at = names.indexOf(this.colouring?.field ?? null);
    const name = names[(at + direction + names.length) % names.length] ?? null;
    this.colourBy(name === null ? null : { field: name, range: null });
  }

  setLayer(layer: Layer, visible: boolean): void {
    this.stage.setLayer(layer, visible);
    this.tell('look');
  }

  setArrowScale(factor: number): void {
    this.arrowScale = factor;
    this.stage.setArrowScale(factor);
    this.tell('look');
  }

  enlarge(displacement: number, thickness: number): void {
    this.displacement = displacement;
    this.thickness = thickness;
    this.stage.exaggerate(displacement, thickness);
    this.tell('look');
  }

  setPaths(names: string[] | null): void {
    this.pathNames = names;
    this.stage.setPaths(names);
    this.stage.setLayer('paths', true);
    this.tell('look');
  }

  // Cut

  /** Least and greatest offset at which a plane meets the model. */
  cutRange(normal: Vec3): [number, number] {
    const { bounds, origin } = this.header;
    let [low, high] = [0, 0];
    for (let k = 0; k < 3; ++k) {
      const ends = [bounds[0][k]! * normal[k]!, bounds[1][k]! * normal[k]!];
      low += Math.min(...ends);
      high += Math.max(...ends);
    }
    const margin = 0.02 * Math.max(high - low, 1e-3 * this.header.extent, 1e-12);
    const shift = dot(origin, normal);
    return [low + shift - margin, high + shift + margin];
  }

  normalOf(axis: CutAxis): Vec3 {
    if (axis !== 'view') return [Number(axis === 'x'), Number(axis === 'y'), Number(axis === 'z')];
    this.stage.orbit(0, 0); // from then on the camera is known in numbers, not by the name of a view
    const [from, to] = this.stage
      .camera()
      .split('/')
      .map((part) => part.split(',').map(Number));
    const v = from?.length === 3 && to?.length === 3 ? (from.map((x, k) => x - to[k]!) as Vec3) : this.header.up;
    const length = Math.hypot(...v);
    return length > 0 ? (v.map((x) => x / length) as Vec3) : [0, 0, 1];
  }

  cutBy(axis: CutAxis | null, part = 0.5): void {
    if (axis === null) return this.setCut(null);
    const normal = this.normalOf(axis);
    const [low, high] = this.cutRange(normal);
    this.setCut({ axis, normal, offset: low + part * (high - low) });
  }

  setCut(cut: Cut | null): void {
    this.cut = cut;
    this.stage.cut(cut && { normal: cut.normal, offset: cut.offset });
    this.tell('look');
  }

  moveCut(by: number): void {
    if (!this.cut) return;
    const [low, high] = this.cutRange(this.cut.normal);
    const offset = Math.min(high, Math.max(low, this.cut.offset + by * (high - low)));
    this.setCut({ ...this.cut, offset });
  }

  nextCut(): void {
    const order = [null, 'x', 'y', 'z', 'view'] as const;
    this.cutBy(order[(order.indexOf(this.cut?.axis ?? null) + 1) % order.length]!);
  }

  // Camera

  view(name: ViewName): void {
    this.stage.view(name);
    this.tell('camera');
  }

  setParallel(on: boolean): void {
    this.isParallel = on;
    this.stage.orthographic(on);
    this.tell('camera');
  }

  /** The reader moved the camera by keys. */
  moved(): void {
    this.tell('camera');
  }

  // Selection

  pickAt(x: number, y: number, measure: boolean): void {
    const pick = this.stage.pick(x, y);
    if (measure && pick && this.selection && !this.isMeasuring) this.startMeasure();
    this.choose(pick);
  }

  choose(pick: Pick | null): void {
    if (this.isMeasuring && pick) {
      if (this.measureFrom) {
        this.setMeasured(this.measureFrom, pick);
        this.isMeasuring = false;
        this.measureFrom = null;
      } else this.measureFrom = pick;
    }
    this.selection = pick;
    this.selectedAt = this.shown;
    this.stage.highlight(pick?.target ?? null);
    this.tell('selection');
  }

  select(target: Target): void {
    this.choose(this.centre(target));
  }

  /** What is known of a thing, at its centre. */
  private centre(target: Target): Pick | null {
    const pick = this.stage.facts(target);
    if (pick) this.centres.add(pick);
    return pick;
  }

  /** Numbers of the frame shown. A place that was clicked holds for its frame only; the lines of contacts are others in every frame. */
  private refreshSelection(): void {
    this.refreshMeasure();
    const { selection } = this;
    if (!selection) return;
    const now = this.centre(selection.target);
    const isSame = now !== null && (selection.target.kind !== 'contact' || now.name === selection.name);
    if (isSame && this.shown === this.selectedAt && !this.centres.has(selection)) this.selection = { ...now, point: selection.point };
    else this.selection = isSame ? now : null;
    this.selectedAt = this.shown;
    if (!isSame) this.stage.highlight(null);
    this.tell('selection');
  }

  /** A distance between centres follows them; one between places that were clicked ends with their frame. */
  private refreshMeasure(): void {
    if (!this.measured) return;
    const { from, to, frame } = this.measured;
    const isTracked = this.centres.has(from) && this.centres.has(to) && from.target.kind !== 'contact' && to.target.kind !== 'contact';
    const [start, end] = isTracked ? [this.centre(from.target), this.centre(to.target)] : [null, null];
    if (start && end) this.setMeasured(start, end);
    else if (frame !== this.shown) this.stopMeasure();
  }

  isFollowed(target: Target): boolean {
    return sameTarget(this.followed, target);
  }

  follow(target: Target | null): void {
    this.followed = target;
    this.stage.follow(target);
    this.tell('selection');
    this.tell('look');
  }

  /** Begins at what is selected, or at what is picked next. */
  startMeasure(): void {
    this.stage.measure(null);
    this.measured = null;
    this.isMeasuring = true;
    this.measureFrom = this.selection;
    this.tell('selection');
  }

  private setMeasured(from: Pick, to: Pick): void {
    const distance = this.stage.measure([from.point, to.point]);
    this.measured = { from, to, distance, frame: this.shown };
  }

  stopMeasure(): void {
    this.stage.measure(null);
    this.isMeasuring = false;
    this.measureFrom = this.measured = null;
    this.tell('selection');
  }

  // Links

  link(): LinkState {
    const differing = allLayers.filter((layer) => this.stage.hasLayer(layer) !== this.usualLayers.has(layer));
    return {
      frame: this.frame,
      camera: this.stage.camera(),
      colour: this.colouring?.field ?? null,
      range: this.colouring?.range ?? null,
      layers: differing.map((layer) => (this.stage.hasLayer(layer) ? layer : `-${layer}`)).join(',') || null,
      enlarge: this.displacement !== 1 || this.thickness !== 1 ? [this.displacement, this.thickness] : null,
      arrows: this.arrowScale !== 1 ? this.arrowScale : null,
      cut: this.cut
        ? [this.cut.axis, ...this.cut.normal, this.cut.offset].map((x) => (typeof x === 'number' ? +x.toPrecision(6) : x)).join(',')
        : null,
      parallel: this.isParallel,
    };
  }

  /** Shows what a link says, as far as this film has it. */
  restore(link: LinkState = emptyState): void {
    const words = (link.layers ?? '').split(',');
    for (const layer of allLayers) {
      const wanted = words.includes(layer) || (this.usualLayers.has(layer) && !words.includes(`-${layer}`));
      if (this.stage.hasLayer(layer) !== wanted) this.stage.setLayer(layer, wanted);
    }
    this.colourBy(link.colour === null ? null : { field: link.colour, range: link.range });
    if (link.enlarge) this.enlarge(...link.enlarge);
    if (link.arrows) this.setArrowScale(link.arrows);
    if (link.parallel) this.setParallel(true);
    const [axis, ...numbers] = (link.cut ?? '').split(',');
    if (axis && ['x', 'y', 'z', 'view'].includes(axis) && numbers.length === 4 && numbers.every((x) => Number.isFinite(Number(x)))) {
      const [a, b, c, offset] = numbers.map(Number) as [number, number, number, number];
      this.setCut({ axis: axis as CutAxis, normal: [a, b, c], offset });
    }
    try {
      if (link.camera) this.stage.setCamera(link.camera);
    } catch (error) {
      this.complain(error);
    }
    this.tell('look');
    this.goTo(link.frame ?? (this.header.axis.kind === 'load' ? this.last : 0));
  }
}
