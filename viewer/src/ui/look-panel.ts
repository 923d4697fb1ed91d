// The panel of what is drawn and how: colours, layers, enlargement, cut, camera.
import type { FieldInfo } from '../film/header';
import { colourMap } from '../scene/colours';
import { layers as allLayers } from '../scene/commands';
import type { Layer, ViewName } from '../scene/stage';
import { checkbox, el, labelled, section, select, textButton } from './dom';
import { formatNumber, unitText } from './format';
import type { CutAxis, Session } from './session';

const layerWords: Record<Layer, string> = {
  bodies: 'Bodies',
  obstacles: 'Obstacles',
  beams: 'Beams',
  edges: 'Edges and twist lines',
  contacts: 'Contact points',
  forces: 'Contact forces',
  markers: 'Named points',
  frames: 'Directors',
  joints: 'Joints',
  links: 'Springs, cables, muscles, distances, guides',
  reactions: 'Reactions',
  paths: 'Paths',
  grid: 'Grid',
  labels: 'Names',
};

/** Whether a layer of the run can ever show something. */
function isUseful(session: Session, layer: Layer): boolean {
  const { bodies, obstacles, beams, markers, joints, links, channels } = session.header;
  switch (layer) {
    case 'bodies':
      return bodies.length > 0;
    case 'obstacles':
      return obstacles.length > 0;
    case 'beams':
      return beams.length > 0;
    case 'contacts':
    case 'forces':
      return channels['contacts'] !== undefined;
    case 'markers':
      return markers.length > 0;
    case 'joints':
      return joints.length > 0;
    case 'links':
      return links.length > 0;
    case 'reactions':
      return channels['reactions'] !== undefined;
    default:
      return true;
  }
}

const viewWords: [ViewName, string][] = [
  ['home', 'Home'],
  ['front', 'Front'],
  ['back', 'Back'],
  ['left', 'Left'],
  ['right', 'Right'],
  ['top', 'Top'],
  ['bottom', 'Bottom'],
  ['isometric', 'Isometric'],
];

function numberField(label: string, value: number, change: (value: number) => void): HTMLInputElement {
  const field = el('input', { type: 'text', inputmode: 'decimal', class: 'number', 'aria-label': label, title: label });
  field.value = String(+value.toPrecision(5));
  field.addEventListener('change', () => change(Number(field.value.replace(',', '.').replace('−', '-'))));
  return field;
}

function colourSection(session: Session): HTMLElement {
  const { fields } = session.header;
  const words = (field: FieldInfo) => `${field.label}${unitText(field.unit) ? ` [${unitText(field.unit)}]` : ''} · ${field.on}`;
  const options = [{ value: '', text: 'part' }, ...fields.map((field) => ({ value: field.name, text: words(field) }))];
  const choice = select(options, '', (value) => session.colourBy(value ? { field: value, range: null } : null));
  choice.id = 'colour';
  const range = el('div', { class: 'row range' });
  const showRange = () => {
    choice.value = session.colouring?.field ?? '';
    const field = fields.find(({ name }) => name === session.colouring?.field);
    if (!field || field.categories) return range.replaceChildren();
    const [low, high] = colourMap(field, session.colouring?.range ?? null).range;
    const set = (from: number, to: number) => {
      if (from < to) session.colourBy({ field: field.name, range: [from, to] });
      else showRange();
    };
    const most = Math.max(Math.abs(low), Math.abs(high));
    range.replaceChildren(
      numberField('Least value of the colours', low, (x) => set(x, high)),
      el('span', {}, 'to'),
      numberField('Greatest value of the colours', high, (x) => set(low, x)),
      textButton('symmetric', () => set(-most, most), { class: 'small', title: 'Zero in the middle' }),
      textButton('reset', () => session.colourBy({ field: field.name, range: null }), { class: 'small', title: 'Range over the film' }),
      ...(field.isSampled && !session.colouring?.range
        ? [el('small', {}, 'Range of some frames only; values beyond it have the end colours.')]
        : []),
    );
    return undefined;
  };
  session.on('look', showRange);
  if (fields.length === 0) return section('Colour', true, el('p', { class: 'hint' }, 'This run has no fields to colour by.'));
  return section('Colour', true, labelled('Colour by', choice), range);
}

/** A slider of factors; its steps are those of a logarithm. */
function factorSlider(label: string, most: number, get: () => number, set: (factor: number) => void, session: Session): HTMLElement {
  const slider = el('input', { type: 'range', min: -1, max: 1, step: 0.02 });
  const output = el('output', { class: 'factor' });
  slider.addEventListener('input', () => {
    const exponent = Number(slider.value);
    set(Math.abs(exponent) < 0.03 ? 1 : +(most ** exponent).toPrecision(3));
  });
  const show = () => {
    slider.value = String(Math.log(get()) / Math.log(most));
    slider.setAttribute('aria-valuetext', `${get()} times`);
    output.textContent = `${formatNumber(get(), 3)}×`;
  };
  session.on('look', show);
  show();
  return labelled(label, slider, output);
}

