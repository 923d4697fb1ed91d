// Opens the built page with a film in Chromium, and hears of every error in it.
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { chromium, type Browser, type BrowserContextOptions, type Page } from 'playwright-core';
import { build } from 'vite';
import { insertFilm, type WrittenFilm } from '../fixtures/writer';

export const flags = [
  '--no-sandbox',
  '--use-angle=swiftshader', // draws the same on every machine
  '--enable-unsafe-swiftshader',
  '--disable-quic',
  '--no-first-run',
  '--disable-background-networking',
  '--disable-component-update',
  '--disable-sync',
];

export const browserPath =
  process.env.CHROMIUM ?? ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/usr/bin/google-chrome'].find(existsSync);

/** Without a browser the tests are skipped and say so; in continuous integration that is a failure. */
export function canTest(): boolean {
  if (browserPath && existsSync(browserPath)) return true;
  const message = 'Viewer not tested: no Chromium was found (/usr/bin/chromium, or the path in CHROMIUM).';
  if (process.env.CI) throw new Error(message);
  console.warn(message);
  return false;
}

export interface Opened {
  page: Page;
  /** Errors and warnings that the page wrote to the console or threw. */
  problems: string[];
}

export class Lab {
  private readonly folder = mkdtempSync(join(tmpdir(), 'tendril-viewer-'));
  private browser: Browser | null = null;
  private html = '';
  private count = 0;

  /** Builds the page, or takes the one that was built before, named by TENDRIL_VIEWER_PAGE. */
  async start(): Promise<void> {
    const built = process.env.TENDRIL_VIEWER_PAGE;
    const root = fileURLToPath(new URL('..', import.meta.url));
    if (!built) await build({ root, logLevel: 'error', build: { outDir: join(this.folder, 'page'), emptyOutDir: true } });
    this.html = readFileSync(built ?? join(this.folder, 'page', 'index.html'), 'utf8');
    this.browser = await chromium.launch({ executablePath: browserPath!, args: flags });
  }

  async stop(): Promise<void> {
    await this.browser?.close();
    rmSync(this.folder, { recursive: true, force: true });
  }

  open(film: WrittenFilm, options: BrowserContextOptions = {}, hash = ''): Promise<Opened> {
    return this.openPage((page) => insertFilm(page, film), options, hash);
  }

  /** Opens the page with what `insert` puts into it. */
  async openPage(insert: (page: string) => string, options: BrowserContextOptions = {}, hash = ''): Promise<Opened> {
    const file = join(this.folder, `${++this.count}.html`);
    writeFileSync(file, insert(this.html));
    const context = await this.browser!.newContext({ viewport: { width: 1000, height: 640 }, acceptDownloads: true, ...options });
    const page = await context.newPage();
    page.setDefaultTimeout(20000);
    const problems: string[] = [];
    page.on('pageerror', (error) => problems.push(error.message));
    page.on('console', (message) => {
      const isDriver = message.text().includes('GPU stall'); // of reading pixels from the software renderer
      if ((message.type() === 'error' || message.type() === 'warning') && !isDriver) problems.push(message.text());
    });
    await page.goto(pathToFileURL(file).href + hash);
    await page.evaluate(() => window.tendril.ready);
    return { page, problems };
  }
}

/** Number of the frame that is shown, from 1, as the bar says. */
export async function frameOf(page: Page): Promise<number> {
  return Number(/frame (\d+)/.exec((await page.textContent('#frame')) ?? '')?.[1]);
}

export interface Picture {
  width: number;
  height: number;
  data: number[]; // red, green, blue, alpha
}

/** Pixels of the stage's picture as it is shown now. */
export async function pixelsOf(page: Page, width: number, height: number): Promise<Picture> {
  return page.evaluate(
    async ([w, h]) => {
      const canvas = await window.tendril.stage!.picture(w!, h!);
      return { width: canvas.width, height: canvas.height, data: [...canvas.getContext('2d')!.getImageData(0, 0, w!, h!).data] };
    },
    [width, height],
  );
}
