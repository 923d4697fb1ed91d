// Links to the picture, pictures, and films of what is shown.
import { filmStates } from '../scene/time';
import { encodeVideo } from '../scene/video';
import { el, iconButton, textButton } from './dom';
import { copyText, download, fileName, pngOf } from './files';
import { writeHash } from './hash';
import type { Session } from './session';

const framesPerSecond = 30;

/** Twice the size of the stage, but not more than a card can draw. */
function pictureSize({ stage }: Session): [number, number] {
  const { clientWidth, clientHeight } = stage.canvas;
  const factor = Math.min(2, 3840 / Math.max(1, clientWidth, clientHeight));
  return [Math.max(64, Math.round(clientWidth * factor)), Math.max(64, Math.round(clientHeight * factor))];
}

export async function savePicture(session: Session): Promise<void> {
  try {
    session.pause();
    const picture = await session.stage.picture(...pictureSize(session), session.frame);
    download(fileName(`${session.header.title}-${session.frame + 1}`, 'png'), await pngOf(picture));
  } catch (error) {
    session.complain(error);
  }
}

async function saveFilm(session: Session, say: (text: string) => void, signal: AbortSignal): Promise<void> {
  const { times, axis, title } = session.header;
  const frame = session.frame;
  const [width, height] = pictureSize(session).map((size) => Math.round(size / 2)) as [number, number];
  session.pause();
  try {
    const bytes = await encodeVideo(session.stage, {
      width,
      height,
      framesPerSecond,
      states: filmStates(times, axis.kind, 0, framesPerSecond),
      onProgress: (done, total) => say(`${done} of ${total} pictures`),
      signal,
    });
    download(fileName(title, 'webm'), new Blob([bytes as BlobPart], { type: 'video/webm' }));
    say('The film is saved.');
  } catch (error) {
    if (signal.aborted) say('Stopped.');
    else throw error;
  } finally {
    session.goTo(frame);
  }
}

export function linkOf(session: Session): string {
  return `${location.href.split('#')[0]}#${writeHash(session.link())}`;
}

/** The button that opens the choice of what to save. */
export function makeSaveMenu(session: Session): HTMLElement {
  const status = el('p', { class: 'hint', role: 'status' });
  const say = (text: string) => (status.textContent = text);
  let stopper: AbortController | null = null;
  const film = textButton('Save film (WebM)', () => {
    if (stopper) return stopper.abort();
    stopper = new AbortController();
    film.textContent = 'Stop';
    saveFilm(session, say, stopper.signal)
      .catch((error: unknown) => say(error instanceof Error ? error.message : String(error)))
      .finally(() => {
        stopper = null;
        film.textContent = 'Save film (WebM)';
      });
  });
  const link = textButton('Copy link', () => {
    copyText(linkOf(session)).then(
      () => say('The link is copied. It shows this picture.'),
      (error: unknown) => say(String(error)),
    );
  });
  const picture = textButton('Save picture (PNG)', () => void savePicture(session));
  if (typeof VideoEncoder === 'undefined') film.hidden = true;
  const menu = el('div', { class: 'menu', id: 'save-menu', hidden: true }, link, picture, film, status);
  const button = iconButton('save', 'Save or share', '', () => {
    menu.hidden = !menu.hidden;
    button.setAttribute('aria-expanded', String(!menu.hidden));
    if (!menu.hidden) link.focus();
  });
  button.setAttribute('aria-expanded', 'false');
  button.setAttribute('aria-controls', 'save-menu');
  const close = () => {
    menu.hidden = true;
    button.setAttribute('aria-expanded', 'false');
  };
  menu.addEventListener('keydown', (event) => {
    if (event.key !== 'Escape') return;
    event.stopPropagation();
    close();
    button.focus();
  });
  document.addEventListener('pointerdown', (event) => {
    if (!(event.target instanceof Node) || !holder.contains(event.target)) close();
  });
  const holder = el('div', { class: 'holder' }, button, menu);
  return holder;
}
