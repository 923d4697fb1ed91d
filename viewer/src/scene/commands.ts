// What the command-line renderer asks of the page: `window.tendril`.
import type { Film } from '../film/film';
import type { StudyData } from '../study/data';
import { toBase64 } from '../film/open';
import type { Layer, Stage } from './stage';
import { filmStates, frameAt } from './time';
import { encodeVideo } from './video';

/** As include/tendril/view/render.h; what is left out keeps its usual value. */
export interface PictureOptions {
  width?: number; // 1280
  height?: number; // 720
  /** Value along the axis; the last if left out. */
  time?: number | null;
  /** As Stage.setCamera. */
  camera?: string;
  /** Name of a field; empty: by part. */
  colour?: string;
  /** Layers to switch on or off: "forces,-grid". */
  show?: string;
  dark?: boolean;
  /** Of displacements. */
  exaggerate?: number;
}

export interface FilmOptions extends PictureOptions {
  seconds?: number; // 0: as long as the run, between 2 and 20 s
  fps?: number; // 30
}

/**
 * `ready` resolves when the film is open and the stage made (then the rest is there), and is rejected with the message to show otherwise.
 * With #render in its address the page has no interface and draws nothing but what is asked for.
 * The functions give base64 of the file's bytes, and reject with a message that names the option at fault.
 */
export interface TendrilPage {
  ready: Promise<void>;
  film?: Film;
  study?: StudyData;
  stage?: Stage;
  picturePng?: (options?: PictureOptions) => Promise<string>;
  filmWebm?: (options?: FilmOptions) => Promise<string>;
}

declare global {
  interface Window {
    tendril: TendrilPage;
  }
}

export const layers: readonly Layer[] = [
  'bodies',
  'obstacles',
  'beams',
  'edges',
  'contacts',
  'forces',
  'markers',
  'frames',
  'joints',
  'links',
  'reactions',
  'paths',
  'grid',
  'labels',
];

/** Layers named in a text like "forces,-grid". */
export function parseLayers(text: string): { layer: Layer; visible: boolean }[] {
  const words = text
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
  return words.map((word) => {
    const name = word.replace(/^[-+]/, '');
    const layer = layers.find((known) => known === name);
    if (!layer) throw new Error(`There is no layer "${name}" to show; there are ${layers.join(', ')}.`);
    return { layer, visible: !word.startsWith('-') };
  });
}

export function sizeOf(options: PictureOptions): { width: number; height: number } {
  const { width = 1280, height = 720 } = options;
  for (const size of [width, height]) {
    if (!(size >= 16 && size <= 8192)) throw new Error(`A picture of ${width} x ${height} pixels cannot be made: 16 to 8192 can.`);
  }
  return { width: Math.round(width), height: Math.round(height) };
}

function prepare(film: Film, stage: Stage, options: PictureOptions): void {
  const field = film.header.fields.find(({ name }) => name === options.colour);
  if (options.colour && !field) {
    const names = film.header.fields.map(({ name }) => name).join(', ');
    throw new Error(`There is no field "${options.colour}" to colour by; ${names ? `there are ${names}` : 'this run has none'}.`);
  }
  stage.setTheme(options.dark ? 'dark' : 'light');
  stage.colourBy(options.colour ? { field: options.colour, range: null } : null);
  if (field?.on === 'contacts') stage.setLayer('contacts', true); // else nothing would have the colours
  for (const { layer, visible } of parseLayers(options.show ?? '')) stage.setLayer(layer, visible);
  stage.exaggerate(options.exaggerate ?? 1, 1);
}

/** Names errors of the options, so that the program tells them from failures of the browser. */
export function checked<Result>(set: () => Result): Result {
  try {
    return set();
  } catch (error) {
    if (error instanceof Error) error.name = 'OptionError';
    throw error;
  }
}

export async function base64Of(canvas: HTMLCanvasElement): Promise<string> {
  const blob = await new Promise<Blob | null>((resolve) => canvas.toBlob(resolve, 'image/png'));
  if (!blob) throw new Error('The browser could not make a PNG of the picture.');
  return toBase64(new Uint8Array(await blob.arrayBuffer()));
}

export function offerCommands(film: Film, stage: Stage): void {
  const { times, axis } = film.header;
  const picturePng = async (options: PictureOptions = {}): Promise<string> => {
    const { width, height } = checked(() => {
      prepare(film, stage, options);
      stage.setCamera(options.camera || 'home');
      return sizeOf(options);
    });
    const state = options.time == null ? film.frames - 1 : frameAt(times, options.time);
    return base64Of(await stage.picture(width, height, state));
  };
  const filmWebm = async (options: FilmOptions = {}): Promise<string> => {
    const framesPerSecond = options.fps ?? 30;
    const { width, height } = checked(() => {
      if (!(framesPerSecond >= 1 && framesPerSecond <= 120)) throw new Error(`${framesPerSecond} frames per second: 1 to 120 can be made.`);
      prepare(film, stage, options);
      stage.setCamera(options.camera || 'home');
      return sizeOf(options);
    });
    const states = filmStates(times, axis.kind, options.seconds ?? 0, framesPerSecond);
    return toBase64(await encodeVideo(stage, { width, height, framesPerSecond, states }));
  };
  Object.assign(window.tendril, { film, stage, picturePng, filmWebm });
}
