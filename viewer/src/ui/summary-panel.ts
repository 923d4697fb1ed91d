// The panel that says whether the run can be trusted, and what came out of it.
import { el, section, table } from './dom';
import { formatNumber, formatQuantity, formatSeconds } from './format';
import type { Session } from './session';
import { judge, variations, type Verdict } from './verdict';

const words = { good: 'good', doubtful: 'look', bad: 'wrong', plain: '' } as const;
const object = (value: unknown): Record<string, unknown> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {};

/** Variation of the energies other than the total, whose change may be an error. */
async function energyInPlay({ film, header }: Session): Promise<number | null> {
  const isPart = (name: string) => !/balance|total/i.test(name);
  const all = header.series.filter(({ unit, value }) => unit === 'J' && !value);
  const kept = all.filter(({ group }) => group === 'energy');
  const list = kept.length > 0 ? kept : all.filter(({ name, description }) => isPart(`${name} ${description}`));
  let most = 0;
  for (const { name, columns } of list) {
    const varied = variations(await film.series(name), columns.length);
    most = Math.max(most, ...varied.filter((_, c) => isPart(columns[c]!)));
  }
  return most > 0 ? most : null;
}

function showVerdict(place: HTMLElement, verdict: Verdict): void {
  const rows = verdict.findings.map(({ label, value, remark, tone }) => [
    label,
    el(
      'div',
      {},
      el('span', { class: `value ${tone}` }, value),
      words[tone] ? el('span', { class: `tag ${tone}` }, words[tone]) : null,
      el('small', {}, remark),
    ),
  ]);
  place.replaceChildren(
    el('p', { class: `verdict ${verdict.tone}`, id: 'verdict' }, verdict.headline),
    ...(rows.length > 0 ? [table([], rows, 'What the verdict rests on')] : []),
  );
  if (verdict.messages.length === 0) return;
  const items = verdict.messages.map((message) => el('li', {}, message));
  place.append(section(`Messages (${items.length})`, items.length <= 5, el('ul', { class: 'messages' }, ...items)));
}

function outputsTable({ header }: Session): HTMLElement | null {
  const outputs = Object.entries(object(header.summary?.['outputs']));
  if (outputs.length === 0) return null;
  const rows = outputs.map(([name, entry]) => {
    const { value, unit, description } = object(entry);
    const unitName = typeof unit === 'string' ? unit : '';
    const list = Array.isArray(value) ? value : [value];
    const numbers = list.slice(0, 6).map((x) => formatQuantity(x as number | null, unitName));
    if (list.length > 6) numbers.push(`… ${list.length} numbers`);
    const cell = el('div', { class: 'numbers' }, ...numbers.map((text) => el('span', {}, text)));
    return [el('div', {}, name, typeof description === 'string' ? el('small', {}, description) : null), cell];
  });
  return section(
    'Outputs at the end',
    true,
    el('div', { class: 'outputs' }, table(['Output', 'Value'], rows, 'Last values of the outputs')),
  );
}

function parametersTable({ header }: Session): HTMLElement | null {
  const rows = Object.entries(header.parameters).map(([name, value]) => [
    name,
    typeof value === 'number' ? formatNumber(value, 6) : String(value),
  ]);
  return rows.length > 0 ? section('Parameters', rows.length <= 12, table(['Name', 'Value'], rows, 'Parameters of the scene')) : null;
}

function timesTable({ header }: Session): HTMLElement | null {
  const times = Object.entries(object(header.summary?.['time'])).filter(([, seconds]) => typeof seconds === 'number') as [string, number][];
  const total = times.find(([name]) => name === 'total')?.[1];
  const rows = times
    .filter(([name]) => name !== 'total')
    .sort((a, b) => b[1] - a[1])
    .map(([name, seconds]) => {
      const share = total ? el('meter', { min: 0, max: total, value: seconds, 'aria-label': `share of ${name}` }) : '';
      return [name, formatSeconds(seconds), share];
    });
  if (total !== undefined) rows.push(['total', formatSeconds(total), '']);
  return rows.length > 0 ? section('Time spent', true, table(['Phase', 'Time', 'Share'], rows, 'Time by phase')) : null;
}

function versionsTable({ header }: Session): HTMLElement {
  const versions = Object.entries(object(header.summary?.['versions'])).map(([name, version]) => [name, String(version)]);
  const rows = [['scene', header.scene], ['film made by', `tendril ${header.version}`], ...versions];
  return section('Scene and versions', false, table(['Of', 'Version'], rows, 'Scene file and versions'));
}

/** `judged` hears of the verdict, again when more is known. */
export function makeSummaryPanel(session: Session, judged: (verdict: Verdict) => void): HTMLElement {
  const { header } = session;
  const place = el('div', { class: 'findings' });
  const show = (energy: number | null) => {
    const verdict = judge(header, energy);
    showVerdict(place, verdict);
    judged(verdict);
  };
  show(null);
  energyInPlay(session).then(
    (energy) => energy !== null && show(energy),
    (error: unknown) => session.complain(error),
  );
  const notices = header.notices.map((notice) => el('p', { class: 'notice' }, notice));
  return el(
    'div',
    {},
    ...(notices.length > 0 ? [el('div', { class: 'notices', role: 'note', 'aria-label': 'Notices' }, ...notices)] : []),
    place,
    header.description ? el('p', { class: 'description' }, header.description) : null,
    outputsTable(session),
    parametersTable(session),
    timesTable(session),
    versionsTable(session),
    header.log.length > 0 ? section('End of the log', false, el('pre', { class: 'log', tabindex: 0 }, header.log.join('\n'))) : null,
  );
}
