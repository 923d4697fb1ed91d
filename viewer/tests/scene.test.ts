import { describe, expect, it } from 'vitest';
import * as THREE from 'three';
import { cable, pile } from '../fixtures/films';
import { parseCamera } from '../src/scene/camera';
import { parseLayers } from '../src/scene/commands';
import * as shapes from '../src/scene/geometry';
import { Identities } from '../src/scene/identity';
import { symbolOf } from '../src/scene/marks';
import { roundBelow, roundTicks, shortNumber } from '../src/scene/numbers';
import { momentOf } from '../src/scene/poses';
import { filmStates, frameAt, valueAt } from '../src/scene/time';
import type { Vec3 } from '../src/film/header';

describe('ticks', () => {
  it('are round and within the range', () => {
    expect(roundTicks(0, 1, 5)).toEqual([0, 0.2, 0.4, 0.6, 0.8, 1]);
    expect(roundTicks(-3, 3, 5)).toEqual([-2, 0, 2]);
    expect(roundTicks(0.13, 0.87, 4)).toEqual([0.2, 0.4, 0.6, 0.8]);
    expect(roundTicks(1e-9, 5e-9, 4)).toEqual([1e-9, 2e-9, 3e-9, 4e-9, 5e-9]);
    expect(roundTicks(1, 1, 4)).toEqual([]);
    expect(roundTicks(0, Infinity, 4)).toEqual([]);
  });
  it('of a scale bar are the largest round length that fits', () => {
    expect([0.99, 1, 1.99, 2, 4.9, 5, 9.9, 1234].map(roundBelow)).toEqual([0.5, 1, 1, 2, 2, 5, 5, 1000]);
  });
  it('are written short', () => {
    expect([0, 0.1 + 0.2, 12345.678, 1e-7, 123456, NaN].map(shortNumber)).toEqual(['0', '0.3', '12350', '1.00e-7', '1.23e+5', 'unknown']);
  });
});

describe('states', () => {
  const times = [0, 1, 3, 3, 4];
  it('are found by value, between frames too', () => {
    expect(frameAt(times, -1)).toBe(0);
    expect(frameAt(times, 0.5)).toBe(0.5);
    expect(frameAt(times, 2)).toBe(1.5);
    expect(frameAt(times, 3)).toBe(3); // the later of two at one time
    expect(frameAt(times, 9)).toBe(4);
    expect(frameAt([2], 2)).toBe(0);
    expect(valueAt(times, 1.5)).toBe(2);
    expect(valueAt(times, 4)).toBe(4);
  });
  it('are frames and fractions within the film', () => {
    expect(momentOf(2.25, 5)).toEqual({ frame: 2, fraction: 0.25 });
    expect(momentOf(7, 5)).toEqual({ frame: 4, fraction: 0 });
    expect(momentOf(-1, 5)).toEqual({ frame: 0, fraction: 0 });
    expect(momentOf(3.0000000001, 5)).toEqual({ frame: 3, fraction: 0 });
  });
  it('of a film run evenly in time from first to last', () => {
    const states = filmStates(times, 'time', 1, 9);
    expect(states.map((state) => valueAt(times, state))).toEqual([0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5, 4]);
    expect(filmStates(times, 'load', 1, 5)).toEqual([0, 1, 2, 3, 4]);
    expect(filmStates([0, 0.1], 'time', 0, 30)).toHaveLength(60); // at least 2 s
    expect(filmStates([0, 100], 'time', 0, 30)).toHaveLength(600); // at most 20 s
  });
});

describe('texts of options', () => {
  it('of cameras', () => {
    expect(parseCamera('1,2,3/0,0,0.5')).toEqual({ position: [1, 2, 3], target: [0, 0, 0.5], angle: 35 });
    expect(parseCamera('1,2,3/0,0,0/20').angle).toBe(20);
    for (const text of ['', 'side', '1,2/0,0,0', '1,2,x/0,0,0', '1,2,3/0,0,0/0', '1,2,3/0,,0', '1,2,3/0,0,0/20/1']) {
      expect(() => parseCamera(text)).toThrow(/home, front/);
    }
    expect(() => parseCamera('1,2,3/1,2,3')).toThrow(/where it is/);
  });
  it('of layers', () => {
    expect(parseLayers(' forces, -grid,')).toEqual([
      { layer: 'forces', visible: true },
      { layer: 'grid', visible: false },
    ]);
    expect(() => parseLayers('force')).toThrow(/no layer "force".*forces/);
  });
});

