import { expect, test } from 'vitest';
import { emptyState, readHash, writeHash, type LinkState } from '../src/ui/hash';

const full: LinkState = {
  frame: 17,
  camera: '1,-2.5,3e-05/0,0,0/20',
  colour: 'bending moment & "more" #1 + ü',
  range: [-1.5e-7, 2],
  layers: 'forces,-grid',
  enlarge: [100, 1],
  arrows: 2.5,
  cut: 'x,1,0,0,0.25',
  parallel: true,
};

test('what is written is read again', () => {
  expect(readHash(`#${writeHash(full)}`)).toEqual(full);
  expect(readHash(writeHash(emptyState))).toEqual(emptyState);
  expect(writeHash(emptyState)).toBe('');
});

test('what is broken is left out, the rest counts', () => {
  const state = readHash('#frame=-3&range=2,1&enlarge=1&arrows=abc&colour=speed');
  expect(state).toEqual({ ...emptyState, colour: 'speed' });
  expect(readHash('#frame=NaN&range=,')).toEqual(emptyState);
  expect(readHash('#%E0%A4%A&x')).toEqual(emptyState);
});
