// The page as a reader uses it, in a browser.
import { describe, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { crowd } from '../fixtures/crowd';
import { cantilever } from '../fixtures/films';
import { canTest, frameOf } from './browser';
import { balls, branches, branchFrames, cutOff, frames, halfWritten, hostile, peak, valley } from './films';
import { pageOf, WatchedLab } from './watched';

const lab = new WatchedLab();
const isPossible = canTest();
const open = (...of: Parameters<WatchedLab['open']>): Promise<Page> => pageOf(lab.open(...of));

/** Where a thing is in the picture: the first point of a raster that picks it, in pixels of the page. */
async function placeOf(page: Page, name: string): Promise<{ x: number; y: number }> {
  const place = await page.evaluate((wanted) => {
    const { stage } = window.tendril;
    const box = stage!.canvas.getBoundingClientRect();
    for (let y = 10; y < box.height; y += 16) {
      for (let x = 10; x < box.width; x += 16) if (stage!.pick(x, y)?.name === wanted) return { x: box.x + x + 2, y: box.y + y + 6 };
    }
    return null;
  }, name);
  expect(place, `${name} is in the picture`).not.toBeNull();
  return place!;
}

const verdict = (page: Page) => page.textContent('#verdict');
const tab = (page: Page, name: string) => page.getByRole('tab', { name }).click();
const waitForFrame = (page: Page, frame: number) =>
  page.waitForFunction((n) => document.querySelector('#frame')?.textContent?.startsWith(`frame ${n} `), frame);

describe.skipIf(!isPossible)('the page', { timeout: 60000 }, () => {
  lab.watch();

  test('shows title, verdict, first frame and all parts of the interface', async () => {
    const page = await open(balls());
    expect(await page.textContent('h1')).toBe('Two balls');
    expect(await verdict(page)).toBe('Converged in all 1200 steps.');
    expect(await frameOf(page)).toBe(1);
    expect(await page.getByRole('tab').allTextContents()).toEqual(['Summary', 'Look', 'Charts', 'Selection']);
    expect(await page.locator('.outputs').textContent()).toContain('12.3\u00a0mm');
    expect(await page.locator('.outputs').textContent()).toContain('unknown');
  });

  test('asks no other address for anything', async () => {
    const page = await open(balls());
    const requests: string[] = [];
    page.on('request', (request) => requests.push(request.url()));
    await tab(page, 'Charts');
    await page.waitForSelector('.chart canvas');
    expect(requests.filter((url) => !url.startsWith('data:') && !url.startsWith('blob:'))).toEqual([]);
  });

  test('plays in real time, pauses on a frame, and stops at the end', async () => {
    const page = await open(balls());
    await page.selectOption('.bar select', '1');
    const begun = Date.now();
    await page.click('#play');
    await page.waitForFunction(() => Number(document.querySelector<HTMLInputElement>('#time')!.value) >= 12);
    expect(await page.getAttribute('#play', 'aria-label')).toBe('Pause');
    await page.click('#play');
    const shown = (await frameOf(page)) - 1;
    expect(shown / 30).toBeLessThanOrEqual((Date.now() - begun) / 1000); // never quicker than the clock
    await page.waitForTimeout(300);
    expect((await frameOf(page)) - 1).toBe(shown);
    await page.selectOption('.bar select', '10');
    await page.click('#play');
    await waitForFrame(page, frames);
    await page.waitForFunction(() => document.querySelector('#play')!.getAttribute('aria-label') === 'Play');
  });

  test('loops when asked to', async () => {
    const page = await open(balls(), {}, '#frame=55');
    await page.getByRole('button', { name: 'Loop' }).click();
    await page.selectOption('.bar select', '2');
    await page.click('#play');
    await page.waitForFunction(() => Number(document.querySelector<HTMLInputElement>('#time')!.value) < 40);
    expect(await page.getAttribute('#play', 'aria-label')).toBe('Pause');
  });

  test('the slider and the marks go to frames, and the picture follows', async () => {
    const page = await open(balls());
    const height = () =>
      page.evaluate(
        () => window.tendril.stage!.facts({ kind: 'body', index: 1, item: 0 })!.facts.find(({ label }) => label === 'position z')!.value,
      );
    await page.locator('#time').fill('60');
    await expect.poll(height).toBeCloseTo(1, 5);
    await page.getByRole('button', { name: 'Go to half way' }).click();
    expect(await frameOf(page)).toBe(31);
    expect(await page.textContent('#now')).toBe('1.000\u00a0s');
    await expect.poll(height).toBeCloseTo(0.5, 5);
  });

  test('a click selects, and a second with shift measures', async () => {
    const page = await open(balls());
    const [left, right] = [await placeOf(page, 'left ball'), await placeOf(page, 'right ball')];
    await page.mouse.click(left.x, left.y);
    await tab(page, 'Selection');
    expect(await page.textContent('#selected')).toBe('left ball');
    expect(await page.locator('.facts').textContent()).toContain('−1\u00a0m');
    await page.keyboard.down('Shift');
    await page.mouse.click(right.x, right.y);
    await page.keyboard.up('Shift');
    const text = (await page.textContent('.measure')) ?? '';
    expect(text).toContain('from left ball to right ball');
    expect(parseFloat(text)).toBeGreaterThan(1.2 - 1e-3); // between the surfaces of the balls
    expect(parseFloat(text)).toBeLessThan(2.8 + 1e-3);
  });

  test('a drag turns the camera and selects nothing', async () => {
    const page = await open(balls());
    await tab(page, 'Selection');
    const { x, y } = await placeOf(page, 'left ball');
    const before = await page.evaluate(() => window.tendril.stage!.camera());
    await page.mouse.move(x, y);
    await page.mouse.down();
    await page.mouse.move(x + 80, y + 10, { steps: 4 });
    await page.mouse.up();
    expect(await page.textContent('#selected')).toBe('Nothing is selected');
    expect(await page.evaluate(() => window.tendril.stage!.camera())).not.toBe(before);
    await page.waitForFunction(() => location.hash.includes('camera='));
  });

  test('colours have a legend and a range that can be set', async () => {
    const page = await open(balls());
    await tab(page, 'Look');
    await page.selectOption('#colour', 'speed');
    expect(await page.locator('.legend').textContent()).toContain('speed [m/s]');
    await page.getByLabel('Greatest value of the colours').fill('0.25');
    await page.keyboard.press('Enter');
    await expect.poll(() => page.getAttribute('.legend', 'aria-label')).toContain('to 0.25');
    await page.getByRole('button', { name: 'symmetric' }).click();
    await expect.poll(() => page.getAttribute('.legend', 'aria-label')).toContain('from −0.25 to 0.25');
    await page.getByRole('button', { name: 'reset' }).click();
    await expect.poll(() => page.getAttribute('.legend', 'aria-label')).toContain('from 0 to 1');
  });

  test('a cut takes away what lies beyond it', async () => {
    const page = await open(balls());
    await tab(page, 'Look');
    await page.locator('summary', { hasText: 'Cut' }).click();
    const place = await placeOf(page, 'right ball');
    const isThere = () =>
      page.evaluate(({ x, y }) => {
        const { stage } = window.tendril;
        const box = stage!.canvas.getBoundingClientRect();
        return stage!.pick(x - box.x, y - box.y)?.name === 'right ball';
      }, place);
    expect(await isThere()).toBe(true);
    await page.selectOption('#cut', 'x');
    await placeOf(page, 'left ball');
    expect(await isThere()).toBe(false);
    await page.selectOption('#cut', '');
    expect(await isThere()).toBe(true);
  });

  test('charts follow the film, and a click goes to its time, near a peak exactly to it', async () => {
    const page = await open(balls());
    await tab(page, 'Charts');
    const over = page.locator('.chart[data-series=wave] .u-over');
    await over.waitFor();
    const marker = page.locator('.chart[data-series=wave] .marker');
    const box = (await over.boundingBox())!;
    const at = (frame: number) => (frame / (frames - 1)) * box.width;
    await page.locator('#time').fill('30');
    await expect.poll(async () => (await marker.boundingBox())!.x - box.x).toBeCloseTo(at(30), -0.5);
    expect(await page.locator('.chart[data-series=wave] .reading').textContent()).toMatch(/^−?[\d.]+(×10⁻\S+)?\u00a0(p|f)?m|^0\u00a0m/);
    await over.click({ position: { x: at(peak) + 6, y: 12 } });
    expect((await frameOf(page)) - 1).toBe(peak);
    await over.click({ position: { x: at(40), y: 5 } });
    expect((await frameOf(page)) - 1).toBe(40);
    await page.locator('.chart[data-series=wave] .plot').focus();
    await page.keyboard.press('e');
    expect((await frameOf(page)) - 1).toBe(valley);
    await page.keyboard.press('E');
    expect((await frameOf(page)) - 1).toBe(peak);
  });

  test('charts zoom together by a drag and show all again', async () => {
    const page = await open(balls());
    await tab(page, 'Charts');
    const over = page.locator('.chart[data-series=wave] .u-over');
    const other = page.locator('.chart[data-series=residual] .marker');
    await over.waitFor();
    const box = (await over.boundingBox())!;
    await page.mouse.move(box.x + box.width * 0.5, box.y + 60);
    await page.mouse.down();
    await page.mouse.move(box.x + box.width * 0.9, box.y + 62, { steps: 5 });
    await page.mouse.up();
    await expect.poll(() => other.isHidden()).toBe(true); // the first frame lies outside
    expect(await frameOf(page)).toBe(1); // a drag is no click
    await page.locator('.chart[data-series=wave]').getByRole('button', { name: 'all' }).click();
    await expect.poll(() => other.isHidden()).toBe(false);
  });

  test('the numbers of a chart can be saved', async () => {
    const page = await open(balls());
    await tab(page, 'Charts');
    const saved = page.waitForEvent('download');
    await page.locator('.chart[data-series=wave]').getByRole('button', { name: 'CSV' }).click();
    const download = await saved;
    expect(download.suggestedFilename()).toBe('Two-balls-wave.csv');
    const stream = await download.createReadStream();
    let text = '';
    for await (const part of stream) text += String(part);
    const lines = text.trim().split('\n');
    expect(lines[0]).toBe('frame,time [s],wave [m]');
    expect(lines.length).toBe(1 + frames);
    expect(lines[1 + peak]!.split(',').map(Number)).toEqual([peak, 0.5, 1]);
  });

  test('equilibria are drawn against an output, and start at the end of the load', async () => {
    const page = await open(cantilever());
    expect(await frameOf(page)).toBe(21);
    await tab(page, 'Charts');
    await page.selectOption('#abscissa', '0/tip');
    const dot = page.locator('.chart .marker.dot').first();
    await dot.waitFor();
    const before = await dot.boundingBox();
    await page.locator('#time').fill('5');
    await expect.poll(async () => (await dot.boundingBox())!.x).not.toBeCloseTo(before!.x, 0);
  });

  test('a point that is picked in the diagram shows its shape, also where branches share their load', async () => {
    const page = await open(branches());
    await tab(page, 'Charts');
    const over = page.locator('.chart[data-series=height] .u-over');
    await over.waitFor();
    const place = () =>
      page.evaluate(() => {
        const dot = document.querySelector('.chart[data-series=height] .marker.dot')!.getBoundingClientRect();
        const box = document.querySelector('.chart[data-series=height] .u-over')!.getBoundingClientRect();
        return { x: dot.x + dot.width / 2 - box.x, y: dot.y + dot.height / 2 - box.y };
      });
    const tip = () =>
      page.evaluate(
        () => window.tendril.stage!.facts({ kind: 'body', index: 0, item: 0 })!.facts.find(({ label }) => label === 'position z')!.value,
      );
    for (const [frame, height] of [
      [branchFrames[0] + 6, 0.6],
      [branchFrames[1] + 6, -0.6],
    ] as const) {
      await page.locator('#time').fill(String(frame));
      await expect.poll(tip).toBeCloseTo(height, 5);
      const point = await place();
      await page.locator('#time').fill('0');
      await over.click({ position: point });
      expect((await frameOf(page)) - 1).toBe(frame);
      await expect.poll(tip).toBeCloseTo(height, 5);
    }
    await page.getByRole('button', { name: 'Go to branch 2' }).click();
    expect((await frameOf(page)) - 1).toBe(branchFrames[1]);
    // Halfway between the end of one branch and the begin of the next there is nothing: the picture stays on the end.
    await page.evaluate((state) => window.tendril.stage!.show(state), branchFrames[1] - 0.5);
    expect(await tip()).toBeCloseTo(1, 5);
  });

  test('large pieces of a film are unpacked on a thread of their own', async () => {
    const size = { bodies: 6000, cables: 1, elements: 2, frames: 4, framesPerSecond: 30 };
    const { header, chunks } = crowd(size);
    const page = await open({ header, chunks });
    expect(page.workers().length).toBe(1);
    const position = await page.evaluate(() => window.tendril.stage!.facts({ kind: 'body', index: 7, item: 0 })!.facts);
    expect(position.find(({ label }) => label === 'position z')!.value).toBeCloseTo(0.6 + 0.1 * Math.sin(7), 6);
  });

  test('search finds things by name', async () => {
    const page = await open(balls());
    await page.keyboard.press('/');
    await page.keyboard.type('right');
    expect(await page.locator('.thing').count()).toBe(1);
    await page.keyboard.press('Enter');
    expect(await page.textContent('#selected')).toBe('right ball');
  });

  test('a link shows the same picture', async () => {
    const page = await open(balls(), {}, '#frame=20&camera=top&colour=speed&range=0,2&layers=labels,-grid');
    expect(await frameOf(page)).toBe(21);
    const state = await page.evaluate(() => {
      const { stage } = window.tendril;
      return [stage!.camera(), stage!.hasLayer('labels'), stage!.hasLayer('grid'), stage!.hasLayer('bodies')];
    });
    expect(state).toEqual(['top', true, false, true]);
    expect(await page.getAttribute('.legend', 'aria-label')).toContain('to 2');
    await page.keyboard.press('ArrowRight');
    await page.waitForFunction(() => location.hash.includes('frame=21'));
    expect(await page.evaluate(() => location.hash)).toMatch(/layers=(-grid,labels|labels,-grid)/);
  });

  test('a link to nowhere shows the run all the same', async () => {
    const page = await open(balls(), {}, '#frame=99999&colour=nothing&layers=odd&cut=w,1');
    expect(await frameOf(page)).toBe(frames);
    expect(await page.locator('.legend').isHidden()).toBe(true);
  });

  test('a picture can be saved', async () => {
    const page = await open(balls());
    const saved = page.waitForEvent('download');
    await page.keyboard.press('i');
    expect((await saved).suggestedFilename()).toBe('Two-balls-1.png');
  });

  test('everything can be done by keys', async () => {
    const page = await open(balls());
    const press = async (...keys: string[]) => {
      for (const key of keys) await page.keyboard.press(key);
    };
    await press('ArrowRight', 'ArrowRight', 'ArrowLeft');
    expect(await frameOf(page)).toBe(2);
    await press('Shift+ArrowRight');
    expect(await frameOf(page)).toBe(12);
    await press('End');
    expect(await frameOf(page)).toBe(frames);
    await press('Home');
    expect(await frameOf(page)).toBe(1);
    await press(']');
    expect(await page.inputValue('.bar select')).toBe('2');
    await press('\\', '[');
    expect(await page.inputValue('.bar select')).toBe('0.5');
    await press('Space');
    await page.waitForFunction(() => Number(document.querySelector<HTMLInputElement>('#time')!.value) > 3);
    await press('Space', 'l', 'c');
    expect(await page.getAttribute('#play', 'aria-label')).toBe('Play');
    expect(await page.getAttribute('[aria-label=Loop]', 'aria-pressed')).toBe('true');
    expect(await page.locator('.legend').isVisible()).toBe(true);
    await press('6');
    expect(await page.evaluate(() => window.tendril.stage!.camera())).toBe('top');
    await press('a', 'w', '+');
    expect(await page.evaluate(() => window.tendril.stage!.camera())).not.toBe('top');
    await press('Home', 'x');
    expect(await page.inputValue('#cut')).toBe('x');
    await press('x', 'x', 'x', 'x');
    expect(await page.inputValue('#cut')).toBe('');
    await press('n', 'm', 'n');
    await expect.poll(() => page.textContent('.measure')).toContain('2\u00a0m from left ball to right ball');
    await press('End'); // the right ball is 1 m above the left by then
    await expect.poll(() => page.textContent('.measure')).toContain('2.236\u00a0m from left ball to right ball');
    await press('f');
    expect(await page.getByText('The camera follows right ball.').count()).toBe(1);
    await press('Escape', 'p');
    expect(await page.locator('#panel').isHidden()).toBe(true);
    await press('p', 't');
    expect(await page.locator('#panel').isVisible()).toBe(true);
    await press('?');
    const sheet = page.getByRole('dialog', { name: 'Keys' });
    expect(await sheet.isVisible()).toBe(true);
    expect(await sheet.textContent()).toContain('play, pause');
    await press('Escape');
    expect(await sheet.isHidden()).toBe(true);
  });

  test('tab goes through all controls, each with a name and a mark of the focus', async () => {
    const page = await open(balls());
    const seen: string[] = [];
    for (let i = 0; i < 60; ++i) {
      await page.keyboard.press('Tab');
      const control = await page.evaluate(() => {
        const element = document.activeElement as HTMLElement;
        if (element === document.body) return null;
        const label = element.getAttribute('aria-label') ?? (element as HTMLInputElement).labels?.[0]?.textContent ?? element.textContent;
        const labelledBy = element.getAttribute('aria-labelledby');
        const name = (labelledBy ? document.getElementById(labelledBy)?.textContent : label)?.trim() ?? '';
        return { name, outline: getComputedStyle(element).outlineStyle, id: element.id };
      });
      if (!control) break;
      expect(control.name, JSON.stringify(control)).not.toBe('');
      expect(control.outline, control.name).not.toBe('none');
      seen.push(control.name);
    }
    for (const name of ['Save or share', 'Keys', 'Panel', 'Summary', 'Play', 'Loop', 'time', 'Size of the panel'])
      expect(seen).toContain(name);
  });

  test('follows the theme of the system, and a choice is remembered', async () => {
    const page = await open(balls(), { colorScheme: 'dark' });
    const background = () => page.evaluate(() => getComputedStyle(document.getElementById('panel')!).backgroundColor);
    expect(await page.evaluate(() => document.documentElement.dataset['theme'])).toBe('dark');
    const dark = await background();
    await page.keyboard.press('t');
    expect(await background()).not.toBe(dark);
    await page.reload();
    await page.evaluate(() => window.tendril.ready);
    expect(await page.evaluate(() => document.documentElement.dataset['theme'])).toBe('light');
  });

  test('fits a phone: nothing sticks out, the panel is a sheet from below', async () => {
    const page = await open(balls(), { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true });
    expect(await page.locator('#panel').isHidden()).toBe(true);
    const sticksOut = () =>
      page.evaluate(() =>
        [...document.querySelectorAll<HTMLElement>('button, select, input, .panel, .bar, canvas')]
          .filter((element) => element.checkVisibility() && !element.closest('.page'))
          .filter((element) => {
            const box = element.getBoundingClientRect();
            return box.left < -1 || box.right > innerWidth + 1 || box.bottom > innerHeight + 1;
          })
          .map((element) => element.outerHTML.slice(0, 80)),
      );
    expect(await sticksOut()).toEqual([]);
    await page.getByRole('button', { name: 'Panel', exact: true }).tap();
    const panel = (await page.locator('#panel').boundingBox())!;
    expect(panel.width).toBeCloseTo(390, 0);
    expect(panel.y).toBeGreaterThan(200);
    expect(await sticksOut()).toEqual([]);
    await page.getByRole('tab', { name: 'Charts' }).tap();
    await page.waitForSelector('.chart canvas');
    await page.locator('#play').tap();
    await page.waitForFunction(() => Number(document.querySelector<HTMLInputElement>('#time')!.value) > 2);
  });

  test('texts of the film are never taken for HTML', async () => {
    const page = await open(hostile());
    for (const name of ['Look', 'Charts', 'Selection', 'Summary']) await tab(page, name);
    for (const key of ['n', 'c', 'm', 'n']) await page.keyboard.press(key);
    await page.waitForTimeout(300);
    expect(await page.evaluate(() => (window as unknown as { attacked?: number }).attacked)).toBeUndefined();
    expect(await page.locator('img').count()).toBe(0);
    expect(await page.textContent('h1')).toContain('<img src=x');
  });

  test('a film of a run that goes on says so first', async () => {
    const page = await open(halfWritten());
    expect(await verdict(page)).toContain('Still running or broken off');
    const first = await page.locator('[role=tabpanel]:visible').textContent();
    expect(first).toMatch(/^There is no summary that can be read/);
  });

  test('a page that was cut off shows what it has, and says what is missing', async () => {
    const page = await open(cutOff());
    await page.locator('#time').fill('60');
    const alert = page.getByRole('alert');
    await alert.waitFor();
    expect(await alert.textContent()).toContain('cut off');
    await page.locator('#time').fill('5');
    expect(await frameOf(page)).toBe(6);
  });
});
