// The page of a study: what became of its runs, charts that filter one another, and the table.
import { el, iconButton, labelled, select, textButton } from '../ui/dom';
import { copyText } from '../ui/files';
import { formatNumber } from '../ui/format';
import { axisOf, commandOf, headOf, passingRows, sortRows, type StudyData } from './data';
import {
  axisPlace,
  drawHistogram,
  drawParallel,
  drawScatter,
  firstAxes,
  onProcessor,
  sceneryOf,
  valueAt,
  type Box,
  type Ink,
  type Scenery,
} from './draw';
import '../ui/style.css';
import './study.css';

const rowsPerSheet = 100;

export function readInk(): Ink {
  const style = getComputedStyle(document.documentElement);
  const colour = (name: string) => style.getPropertyValue(`--${name}`).trim();
  return {
    page: colour('sheet'),
    text: colour('text'),
    quiet: colour('quiet'),
    grid: colour('grid'),
    accent: colour('accent'),
    bad: colour('bad'),
  };
}

/** A canvas that fills its place, and what is drawn on it. */
class Chart {
  readonly canvas = el('canvas', { role: 'img' });
  box: Box = { x: 0, y: 0, width: 1, height: 1 };

  constructor(
    label: string,
    readonly id: string,
    private readonly paint: (context: CanvasRenderingContext2D, box: Box) => void,
  ) {
    this.canvas.id = id;
    this.canvas.setAttribute('aria-label', label);
    new ResizeObserver(() => this.draw()).observe(this.canvas);
  }

  draw(): void {
    const { clientWidth, clientHeight } = this.canvas;
    const scale = Math.min(2, window.devicePixelRatio);
    this.box = { x: 0, y: 0, width: clientWidth, height: clientHeight };
    this.canvas.width = clientWidth * scale;
    this.canvas.height = clientHeight * scale;
    const context = this.canvas.getContext('2d', onProcessor);
    if (!context) return;
    context.scale(scale, scale);
    this.paint(context, this.box);
  }
}

class StudyPage {
  private readonly scenery: Scenery;
  private readonly filters = new Map<number, [number, number]>();
  private readonly axes: { across: number; up: number; of: number };
  private sorted = { column: -1, isDescending: false };
  private sheet = 0;
  private scatterPlace: (row: number) => [number, number] = () => [NaN, NaN];
  private readonly parallel: Chart;
  private readonly scatter: Chart;
  private readonly histogram: Chart;
  private readonly table = el('div', { class: 'table' });
  private readonly chosenPlace = el('div', { id: 'chosen', 'aria-live': 'polite' });
  private readonly count = el('p', { id: 'count', class: 'hint' });

  constructor(
    private readonly root: HTMLElement,
    private readonly study: StudyData,
  ) {
    this.scenery = sceneryOf(study, readInk());
    this.axes = firstAxes(study, this.scenery.numbers);
    this.parallel = new Chart('Parallel coordinates: an axis per input and output, a line per run', 'parallel', (context, box) =>
      drawParallel(context, box, this.scenery),
    );
    this.scatter = new Chart('Scatter of two columns', 'scatter', (context, box) => {
      this.scatterPlace = drawScatter(context, box, this.scenery, this.axes.across, this.axes.up);
    });
    this.histogram = new Chart('Histogram of a column', 'histogram', (context, box) =>
      drawHistogram(context, box, this.scenery, this.axes.of),
    );
    this.build();
    this.listenToBrush();
    this.listenToPoints();
    this.update();
  }