describe('ids', () => {
  it('lead to a thing and back', () => {
    for (const { header } of [cable(6, 2), pile(12, 2)]) {
      const identities = new Identities(header);
      expect(identities.target(0)).toBeNull();
      for (let id = 1; id < identities.contacts + 5; ++id) {
        const target = identities.target(id)!;
        expect(identities.exists(target)).toBe(true);
        expect(identities.id(target)).toBe(id);
      }
    }
    const { header } = cable(6, 2);
    const identities = new Identities(header);
    expect(identities.target(identities.elements + 6)).toEqual({ kind: 'beam', index: 1, item: 0 });
    expect(identities.exists({ kind: 'beam', index: 0, item: 6 })).toBe(false);
  });
});

/** Volume that a closed surface holds, positive if its triangles are seen counter-clockwise from outside. */
function volume(geometry: THREE.BufferGeometry): number {
  const position = geometry.getAttribute('position');
  const normal = geometry.getAttribute('normal');
  const index = geometry.getIndex()!;
  let sum = 0;
  for (let i = 0; i < index.count; i += 3) {
    const [a, b, c] = [0, 1, 2].map((k) => new THREE.Vector3().fromBufferAttribute(position, index.getX(i + k)));
    const area = b!.clone().sub(a!).cross(c!.clone().sub(a!));
    if (area.length() > 1e-12) expect(area.dot(new THREE.Vector3().fromBufferAttribute(normal, index.getX(i)))).toBeGreaterThan(0);
    sum += a!.dot(b!.clone().cross(c!)) / 6;
  }
  return sum;
}

describe('shapes are closed, look outwards and have their volume', () => {
  const square: Vec3[] = [[0, 0, 0], [0, 2, 0], [2, 2, 0], [2, 0, 0]]; // prettier-ignore
  it.each([
    ['sphere', shapes.sphereGeometry(64), (4 / 3) * Math.PI],
    ['cylinder', shapes.cylinderGeometry(64, true), Math.PI],
    ['cone', shapes.coneGeometry(64), Math.PI / 3],
    ['tube', shapes.tubeGeometry(0.5, 64), 0.75 * Math.PI],
    ['box', shapes.boxGeometry(), 1],
    ['polygon', shapes.polygonGeometry(square), 4],
    ['rim', shapes.rimGeometry(square, 0.5), 5],
  ])('%s', (_, geometry, expected) => expect(volume(geometry) / expected).toBeCloseTo(1, 1.5));

  it('mesh: smooth over flat edges, sharp at creases', () => {
    const base64 = (numbers: Float32Array | Uint32Array) => Buffer.from(numbers.buffer).toString('base64');
    const vertices = new Float32Array([0, 0, 0, 1, 0, 0, 1, 1, 0, 0, 1, 0, 0, 0, 1, 1, 0, 1, 1, 1, 1, 0, 1, 1]);
    const sides = [0, 3, 2, 1, 4, 5, 6, 7, 0, 1, 5, 4, 1, 2, 6, 5, 2, 3, 7, 6, 3, 0, 4, 7];
    const triangles = Array.from({ length: 6 }, (_, f) => sides.slice(4 * f, 4 * f + 4)).flatMap(([a, b, c, d]) => [a, b, c, a, c, d]);
    const geometry = shapes.meshGeometry({ vertices: base64(vertices), triangles: base64(new Uint32Array(triangles as number[])) });
    expect(volume(geometry)).toBeCloseTo(1, 6);
    // Each triangle of a cube's side draws two edges and not the diagonal.
    const edges = geometry.getAttribute('aEdge');
    const index = geometry.getIndex()!;
    for (let i = 0; i < index.count; i += 3) {
      const isDrawn = (k: number) => [0, 1, 2].some((corner) => edges.array[4 * index.getX(i + corner) + k] === 0);
      expect([0, 1, 2].filter(isDrawn)).toHaveLength(2);
    }
  });
});

it('joints have symbols by what they leave free', () => {
  expect(['fixed', 'revolute', 'driven rotation', 'prismatic', 'spherical', 'planar', 'unheard of'].map(symbolOf)).toEqual([
    'block',
    'pin',
    'pin',
    'slide',
    'ball',
    'plate',
    'block',
  ]);
});
