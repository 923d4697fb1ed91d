// What the picture shows, compared with what it must show: outlines by casting rays, colours by the field, and a small kept picture.
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { pile } from '../fixtures/films';
import { canTest, pixelsOf, type Picture } from './browser';
import { balls } from './films';
import { WatchedLab } from './watched';

const lab = new WatchedLab();
const [width, height] = [320, 200];

async function showOnlyBodies(page: Page): Promise<void> {
  await page.evaluate(() => {
    for (const layer of ['grid', 'edges', 'obstacles', 'joints', 'labels'] as const) window.tendril.stage!.setLayer(layer, false);
  });
}

/** Whether a ray from the eye through a pixel meets a ball; the camera looks along +y from (0, -distance, 0), upwards is z. */
function meetsBall(px: number, py: number, distance: number, angle: number, centre: [number, number, number], radius: number): boolean {
  const slope = Math.tan((angle * Math.PI) / 360);
  const ray = [((2 * px) / width - 1) * slope * (width / height), 1, (1 - (2 * py) / height) * slope] as const;
  const to = [centre[0], centre[1] + distance, centre[2]] as const;
  const along = (ray[0] * to[0] + ray[1] * to[1] + ray[2] * to[2]) / Math.hypot(...ray);
  return to[0] ** 2 + to[1] ** 2 + to[2] ** 2 - along ** 2 <= radius ** 2;
}

const pixel = ({ data }: Picture, x: number, y: number) =>
  data.slice(4 * (y * width + x), 4 * (y * width + x) + 3) as [number, number, number];
const difference = (a: number[], b: number[]) => Math.max(...a.map((value, k) => Math.abs(value - b[k]!)));

describe.skipIf(!canTest())('the picture', { timeout: 60000 }, () => {
  lab.watch();

  test('outlines are where rays meet the balls, to a pixel', async () => {
    const [distance, angle] = [6, 40];
    const { page } = await lab.open(balls(), {}, `#frame=30&camera=0,-${distance},0/0,0,0/${angle}`);
    await showOnlyBodies(page);
    const picture = await pixelsOf(page, width, height);
    const background = pixel(picture, width - 3, 3);
    const pixelSize = (2 * distance * Math.tan((angle * Math.PI) / 360)) / height;
    let [wrong, inside] = [0, 0];
    // The upper left corner has the title, the lower edge the axes and the scale. The outlines may be off by one pixel.
    for (let y = 44; y < height - 70; ++y) {
      for (let x = 0; x < width; ++x) {
        const meets = (radius: number) =>
          meetsBall(x + 0.5, y + 0.5, distance, angle, [-1, 0, 0], radius) ||
          meetsBall(x + 0.5, y + 0.5, distance, angle, [1, 0, 0.5], radius);
        const expected = meets(0.4 - pixelSize);
        if (expected !== meets(0.4 + pixelSize)) continue;
        inside += Number(expected);
        wrong += Number(expected !== difference(pixel(picture, x, y), background) > 12);
      }
    }
    expect(inside).toBeGreaterThan(1000);
    expect(wrong).toBe(0);
    await page.context().close();
  });

  test('the colours of a field tell slow from fast', async () => {
    const { page } = await lab.open(balls(), {}, '#frame=0&camera=0,-6,0/0,0,0/40&colour=speed&range=0,0.5');
    await showOnlyBodies(page);
    const picture = await pixelsOf(page, width, height);
    const slope = Math.tan((20 * Math.PI) / 180);
    const column = (x: number) => Math.round((width / 2) * (1 + x / 6 / slope / (width / height)));
    const [slow, fast] = [pixel(picture, column(-1), height / 2), pixel(picture, column(1), height / 2)];
    expect(slow[2]).toBeGreaterThan(slow[1]); // dark violet at the least value
    expect(fast[0]).toBeGreaterThan(fast[2] + 60); // yellow at the greatest
    expect(fast[1]).toBeGreaterThan(fast[2] + 60);
    await page.context().close();
  });

  test('a film plays as long as was asked for, and what moves in it moves', async () => {
    const { page } = await lab.open(balls(), {}, '#render');
    const film = await page.evaluate(() =>
      window.tendril.filmWebm!({ width: 320, height: 200, seconds: 2, fps: 10, camera: '0,-6,0/0,0,0/40' }),
    );
    const player = await page.context().newPage();
    const seen = await player.evaluate(async (base64) => {
      const video = document.createElement('video');
      const heard = (name: string) => new Promise((resolve) => video.addEventListener(name, resolve, { once: true }));
      const loaded = heard('loadeddata');
      video.src = `data:video/webm;base64,${base64}`;
      await loaded;
      const pictureAt = async (time: number) => {
        const there = heard('seeked');
        video.currentTime = time;
        await there;
        const canvas = new OffscreenCanvas(video.videoWidth, video.videoHeight);
        const context = canvas.getContext('2d')!;
        context.drawImage(video, 0, 0);
        return [...context.getImageData(0, 0, canvas.width, canvas.height).data];
      };
      const [first, last] = [await pictureAt(0.05), await pictureAt(1.95)];
      return { width: video.videoWidth, height: video.videoHeight, duration: video.duration, first, last };
    }, film);
    expect([seen.width, seen.height]).toEqual([320, 200]);
    expect(seen.duration).toBeCloseTo(2, 1);
    const changes = (fromX: number, toX: number) => {
      let count = 0;
      for (let y = 44; y < 150; ++y)
        for (let x = fromX; x < toX; ++x) {
          const at = 4 * (y * 320 + x);
          if (difference(seen.first.slice(at, at + 3), seen.last.slice(at, at + 3)) > 40) ++count;
        }
      return count;
    };
    expect(changes(170, 300)).toBeGreaterThan(300); // the ball on the right rises by 1 m
    expect(changes(60, 150)).toBeLessThan(20); // the one on the left stands
    await page.context().close();
  });

  // The kept picture was looked at. A driver may round otherwise at edges: at most 2 % of the pixels may differ by more than 24 of 255.
  // KEEP_PICTURES=1 writes it anew.
  test('the pile looks as it did', async () => {
    const { page } = await lab.open(pile(), {}, '#frame=40&colour=speed&layers=contacts');
    const file = fileURLToPath(new URL('pile.png', import.meta.url));
    const url = await page.evaluate(
      async ([w, h]) => (await window.tendril.stage!.picture(w!, h!)).toDataURL('image/png'),
      [width, height],
    );
    if (process.env.KEEP_PICTURES) writeFileSync(file, Buffer.from(url.split(',')[1]!, 'base64'));
    expect(existsSync(file)).toBe(true);
    const kept = `data:image/png;base64,${readFileSync(file).toString('base64')}`;
    const part = await page.evaluate(
      async (urls) => {
        const [first, second] = await Promise.all(
          urls.map(async (source) => {
            const image = new Image();
            image.src = source;
            await image.decode();
            const canvas = new OffscreenCanvas(image.width, image.height);
            const context = canvas.getContext('2d')!;
            context.drawImage(image, 0, 0);
            return context.getImageData(0, 0, image.width, image.height).data;
          }),
        );
        if (first!.length !== second!.length) return 1;
        let differing = 0;
        for (let i = 0; i < first!.length; i += 4) {
          if ([0, 1, 2].some((k) => Math.abs(first![i + k]! - second![i + k]!) > 24)) ++differing;
        }
        return differing / (first!.length / 4);
      },
      [url, kept],
    );
    expect(part).toBeLessThan(0.02);
    await page.context().close();
  });
});
