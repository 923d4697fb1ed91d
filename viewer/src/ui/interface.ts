// The page about the stage: bar, panel, legend, keys, links.
import type { Film } from '../film/film';
import type { Stage } from '../scene/stage';
import { makeBar } from './bar';
import { makeChartsPanel } from './charts-panel';
import { el, iconButton, textButton } from './dom';
import { readHash, writeHash } from './hash';
import { listenToKeys } from './keys';
import { makeLegend } from './legend';
import { makeLookPanel } from './look-panel';
import { Panel } from './panel';
import { makeSaveMenu, savePicture } from './save';
import { makeSelectionPanel } from './selection-panel';
import { Session } from './session';
import { makeSummaryPanel } from './summary-panel';
import type { Verdict } from './verdict';
import 'uplot/dist/uPlot.min.css';
import './style.css';

export interface Interface {
  readonly session: Session;
}

const clickReach = 4; // pixels that the mouse may move in a click

function listenToPicks(session: Session): void {
  const { canvas } = session.stage;
  let press: { x: number; y: number; id: number } | null = null;
  canvas.addEventListener('pointerdown', (event) => {
    press = event.isPrimary && event.button === 0 ? { x: event.clientX, y: event.clientY, id: event.pointerId } : null;
  });
  canvas.addEventListener('pointerup', (event) => {
    if (!press || press.id !== event.pointerId) return;
    const isClick = Math.hypot(event.clientX - press.x, event.clientY - press.y) <= clickReach;
    press = null;
    if (!isClick) return;
    const box = canvas.getBoundingClientRect();
    session.pickAt(event.clientX - box.left, event.clientY - box.top, event.shiftKey);
  });
}

function makeTrouble(session: Session): HTMLElement {
  const text = el('span', {});
  const box = el(
    'div',
    { class: 'trouble', role: 'alert', hidden: true },
    text,
    textButton('Close', () => (box.hidden = true), { class: 'small' }),
  );
  session.on('trouble', () => {
    text.textContent = session.trouble;
    box.hidden = false;
  });
  return box;
}

/** The verdict in short, over the stage. */
function makeBadge(open: () => void): { badge: HTMLElement; show: (verdict: Verdict) => void } {
  const badge = textButton('', open);
  const show = ({ headline, tone }: Verdict) => {
    badge.textContent = badge.title = headline;
    badge.className = `badge ${tone}`;
  };
  return { badge, show };
}

function makeTop(session: Session, panel: Panel, badge: HTMLElement, help: () => void): HTMLElement {
  const { header } = session;
  const toggle = iconButton('panel', 'Panel', 'p', () => panel.setOpen(!panel.isOpen));
  const showToggle = () => toggle.setAttribute('aria-pressed', String(panel.isOpen));
  panel.onChange(showToggle);
  showToggle();
  return el(
    'header',
    { class: 'top' },
    el('div', { class: 'heading' }, el('h1', { title: header.description }, header.title || header.scene), badge),
    el(
      'div',
      { class: 'tools' },
      makeSaveMenu(session),
      iconButton('theme', 'Light or dark', 't', () => session.setTheme(session.theme === 'dark' ? 'light' : 'dark')),
      iconButton('help', 'Keys', '?', help),
      toggle,
    ),
  );
}

/** The address follows the picture, but not while it plays: browsers limit how often it may change. */
function followHash(session: Session): void {
  let waiting: ReturnType<typeof setTimeout> | undefined;
  let written = location.hash;
  const write = () => {
    waiting = undefined;
    if (session.isPlaying) return;
    written = `#${writeHash(session.link())}`;
    history.replaceState(null, '', written);
  };
  const later = () => {
    clearTimeout(waiting);
    waiting = setTimeout(write, 400);
  };
  for (const topic of ['frame', 'look', 'camera', 'playing'] as const) session.on(topic, later);
  window.addEventListener('hashchange', () => {
    if (location.hash !== written) session.restore(readHash(location.hash));
  });
}

/** A button that was clicked gives the focus back, so that the keys play and step again. Who uses the keyboard keeps it. */
function releaseClicks(root: HTMLElement): void {
  root.addEventListener('click', (event) => {
    if (event.detail === 0 || !(event.target instanceof Element)) return;
    event.target.closest<HTMLElement>('button, label, input[type=checkbox], summary')?.blur();
    const { activeElement } = document;
    if (activeElement instanceof HTMLInputElement && activeElement.type === 'checkbox') activeElement.blur();
  });
}

function fitStage(session: Session, place: HTMLElement): void {
  const fit = () => session.stage.resize(place.clientWidth, place.clientHeight, Math.min(2, window.devicePixelRatio));
  new ResizeObserver(fit).observe(place);
  fit();
}

/** Fills the page. */
export function startInterface(root: HTMLElement, film: Film, stage: Stage): Interface {
  const session = new Session(film, stage);
  const showTheme = () => (document.documentElement.dataset['theme'] = session.theme);
  session.on('theme', showTheme);
  showTheme();
  const charts = makeChartsPanel(session);
  const { badge, show } = makeBadge(() => panel.open('Summary'));
  const panel = new Panel([
    { name: 'Summary', element: makeSummaryPanel(session, show) },
    { name: 'Look', element: makeLookPanel(session) },
    { name: 'Charts', ...charts },
    { name: 'Selection', element: makeSelectionPanel(session) },
  ]);
  stage.canvas.setAttribute('role', 'img');
  stage.canvas.setAttribute('aria-label', `Picture of ${film.header.title}`);
  const { sheet } = listenToKeys(session, {
    togglePanel: () => panel.setOpen(!panel.isOpen),
    openTab: (name) => {
      panel.open(name);
      if (name === 'Selection') document.getElementById('search')?.focus();
    },
    switchTheme: () => session.setTheme(session.theme === 'dark' ? 'light' : 'dark'),
    savePicture: () => void savePicture(session),
    help: () => sheet.showModal(),
    escape: () => {
      session.stopMeasure();
      session.choose(null);
      if (document.activeElement instanceof HTMLElement) document.activeElement.blur();
    },
  });
  const place = el('div', { class: 'stage' }, stage.canvas);
  const view = el(
    'main',
    { class: 'view' },
    place,
    makeTop(session, panel, badge, () => sheet.showModal()),
    makeLegend(session),
    makeTrouble(session),
  );
  root.classList.add('viewer');
  root.replaceChildren(view, panel.separator, panel.element, makeBar(session), sheet);
  fitStage(session, place);
  releaseClicks(root);
  listenToPicks(session);
  session.restore(readHash(location.hash));
  followHash(session);
  return { session };
}
