import { afterEach, describe, expect, it, vi } from 'vitest';
import { decodeChunk, inflate, joinPlanes, splitPlanes } from '../src/film/decode';
import { makeFilm, FilmError, fromBase64, openFilm, toBase64, type ChunkSource } from '../src/film/open';
import { cable, pile } from '../fixtures/films';
import type { WrittenFilm } from '../fixtures/writer';

const sourceOf =
  (written: WrittenFilm, asked: string[] = []): ChunkSource =>
  async (channel, number) => {
    asked.push(`${channel}/${number}`);
    const bytes = written.chunks.get(`${channel}/${number}`);
    if (!bytes) throw new Error(`no chunk ${channel}/${number}`);
    return bytes;
  };

describe('byte planes', () => {
  it('are as the format says: all first bytes, then all second bytes', () => {
    const planes = new Uint8Array([0x01, 0x05, 0x02, 0x06, 0x03, 0x07, 0x04, 0x08]);
    expect([...new Uint32Array(joinPlanes(planes, 4))]).toEqual([0x04030201, 0x08070605]);
    expect([...new Int16Array(joinPlanes(new Uint8Array([0xff, 0x00, 0xff, 0x80]), 2))]).toEqual([-1, -32768]);
  });
  it('come back after splitting', () => {
    const numbers = new Float32Array([1.5, NaN, -3e-20, Infinity, 0.1]);
    expect(new Float32Array(joinPlanes(splitPlanes(numbers, 4), 4))).toEqual(numbers);
  });
});

describe('chunks', () => {
  it('are inflated from zlib bytes', async () => {
    // zlib.compress(b'abcabcabc') of Python
    const stored = Uint8Array.from('789c4b4c4a4e042300113d0373'.match(/../g)!, (x) => parseInt(x, 16));
    expect(new TextDecoder().decode(await inflate(stored))).toBe('abcabcabc');
    await expect(inflate(stored.subarray(0, 6))).rejects.toBeDefined();
  });
  it('with too few or too many bytes are refused', () => {
    const info = { layout: 'dense' as const, items: 2, columns: ['a'], bytes: 0 };
    expect(() => decodeChunk(new Uint8Array(12), info, 2)).toThrow('has 12 bytes, 16 were expected');
    expect(() => decodeChunk(new Uint8Array(20), info, 2)).toThrow('has 20 bytes, 16 were expected');
  });
  it('of lists give each frame its lines', async () => {
    const written = pile(20, 40);
    const film = makeFilm(written.header, sourceOf(written));
    await film.load(39, ['contacts']);
    const { values, count } = film.numbers('contacts', 39);
    expect(count).toBeGreaterThan(5);
    expect(values.length).toBe(count * 14);
    expect(values[5]).toBe(1); // the normal points up
    expect(values[13]).toBe(20); // the ground is the part after the bodies
  });
});

