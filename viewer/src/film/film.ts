// A film open for showing: its header, and the numbers of its channels as they are loaded.
import type { FilmHeader } from './header';

/** Decoded numbers of one frame of a channel: views into the chunk, not copies. */
export interface PoseFrame {
  position: Float32Array; // [items][3], relative to the origin
  rotation: Int16Array; // [items][4], quaternion w x y z times 32767
}
export interface NumberFrame {
  values: Float32Array; // [items or lines][columns]
  count: number;
}

export interface Film {
  readonly header: FilmHeader;
  readonly frames: number;
  /** Whether a frame of the channels can be read at once. */
  isLoaded(frame: number, channels: string[]): boolean;
  /** Loads the chunk of the frame (and keeps the recently used, within a budget of memory). */
  load(frame: number, channels: string[]): Promise<void>;
  poses(channel: string, frame: number): PoseFrame;
  numbers(channel: string, frame: number): NumberFrame;
  /** All frames of a channel with one item: [frames][columns]. */
  series(name: string): Promise<Float32Array>;
}
