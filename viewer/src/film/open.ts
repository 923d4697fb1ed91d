// Opens a film that is in the page or comes from the server of the page.
import type { Chunk } from './decode';
import type { Film, NumberFrame, PoseFrame } from './film';
import { filmFormat, type ChannelInfo, type FilmHeader } from './header';
import { Unpacker } from './unpack';

/** Gives the stored bytes of chunk `number` of a channel. */
export type ChunkSource = (channel: string, number: number) => Promise<Uint8Array>;

/** A message for whoever looks at the page: what is wrong and what to do. */
export class FilmError extends Error {}

/** Decoded bytes that are kept. */
const memoryBudget = 384 << 20;

export function checkHeader(header: unknown): FilmHeader {
  const film = header as FilmHeader;
  if (typeof film !== 'object' || film === null || typeof film.format !== 'number') {
    throw new FilmError('The page holds no film of a run. Make it again with "tendril view".');
  }
  if (film.format !== filmFormat) {
    throw new FilmError(
      `The film has format ${film.format}, this viewer reads format ${filmFormat}. Make the page again with the "tendril view" of one version.`,
    );
  }
  for (const key of [
    'times',
    'bodies',
    'obstacles',
    'beams',
    'markers',
    'joints',
    'links',
    'parts',
    'meshes',
    'fields',
    'series',
    'marks',
    'breaks',
  ] as const) {
    if (!Array.isArray(film[key])) throw new FilmError(`The film's header lacks "${key}". Make the page again with "tendril view".`);
  }
  if (film.times.length === 0) throw new FilmError('The run has no frames yet: nothing to show. Look again when it has made a step.');
  if (!(film.framesPerChunk >= 1)) throw new FilmError('The film\'s header has no valid "framesPerChunk".');
  return film;
}

class ChunkedFilm implements Film {
  readonly frames: number;
  private readonly loaded = new Map<string, Chunk>(); // least recently used first
  private readonly loading = new Map<string, Promise<void>>();
  private readonly unpacker = new Unpacker();
  private recent: string[][] = []; // keys of the last two loads
  private bytes = 0;
  private lastFrame = -1;

  constructor(
    readonly header: FilmHeader,
    private readonly source: ChunkSource,
    private readonly budget: number,
  ) {
    this.frames = header.times.length;
  }

  isLoaded(frame: number, channels: string[]): boolean {
    return channels.every((channel) => this.loaded.has(this.key(channel, this.chunkOf(frame))));
  }

  async load(frame: number, channels: string[]): Promise<void> {
    const chunk = this.chunkOf(frame);
    const keys = channels.map((channel) => this.key(channel, chunk));
    this.recent = [keys, this.recent[0] ?? []]; // a state between two frames needs both
    const isForwards = frame >= this.lastFrame;
    this.lastFrame = frame;
    await Promise.all(channels.map((channel) => this.fetch(channel, chunk)));
    this.prefetch(chunk + (isForwards ? 1 : -1), channels);
  }

  poses(channel: string, frame: number): PoseFrame {
    const { info, chunk, index } = this.find(channel, frame);
    if (!chunk.position || !chunk.rotation) throw new FilmError(`The channel "${channel}" holds no poses.`);
    const n = info.items;
    return {
      position: chunk.position.subarray(index * n * 3, (index + 1) * n * 3),
      rotation: chunk.rotation.subarray(index * n * 4, (index + 1) * n * 4),
    };
  }

  numbers(channel: string, frame: number): NumberFrame {
    const { info, chunk, index } = this.find(channel, frame);
    if (!chunk.values) throw new FilmError(`The channel "${channel}" holds poses, not numbers.`);
    const from = chunk.starts ? chunk.starts[index]! : index * info.items;
    const to = chunk.starts ? chunk.starts[index + 1]! : from + info.items;
    return { values: chunk.values.subarray(from * info.columns.length, to * info.columns.length), count: to - from };
  }

  async series(name: string): Promise<Float32Array> {
    const channel = `series/${name}`;
    const info = this.info(channel);
    const columns = info.columns.length * Math.max(1, info.items);
    const all = new Float32Array(this.frames * columns);
    const perChunk = this.header.framesPerChunk;
    const chunks = Math.ceil(this.frames / perChunk);
    const readInto = async (chunk: number) => {
      const values = this.loaded.get(this.key(channel, chunk))?.values ?? (await this.read(channel, chunk)).values;
      if (!values) throw new FilmError(`The channel "${channel}" holds poses, not numbers.`);
      all.set(values.subarray(0, all.length - chunk * perChunk * columns), chunk * perChunk * columns);
    };
    // Several at a time: a server is asked for many small pieces.
    for (let from = 0; from < chunks; from += 8) {
      await Promise.all(Array.from({ length: Math.min(8, chunks - from) }, (_, i) => readInto(from + i)));
    }
    return all;
  }