  private build(): void {
    const { study } = this;
    const columns = study.columns.map((column, i) => ({ value: String(i), text: headOf(column) }));
    const choose = (label: string, value: number, set: (column: number) => void, more: { value: string; text: string }[] = []) =>
      labelled(
        label,
        select([...more, ...columns], String(value), (text) => {
          set(Number(text));
          this.draw();
        }),
      );
    const isDark = () => document.documentElement.dataset['theme'] === 'dark';
    const theme = iconButton('theme', 'Light or dark', '', () => {
      document.documentElement.dataset['theme'] = isDark() ? 'light' : 'dark';
      this.scenery.ink = readInk();
      this.draw();
    });
    this.root.classList.add('study');
    this.root.replaceChildren(
      el('header', { class: 'heading' }, el('h1', {}, study.scene), theme),
      this.summary(),
      el(
        'div',
        { class: 'controls' },
        choose('Colour by', this.scenery.colour, (column) => (this.scenery.colour = column), [{ value: '-1', text: 'nothing' }]),
        textButton('All runs', () => this.setFilters([]), { id: 'all', class: 'small' }),
        el('span', { class: 'hint' }, 'Drag along an axis to keep the runs in that range.'),
      ),
      this.parallel.canvas,
      el(
        'div',
        { class: 'pair' },
        el(
          'div',
          {},
          choose('Across', this.axes.across, (column) => (this.axes.across = column)),
          choose('Up', this.axes.up, (column) => (this.axes.up = column)),
          this.scatter.canvas,
        ),
        el(
          'div',
          {},
          choose('Histogram of', this.axes.of, (column) => (this.axes.of = column)),
          this.histogram.canvas,
        ),
      ),
      this.chosenPlace,
      this.count,
      this.table,
    );
  }

  private summary(): HTMLElement {
    const { study } = this;
    const ends = new Map<string, number>();
    for (const state of study.states) ends.set(state, (ends.get(state) ?? 0) + 1);
    const lines = [
      `${study.design}: ${study.finished} of ${study.points} runs are finished${study.status === 'running' ? ', or more since' : ''}.`,
      [...ends].map(([state, count]) => `${count} ${state}`).join(', ') + (study.runs.length < study.finished ? ' of those shown' : ''),
      ...Object.entries(study.undefined).map(([output, count]) => `${output} is not defined in ${count} runs.`),
    ];
    if (study.runs.length < study.finished)
      lines.push(`Shown are ${study.runs.length} runs, taken evenly: the study is too large for one page.`);
    return el('div', { id: 'summary', role: 'note' }, ...lines.map((line) => el('p', {}, line)));
  }

  private setFilters(filters: [number, [number, number]][]): void {
    this.filters.clear();
    for (const [column, range] of filters) this.filters.set(column, range);
    this.sheet = 0;
    this.update();
  }

  private update(): void {
    const { scenery, study } = this;
    scenery.filters = this.filters;
    scenery.rows = passingRows(scenery.numbers, study.runs.length, this.filters);
    this.draw();
    this.fillTable();
  }

  private draw(): void {
    for (const chart of [this.parallel, this.scatter, this.histogram]) chart.draw();
  }

  private choose(row: number): void {
    this.scenery.chosen = row;
    this.draw();
    this.fillTable();
    if (row < 0) return this.chosenPlace.replaceChildren();
    const command = commandOf(this.study, row);
    const message = this.study.messages[this.study.runs[row]!];
    this.chosenPlace.replaceChildren(
      el('p', {}, `Run ${this.study.runs[row]}: ${this.study.states[row]}${message ? `: ${message}` : ''}`),
      el('code', {}, command),
      textButton('Copy', () => void copyText(command), { class: 'small' }),
    );
  }

