// One chart: curves over time, frames or the load, or the path of one output against another. The marker shows the frame of the picture.
import uPlot from 'uplot';
import { el, textButton } from './dom';
import { nearestSample, nextExtremum, snapToExtremum } from './extremum';
import { download, fileName } from './files';
import { csvOf, formatNumber, formatQuantity, scaleOf, unitText } from './format';

export interface Curves {
  name: string;
  unit: string;
  description: string;
  columns: string[];
  /** One array per column, one value per frame. */
  values: Float32Array[];
  isSolver: boolean;
}

export interface Abscissa {
  label: string;
  unit: string;
  values: ArrayLike<number>;
  /** Rising with the frames: then charts share their zoom. */
  isRising: boolean;
}

export interface ChartOptions {
  curves: Curves;
  abscissa: Abscissa;
  title: string; // of the film, for file names
  goTo(frame: number): void;
  frame(): number;
  /** Frames at which a curve begins anew. */
  breaks: readonly number[];
  /** Others are to show the same part of the abscissa. */
  zoomed(chart: Chart, from: number, to: number): void;
}

const reach = 14; // pixels within which a click goes to a peak
const fewFrames = 24; // up to so many are marked as points
const lineColours = ['--line-1', '--line-2', '--line-3', '--line-4', '--line-5', '--line-6', '--line-7', '--line-8'];

export function isRising(values: ArrayLike<number>): boolean {
  for (let i = 1; i < values.length; ++i) if (!(values[i]! > values[i - 1]!)) return false;
  return true;
}

function rangeOf(arrays: ArrayLike<number>[]): [number, number] {
  let [low, high] = [Infinity, -Infinity];
  for (const values of arrays) {
    for (let i = 0; i < values.length; ++i) {
      const x = values[i]!;
      if (!Number.isFinite(x)) continue;
      low = Math.min(low, x);
      high = Math.max(high, x);
    }
  }
  if (!(low <= high)) return [0, 1];
  const margin = high > low ? 0.05 * (high - low) : Math.max(1e-12, 0.1 * Math.abs(high));
  return [low - margin, high + margin];
}

const clean = (values: ArrayLike<number>, isLog: boolean): (number | null)[] =>
  Array.from(values, (x) => (Number.isFinite(x) && (!isLog || x > 0) ? x : null));

export class Chart {
  readonly element: HTMLElement;
  private plot: uPlot | null = null;
  private readonly place: HTMLElement;
  private readonly markers: HTMLElement[]; // a line, or a dot on every path
  private readonly scale: { factor: number; unit: string };
  private readonly readings: HTMLElement[];
  private isLog: boolean;
  private isSyncing = false;
  private readonly observer: ResizeObserver;
  private press: { x: number; y: number } | null = null;

  constructor(private readonly options: ChartOptions) {
    const { curves } = options;
    this.markers = (options.abscissa.isRising ? [''] : curves.columns).map(() => el('div', { class: 'marker' }));
    this.scale = scaleOf(Math.max(...rangeOf(curves.values).map(Math.abs)), curves.unit);
    this.isLog = curves.isSolver && this.canBeLog() && /residual|error|gap|penetration/i.test(curves.name);
    this.place = el('div', {
      class: 'plot',
      tabindex: 0,
      role: 'img',
      'aria-label': `Chart of ${curves.name}${unitText(curves.unit) ? ` in ${unitText(curves.unit)}` : ''} over ${options.abscissa.label}`,
    });
    this.place.addEventListener('keydown', (event) => this.key(event));
    this.readings = curves.columns.map(() => el('span', { class: 'reading' }));
    this.element = el('figure', { class: 'chart', 'data-series': curves.name }, this.makeHead(), this.place, this.makeReadings());
    this.observer = new ResizeObserver(() => this.fit());
    this.observer.observe(this.place);
  }

  private canBeLog(): boolean {
    return (
      this.options.curves.values.every((values) => values.every((x) => !(x < 0))) &&
      this.options.curves.values.some((v) => v.some((x) => x > 0))
    );
  }

  private makeHead(): HTMLElement {
    const { curves, title } = this.options;
    const { unit } = this.scale;
    const log = textButton(
      'log',
      () => {
        this.isLog = !this.isLog;
        log.setAttribute('aria-pressed', String(this.isLog));
        this.draw();
      },
      { class: 'small', 'aria-pressed': String(this.isLog), title: 'Logarithmic scale' },
    );
    log.hidden = !this.canBeLog();
    const all = textButton('all', () => this.showAll(), { class: 'small', title: 'The whole range (double click)' });
    const csv = textButton('CSV', () => download(fileName(`${title}-${curves.name}`, 'csv'), this.csv()), {
      class: 'small',
      title: 'Save the numbers',
    });
    const name = el('span', { class: 'name' }, unit ? `${curves.name} [${unit}]` : curves.name);
    return el('figcaption', { title: curves.description }, name, el('span', { class: 'tools' }, log, all, csv));
  }