describe('a film', () => {
  it('gives poses of any frame within the precision of its storage', async () => {
    const written = cable(10, 40);
    const film = makeFilm(written.header, sourceOf(written));
    await film.load(33, ['nodes', 'elements']);
    const { position, rotation } = film.poses('nodes', 33);
    const tips = await film.series('tip position');
    for (let k = 0; k < 3; ++k) expect(position[30 + k]).toBeCloseTo(tips[33 * 3 + k]!, 6);
    expect(Math.hypot(...rotation.subarray(40, 44)) / 32767).toBeCloseTo(1, 4);
  });
  it('fetches the next chunk ahead, each chunk once', async () => {
    const written = cable(4, 64);
    const asked: string[] = [];
    const film = makeFilm(written.header, sourceOf(written, asked));
    await film.load(0, ['nodes']);
    await film.load(1, ['nodes']);
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(asked).toEqual(['nodes/0', 'nodes/1']);
    expect(film.isLoaded(17, ['nodes'])).toBe(true);
  });
  it('keeps what is used and forgets the rest when memory is short', async () => {
    const written = cable(4, 160);
    const film = makeFilm(written.header, sourceOf(written), 1);
    for (let frame = 0; frame < 160; ++frame) {
      await film.load(frame, ['nodes']);
      expect(film.isLoaded(frame, ['nodes'])).toBe(true);
    }
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(film.isLoaded(0, ['nodes'])).toBe(false);
  });
  it('of another format, empty or damaged is refused with the remedy', async () => {
    const written = cable(4, 20);
    expect(() => makeFilm({ ...written.header, format: 99 }, sourceOf(written))).toThrow(/format 99.*tendril view/);
    expect(() => makeFilm({ ...written.header, times: [] }, sourceOf(written))).toThrow(FilmError);
    expect(() => makeFilm(null, sourceOf(written))).toThrow(FilmError);
    written.chunks.set('nodes/0', written.chunks.get('nodes/1')!);
    await expect(makeFilm(written.header, sourceOf(written)).load(0, ['nodes'])).rejects.toThrow(
      /Chunk 0 of the channel "nodes".*tendril view/,
    );
  });
});

it('base64 comes back', () => {
  const bytes = new Uint8Array(100000).map((_, i) => i * 7);
  expect(fromBase64(toBase64(bytes))).toEqual(bytes);
});

describe('the film of a page', () => {
  afterEach(() => vi.unstubAllGlobals());

  /** As much of a document as opening a film looks at. */
  const pageOf = (texts: Record<string, string>, protocol = 'file:') =>
    ({
      location: { protocol },
      getElementById: (id: string) => (id in texts ? { textContent: texts[id] } : null),
      querySelector: () => (Object.keys(texts).some((id) => id.startsWith('chunk/')) ? {} : null),
    }) as unknown as Document;

  it('is read from the page itself', async () => {
    const { header, chunks } = cable(4, 20);
    const texts = Object.fromEntries([...chunks].map(([id, bytes]) => [`chunk/${id}`, toBase64(bytes)]));
    const film = await openFilm(pageOf({ film: JSON.stringify(header), ...texts }));
    await film.load(19, ['nodes', 'markers']);
    const marker = [...film.poses('markers', 19).position];
    expect(marker).toEqual([...film.poses('nodes', 19).position.subarray(12, 15)]);
    const damaged = await openFilm(pageOf({ film: JSON.stringify(header), 'chunk/nodes/1': '' }));
    await expect(damaged.load(0, ['nodes'])).rejects.toThrow(/lacks chunk 0 of "nodes".*tendril view/);
    await expect(openFilm(pageOf({ film: '{"format": 1' }))).rejects.toThrow(/damaged/);
    await expect(openFilm(pageOf({}))).rejects.toThrow(/no film of a run/);
  });

  it('is fetched from the server of the page, names with any characters', async () => {
    const { header, chunks } = cable(4, 20);
    const asked: string[] = [];
    vi.stubGlobal('fetch', async (path: string) => {
      asked.push(path);
      const body = path === 'film.json' ? JSON.stringify(header) : chunks.get(decodeURIComponent(path).slice('chunk/'.length));
      return body === undefined ? new Response('no such chunk', { status: 404 }) : new Response(body as BodyInit);
    });
    const film = await openFilm(pageOf({}, 'http:'));
    const tips = await film.series('tip position');
    expect(tips).toHaveLength(60);
    expect(asked).toEqual(['film.json', 'chunk/series/tip%20position/0', 'chunk/series/tip%20position/1']);
    chunks.clear();
    await expect(film.load(0, ['nodes'])).rejects.toThrow(/refused "chunk\/nodes\/0" \(404\)\. no such chunk/);
    vi.stubGlobal('fetch', () => Promise.reject(new TypeError('failed')));
    await expect(film.load(0, ['elements'])).rejects.toThrow(/does not answer/);
  });
});
