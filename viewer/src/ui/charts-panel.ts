// The panel of charts: which numbers, over what, and the tables of final arrays.
import type { SeriesInfo } from '../film/header';
import { Chart, isRising, type Abscissa, type Curves } from './chart';
import { checkbox, el, labelled, section, select, table } from './dom';
import { formatQuantity } from './format';
import type { Session } from './session';

const shownAtFirst = 3;
const groupWords: Record<SeriesInfo['group'], string> = { outputs: 'Outputs', energy: 'Energies', solver: 'Solver' };

async function readCurves(session: Session, info: SeriesInfo): Promise<Curves> {
  const all = await session.film.series(info.name);
  const count = info.columns.length;
  const values = info.columns.map((_, c) => Float32Array.from({ length: session.film.frames }, (_, i) => all[i * count + c]!));
  return {
    name: info.name,
    unit: info.unit,
    description: info.description,
    columns: info.columns,
    values,
    isSolver: info.group === 'solver',
  };
}

class Charts {
  readonly element: HTMLElement;
  private readonly place = el('div', { class: 'charts' });
  private readonly chosen: Set<string>;
  private readonly drawable: SeriesInfo[];
  private readonly curves = new Map<string, Promise<Curves>>();
  private charts: Chart[] = [];
  private abscissa = 'axis';
  private order = 0;
  private isVisible = false;

  constructor(private readonly session: Session) {
    this.drawable = session.header.series.filter(({ value }) => !value);
    this.chosen = new Set(this.drawable.slice(0, shownAtFirst).map(({ name }) => name));
    this.element = el('div', {}, this.makeAbscissa(), this.place, this.makeChoice(), this.makeTables());
    session.on('frame', () => this.charts.forEach((chart) => chart.move()));
    session.on('theme', () => requestAnimationFrame(() => this.charts.forEach((chart) => chart.draw())));
  }

  /** Numbers are read when the panel is looked at for the first time. */
  reveal(): void {
    if (this.isVisible) return;
    this.isVisible = true;
    void this.rebuild();
  }

  private read(name: string): Promise<Curves> {
    let curves = this.curves.get(name);
    if (!curves) {
      curves = readCurves(this.session, this.drawable.find((info) => info.name === name)!);
      this.curves.set(name, curves);
    }
    return curves;
  }

  private makeAbscissa(): HTMLElement | null {
    if (this.drawable.length === 0) return el('p', { class: 'hint' }, 'This run has no outputs over time.');
    const { axis } = this.session.header;
    const outputs = this.drawable.flatMap(({ name, columns }) =>
      columns.map((column, c) => ({ value: `${c}/${name}`, text: columns.length > 1 ? `${name} ${column}` : name })),
    );
    const options = [{ value: 'axis', text: axis.label }, { value: 'frame', text: 'frame' }, ...outputs];
    const choice = select(options, 'axis', (value) => {
      this.abscissa = value;
      void this.rebuild();
    });
    choice.id = 'abscissa';
    return labelled('Over', choice);
  }

  private makeChoice(): HTMLElement | null {
    if (this.drawable.length === 0) return null;
    const groups = Object.entries(groupWords).map(([group, words]) => {
      const boxes = this.drawable
        .filter((info) => info.group === group)
        .map(({ name, unit, description }) => {
          const label = unit && unit !== '1' ? `${name} [${unit}]` : name;
          const { row } = checkbox(label, this.chosen.has(name), (on) => {
            if (on) this.chosen.add(name);
            else this.chosen.delete(name);
            void this.rebuild();
          });
          row.title = description;
          return row;
        });
      return boxes.length > 0 ? el('fieldset', {}, el('legend', {}, words), ...boxes) : null;
    });
    return section('Which', this.drawable.length > shownAtFirst, ...groups);
  }

  private makeTables(): HTMLElement | null {
    const finals = this.session.header.series.filter(({ value }) => value);
    if (finals.length === 0) return null;
    const tables = finals.map(({ name, unit, description, value }) => {
      const rows = value!.slice(0, 500).map((x, i) => [String(i + 1), formatQuantity(x, unit)]);
      const more = value!.length > rows.length ? el('p', { class: 'hint' }, `The first ${rows.length} of ${value!.length}.`) : null;
      return section(name, false, el('p', { class: 'hint' }, description), table(['Number', 'Value'], rows, name), more);
    });
    return el('div', {}, ...tables);
  }

  private async makeAxis(): Promise<Abscissa> {
    const { axis, times } = this.session.header;
    const frames: Abscissa = { label: 'frame', unit: '', values: times.map((_, i) => i + 1), isRising: true };
    if (this.abscissa === 'frame') return frames;
    if (this.abscissa === 'axis') return { label: axis.label, unit: axis.unit, values: times, isRising: isRising(times) };
    const at = this.abscissa.indexOf('/');
    const curves = await this.read(this.abscissa.slice(at + 1));
    const column = Number(this.abscissa.slice(0, at));
    const label = curves.columns.length > 1 ? `${curves.name} ${curves.columns[column]}` : curves.name;
    return { label, unit: curves.unit, values: curves.values[column]!, isRising: false };
  }

  private async rebuild(): Promise<void> {
    const order = ++this.order;
    try {
      const abscissa = await this.makeAxis();
      const names = this.drawable.map(({ name }) => name).filter((name) => this.chosen.has(name));
      const curves = await Promise.all(names.map((name) => this.read(name)));
      if (order !== this.order) return; // the choice has changed
      for (const chart of this.charts) chart.dispose();
      this.charts = curves.map((one) => this.makeChart(one, abscissa));
      this.place.replaceChildren(...this.charts.map(({ element }) => element));
    } catch (error) {
      this.session.complain(error);
    }
  }

  private makeChart(curves: Curves, abscissa: Abscissa): Chart {
    const { session } = this;
    return new Chart({
      curves,
      abscissa,
      title: session.header.title,
      frame: () => session.frame,
      breaks: session.header.breaks,
      goTo: (frame) => {
        session.pause();
        session.goTo(frame);
      },
      zoomed: (source, from, to) => this.charts.forEach((chart) => chart !== source && chart.zoom(from, to)),
    });
  }
}

export function makeChartsPanel(session: Session): { element: HTMLElement; reveal: () => void } {
  const charts = new Charts(session);
  return { element: charts.element, reveal: () => charts.reveal() };
}
