// Whether a run can be trusted, said in words. Everything is read with care: the summary may be of another version, cut off, or lack numbers.
import type { FilmHeader } from '../film/header';
import { formatNumber, formatPercent, formatQuantity } from './format';

export type Tone = 'good' | 'doubtful' | 'bad' | 'plain';

export interface Finding {
  label: string;
  value: string;
  /** What the number is measured by. */
  remark: string;
  tone: Tone;
}

export interface Verdict {
  tone: Tone;
  headline: string;
  findings: Finding[];
  messages: string[];
}

/** Above the first limit a run is doubtful, above the second not to be trusted. */
export const limits = { residual: [1, 10], penetration: [1e-3, 1e-2], energy: [0.01, 0.1] } as const;

type Facts = Record<string, unknown>;
const object = (value: unknown): Facts | null => (typeof value === 'object' && value !== null ? (value as Facts) : null);
const number = (value: unknown): number | null => (typeof value === 'number' && Number.isFinite(value) ? value : null);
const tones: Tone[] = ['plain', 'good', 'doubtful', 'bad'];
const worse = (a: Tone, b: Tone): Tone => (tones.indexOf(a) > tones.indexOf(b) ? a : b);
const graded = (value: number, [fine, poor]: readonly [number, number]): Tone =>
  value <= fine ? 'good' : value <= poor ? 'doubtful' : 'bad';

function residualFinding(summary: Facts): Finding | null {
  if (!('residual' in summary)) return null;
  const residual = number(summary['residual']);
  const remark = `times its tolerance; converged up to ${limits.residual[0]}, wrong above ${limits.residual[1]}`;
  if (residual === null)
    return { label: 'Worst residual', value: 'not a number', remark: 'a step ended without a finite residual', tone: 'bad' };
  if (residual === 0) return { label: 'Worst residual', value: 'none given', remark: 'the analysis tells of none', tone: 'plain' };
  return { label: 'Worst residual', value: formatNumber(residual), remark, tone: graded(residual, limits.residual) };
}

function contactFinding(summary: Facts): Finding | null {
  const contact = object(summary['contact']);
  const residual = number(contact?.['residual']);
  if (!contact || !('residual' in contact)) return null;
  const most = number(contact['contacts']);
  return {
    label: 'Contact residual',
    value: residual === null ? 'not a number' : formatNumber(residual),
    remark: `natural map of the friction problem, worst step${most === null ? '' : `; up to ${most} contacts`}`,
    tone: residual === null ? 'bad' : 'plain',
  };
}

function penetrationFinding(summary: Facts, extent: number): Finding | null {
  const contact = object(summary['contact']);
  if (!('penetration' in summary) && !(contact && 'penetration' in contact)) return null;
  const depth = number(contact?.['penetration'] ?? summary['penetration']);
  if (depth === null) return { label: 'Worst penetration', value: 'not a number', remark: 'the depth is not known', tone: 'bad' };
  if (!contact && depth === 0) return null; // a run without contact
  if (!(extent > 0))
    return { label: 'Worst penetration', value: formatQuantity(depth, 'm'), remark: 'the size of the model is not known', tone: 'plain' };
  const [fine, poor] = limits.penetration;
  return {
    label: 'Worst penetration',
    value: formatQuantity(depth, 'm'),
    remark: `${formatPercent(depth / extent)} of the model's size; fine up to ${formatPercent(fine)}, wrong above ${formatPercent(poor)}`,
    tone: graded(depth / extent, limits.penetration),
  };
}

/** The largest energy that the summary names, a stand-in for the energy in play. Not the final one: an error is part of it. */
function namedEnergy(energy: Facts): number {
  const names = ['work', 'dissipated', 'initial'];
  return Math.max(0, ...names.map((name) => Math.abs(number(energy[name]) ?? 0)));
}

function energyFinding(summary: Facts, inPlay: number | null): Finding | null {
  const energy = object(summary['energy']);
  if (!energy || !('balance' in energy)) return null;
  const balance = number(energy['balance']);
  if (balance === null) return { label: 'Energy balance', value: 'not a number', remark: 'an energy is not finite', tone: 'bad' };
  const scale = Math.max(namedEnergy(energy), inPlay ?? 0);
  if (!(scale > 0))
    return { label: 'Energy balance', value: formatQuantity(balance, 'J'), remark: 'no energy is known to compare with', tone: 'plain' };
  const part = Math.abs(balance) / scale;
  const [fine, poor] = limits.energy;
  return {
    label: 'Energy balance',
    value: formatQuantity(balance, 'J'),
    remark: `${formatPercent(part)} of the energy in play (${formatQuantity(scale, 'J')}); fine up to ${formatPercent(fine)}, wrong above ${formatPercent(poor)}`,
    tone: graded(part, limits.energy),
  };
}

