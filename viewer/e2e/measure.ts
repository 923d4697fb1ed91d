// npm run measure [PAGE ...]: how long pages of "tendril view" take to open and to draw a frame, in Chromium; without pages, the largest
// film that the viewer must bear, from a server. Times of the page's own thread, which a graphics card does not shorten, stand apart from
// the picture's pace, which a renderer without a card holds up.
import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { readFileSync } from 'node:fs';
import { chromium, type Browser, type CDPSession, type Page } from 'playwright-core';
import { build } from 'vite';
import { crowd } from '../fixtures/crowd';
import { browserPath, flags } from './browser';

const seconds = 10;

declare global {
  interface Window {
    drawn: { calls: number; instances: number; bytes: number };
  }
}

/** Counts what the page gives to the graphics card. */
function countDrawing(): void {
  window.drawn = { calls: 0, instances: 0, bytes: 0 };
  const { prototype } = WebGL2RenderingContext;
  const watch = (name: string, see: (args: unknown[]) => void) => {
    const methods = prototype as unknown as Record<string, (...args: unknown[]) => unknown>;
    const own = methods[name]!;
    methods[name] = function (...args: unknown[]) {
      see(args);
      return own.apply(this, args);
    };
  };
  for (const name of ['drawArrays', 'drawElements']) watch(name, () => ++window.drawn.calls);
  for (const [name, at] of [['drawArraysInstanced', 3] as const, ['drawElementsInstanced', 4] as const]) {
    watch(name, (args) => {
      ++window.drawn.calls;
      window.drawn.instances += Number(args[at]);
    });
  }
  for (const name of ['texSubImage2D', 'texImage2D', 'bufferData', 'bufferSubData']) {
    watch(name, (args) => {
      const data = args.find((one) => ArrayBuffer.isView(one)) as ArrayBufferView | undefined;
      window.drawn.bytes += data?.byteLength ?? 0;
    });
  }
}

/** Seconds of the page's thread, by what it did. */
async function threadTime(session: CDPSession): Promise<Record<string, number>> {
  const { metrics } = await session.send('Performance.getMetrics');
  return Object.fromEntries(metrics.map(({ name, value }) => [name, value]));
}

async function measure(browser: Browser, name: string, url: string): Promise<void> {
  const page: Page = await browser.newPage({ viewport: { width: 1280, height: 720 } });
  await page.addInitScript(countDrawing);
  const session = await page.context().newCDPSession(page);
  await session.send('Performance.enable', { timeDomain: 'threadTicks' });
  const begun = performance.now();
  await page.goto(url);
  await page.evaluate(() => window.tendril.ready);
  const opened = (performance.now() - begun) / 1000;
  const afterOpening = await threadTime(session);
  await page.selectOption('.bar select', '1');
  await page.evaluate(() => {
    window.drawn = { calls: 0, instances: 0, bytes: 0 };
    const { stage } = window.tendril;
    const show = stage!.show.bind(stage);
    Object.assign(window, { shows: 0 });
    stage!.show = (state: number) => {
      ++(window as unknown as { shows: number }).shows;
      return show(state);
    };
  });
  await page.getByRole('button', { name: 'Loop' }).click();
  await page.click('#play');
  await page.waitForTimeout(1000 * seconds);
  const after = await threadTime(session);
  const { drawn, shows } = await page.evaluate(() => ({ drawn: window.drawn, shows: (window as unknown as { shows: number }).shows }));
  const perFrame = (key: string) => ((1000 * (after[key]! - afterOpening[key]!)) / shows).toFixed(1);
  const mega = (bytes: number) => (bytes / 1e6).toFixed(1);
  console.log(
    `${name}: open ${opened.toFixed(1)} s (page's thread ${afterOpening['TaskDuration']!.toFixed(2)} s), then ${(shows / seconds).toFixed(1)} frames a second; ` +
      `a frame: page's thread ${perFrame('TaskDuration')} ms, of which script ${perFrame('ScriptDuration')} ms, ` +
      `${(drawn.calls / shows).toFixed(0)} draw calls, ${(drawn.instances / shows / 1000).toFixed(1)} thousand instances, ` +
      `${mega(drawn.bytes / shows)} MB to the card; memory ${mega(after['JSHeapUsedSize']!)} MB`,
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
    const body = path === '' ? html : path === 'film.json' ? header : film.chunk(path.split('/').slice(1, -1).join('/'));
    response.writeHead(body ? 200 : 404, { 'Content-Type': path === '' ? 'text/html; charset=utf-8' : 'application/octet-stream' });
    response.end(body);
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  await measure(browser, film.header.title, `http://127.0.0.1:${(server.address() as AddressInfo).port}/`);
  server.close();
  rmSync(folder, { recursive: true, force: true });
}

const pages = process.argv.slice(2).filter((path) => existsSync(path));
const browser = await chromium.launch({ executablePath: browserPath!, args: flags });
if (pages.length === 0) await measureCrowd(browser);
for (const path of pages) await measure(browser, `${path}, ${(statSync(path).size / 1e6).toFixed(1)} MB`, pathToFileURL(path).href);
await browser.close();
