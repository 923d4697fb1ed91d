import type { Film } from '../film/film';
import type { Stage } from '../scene/stage';

/** Fills the page with the stage. */
export function startInterface(root: HTMLElement, film: Film, stage: Stage): void {
  root.append(stage.canvas);
  const fit = () => stage.resize(root.clientWidth, root.clientHeight, window.devicePixelRatio);
  window.addEventListener('resize', fit);
  fit();
  void stage.show(film.frames - 1);
}
