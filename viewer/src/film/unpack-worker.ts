// The thread that unpacks chunks: see unpack.ts.
import { decodeChunk, inflate, type Chunk } from './decode';
import type { PackedChunk, UnpackedChunk } from './unpack';

const buffersOf = ({ position, rotation, values, starts }: Chunk): ArrayBuffer[] =>
  [position, rotation, values, starts].flatMap((array) => (array ? [array.buffer as ArrayBuffer] : []));

self.onmessage = async ({ data: { id, stored, info, frames } }: MessageEvent<PackedChunk>) => {
  const answer = (message: UnpackedChunk, transfer: ArrayBuffer[] = []) => self.postMessage(message, { transfer });
  try {
    const chunk = decodeChunk(await inflate(stored), info, frames);
    answer({ id, chunk }, buffersOf(chunk));
  } catch (error) {
    answer({ id, error: error instanceof Error ? error.message : String(error) });
  }
};
