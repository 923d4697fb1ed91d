import { expect, test } from 'vitest';
import { FilmWriter } from '../fixtures/writer';
import type { FilmHeader } from '../src/film/header';
import { judge, variations } from '../src/ui/verdict';

/** A run of two seconds with a model of one metre. */
function header(summary: Record<string, unknown> | null, more: Partial<FilmHeader> = {}): FilmHeader {
  const { header } = new FilmWriter('run', [0, 1, 2], 1, [
    [0, 0, 0],
    [1, 1, 1],
  ]);
  return { ...header, summary, ...more };
}

const good = { status: 'success', steps: 1200, residual: 0.4, penetration: 0, messages: [] };
const contact = { penetration: 1e-6, residual: 1e-9, contacts: 12, ambiguous_steps: 0 };
const finding = (summary: Record<string, unknown>, label: string, energy: number | null = null) =>
  judge(header(summary), energy).findings.find((one) => one.label === label);

test('a run that converged is good', () => {
  const verdict = judge(header(good), null);
  expect(verdict.tone).toBe('good');
  expect(verdict.headline).toBe('Converged in all 1200 steps.');
});

test('one step is not "all 1 steps"', () => {
  expect(judge(header({ ...good, steps: 1 }), null).headline).toBe('Converged in the only step.');
});

test('a failure names where and why', () => {
  const verdict = judge(header({ ...good, status: 'failed', messages: ['first', 'Newton did not converge'] }), null);
  expect(verdict.tone).toBe('bad');
  expect(verdict.headline.replace(/\u00a0/g, ' ')).toBe('Failed at t = 2 s: Newton did not converge');
});

test('a failure along the load names the load', () => {
  const axis = { kind: 'load', label: 'load parameter', unit: '1' } as const;
  const verdict = judge(header({ status: 'failed' }, { axis }), null);
  expect(verdict.headline).toBe('Failed at load parameter = 2.');
});

test('interrupted, broken off and unknown ends are doubtful, an error is bad', () => {
  expect(judge(header({ ...good, status: 'interrupted' }), null)).toMatchObject({ tone: 'doubtful' });
  expect(judge(header({ ...good, status: 'interrupted' }), null).headline).toContain('Interrupted at t');
  expect(judge(header(null), null)).toMatchObject({ tone: 'doubtful', findings: [], messages: [] });
  expect(judge(header(null), null).headline).toContain('Still running or broken off');
  expect(judge(header({ status: 'odd' }), null)).toMatchObject({ tone: 'doubtful' });
  expect(judge(header({}), null)).toMatchObject({ tone: 'doubtful' });
  expect(judge(header({ status: 'error', messages: ['disk full'] }), null)).toMatchObject({ tone: 'bad' });
});

test('a success whose numbers are not finite is not trusted', () => {
  for (const key of ['residual', 'penetration']) {
    const verdict = judge(header({ ...good, [key]: null }), null);
    expect(verdict.tone, key).toBe('bad');
    expect(verdict.headline, key).toContain('do not trust it');
    expect(verdict.headline, key).toContain(key);
  }
  expect(judge(header({ ...good, energy: { balance: null } }), null).tone).toBe('bad');
  expect(judge(header({ ...good, contact: { ...contact, residual: null } }), null).tone).toBe('bad');
});

test('an analysis that tells of no residual is not praised for it', () => {
  expect(finding({ ...good, residual: 0 }, 'Worst residual')).toMatchObject({ value: 'none given', tone: 'plain' });
  expect(judge(header({ ...good, residual: 0 }), null).tone).toBe('good');
});

test('a residual above its tolerance is not called converged, whatever the status says', () => {
  expect(judge(header({ ...good, residual: 1 }), null).tone).toBe('good');
  expect(judge(header({ ...good, residual: 1.4 }), null)).toMatchObject({
    tone: 'doubtful',
    headline: 'Ended without a complaint after all 1200 steps. Look at: worst residual.',
  });
  expect(judge(header({ ...good, residual: 11 }), null).tone).toBe('bad');
});

test('penetration is measured by the size of the model', () => {
  const deep = (penetration: number, extent = 1) => judge(header({ ...good, contact: { ...contact, penetration } }, { extent }), null).tone;
  expect(deep(1e-3)).toBe('good');
  expect(deep(1.1e-3)).toBe('doubtful');
  expect(deep(0.011)).toBe('bad');
  expect(deep(0.011, 100)).toBe('good');
  expect(deep(1e-6, 1e-5)).toBe('bad');
  expect(finding({ ...good, contact }, 'Worst penetration')?.remark).toContain('0.1');
});

test('a run without contact says nothing of penetration', () => {
  expect(finding(good, 'Worst penetration')).toBeUndefined();
});

test('the energy balance is measured by the energy in play', () => {
  const run = (balance: number, more = {}) => ({ ...good, energy: { balance, initial: 0, final: balance, ...more } });
  expect(finding(run(1e-3), 'Energy balance', 1)?.tone).toBe('good');
  expect(finding(run(-0.05), 'Energy balance', 1)?.tone).toBe('doubtful');
  expect(finding(run(0.2), 'Energy balance', 1)?.tone).toBe('bad');
  expect(finding(run(0.2, { initial: 100 }), 'Energy balance', 1)?.tone).toBe('good');
  expect(finding(run(0.2, { work: -10 }), 'Energy balance')?.tone).toBe('doubtful');
});

test('a manoeuvre is judged by the work of its controls, even where it begins and ends at rest', () => {
  const manoeuvre = { ...good, residual: 1e-11, energy: { balance: 0.02, initial: 0, final: 19.62, work: 19.6 } };
  expect(finding(manoeuvre, 'Energy balance')?.tone).toBe('good');
  expect(judge(header(manoeuvre), 25).headline).toBe('Converged in all 1200 steps.');
  expect(judge(header({ ...manoeuvre, energy: { balance: 19.62, initial: 0, final: 19.62, work: 0 } }), 25).headline).toContain(
    'do not trust',
  );
});

test('an energy that is nothing but the error is no measure of it', () => {
  expect(finding({ ...good, energy: { balance: 2e-6, initial: 0, final: 2e-6, work: 0 } }, 'Energy balance')?.tone).toBe('plain');
});

test('without an energy there is no finding', () => {
  expect(finding(good, 'Energy balance')).toBeUndefined();
  expect(finding({ ...good, energy: { initial: 1, final: 2 } }, 'Energy balance')).toBeUndefined();
});

test('ambiguous steps are to be looked at', () => {
  const verdict = judge(header({ ...good, contact: { ...contact, ambiguous_steps: 3 } }), null);
  expect(verdict.tone).toBe('doubtful');
  expect(verdict.headline).toBe('Converged in all 1200 steps. Look at: ambiguous steps.');
});

test('messages are kept as texts, whatever they are', () => {
  expect(judge(header({ ...good, messages: ['<b>a</b>', 7] }), null).messages).toEqual(['<b>a</b>', '7']);
  expect(judge(header({ ...good, messages: 'no list' }), null).messages).toEqual([]);
});

test('columns vary each by itself, unknown values aside', () => {
  expect(variations(new Float32Array([0, 5, 1, NaN, 3, 4]), 2)).toEqual([3, 1]);
  expect(variations(new Float32Array([NaN, NaN]), 1)).toEqual([0]);
  expect(variations(new Float32Array([]), 1)).toEqual([0]);
});