function ambiguousFinding(summary: Facts): Finding | null {
  const contact = object(summary['contact']);
  if (!contact || !('ambiguous_steps' in contact)) return null;
  const steps = number(contact['ambiguous_steps']);
  if (steps === null) return null;
  return {
    label: 'Ambiguous steps',
    value: String(steps),
    remark: 'steps with a contact that allowed several solutions or none; none is best',
    tone: steps === 0 ? 'good' : 'doubtful',
  };
}

function effortFinding(summary: Facts): Finding | null {
  const newton = object(summary['newton']);
  const [average, worst] = [number(newton?.['average']), number(newton?.['worst'])];
  if (average === null) return null;
  return {
    label: 'Iterations',
    value: formatNumber(average, 3),
    remark: `a step on average${worst === null ? '' : `, ${worst} in the worst`}`,
    tone: 'plain',
  };
}

/** Whether every step met its tolerance. */
const isTight = (summary: Facts): boolean => (number(summary['residual']) ?? 0) <= limits.residual[0];

const nameOfAxis = (header: FilmHeader): string => (header.axis.kind === 'time' ? 't' : header.axis.label);

function headlineOf(header: FilmHeader, summary: Facts | null, tone: Tone, doubts: string[], messages: string[]): string {
  const end = header.times.at(-1) ?? NaN;
  const where = `${nameOfAxis(header)} = ${formatQuantity(end, header.axis.unit)}`;
  const last = messages.at(-1);
  const because = last ? `: ${last}` : '.';
  if (!summary) return `Still running or broken off: no summary was written. The results reach to ${where}.`;
  const steps = number(summary['steps']);
  switch (summary['status']) {
    case 'success': {
      const all = steps === null ? '' : steps === 1 ? ' the only step' : ` all ${steps} steps`;
      const converged = isTight(summary) ? `Converged${all && ` in${all}`}.` : `Ended without a complaint after${all || ' its steps'}.`;
      if (tone === 'bad') return `Ended without a complaint, but do not trust it: ${doubts.join(', ')}.`;
      return tone === 'doubtful' ? `${converged} Look at: ${doubts.join(', ')}.` : converged;
    }
    case 'failed':
      return `Failed at ${where}${because}`;
    case 'interrupted':
      return `Interrupted at ${where}. What is shown is complete up to there.`;
    case 'error':
      return `Stopped by an error at ${where}${because}`;
    default:
      return `The summary does not say in a known way how the run ended (status: ${String(summary['status'] ?? 'none')}).`;
  }
}

/** `energyInPlay`: largest variation of an energy over the run [J], null if not known. */
export function judge(header: FilmHeader, energyInPlay: number | null): Verdict {
  const { summary } = header;
  const list = summary?.['messages'];
  const messages = Array.isArray(list) ? list.map(String) : [];
  const findings = summary
    ? [
        residualFinding(summary),
        contactFinding(summary),
        penetrationFinding(summary, header.extent),
        energyFinding(summary, energyInPlay),
        ambiguousFinding(summary),
        effortFinding(summary),
      ].filter((finding) => finding !== null)
    : [];
  const worst = findings.reduce<Tone>((tone, finding) => worse(tone, finding.tone), 'plain');
  const doubts = findings.filter(({ tone }) => tone === worst && (tone === 'bad' || tone === 'doubtful'));
  const status = summary?.['status'];
  const tone: Tone = !summary
    ? 'doubtful'
    : status === 'success'
      ? worse('good', worst)
      : status === 'failed' || status === 'error'
        ? 'bad'
        : worse('doubtful', worst);
  const words = doubts.map(({ label }) => label.toLowerCase());
  return { tone, headline: headlineOf(header, summary, tone, words, messages), findings, messages };
}

/** By how much each column varies over the frames; unknown values aside. */
export function variations(values: Float32Array, columns: number): number[] {
  return Array.from({ length: columns }, (_, c) => {
    let [low, high] = [Infinity, -Infinity];
    for (let i = c; i < values.length; i += columns) {
      const x = values[i]!;
      if (!Number.isFinite(x)) continue;
      low = Math.min(low, x);
      high = Math.max(high, x);
    }
    return high > low ? high - low : 0;
  });
}
