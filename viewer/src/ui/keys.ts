// The keys, and the sheet that lists them.
import type { ViewName } from '../scene/stage';
import { el, table } from './dom';
import { namedThings } from './selection-panel';
import type { Session } from './session';

export interface Deeds {
  togglePanel(): void;
  openTab(name: string): void;
  switchTheme(): void;
  savePicture(): void;
  help(): void;
  escape(): void;
}

interface Key {
  keys: string[]; // as KeyboardEvent.key; several do the same
  text: string; // as written in the sheet
  what: string;
  act: (event: KeyboardEvent) => void;
}

const views: ViewName[] = ['home', 'front', 'back', 'left', 'right', 'top', 'bottom', 'isometric'];
const turn = Math.PI / 36;

function selectNext(session: Session, direction: 1 | -1): void {
  const things = namedThings(session);
  if (things.length === 0) return;
  const now = session.selection?.target;
  const at = now ? things.findIndex(({ target }) => target.kind === now.kind && target.index === now.index) : direction > 0 ? -1 : 0;
  session.select(things[(at + direction + things.length) % things.length]!.target);
}

function moveKeys(session: Session): Key[] {
  const { stage } = session;
  const move = (act: () => void) => () => {
    act();
    session.moved();
  };
  return [
    { keys: ['a'], text: 'a d', what: 'turn the camera to the left, right', act: move(() => stage.orbit(turn, 0)) },
    { keys: ['d'], text: '', what: '', act: move(() => stage.orbit(-turn, 0)) },
    { keys: ['w'], text: 'w s', what: 'turn it up, down', act: move(() => stage.orbit(0, turn)) },
    { keys: ['s'], text: '', what: '', act: move(() => stage.orbit(0, -turn)) },
    { keys: ['A'], text: 'A D W S', what: 'move it (with shift) to the left, right, up, down', act: move(() => stage.pan(-0.05, 0)) },
    { keys: ['D'], text: '', what: '', act: move(() => stage.pan(0.05, 0)) },
    { keys: ['W'], text: '', what: '', act: move(() => stage.pan(0, 0.05)) },
    { keys: ['S'], text: '', what: '', act: move(() => stage.pan(0, -0.05)) },
    { keys: ['+', '='], text: '+ −', what: 'nearer, farther', act: move(() => stage.zoom(1.15)) },
    { keys: ['-', '−'], text: '', what: '', act: move(() => stage.zoom(1 / 1.15)) },
    { keys: ['o'], text: 'o', what: 'with or without perspective', act: () => session.setParallel(!session.isParallel) },
    ...views.map((name, i) => ({
      keys: [String(i + 1)],
      text: i === 0 ? '1 … 8' : '',
      what: i === 0 ? 'views: home, front, back, left, right, top, bottom, isometric' : '',
      act: () => session.view(name),
    })),
  ];
}

