// The panel of the thing that was picked: its numbers, what can be done with it, distances, and search by name.
import type { Target } from '../scene/stage';
import { el, newId, table, textButton } from './dom';
import { copyText } from './files';
import { formatQuantity, formatNumber } from './format';
import type { Session } from './session';

const mostFound = 40;

export interface Named {
  name: string;
  kind: Target['kind'];
  target: Target;
}

/** All things of the film that have a name. */
export function namedThings({ header }: Session): Named[] {
  const list = (things: { name: string }[], kind: Target['kind']) =>
    things.map(({ name }, index) => ({ name, kind, target: { kind, index, item: 0 } }));
  const beams = header.beams.map(({ name, nodes }, index) => ({
    name,
    kind: 'beam' as const,
    target: { kind: 'beam' as const, index, item: Math.floor((nodes - 1) / 2) },
  }));
  return [
    ...list(header.bodies, 'body'),
    ...beams,
    ...list(header.markers, 'marker'),
    ...list(header.joints, 'joint'),
    ...list(header.obstacles, 'obstacle'),
  ];
}

function makeSearch(session: Session): HTMLElement {
  const things = namedThings(session);
  const field = el('input', {
    type: 'search',
    id: 'search',
    placeholder: 'Search by name',
    'aria-label': 'Search by name',
    autocomplete: 'off',
  });
  const results = el('div', { class: 'found', id: newId('found'), role: 'group', 'aria-label': 'Found' });
  const find = () => {
    const words = field.value.trim().toLowerCase();
    const found = things.filter(({ name, kind }) => `${kind} ${name}`.toLowerCase().includes(words));
    const buttons = found.slice(0, mostFound).map(({ name, kind, target }) => {
      const button = textButton('', () => session.select(target), { class: 'thing' });
      button.append(el('span', {}, name), el('small', {}, kind));
      return button;
    });
    const rest = found.length > mostFound ? `and ${found.length - mostFound} more` : found.length === 0 ? 'Nothing has this name.' : '';
    results.replaceChildren(...buttons, ...(rest ? [el('p', { class: 'hint' }, rest)] : []));
  };
  field.addEventListener('input', find);
  field.addEventListener('keydown', (event) => {
    if (event.key === 'Enter') results.querySelector('button')?.click();
  });
  find();
  return el('div', { class: 'search' }, field, results);
}

/** x, y, z of one quantity in one row. */
function factRows(facts: { label: string; value: number | string; unit: string }[]): [string, string[], string][] {
  const rows: [string, string[], string][] = [];
  const text = (value: number | string, unit: string) => (typeof value === 'number' ? formatQuantity(value, unit) : value);
  for (let i = 0; i < facts.length; ++i) {
    const { label, unit } = facts[i]!;
    const stem = label.replace(/ x$/, '');
    const isVector = label.endsWith(' x') && facts[i + 1]?.label === `${stem} y` && facts[i + 2]?.label === `${stem} z`;
    const parts = isVector ? facts.slice(i, i + 3) : [facts[i]!];
    rows.push([
      isVector ? stem : label,
      parts.map((part) => text(part.value, part.unit)),
      parts.map((part) => part.value).join('\t') + (unit ? `\t${unit}` : ''),
    ]);
    if (isVector) i += 2;
  }
  return rows;
}

export function makeSelectionPanel(session: Session): HTMLElement {
  const heading = el('h2', { id: 'selected', 'aria-live': 'polite' });
  const numbers = el('div', { class: 'facts' });
  const measure = el('p', { class: 'measure', role: 'status' });
  const follow = textButton(
    'Follow',
    () => {
      const target = session.selection?.target;
      if (target) session.follow(session.isFollowed(target) ? null : target);
    },
    { title: 'Key f' },
  );
  const path = textButton('Path', () => {
    const name = session.selection && pathName(session);
    if (name)
      session.setPaths(
        session.pathNames?.includes(name) ? session.pathNames.filter((one) => one !== name) : [...(session.pathNames ?? []), name],
      );
  });
  const distance = textButton('Distance', () => (session.isMeasuring ? session.stopMeasure() : session.startMeasure()), { title: 'Key m' });
  const copy = textButton('Copy numbers', () => {
    const { selection } = session;
    if (!selection) return;
    const lines = [selection.name, ...factRows(selection.facts).map(([label, , plain]) => `${label}\t${plain}`)];
    copyText(lines.join('\n')).then(
      () => (copy.textContent = 'Copied'),
      (error: unknown) => session.complain(error),
    );
    setTimeout(() => (copy.textContent = 'Copy numbers'), 1500);
  });
  const clear = textButton(
    'Clear',
    () => {
      session.stopMeasure();
      session.choose(null);
    },
    { title: 'Escape' },
  );
  const actions = el('div', { class: 'actions' }, follow, path, distance, copy, clear);
  let lastShown = 0;
  const show = () => {
    if (session.isPlaying && performance.now() - lastShown < 150) return; // readable while playing
    lastShown = performance.now();
    const { selection, measured } = session;
    heading.textContent = selection?.name ?? 'Nothing is selected';
    actions.hidden = !selection && !session.isMeasuring;
    follow.hidden = !selection || selection.target.kind === 'contact';
    path.hidden = !selection || pathName(session) === null;
    follow.setAttribute('aria-pressed', String(selection !== null && session.isFollowed(selection.target)));
    distance.setAttribute('aria-pressed', String(session.isMeasuring));
    const rows = selection ? factRows(selection.facts) : [];
    numbers.replaceChildren(
      selection
        ? table(
            [],
            rows.map(([label, texts]) => [label, el('div', { class: 'numbers' }, ...texts.map((text) => el('span', {}, text)))]),
            'Numbers of what is selected',
          )
        : el(
            'p',
            { class: 'hint' },
            'Click a thing in the picture, take it from the list below, or go through all with n. A second click with shift held measures the distance.',
          ),
    );
    if (session.isMeasuring)
      measure.textContent = session.measureFrom
        ? `Distance from ${session.measureFrom.name} to … (select the other)`
        : 'Distance from … (select the first)';
    else if (measured) {
      const { from, to } = measured;
      const d = to.point.map((x, k) => formatNumber(x - from.point[k]!, 4));
      measure.textContent = `${formatQuantity(measured.distance, 'm')} from ${from.name} to ${to.name} (${d.join(', ')})`;
    } else measure.textContent = '';
  };
  session.on('selection', show);
  session.on('playing', show);
  show();
  return el('div', {}, heading, measure, actions, numbers, makeSearch(session));
}

function pathName({ selection, header }: Session): string | null {
  if (!selection) return null;
  const { kind, index, item } = selection.target;
  if (kind === 'body' || kind === 'marker') return selection.name;
  const beam = kind === 'beam' ? header.beams[index] : undefined;
  return beam ? `${beam.name} ${item < beam.nodes / 2 ? 'start' : 'end'}` : null;
}