  private makeReadings(): HTMLElement {
    const { columns } = this.options.curves;
    const entries = columns.map((column, c) => {
      const patch = el('span', { class: 'patch' });
      patch.style.background = `var(${lineColours[c % lineColours.length]})`;
      return el('span', { class: 'curve' }, patch, columns.length > 1 ? `${column} ` : '', this.readings[c]!);
    });
    return el('div', { class: 'readings' }, ...entries);
  }

  csv(): string {
    const { curves, abscissa } = this.options;
    const head = (name: string, unit: string) => (unitText(unit) ? `${name} [${unit}]` : name);
    const columns = curves.columns.map((column) => head(curves.columns.length > 1 ? `${curves.name} ${column}` : curves.name, curves.unit));
    const rows = Array.from({ length: curves.values[0]!.length }, (_, i) => [i, abscissa.values[i]!, ...curves.values.map((v) => v[i]!)]);
    return csvOf(['frame', head(abscissa.label, abscissa.unit), ...columns], rows);
  }

  /** Draws again: of another size, theme, scale. */
  draw(): void {
    this.plot?.destroy();
    this.plot = null;
    const width = this.place.clientWidth;
    if (width < 40) return; // not visible; drawn when it is
    const { abscissa, curves } = this.options;
    const data: uPlot.AlignedData = abscissa.isRising
      ? [Float64Array.from(abscissa.values), ...curves.values.map((values) => clean(values, this.isLog))]
      : [Float64Array.from([0, 1]), ...curves.values.map(() => [null, null])];
    this.plot = new uPlot(this.settings(width), data, this.place);
    this.plot.over.append(...this.markers);
    this.listen(this.plot.over);
    this.move();
  }

  private settings(width: number): uPlot.Options {
    const { abscissa, curves } = this.options;
    const style = getComputedStyle(this.place);
    const colour = (name: string) => style.getPropertyValue(name).trim();
    const [text, faint] = [colour('--text'), colour('--grid')];
    const isPath = !abscissa.isRising;
    const axis: uPlot.Axis = {
      stroke: text,
      grid: { stroke: faint, width: 1 },
      ticks: { stroke: faint, width: 1, size: 4 },
      font: '11px system-ui, sans-serif',
      values: (_, ticks) => ticks.map((x) => (x === null ? '' : formatNumber(x))),
    };
    const fixed = (arrays: ArrayLike<number>[]): uPlot.Scale =>
      isPath ? { time: false, range: rangeOf(arrays), auto: false } : { time: false };
    const y: uPlot.Scale = this.isLog
      ? { distr: 3 }
      : isPath
        ? fixed(curves.values)
        : { range: (_, low, high) => (low === null ? [0, 1] : rangeOf([[low, high]])) };
    const unit = unitText(abscissa.unit);
    return {
      width,
      height: 170,
      legend: { show: false },
      padding: [8, 12, 0, 0],
      cursor: { drag: { x: true, y: isPath, uni: 20 }, points: { show: !isPath, size: 5 }, x: true, y: false },
      scales: { x: fixed([abscissa.values]), y },
      axes: [
        {
          ...axis,
          label: unit ? `${abscissa.label} [${unit}]` : abscissa.label,
          labelSize: 16,
          labelFont: '11px system-ui, sans-serif',
          size: 26,
          space: 64,
        },
        { ...axis, size: 62, space: 28, values: (_, ticks) => ticks.map((y) => (y === null ? '' : formatNumber(y / this.scale.factor))) },
      ],
      series: [
        {},
        ...curves.columns.map((label, c) => ({
          label,
          stroke: colour(lineColours[c % lineColours.length]!),
          width: 1.5,
          points: { show: abscissa.values.length <= fewFrames, size: 5 }, // what lies between them was not computed
          gaps: (plot: uPlot, _series: number, _from: number, _to: number, gaps: uPlot.Series.Gap[]) =>
            [...gaps, ...this.gaps(plot)].sort((a, b) => a[0] - b[0]),
        })),
      ],
      hooks: {
        draw: isPath ? [(plot) => this.drawPaths(plot, (c) => colour(lineColours[c % lineColours.length]!))] : [],
        setScale: [(plot, key) => this.scaled(plot, key)],
        setSize: [() => this.move()],
      },
    };
  }

  /** Between the frames before a curve begins anew and that where it does. */
  private gaps(plot: uPlot): [number, number][] {
    const place = (frame: number) => Math.round(plot.valToPos(this.options.abscissa.values[frame]!, 'x', true));
    return this.options.breaks.map((frame) => [place(frame - 1), place(frame)]);
  }

  /** A path may turn back: its points are joined in the order of the frames. */
  private drawPaths(plot: uPlot, colour: (column: number) => string): void {
    const { ctx, bbox } = plot;
    const { abscissa, curves, breaks } = this.options;
    ctx.save();
    ctx.beginPath();
    ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
    ctx.clip();
    ctx.lineWidth = 1.5 * devicePixelRatio;
    ctx.lineJoin = 'round';
    curves.values.forEach((values, c) => {
      ctx.strokeStyle = colour(c);
      ctx.beginPath();
      let isOn = false;
      for (let i = 0; i < values.length; ++i) {
        const [x, y] = [abscissa.values[i]!, values[i]!];
        if (breaks.includes(i)) isOn = false;
        if (!Number.isFinite(x) || !Number.isFinite(y) || (this.isLog && y <= 0)) {
          isOn = false;
          continue;
        }
        const [px, py] = [plot.valToPos(x, 'x', true), plot.valToPos(y, 'y', true)];
        if (isOn) ctx.lineTo(px, py);
        else ctx.moveTo(px, py);
        isOn = true;
      }
      ctx.stroke();
    });
    ctx.restore();
  }