function makeKeys(session: Session, deeds: Deeds): Key[] {
  return [
    { keys: [' ', 'k'], text: 'space', what: 'play, pause', act: () => session.toggle() },
    {
      keys: ['ArrowLeft'],
      text: '← →',
      what: 'one frame back, forward; ten with shift',
      act: (event) => session.step(event.shiftKey ? -10 : -1),
    },
    { keys: ['ArrowRight'], text: '', what: '', act: (event) => session.step(event.shiftKey ? 10 : 1) },
    { keys: ['Home'], text: 'home end', what: 'first, last frame', act: () => session.step(-Infinity) },
    { keys: ['End'], text: '', what: '', act: () => session.step(Infinity) },
    { keys: ['['], text: '[ ]', what: 'slower, faster', act: () => session.changeSpeed(-1) },
    { keys: [']'], text: '', what: '', act: () => session.changeSpeed(1) },
    { keys: ['\\'], text: '\\', what: 'speed 1, real time of a motion', act: () => session.setSpeed(1) },
    { keys: ['l'], text: 'l', what: 'loop', act: () => session.setLooping(!session.isLooping) },
    ...moveKeys(session),
    { keys: ['c'], text: 'c C', what: 'colour by the next, previous field', act: () => session.nextColour(1) },
    { keys: ['C'], text: '', what: '', act: () => session.nextColour(-1) },
    { keys: ['x'], text: 'x', what: 'cut across x, y, z, the view, none', act: () => session.nextCut() },
    { keys: [','], text: ', .', what: 'move the cut', act: () => session.moveCut(-0.02) },
    { keys: ['.'], text: '', what: '', act: () => session.moveCut(0.02) },
    { keys: ['g'], text: 'g', what: 'contact forces', act: () => session.setLayer('forces', !session.stage.hasLayer('forces')) },
    { keys: ['n'], text: 'n N', what: 'select the next, previous thing', act: () => selectNext(session, 1) },
    { keys: ['N'], text: '', what: '', act: () => selectNext(session, -1) },
    { keys: ['/'], text: '/', what: 'search by name', act: () => deeds.openTab('Selection') },
    {
      keys: ['f'],
      text: 'f',
      what: 'follow what is selected',
      act: () => session.follow(session.followed ? null : (session.selection?.target ?? null)),
    },
    {
      keys: ['m'],
      text: 'm',
      what: 'measure from what is selected to what is selected next',
      act: () => (session.isMeasuring ? session.stopMeasure() : session.startMeasure()),
    },
    { keys: ['p'], text: 'p', what: 'show, hide the panel', act: () => deeds.togglePanel() },
    { keys: ['t'], text: 't', what: 'light, dark', act: () => deeds.switchTheme() },
    { keys: ['i'], text: 'i', what: 'save the picture (PNG)', act: () => deeds.savePicture() },
    { keys: ['?'], text: '?', what: 'this sheet', act: () => deeds.help() },
    { keys: ['Escape'], text: 'esc', what: 'close, stop measuring, select nothing', act: () => deeds.escape() },
  ];
}

const inChart: [string, string][] = [
  ['e E', 'go to the next, previous peak or valley (a chart has the focus)'],
  ['z Z', 'zoom into the time shown, out to all (a chart has the focus)'],
];

/** Elements that need the key for themselves. */
function isTaken(event: KeyboardEvent): boolean {
  const { target, key } = event;
  if (!(target instanceof HTMLElement)) return false;
  if (target.closest('dialog')) return true;
  if (key === 'Escape') return false;
  if (target instanceof HTMLInputElement && target.type === 'range') return key.startsWith('Arrow') || key === 'Home' || key === 'End';
  if (target instanceof HTMLInputElement && target.type === 'checkbox') return key === ' ';
  if (target instanceof HTMLInputElement || target instanceof HTMLSelectElement || target instanceof HTMLTextAreaElement) return true;
  if (target.closest('button, summary, a'))
    return key === ' ' || key === 'Enter' || (target.getAttribute('role') === 'tab' && /Arrow|Home|End/.test(key));
  return target.getAttribute('role') === 'separator' && key.startsWith('Arrow');
}

export function listenToKeys(session: Session, deeds: Deeds): { sheet: HTMLDialogElement } {
  const keys = makeKeys(session, deeds);
  document.addEventListener('keydown', (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || isTaken(event)) return;
    const key = keys.find((one) => one.keys.includes(event.key));
    if (!key) return;
    event.preventDefault();
    key.act(event);
  });
  const rows = keys.filter(({ text }) => text).map(({ text, what }): [string, string] => [text, what]);
  const cells = [...rows, ...inChart].map(([text, what]) => {
    const marks = text.split(' ').map((one) => (one === '…' ? one : el('kbd', {}, one)));
    return [el('span', { class: 'keys' }, ...marks), what];
  });
  const sheet = el(
    'dialog',
    { class: 'help', 'aria-label': 'Keys' },
    el('h2', {}, 'Keys'),
    el(
      'div',
      { class: 'scroll', tabindex: 0 },
      table(['Key', 'What it does'], cells, 'Keys'),
      el(
        'p',
        {},
        'Mouse: drag turns, right drag moves, wheel zooms, a click selects, a click with shift measures from the selection. Charts: a click goes to the time (near a peak or valley exactly to it), dragging zooms, a double click shows all.',
      ),
    ),
    el('form', { method: 'dialog' }, el('button', {}, 'Close')),
  );
  return { sheet };
}