function layerSection(session: Session): HTMLElement {
  const boxes = allLayers
    .filter((layer) => isUseful(session, layer))
    .map((layer) => {
      const { row, box } = checkbox(layerWords[layer], session.stage.hasLayer(layer), (on) => session.setLayer(layer, on));
      box.dataset['layer'] = layer;
      session.on('look', () => (box.checked = session.stage.hasLayer(layer)));
      return row;
    });
  return section('Layers', true, el('div', { class: 'checks' }, ...boxes));
}

function sizeSection(session: Session): HTMLElement {
  const parts = [
    factorSlider(
      'Displacement',
      1000,
      () => session.displacement,
      (x) => session.enlarge(x, session.thickness),
      session,
    ),
    factorSlider(
      'Thickness',
      20,
      () => session.thickness,
      (x) => session.enlarge(session.displacement, x),
      session,
    ),
  ];
  const hasArrows = isUseful(session, 'forces') || isUseful(session, 'reactions');
  if (hasArrows)
    parts.push(
      factorSlider(
        'Arrows',
        100,
        () => session.arrowScale,
        (x) => session.setArrowScale(x),
        session,
      ),
    );
  const reset = textButton(
    'true sizes',
    () => {
      session.enlarge(1, 1);
      session.setArrowScale(1);
    },
    { class: 'small' },
  );
  return section('Enlargement', false, ...parts, el('div', { class: 'row' }, reset));
}

function cutSection(session: Session): HTMLElement {
  const options = [
    { value: '', text: 'none' },
    { value: 'x', text: 'across x' },
    { value: 'y', text: 'across y' },
    { value: 'z', text: 'across z' },
    { value: 'view', text: 'across the view' },
  ];
  const choice = select(options, '', (value) => session.cutBy((value || null) as CutAxis | null));
  choice.id = 'cut';
  const slider = el('input', { type: 'range', min: 0, max: 1, step: 0.002, 'aria-label': 'Place of the cut' });
  const output = el('output', { class: 'factor' });
  const place = el('div', { class: 'row' }, el('span', {}, 'Place'), slider, output);
  const turn = textButton(
    'other side',
    () => {
      if (!session.cut) return;
      const { axis, normal, offset } = session.cut;
      session.setCut({ axis, normal: [-normal[0], -normal[1], -normal[2]], offset: -offset });
    },
    { class: 'small' },
  );
  slider.addEventListener('input', () => {
    if (!session.cut) return;
    const [low, high] = session.cutRange(session.cut.normal);
    session.setCut({ ...session.cut, offset: low + Number(slider.value) * (high - low) });
  });
  const show = () => {
    const { cut } = session;
    choice.value = cut?.axis ?? '';
    place.hidden = turn.hidden = !cut;
    if (!cut) return;
    const [low, high] = session.cutRange(cut.normal);
    slider.value = String((cut.offset - low) / (high - low));
    output.textContent = `${formatNumber(cut.offset, 3)} m`;
  };
  session.on('look', show);
  show();
  return section('Cut', false, labelled('Cut', choice), place, turn);
}

function cameraSection(session: Session): HTMLElement {
  const views = viewWords.map(([name, text], i) => textButton(text, () => session.view(name), { title: `Key ${i + 1}` }));
  const parallel = checkbox('Without perspective', session.isParallel, (on) => session.setParallel(on));
  session.on('camera', () => (parallel.box.checked = session.isParallel));
  const followed = el('p', { class: 'hint' });
  const stop = textButton('stop following', () => session.follow(null), { class: 'small' });
  const show = () => {
    const name = session.followed ? session.stage.facts(session.followed)?.name : null;
    followed.textContent = name ? `The camera follows ${name}.` : 'The camera stands still; select a thing and follow it with f.';
    stop.hidden = !name;
  };
  session.on('look', show);
  show();
  return section('Camera', true, el('div', { class: 'views' }, ...views), parallel.row, followed, stop);
}

function pathSection(session: Session): HTMLElement | null {
  const { markers, bodies, beams } = session.header;
  const names = [...markers, ...bodies].map(({ name }) => name).concat(beams.flatMap(({ name }) => [`${name} start`, `${name} end`]));
  if (names.length === 0) return null;
  const most = 40;
  const boxes = names.slice(0, most).map((name) => {
    const { row, box } = checkbox(name, false, () => {
      const chosen = [...list.querySelectorAll<HTMLInputElement>('input:checked')].map((one) => one.value);
      session.setPaths(chosen.length > 0 ? chosen : null);
      if (chosen.length === 0) session.setLayer('paths', false);
    });
    box.value = name;
    return row;
  });
  const list = el('div', { class: 'checks' }, ...boxes);
  session.on('look', () => {
    for (const box of list.querySelectorAll('input')) box.checked = session.pathNames?.includes(box.value) ?? false;
  });
  const more =
    names.length > most ? el('p', { class: 'hint' }, `The first ${most} of ${names.length}; of another thing from its selection.`) : null;
  return section('Paths of', false, list, more);
}

export function makeLookPanel(session: Session): HTMLElement {
  return el(
    'div',
    {},
    colourSection(session),
    layerSection(session),
    cameraSection(session),
    cutSection(session),
    sizeSection(session),
    pathSection(session),
  );
}
