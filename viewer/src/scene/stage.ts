// What the user interface asks of the three-dimensional picture, and nothing else: the interface knows no three.js, the picture no buttons.
import type { Film } from '../film/film';
import type { Vec3 } from '../film/header';

export type Layer =
  | 'bodies'
  | 'obstacles'
  | 'beams'
  | 'edges' // outlines that show twist and rolling
  | 'contacts'
  | 'forces' // points; arrows
  | 'markers'
  | 'frames' // named points; their three directors and those of bodies and nodes
  | 'joints'
  | 'links' // springs, cables, muscles, distances, guides
  | 'reactions'
  | 'paths'
  | 'grid'
  | 'labels';

export type ViewName = 'home' | 'front' | 'back' | 'left' | 'right' | 'top' | 'bottom' | 'isometric';

/** A thing that can be picked, followed, or hidden. `item` is the element of a beam, the line of the contact list, else 0. */
export interface Target {
  kind: 'body' | 'obstacle' | 'beam' | 'marker' | 'joint' | 'contact';
  index: number;
  item: number;
}

export interface Pick {
  target: Target;
  name: string;
  /** Where the ray met the thing, absolute, at the frame shown. */
  point: Vec3;
  /** What is known of it now: label, value, unit. */
  facts: { label: string; value: number | string; unit: string }[];
}

export type Theme = 'light' | 'dark';

export interface Colouring {
  field: string; // name of a field of the film
  range: [number, number] | null; // null: the film's
}

export interface Stage {
  readonly canvas: HTMLCanvasElement;
  /** Shows a frame, or a state between two (fraction): poses are interpolated, fields not. Resolves when what it needs is loaded and drawn. */
  show(frame: number): Promise<void>;
  resize(width: number, height: number, pixelRatio: number): void;
  setTheme(theme: Theme): void;

  colourBy(colouring: Colouring | null): void;
  setLayer(layer: Layer, visible: boolean): void;
  hasLayer(layer: Layer): boolean;
  /** Names of markers, bodies or beam ends ("NAME start", "NAME end") whose path is drawn; null: all markers (without any: bodies). */
  setPaths(names: string[] | null): void;
  /** Lengths of arrows relative to the automatic choice. */
  setArrowScale(factor: number): void;

  view(name: ViewName): void;
  /** Camera as text and back, for links and for pictures made by command: "home", a ViewName, or "px,py,pz/tx,ty,tz[/fov]" (absolute). */
  camera(): string;
  setCamera(text: string): void;
  orthographic(on: boolean): void;
  follow(target: Target | null): void;
  zoom(factor: number): void;
  orbit(azimuth: number, elevation: number): void;
  pan(right: number, up: number): void;

  /** Cuts away what lies beyond the plane normal . x = offset (absolute); null: nothing. */
  cut(plane: { normal: Vec3; offset: number } | null): void;
  /** Displacements from the first frame are drawn enlarged by `displacement`, sections by `thickness`. */
  exaggerate(displacement: number, thickness: number): void;

  /** At a point of the canvas in CSS pixels. */
  pick(x: number, y: number): Pick | null;
  /** Marks a thing; facts of it at the frame that is shown. */
  highlight(target: Target | null): void;
  facts(target: Target): Pick | null;
  /** Draws a dimension line between two points and returns their distance [m]; null takes it away. */
  measure(points: [Vec3, Vec3] | null): number;

  /** A picture of the stage alone, without the user interface, with legend, title and axis value drawn in: for files and tests. Of the
   *  state shown, or of another, which is then the state shown. */
  picture(width: number, height: number, state?: number): Promise<HTMLCanvasElement>;
  /** Called when the user moved the camera by mouse. */
  onCamera(listener: () => void): void;
  dispose(): void;
}

export type MakeStage = (canvas: HTMLCanvasElement, film: Film) => Promise<Stage>;
