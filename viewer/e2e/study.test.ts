// The page of a study as a reader uses it, in a browser.
import { describe, expect, test } from 'vitest';
import type { Page } from 'playwright-core';
import { insertStudy, throws } from '../fixtures/studies';
import { canTest } from './browser';
import { pageOf, WatchedLab } from './watched';

const lab = new WatchedLab();
const open = (study = throws(), hash = ''): Promise<Page> => pageOf(lab.openPage((page) => insertStudy(page, study), {}, hash));

const column = (page: Page, n: number) => page.locator(`tbody tr td:nth-child(${n})`).allTextContents();

describe.skipIf(!canTest())('the page of a study', { timeout: 60000 }, () => {
  lab.watch();

  test('tells what became of the runs', async () => {
    const page = await open();
    expect(await page.title()).toBe('scenes/ball throw.yaml');
    expect(await page.textContent('#summary')).toContain('240 of 240 runs are finished');
    expect(await page.textContent('#summary')).toContain('239 success, 1 failed');
    expect(await page.textContent('#count')).toBe('240 of 240 runs');
  });

  test('sorts by a column, once up and once down', async () => {
    const page = await open();
    const numbers = async () => (await column(page, 6)).filter((text) => text !== '').map(Number);
    await page.getByRole('button', { name: 'far [m]' }).click();
    const up = await numbers();
    expect(up).toHaveLength(100);
    expect(up).toEqual([...up].sort((a, b) => a - b));
    await page.getByRole('button', { name: 'far [m]' }).click();
    const down = await numbers();
    expect(down[0]).toBeGreaterThan(up[0]!);
    expect(down).toEqual([...down].sort((a, b) => b - a));
    expect(await page.locator('th[aria-sort=descending]').textContent()).toBe('far [m]');
  });

  test('shows a hundred rows at a time', async () => {
    const page = await open();
    await page.getByRole('button', { name: 'On' }).click();
    await page.getByRole('button', { name: 'On' }).click();
    expect(await page.locator('tbody tr').count()).toBe(40);
    expect(await page.locator('tbody th').last().textContent()).toBe('0240');
  });

  test('keeps the runs in the range that is drawn along an axis', async () => {
    const page = await open();
    const box = (await page.locator('#parallel').boundingBox())!;
    // The axis of the height is the first of four; its upper half holds the second name alone.
    const x = box.x + 60;
    await page.mouse.move(x, box.y + 32);
    await page.mouse.down();
    await page.mouse.move(x, box.y + 150);
    await page.mouse.up();
    expect(await page.textContent('#count')).toBe('120 of 240 runs');
    expect(new Set(await column(page, 3))).toEqual(new Set(['roof']));
    await page.getByRole('button', { name: 'All runs' }).click();
    expect(await page.textContent('#count')).toBe('240 of 240 runs');
  });

  test('says how to run a row again, and why it failed', async () => {
    const page = await open();
    await page.getByRole('button', { name: '0004' }).click();
    expect(await page.textContent('#chosen')).toContain('failed: step 7: no convergence');
    expect(await page.textContent('#chosen code')).toContain('--set height=ground --set speed=5');
  });

  test('chooses a run by a click on its point', async () => {
    const page = await open();
    const canvas = page.locator('#scatter');
    await page.getByLabel('Across').selectOption({ label: 'speed' });
    await canvas.scrollIntoViewIfNeeded();
    const box = (await canvas.boundingBox())!;
    let text = '';
    for (let y = 290; y > 30 && text === ''; y -= 20) {
      await canvas.click({ position: { x: box.width / 2, y } });
      text = (await page.textContent('#chosen')) ?? '';
    }
    expect(text).toMatch(/^Run \d{4}: success/);
  });

  test('draws the charts and the bounds of a certification', async () => {
    const page = await open();
    const strokes = await page.evaluate(() => {
      const counts: Record<string, number> = {};
      for (const canvas of document.querySelectorAll('canvas')) {
        const { data } = canvas.getContext('2d')!.getImageData(0, 0, canvas.width, canvas.height);
        let painted = 0;
        for (let i = 3; i < data.length; i += 4) if (data[i]! > 0) ++painted;
        counts[canvas.id] = painted / (data.length / 4);
      }
      return counts;
    });
    for (const id of ['parallel', 'scatter', 'histogram']) expect(strokes[id]).toBeGreaterThan(0.01);
    const withBounds = await page.evaluate(() => window.tendril.picturePng!({ width: 800, height: 600 }));
    await lab.close();
    const plain = await open({ ...throws(), certification: null });
    const without = await plain.evaluate(() => window.tendril.picturePng!({ width: 800, height: 600 }));
    expect(withBounds).not.toBe(without);
  });

  test('gives the same picture each time, and refuses what it has not', async () => {
    const page = await open(throws(), '#render');
    const picture = () => page.evaluate(() => window.tendril.picturePng!({ width: 640, height: 480, colour: 'speed' }));
    expect(await picture()).toBe(await picture());
    const refusal = (options: object) =>
      page.evaluate((given) => window.tendril.picturePng!(given).catch((error: Error) => `${error.name}: ${error.message}`), options);
    expect(await refusal({ colour: 'mass' })).toContain('OptionError: There is no column "mass"');
    expect(await refusal({ width: 3 })).toContain('OptionError');
    expect(await page.evaluate(() => window.tendril.filmWebm!({}).catch((error: Error) => error.message))).toContain('no film');
  });

  test('takes texts as texts', async () => {
    const attack = '<img src=x onerror="window.attacked=1"></script><script>window.attacked=1</script>';
    const study = throws(2, 2);
    study.scene = study.design = attack;
    study.set = [attack];
    study.messages = { '0004': attack };
    study.columns[0]!.texts![0] = study.columns[1]!.name = attack;
    study.certification!.output = attack;
    const page = await open(study);
    await page.getByRole('button', { name: '0004' }).click();
    expect(await page.textContent('h1')).toBe(attack);
    expect(await page.evaluate(() => 'attacked' in window)).toBe(false);
  });
});
