// The bar below the stage: play, step, speed, and the slider of the frames with marks and the part that is loaded.
import { el, icon, iconButton, select } from './dom';
import { axisFormatter, formatNumber } from './format';
import { speeds } from './player';
import type { Session } from './session';

const mostMarks = 60;

function makeMarks(session: Session): HTMLElement {
  const { marks, times } = session.header;
  const write = axisFormatter(times, session.header.axis.unit);
  const list = el('div', { class: 'marks' });
  for (const mark of marks.slice(0, mostMarks)) {
    const label = `${mark.label} (${write(mark.at)})`;
    const button = el('button', { type: 'button', class: 'mark', title: label, 'aria-label': `Go to ${label}` });
    button.style.left = `${(100 * mark.frame) / Math.max(1, session.last)}%`;
    button.addEventListener('click', () => {
      session.pause();
      session.goTo(mark.frame);
    });
    list.append(button);
  }
  return list;
}

function loadedParts(session: Session): string {
  const perChunk = session.header.framesPerChunk;
  const chunks = Math.ceil(session.film.frames / perChunk);
  const stride = Math.max(1, Math.ceil(chunks / 200));
  const channels = session.shownChannels();
  const stops: string[] = [];
  for (let chunk = 0; chunk < chunks; chunk += stride) {
    const colour = session.film.isLoaded(chunk * perChunk, channels) ? 'var(--loaded)' : 'transparent';
    const [from, to] = [chunk / chunks, Math.min(1, (chunk + stride) / chunks)];
    stops.push(`${colour} ${(100 * from).toFixed(2)}% ${(100 * to).toFixed(2)}%`);
  }
  return `linear-gradient(to right, ${stops.join(',')})`;
}

function makeSpeed(session: Session): HTMLElement {
  const text = (speed: number) => (speed === 1 && session.pace.isReal ? 'real time' : `${speed}×`);
  const options = speeds.map((speed) => ({ value: String(speed), text: text(speed) }));
  const list = select(options, String(session.speed), (value) => session.setSpeed(Number(value)));
  list.setAttribute('aria-label', session.pace.isReal ? 'Speed: 1 is real time' : 'Speed: 1 is ten frames a second');
  list.title = 'Speed ([ and ])';
  session.on('playing', () => (list.value = String(session.speed)));
  return list;
}

function makeSlider(session: Session, write: (value: number) => string): HTMLElement {
  const slider = el('input', { type: 'range', min: 0, max: session.last, step: 1, 'aria-label': session.header.axis.label, id: 'time' });
  slider.disabled = session.last === 0;
  slider.addEventListener('input', () => {
    session.pause();
    session.goTo(Number(slider.value));
  });
  const loaded = el('div', { class: 'loaded' });
  session.on('frame', () => {
    slider.value = String(session.frame);
    slider.style.setProperty('--part', `${(100 * session.frame) / Math.max(1, session.last)}%`);
    slider.setAttribute('aria-valuetext', `${write(session.value)}, frame ${session.frame + 1} of ${session.film.frames}`);
  });
  const showLoaded = () => (loaded.style.background = loadedParts(session));
  setInterval(showLoaded, 700);
  showLoaded();
  return el('div', { class: 'slider' }, loaded, slider, makeMarks(session));
}

export function makeBar(session: Session): HTMLElement {
  const { axis, times } = session.header;
  const write = axisFormatter(times, axis.unit);
  const play = iconButton('play', 'Play', 'space', () => session.toggle());
  play.id = 'play';
  const loop = iconButton('loop', 'Loop', 'l', () => session.setLooping(!session.isLooping));
  const now = el('output', { class: 'now', id: 'now' });
  const frame = el('span', { class: 'frame', id: 'frame' });
  const wait = el('span', { class: 'wait', role: 'status' });
  session.on('frame', () => {
    now.textContent = write(session.value);
    frame.textContent = `frame ${session.frame + 1} of ${session.film.frames}`;
  });
  session.on('playing', () => {
    play.replaceChildren(icon(session.isPlaying ? 'pause' : 'play'));
    play.setAttribute('aria-label', session.isPlaying ? 'Pause' : 'Play');
    loop.setAttribute('aria-pressed', String(session.isLooping));
    wait.textContent = session.isLoading ? 'loading' : '';
  });
  loop.setAttribute('aria-pressed', 'false');
  const { rows, totalRows } = session.header;
  if (totalRows > rows.length)
    frame.title = `The film holds ${formatNumber(rows.length, 9)} of the run's ${formatNumber(totalRows, 9)} rows.`;
  return el(
    'div',
    { class: 'bar', role: 'group', 'aria-label': 'Playing' },
    el(
      'div',
      { class: 'buttons' },
      iconButton('back', 'Step back', 'left arrow', () => session.step(-1)),
      play,
      iconButton('forward', 'Step forward', 'right arrow', () => session.step(1)),
      loop,
      makeSpeed(session),
    ),
    makeSlider(session, write),
    el('div', { class: 'clock' }, el('span', { class: 'axis' }, axis.kind === 'time' ? 't' : axis.label), now, frame, wait),
  );
}
