import { openFilm } from './film/open';
import { makeStage } from './scene/make-stage';
import { offerCommands } from './scene/commands';
import { startInterface } from './ui/interface';

/** Says what went wrong in place of the picture. */
function fail(root: HTMLElement, error: unknown): void {
  const text = document.createElement('p');
  text.id = 'failure';
  text.setAttribute('role', 'alert');
  text.textContent = error instanceof Error ? error.message : String(error);
  root.replaceChildren(text);
}

async function start(root: HTMLElement): Promise<void> {
  const film = await openFilm(document);
  document.title = film.header.title || 'Tendril';
  const stage = await makeStage(document.createElement('canvas'), film);
  // Whoever only wants pictures opens the page with #render: no interface is drawn, which takes half the time without a graphics card.
  if (location.hash !== '#render') startInterface(root, film, stage);
  offerCommands(film, stage);
}

const root = document.getElementById('root')!;
window.tendril = { ready: start(root) };
window.tendril.ready.catch((error: unknown) => fail(root, error));
