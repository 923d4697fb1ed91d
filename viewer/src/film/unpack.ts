// Unpacks chunks: small ones at once, large ones on a thread of their own, so that the page goes on drawing meanwhile.
import { decodeChunk, inflate, type Chunk } from './decode';
import type { ChannelInfo } from './header';
import UnpackWorker from './unpack-worker?worker&inline';

export interface PackedChunk {
  id: number;
  stored: Uint8Array;
  info: ChannelInfo;
  frames: number;
}
export type UnpackedChunk = { id: number; chunk: Chunk } | { id: number; error: string };

/** Bytes that are worth the way to another thread and back. */
const largeChunk = 1 << 16;

interface Waiting {
  packed: PackedChunk;
  resolve: (chunk: Chunk) => void;
  reject: (error: Error) => void;
}

export class Unpacker {
  private worker: Worker | null = null;
  private isPossible = typeof Worker !== 'undefined';
  private isProven = false; // the thread has answered: bytes can be handed over to it, not to be seen here again
  private readonly waiting = new Map<number, Waiting>();
  private count = 0;

  /** Takes the bytes: whoever gave them must not use them again. */
  async unpack(stored: Uint8Array, info: ChannelInfo, frames: number): Promise<Chunk> {
    const packed = { id: ++this.count, stored, info, frames };
    if (!this.isPossible || stored.length < largeChunk) return unpackHere(packed);
    return new Promise((resolve, reject) => {
      this.waiting.set(packed.id, { packed, resolve, reject });
      this.worker ??= this.start();
      this.worker.postMessage(packed, this.isProven ? [stored.buffer as ArrayBuffer] : []);
    });
  }

  private start(): Worker {
    const worker = new UnpackWorker();
    worker.onmessage = ({ data }: MessageEvent<UnpackedChunk>) => {
      this.isProven = true;
      const one = this.waiting.get(data.id);
      this.waiting.delete(data.id);
      if ('chunk' in data) one?.resolve(data.chunk);
      else one?.reject(new Error(data.error));
    };
    // Where a browser gives a page from a file no threads, the page does it all.
    worker.onerror = () => {
      this.isPossible = false;
      for (const { packed, resolve, reject } of this.waiting.values()) unpackHere(packed).then(resolve, reject);
      this.waiting.clear();
    };
    return worker;
  }
}

async function unpackHere({ stored, info, frames }: PackedChunk): Promise<Chunk> {
  return decodeChunk(await inflate(stored), info, frames);
}
