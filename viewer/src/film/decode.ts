// From the stored bytes of a chunk to numbers (see header.ts for the layout).
import type { ChannelInfo } from './header';

/** A chunk ready for reading. Frames count from the chunk's first. */
export interface Chunk {
  frames: number;
  bytes: number;
  position?: Float32Array;
  rotation?: Int16Array;
  values?: Float32Array;
  /** Of a list: first line of each frame, and the number of all lines. */
  starts?: Uint32Array;
}

export async function inflate(stored: Uint8Array): Promise<Uint8Array> {
  if (typeof DecompressionStream === 'undefined') throw new Error('this browser is too old to unpack it (it lacks DecompressionStream)');
  const stream = new Blob([stored as BlobPart]).stream().pipeThrough(new DecompressionStream('deflate'));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

/** Undoes the storage by byte planes: all first bytes of the numbers, then all second bytes, and so on. */
export function joinPlanes(planes: Uint8Array, width: number): ArrayBuffer {
  const count = planes.length / width;
  const bytes = new Uint8Array(planes.length);
  if (width === 4) {
    const words = new Uint32Array(bytes.buffer);
    const second = count,
      third = 2 * count,
      fourth = 3 * count;
    for (let i = 0; i < count; ++i) {
      words[i] = planes[i]! | (planes[second + i]! << 8) | (planes[third + i]! << 16) | (planes[fourth + i]! << 24);
    }
  } else {
    for (let plane = 0, at = 0; plane < width; ++plane) {
      for (let i = plane; i < bytes.length; i += width) bytes[i] = planes[at++]!;
    }
  }
  return bytes.buffer;
}

/** The reverse of joinPlanes, for whoever writes a film. */
export function splitPlanes(numbers: ArrayBufferView, width: number): Uint8Array {
  const bytes = new Uint8Array(numbers.buffer, numbers.byteOffset, numbers.byteLength);
  const planes = new Uint8Array(bytes.length);
  for (let plane = 0, at = 0; plane < width; ++plane) {
    for (let i = plane; i < bytes.length; i += width) planes[at++] = bytes[i]!;
  }
  return planes;
}

/** Numbers of a chunk of `frames` frames; throws if the bytes do not fit the channel. */
export function decodeChunk(plain: Uint8Array, info: ChannelInfo, frames: number): Chunk {
  const columns = info.columns.length;
  let at = 0;
  const take = (count: number, width: number): ArrayBuffer => {
    const end = at + count * width;
    if (end > plain.length) throw new Error(`has ${plain.length} bytes, ${end} were expected`);
    const part = joinPlanes(plain.subarray(at, end), width);
    at = end;
    return part;
  };
  const chunk: Chunk = { frames, bytes: plain.length };
  if (info.layout === 'pose') {
    chunk.position = new Float32Array(take(frames * info.items * 3, 4));
    chunk.rotation = new Int16Array(take(frames * info.items * 4, 2));
  } else if (info.layout === 'dense') {
    chunk.values = new Float32Array(take(frames * info.items * columns, 4));
  } else if (info.layout === 'list') {
    const counts = new Uint32Array(take(frames, 4));
    chunk.starts = new Uint32Array(frames + 1);
    for (let i = 0; i < frames; ++i) chunk.starts[i + 1] = chunk.starts[i]! + counts[i]!;
    chunk.values = new Float32Array(take(chunk.starts[frames]! * columns, 4));
  } else {
    throw new Error(`has the unknown layout "${String(info.layout)}"`);
  }
  if (at !== plain.length) throw new Error(`has ${plain.length} bytes, ${at} were expected`);
  return chunk;
}
