// Films for other programs: pictures of the stage encoded to WebM by the browser.
import { ArrayBufferTarget, Muxer } from 'webm-muxer';
import type { Stage } from './stage';

export interface VideoOptions {
  width: number;
  height: number;
  framesPerSecond: number;
  /** Frames of the film (fractions lie between two) to show one after the other. */
  states: number[];
  onProgress?: (done: number, total: number) => void;
  signal?: AbortSignal;
}

const even = (size: number) => Math.max(2, Math.round(size / 2) * 2); // colours are stored for pairs of pixels

async function chooseCodec(config: Omit<VideoEncoderConfig, 'codec'>): Promise<{ codec: string; name: string }> {
  if (typeof VideoEncoder === 'undefined') {
    throw new Error('This browser cannot make films (it has no WebCodecs on this page). Chromium and Edge can, also "tendril render".');
  }
  for (const [codec, name] of [
    ['vp09.00.51.08', 'V_VP9'],
    ['vp8', 'V_VP8'],
  ] as const) {
    const { supported } = await VideoEncoder.isConfigSupported({ ...config, codec });
    if (supported) return { codec, name };
  }
  throw new Error(`This browser can encode neither VP9 nor VP8 with ${config.width} x ${config.height} pixels. Try a smaller picture.`);
}

/** A WebM film of pictures of the stage. The stage is left at the last state. */
export async function encodeVideo(stage: Stage, options: VideoOptions): Promise<Uint8Array> {
  const width = even(options.width);
  const height = even(options.height);
  const framerate = options.framesPerSecond;
  const config = { width, height, framerate, bitrate: Math.round(Math.max(1e6, width * height * framerate * 0.12)) };
  const { codec, name } = await chooseCodec(config);
  const target = new ArrayBufferTarget();
  const muxer = new Muxer({ target, video: { codec: name, width, height, frameRate: framerate } });
  let failure: Error | null = null;
  const encoder = new VideoEncoder({
    output: (chunk, meta) => muxer.addVideoChunk(chunk, meta),
    error: (error) => (failure = error),
  });
  encoder.configure({ ...config, codec });
  const encode = async (picture: HTMLCanvasElement, i: number) => {
    const frame = new VideoFrame(picture, {
      timestamp: Math.round((i * 1e6) / framerate),
      duration: Math.round(1e6 / framerate),
    });
    encoder.encode(frame, { keyFrame: i % (2 * framerate) === 0 });
    frame.close();
    while (encoder.encodeQueueSize > 4 && !failure) await new Promise((resolve) => setTimeout(resolve));
    if (failure) throw failure;
  };
  try {
    let picture: HTMLCanvasElement | null = null;
    for (const [i, state] of options.states.entries()) {
      options.signal?.throwIfAborted();
      picture = await stage.picture(width, height, state);
      await encode(picture, i);
      options.onProgress?.(i + 1, options.states.length);
    }
    if (picture) await encode(picture, options.states.length); // a file ends where its last picture begins
    await encoder.flush();
    if (failure) throw failure;
  } finally {
    if (encoder.state !== 'closed') encoder.close();
  }
  muxer.finalize();
  return new Uint8Array(target.buffer);
}
