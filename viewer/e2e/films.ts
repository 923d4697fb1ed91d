// Small films for the tests of the page, in closed form.
import { FilmWriter, shape, type WrittenFilm } from '../fixtures/writer';

export const frames = 61;
/** Frames of the peak and the valley of the series `wave`. */
export const peak = 15;
export const valley = 45;

const success = {
  status: 'success',
  steps: 1200,
  residual: 0.5,
  penetration: 1e-6,
  contact: { penetration: 1e-6, residual: 1e-9, contacts: 2, ambiguous_steps: 0 },
  energy: { balance: 1e-9, initial: 2, final: 2, work: 0 },
  outputs: { wave: { value: 0.0123, unit: 'm', description: 'A wave' }, unknown: { value: null, unit: 'N' } },
  time: { solving: 1.5, total: 2 },
  versions: { tendril: '0.1.0' },
  messages: [],
};

/** A ball that stands at x = -1 m and one that rises at x = 1 m, both of radius 0.4 m, and a wave of one period. */
export function balls(names = { first: 'left ball', second: 'right ball' }): WrittenFilm {
  const times = Array.from({ length: frames }, (_, i) => i / 30);
  const writer = new FilmWriter('Two balls', times, 3, [
    [-1.5, -0.5, -0.5],
    [1.5, 0.5, 1.5],
  ]);
  const { header } = writer;
  header.bodies = [names.first, names.second].map((name) => ({ name, shapes: [shape('sphere', [0.4])] }));
  header.parts = header.bodies.map(({ name }, body) => ({ name, body, obstacle: -1 }));
  writer.poses(
    'bodies',
    times.map((t) => [
      { position: [-1, 0, 0], rotation: [1, 0, 0, 0] },
      { position: [1, 0, 0.5 * t], rotation: [1, 0, 0, 0] },
    ]),
  );
  writer.dense(
    'speed',
    ['speed'],
    times.map(() => [0, 0.5]),
  );
  writer.field('speed', 'speed', 'm/s', 'bodies', 'speed', 0);
  writer.series(
    { name: 'wave', unit: 'm', description: 'A wave', frame: '', group: 'outputs' },
    ['value'],
    times.map((_, i) => [Math.sin((2 * Math.PI * i) / (frames - 1))]),
  );
  writer.series(
    { name: 'residual', unit: '1', description: '', frame: '', group: 'solver' },
    ['value'],
    times.map((_, i) => [10 ** (-2 - i / 10)]),
  );
  header.marks = [{ at: 1, frame: 30, label: 'half way' }];
  header.summary = success;
  return writer.finish();
}

const attack = '<img src=x onerror="window.attacked=1"></script><script>window.attacked=1</script>';

/** Every text of the film is an attack. */
export function hostile(): WrittenFilm {
  const film = balls({ first: attack, second: `"'>${attack}` });
  const { header } = film;
  header.title = header.description = header.scene = attack;
  header.version = attack;
  header.notices = [attack];
  header.log = [attack];
  header.parameters = { [attack]: attack };
  header.axis.label = attack;
  header.marks = [{ at: 1, frame: 30, label: attack }];
  for (const field of header.fields) field.label = field.unit = attack;
  for (const series of header.series) series.unit = series.description = attack;
  header.series.push({ name: attack, unit: attack, description: attack, frame: '', group: 'outputs', columns: [attack], value: [1] });
  header.summary = { status: attack, messages: [attack], outputs: { [attack]: { value: attack, unit: attack, description: attack } } };
  return film;
}

/** First frames of the branches of the film below. */
export const branchFrames = [11, 22] as const;

/** A ball on a straight path of equilibria, and on two branches that leave it to both sides: the load falls along all three. */
export function branches(): WrittenFilm {
  const steps = Array.from({ length: 11 }, (_, i) => i / 10);
  const points = [0, 1, -1].flatMap((side) => steps.map((s) => ({ load: 1 - s, height: side * s })));
  const writer = new FilmWriter(
    'Branches',
    points.map(({ load }) => load),
    2,
    [
      [-0.2, -0.2, -1.2],
      [0.2, 0.2, 1.2],
    ],
  );
  const { header } = writer;
  header.axis = { kind: 'load', label: 'load', unit: '1' };
  header.bodies = [{ name: 'ball', shapes: [shape('sphere', [0.2])] }];
  writer.poses(
    'bodies',
    points.map(({ height }) => [{ position: [0, 0, height], rotation: [1, 0, 0, 0] }]),
  );
  writer.series(
    { name: 'height', unit: 'm', description: '', frame: '', group: 'outputs' },
    ['value'],
    points.map(({ height }) => [height]),
  );
  header.breaks = [...branchFrames];
  header.marks = branchFrames.map((frame, i) => ({ at: 1, frame, label: `branch ${i + 1}` }));
  header.summary = success;
  return writer.finish();
}

/** What is there of a run that still goes on. */
export function halfWritten(): WrittenFilm {
  const film = balls();
  film.header.summary = null;
  film.header.notices = ['There is no summary that can be read: the run is going on, or was broken off.'];
  return film;
}

/** A page that was cut off: the last pieces are missing. */
export function cutOff(): WrittenFilm {
  const film = balls();
  film.chunks.delete('bodies/3');
  return film;
}