  private listenToBrush(): void {
    const { canvas } = this.parallel;
    const count = this.study.columns.length;
    let begin: { column: number; value: number } | null = null;
    const columnAt = (x: number) => {
      const places = this.study.columns.map((_, c) => Math.abs(axisPlace(this.parallel.box, c, count) - x));
      const nearest = places.indexOf(Math.min(...places));
      return places[nearest]! < 24 ? nearest : -1;
    };
    const valueOf = (column: number, y: number) => valueAt(this.parallel.box, axisOf(this.study.columns[column]!), y);
    canvas.addEventListener('pointerdown', (event) => {
      const column = columnAt(event.offsetX);
      if (column < 0) return;
      begin = { column, value: valueOf(column, event.offsetY) };
      canvas.setPointerCapture(event.pointerId);
    });
    canvas.addEventListener('pointerup', (event) => {
      if (!begin) return;
      const [from, to] = [begin.value, valueOf(begin.column, event.offsetY)];
      const filters = [...this.filters].filter(([column]) => column !== begin!.column) as [number, [number, number]][];
      if (from !== to) filters.push([begin.column, [Math.min(from, to), Math.max(from, to)]]); // a click takes the range away
      begin = null;
      this.setFilters(filters);
    });
  }

  private listenToPoints(): void {
    this.scatter.canvas.addEventListener('click', (event) => {
      let [nearest, least] = [-1, 12];
      for (const row of this.scenery.rows) {
        const [x, y] = this.scatterPlace(row);
        const distance = Math.hypot(x - event.offsetX, y - event.offsetY);
        if (distance < least) [nearest, least] = [row, distance];
      }
      this.choose(nearest);
    });
  }

  private sortedRows(): readonly number[] {
    const { column, isDescending } = this.sorted;
    const { rows, numbers } = this.scenery;
    if (column < 0) return isDescending ? [...rows].reverse() : rows;
    return sortRows(rows, numbers[column]!, isDescending);
  }

  private head(text: string, column: number): HTMLElement {
    const isSorted = this.sorted.column === column;
    const button = textButton(text, () => {
      this.sorted = { column, isDescending: isSorted && !this.sorted.isDescending };
      this.sheet = 0;
      this.fillTable();
    });
    const order = isSorted ? (this.sorted.isDescending ? 'descending' : 'ascending') : 'none';
    return el('th', { scope: 'col', 'aria-sort': order }, button);
  }

  private fillTable(): void {
    const { study, scenery } = this;
    const rows = this.sortedRows();
    const sheets = Math.max(1, Math.ceil(rows.length / rowsPerSheet));
    const shown = rows.slice(this.sheet * rowsPerSheet, (this.sheet + 1) * rowsPerSheet);
    const line = (row: number) => {
      const cells = study.columns.map((column) => {
        const value = column.values[row];
        return el('td', {}, column.texts ? column.texts[row]! : value == null ? '' : formatNumber(value, 6));
      });
      const name = textButton(study.runs[row]!, () => this.choose(row));
      const state = el('td', { class: study.states[row] === 'success' ? '' : 'bad' }, study.states[row]!);
      return el('tr', { 'aria-selected': String(row === scenery.chosen) }, el('th', { scope: 'row' }, name), state, ...cells);
    };
    const turn = (by: number) => {
      this.sheet += by;
      this.fillTable();
    };
    this.count.textContent = `${rows.length} of ${study.runs.length} runs`;
    this.table.replaceChildren(
      el(
        'table',
        {},
        el('caption', { class: 'unseen' }, 'Runs of the study'),
        el(
          'thead',
          {},
          el('tr', {}, this.head('run', -1), el('th', { scope: 'col' }, 'status'), ...study.columns.map((c, i) => this.head(headOf(c), i))),
        ),
        el('tbody', {}, ...shown.map(line)),
      ),
    );
    if (sheets === 1) return;
    this.table.append(
      el(
        'div',
        { class: 'controls' },
        textButton('Back', () => turn(-1), { class: 'small', disabled: this.sheet === 0 }),
        el('span', {}, `${this.sheet + 1} of ${sheets}`),
        textButton('On', () => turn(1), { class: 'small', disabled: this.sheet + 1 >= sheets }),
      ),
    );
  }
}

export function startStudy(root: HTMLElement, study: StudyData): void {
  document.documentElement.dataset['theme'] = matchMedia('(prefers-color-scheme: dark)').matches ? 'dark' : 'light';
  new StudyPage(root, study);
}