  private key(channel: string, chunk: number): string {
    return `${channel}/${chunk}`;
  }

  private chunkOf(frame: number): number {
    if (!(frame >= 0 && frame < this.frames)) throw new FilmError(`The film has no frame ${frame}, only 0 to ${this.frames - 1}.`);
    return Math.floor(frame / this.header.framesPerChunk);
  }

  private info(channel: string): ChannelInfo {
    const info = this.header.channels[channel];
    if (!info) throw new FilmError(`The film has no channel "${channel}".`);
    return info;
  }

  private find(channel: string, frame: number): { info: ChannelInfo; chunk: Chunk; index: number } {
    const number = this.chunkOf(frame);
    const key = this.key(channel, number);
    const chunk = this.loaded.get(key);
    if (!chunk) throw new FilmError(`Frame ${frame} of "${channel}" is not loaded.`);
    this.loaded.delete(key); // to the end: recently used
    this.loaded.set(key, chunk);
    return { info: this.info(channel), chunk, index: frame - number * this.header.framesPerChunk };
  }

  private prefetch(chunk: number, channels: string[]): void {
    if (chunk < 0 || chunk * this.header.framesPerChunk >= this.frames) return;
    // What fails here fails again, and is reported, when it is needed.
    for (const channel of channels) this.fetch(channel, chunk).catch(() => undefined);
  }

  private fetch(channel: string, number: number): Promise<void> {
    const key = this.key(channel, number);
    if (this.loaded.has(key)) return Promise.resolve();
    let promise = this.loading.get(key);
    if (!promise) {
      promise = this.read(channel, number)
        .then((chunk) => this.keep(key, chunk))
        .finally(() => this.loading.delete(key));
      this.loading.set(key, promise);
    }
    return promise;
  }

  private async read(channel: string, number: number): Promise<Chunk> {
    const info = this.info(channel);
    const perChunk = this.header.framesPerChunk;
    const frames = Math.min(perChunk, this.frames - number * perChunk);
    const stored = await this.source(channel, number);
    try {
      return await this.unpacker.unpack(stored, info, frames);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      throw new FilmError(`Chunk ${number} of the channel "${channel}" cannot be read: ${why}. Make the page again with "tendril view".`);
    }
  }

  private keep(key: string, chunk: Chunk): void {
    this.loaded.set(key, chunk);
    this.bytes += chunk.bytes;
    for (const [old, { bytes }] of this.loaded) {
      if (this.bytes <= this.budget) break;
      if (old === key || this.recent.some((keys) => keys.includes(old))) continue;
      this.loaded.delete(old);
      this.bytes -= bytes;
    }
  }
}

export function makeFilm(header: unknown, source: ChunkSource, budget = memoryBudget): Film {
  return new ChunkedFilm(checkHeader(header), source, budget);
}

export function fromBase64(text: string): Uint8Array {
  const binary = atob(text.trim());
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; ++i) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

export function toBase64(bytes: Uint8Array): string {
  let binary = '';
  for (let at = 0; at < bytes.length; at += 0x8000) binary += String.fromCharCode(...bytes.subarray(at, at + 0x8000));
  return btoa(binary);
}

function embeddedSource(page: Document): ChunkSource {
  return async (channel, number) => {
    const element = page.getElementById(`chunk/${channel}/${number}`);
    if (!element) throw new FilmError(`The page lacks chunk ${number} of "${channel}": it was cut off. Make it again with "tendril view".`);
    return fromBase64(element.textContent ?? '');
  };
}

async function get(path: string): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path);
  } catch {
    throw new FilmError('The program that serves this film does not answer. Start "tendril view --serve" again and reload the page.');
  }
  if (!response.ok) {
    const text = (await response.text().catch(() => '')).slice(0, 500);
    throw new FilmError(`The program that serves this film refused "${path}" (${response.status}). ${text}`);
  }
  return response;
}

const servedSource: ChunkSource = async (channel, number) => {
  const path = ['chunk', ...channel.split('/'), String(number)].map(encodeURIComponent).join('/');
  return new Uint8Array(await (await get(path)).arrayBuffer());
};

/** The film of the page: in it, or of its server. */
export async function openFilm(page: Document): Promise<Film> {
  const embedded = page.getElementById('film')?.textContent;
  if (!embedded && page.location.protocol === 'file:') {
    throw new FilmError('This page holds no film of a run. "tendril view FOLDER" writes a page that does.');
  }
  let header: unknown;
  try {
    header = embedded ? JSON.parse(embedded) : await (await get('film.json')).json();
  } catch (error) {
    if (error instanceof FilmError) throw error;
    throw new FilmError('The header of the film is damaged. Make the page again with "tendril view".');
  }
  const isHere = page.querySelector('script[id^="chunk/"]') !== null;
  return makeFilm(header, isHere ? embeddedSource(page) : servedSource);
}