  private scaled(plot: uPlot, key: string): void {
    this.move();
    const { min, max } = plot.scales['x']!;
    if (key !== 'x' || this.isSyncing || !this.options.abscissa.isRising || this.plot !== plot || min == null || max == null) return;
    this.options.zoomed(this, min, max);
  }

  zoom(from: number, to: number): void {
    if (!this.plot || !this.options.abscissa.isRising) return;
    this.isSyncing = true;
    this.plot.setScale('x', { min: from, max: to });
    this.isSyncing = false;
  }

  showAll(): void {
    const { abscissa } = this.options;
    if (!abscissa.isRising) return this.draw();
    const [low, high] = [abscissa.values[0]!, abscissa.values[abscissa.values.length - 1]!];
    this.plot?.setScale('x', { min: low, max: high });
  }

  private listen(over: HTMLElement): void {
    over.addEventListener('pointerdown', (event) => (this.press = { x: event.clientX, y: event.clientY }));
    over.addEventListener('click', (event) => {
      const { press } = this;
      if (press && Math.hypot(event.clientX - press.x, event.clientY - press.y) > 4) return; // the end of a drag
      const box = over.getBoundingClientRect();
      this.click({ x: event.clientX - box.left, y: event.clientY - box.top });
    });
    over.addEventListener('dblclick', () => this.showAll());
  }

  private click(point: { x: number; y: number }): void {
    const { plot } = this;
    if (!plot) return;
    const { abscissa, curves } = this.options;
    const count = abscissa.values.length;
    const place = (i: number, value: number) => ({ x: plot.valToPos(abscissa.values[i]!, 'x'), y: plot.valToPos(value, 'y') });
    if (!abscissa.isRising) {
      const candidates = curves.values
        .map((values) => nearestSample(count, (i) => (Number.isFinite(values[i]) ? place(i, values[i]!) : null), point))
        .filter((i) => i !== null);
      const distance = (i: number) =>
        Math.min(...curves.values.map((values) => Math.hypot(place(i, values[i]!).x - point.x, place(i, values[i]!).y - point.y)));
      candidates.sort((a, b) => distance(a) - distance(b));
      if (candidates[0] !== undefined) this.options.goTo(candidates[0]);
      return;
    }
    const [from, to] = [plot.posToIdx(point.x - reach), plot.posToIdx(point.x + reach)];
    this.options.goTo(snapToExtremum(curves.values, from, to, place, point, reach) ?? plot.posToIdx(point.x));
  }

  private key(event: KeyboardEvent): void {
    const { abscissa, curves } = this.options;
    const now = this.options.frame();
    const { key } = event;
    if (key === 'e' || key === 'E') {
      const direction = key === 'e' ? 1 : -1;
      const next = curves.values.map((values) => nextExtremum(values, now, direction)).filter((i) => i !== null);
      if (next.length > 0) this.options.goTo(direction > 0 ? Math.min(...next) : Math.max(...next));
    } else if (key === 'z' && abscissa.isRising && this.plot) {
      const { min, max } = this.plot.scales['x']!;
      const [low, high] = [abscissa.values[0]!, abscissa.values[abscissa.values.length - 1]!];
      const half = ((max ?? high) - (min ?? low)) / 4;
      const middle = Math.min(high - half, Math.max(low + half, abscissa.values[now]!));
      this.plot.setScale('x', { min: middle - half, max: middle + half });
    } else if (key === 'Z') this.showAll();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /** Puts the marker and the readings where the film is. */
  move(): void {
    const { curves, abscissa } = this.options;
    const frame = this.options.frame();
    curves.values.forEach((values, c) => (this.readings[c]!.textContent = formatQuantity(values[frame], curves.unit)));
    if (!this.plot) return;
    const { plot } = this;
    const x = plot.valToPos(abscissa.values[frame]!, 'x');
    this.markers.forEach((marker, c) => {
      const y = abscissa.isRising ? 0 : plot.valToPos(curves.values[c]![frame]!, 'y');
      marker.hidden = !(x >= -1 && x <= plot.over.clientWidth + 1 && y >= -1 && y <= plot.over.clientHeight + 1);
      marker.classList.toggle('dot', !abscissa.isRising);
      marker.style.transform = `translate(${x}px, ${y}px)`;
    });
  }

  private fit(): void {
    const width = this.place.clientWidth;
    if (!this.plot) this.draw();
    else if (width >= 40 && Math.abs(this.plot.width - width) > 1) this.plot.setSize({ width, height: 170 });
  }

  dispose(): void {
    this.observer.disconnect();
    this.plot?.destroy();
    this.element.remove();
  }
}
