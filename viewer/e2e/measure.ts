// npm run measure [PAGE ...]: how long pages of "tendril view" take to open and to go from frame to frame in Chromium; without pages, the
// largest film that the viewer must bear, from a server. Once the card is kept from drawing, which tells the page's own time, and once it
// draws, which takes long where a program stands in for the card.
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { chromium, type Browser, type CDPSession, type Page } from 'playwright-core';
import { build } from 'vite';
import { crowd } from '../fixtures/crowd';
import { browserPath, flags } from './browser';

const frames = 100;
const drawnFrames = 3;

declare global {
  interface Window {
    drawn: { frames: number; calls: number; instances: number; bytes: number };
  }
}

/** Counts what the page gives to the graphics card, and keeps it from drawing if asked to. */
function countDrawing(isDrawing: boolean): void {
  window.drawn = { frames: 0, calls: 0, instances: 0, bytes: 0 };
  const methods = WebGL2RenderingContext.prototype as unknown as Record<string, (...args: unknown[]) => unknown>;
  const watch = (name: string, see: (args: unknown[]) => void, isWanted = true) => {
    const own = methods[name]!;
    methods[name] = function (...args: unknown[]) {
      see(args);
      return isWanted ? own.apply(this, args) : undefined;
    };
  };
  const names = { drawArrays: -1, drawElements: -1, drawArraysInstanced: 3, drawElementsInstanced: 4 };
  for (const [name, count] of Object.entries(names)) {
    const note = (args: unknown[]) => {
      ++window.drawn.calls;
      window.drawn.instances += Number(args[count] ?? 1);
    };
    watch(name, note, isDrawing);
  }
  for (const name of ['texSubImage2D', 'texImage2D', 'bufferData', 'bufferSubData']) {
    watch(name, (args) => {
      const data = args.find((one) => ArrayBuffer.isView(one)) as ArrayBufferView | undefined;
      const words = data as { length?: number; BYTES_PER_ELEMENT?: number } | undefined;
      const count = name === 'bufferSubData' ? Number(args[4] ?? words?.length ?? 0) : (words?.length ?? 0);
      window.drawn.bytes += count * (words?.BYTES_PER_ELEMENT ?? 1);
    });
  }
}

/** Seconds of the page's thread, by what it did. */
async function threadTime(session: CDPSession): Promise<Record<string, number>> {
  const { metrics } = await session.send('Performance.getMetrics');
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
}

/** Shows frames one after the other, each when the one before it is drawn. */
async function step(page: Page, frames: number): Promise<Window['drawn']> {
  return page.evaluate(async (count) => {
    const { stage, film } = window.tendril;
    const gl = stage!.canvas.getContext('webgl2')!;
    const pixel = new Uint8Array(4);
    for (let i = 0; i < count; ++i, ++window.drawn.frames) {
      await stage!.show((window.drawn.frames + 1) % film!.frames);
      gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel); // waits for the card
    }
    return { ...window.drawn };
  }, frames);
}

async function measure(browser: Browser, name: string, url: string, isDrawing: boolean): Promise<void> {
  const page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
  page.setDefaultTimeout(300000);
  await page.addInitScript(countDrawing, isDrawing);
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const begun = performance.now();
  await page.goto(url);
  await page.evaluate(() => window.tendril.ready);
  const opened = (performance.now() - begun) / 1000;
  const opening = (await threadTime(session))['TaskDuration']!;
  const first = await step(page, 2); // until all programs of the card are made
  const [from, before] = [performance.now(), await threadTime(session)];
  const last = await step(page, isDrawing ? drawnFrames : frames);
  const [to, after] = [performance.now(), await threadTime(session)];
  const count = last.frames - first.frames;
  const perFrame = (key: string) => ((1000 * (after[key]! - before[key]!)) / count).toFixed(1);
  const each = (key: keyof Window['drawn'], unit: number, digits: number) => ((last[key] - first[key]) / count / unit).toFixed(digits);
  console.log(
    `${name}, ${isDrawing ? 'drawn' : 'not drawn'}: open ${opened.toFixed(1)} s, of which the page's thread ${opening.toFixed(2)} s; ` +
      `a frame ${((to - from) / count).toFixed(1)} ms, of which the page's thread ${perFrame('TaskDuration')} ms (script ${perFrame('ScriptDuration')} ms); ` +
      `${each('calls', 1, 0)} draw calls, ${each('instances', 1000, 1)} thousand instances, ${each('bytes', 1e6, 1)} MB to the card; ` +
      `heap ${(after['JSHeapUsedSize']! / 1e6).toFixed(0)} MB`,
  );
  await page.close();
}

async function measureCrowd(browser: Browser): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'tendril-viewer-'));
  const root = resolve(__dirname, '..');
  const built = process.env.TENDRIL_VIEWER_PAGE;
  if (!built) await build({ root, logLevel: 'error', build: { outDir: folder, emptyOutDir: true } });
  const html = readFileSync(built ?? join(folder, 'index.html'), 'utf8');
  const film = crowd({ bodies: 10000, cables: 200, elements: 500, frames: 1000, framesPerSecond: 30 });
  const header = JSON.stringify(film.header);
  const server = createServer((request, response) => {
    const path = decodeURIComponent(request.url!.slice(1));
    const body = path === '' ? html : path === 'film.json' ? header : film.chunks.get(path.replace(/^chunk\/(.*)\/\d+$/, '$1/0'));
    response.writeHead(body ? 200 : 404, { 'Content-Type': path === '' ? 'text/html; charset=utf-8' : 'application/octet-stream' });
    response.end(body);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  for (const isDrawing of [false, true]) await measure(browser, film.header.title, url, isDrawing);
  server.close();
  rmSync(folder, { recursive: true, force: true });
}

const pages = process.argv.slice(2).filter((path) => existsSync(path));
const browser = await chromium.launch({ executablePath: browserPath!, args: flags });
if (pages.length === 0) await measureCrowd(browser);
for (const path of pages) {
  const name = `${path}, ${(statSync(path).size / 1e6).toFixed(1)} MB`;
  for (const isDrawing of [false, true]) await measure(browser, name, pathToFileURL(path).href, isDrawing);
}
await browser.close();
