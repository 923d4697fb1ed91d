import { openFilm } from './film/open';
import { makeStage } from './scene/make-stage';
import { offerCommands } from './scene/commands';
import { checkStudy, type StudyData } from './study/data';
import { offerStudyCommands } from './study/commands';
import { startStudy } from './study/page';
import { startInterface } from './ui/interface';

/** Says what went wrong in place of the picture. */
function fail(root: HTMLElement, error: unknown): void {
  const text = document.createElement('p');
  text.id = 'failure';
  text.setAttribute('role', 'alert');
  text.textContent = error instanceof Error ? error.message : String(error);
  root.replaceChildren(text);
}

/** The study that is in the page, if it holds one. */
function studyInPage(): StudyData | null {
  const text = document.getElementById('study')?.textContent;
  return text ? checkStudy(JSON.parse(text)) : null;
}

async function start(root: HTMLElement): Promise<void> {
  const study = studyInPage();
  if (study) {
    document.title = study.scene;
    startStudy(root, study);
    offerStudyCommands(study);
    return;
  }
  const film = await openFilm(document);
  document.title = film.header.title || 'Tendril';
  const stage = await makeStage(document.createElement('canvas'), film);
  // Whoever only wants pictures opens the page with #render: no interface is drawn, which takes half the time without a graphics card.
  if (location.hash !== '#render') startInterface(root, film, stage);
  offerCommands(film, stage);
}

const root = document.getElementById('root')!;
window.tendril = { ready: Promise.resolve(root).then(start) }; // it is there before anything is added to it
window.tendril.ready.catch((error: unknown) => fail(root, error));
