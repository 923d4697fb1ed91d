// What the command-line renderer asks of the page of a study: the same names as of a film, as far as they make sense.
import { base64Of, checked, sizeOf, type PictureOptions } from '../scene/commands';
import type { StudyData } from './data';
import { drawAll, firstAxes, onProcessor, sceneryOf } from './draw';
import { readInk } from './page';

export function offerStudyCommands(study: StudyData): void {
  const picturePng = async (options: PictureOptions = {}): Promise<string> => {
    const { width, height } = checked(() => {
      const column = study.columns.some(({ name }) => name === options.colour);
      if (options.colour && !column) {
        throw new Error(
          `There is no column "${options.colour}" to colour by; there are ${study.columns.map(({ name }) => name).join(', ')}.`,
        );
      }
      return sizeOf(options);
    });
    document.documentElement.dataset['theme'] = options.dark ? 'dark' : 'light';
    const canvas = document.createElement('canvas');
    [canvas.width, canvas.height] = [width, height];
    const context = canvas.getContext('2d', onProcessor);
    if (!context) throw new Error('The browser has no canvas to draw on.');
    const scenery = sceneryOf(study, readInk());
    if (options.colour) scenery.colour = study.columns.findIndex(({ name }) => name === options.colour);
    drawAll(context, width, height, scenery, firstAxes(study, scenery.numbers));
    return base64Of(canvas);
  };
  const filmWebm = () =>
    Promise.resolve().then(() =>
      checked((): string => {
        throw new Error('A study has no film; make a picture with -o picture.png.');
      }),
    );
  Object.assign(window.tendril, { study, picturePng, filmWebm });
}
