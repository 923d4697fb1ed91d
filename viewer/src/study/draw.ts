// The charts of a study, drawn on a canvas: the page and the pictures for files use the same.
import { colourMap, colourOf, css, type ColourMap } from '../scene/colours';
import { shortNumber } from '../scene/numbers';
import {
  axisOf,
  headOf,
  histogramOf,
  marksOf,
  numbersOf,
  rangeOf,
  thinned,
  type Axis,
  type Filters,
  type StudyColumn,
  type StudyData,
} from './data';

export interface Box {
  x: number;
  y: number;
  width: number;
  height: number;
}

export interface Ink {
  page: string;
  text: string;
  quiet: string;
  grid: string;
  accent: string;
  bad: string;
}

/** What is drawn, apart from where. */
export interface Scenery {
  study: StudyData;
  numbers: Float64Array[]; // by column
  rows: readonly number[]; // that pass the filters
  filters: Filters;
  colour: number; // column of the colours, or -1
  chosen: number; // row, or -1
  ink: Ink;
}

const font = (size: number) => `${size}px system-ui, sans-serif`;
/** Most lines and points that are drawn; of more, so many are taken evenly. */
const mostLines = 4000;
const mostPoints = 20000;

/** Charts are drawn by the processor: the same pixels on every machine, and nothing goes to a graphics card and back. */
export const onProcessor: CanvasRenderingContext2DSettings = { willReadFrequently: true };

type Context = CanvasRenderingContext2D | OffscreenCanvasRenderingContext2D;

function write(context: Context, text: string, x: number, y: number, align: CanvasTextAlign, room = Infinity, hasRim = false): void {
  context.textAlign = align;
  let shown = text;
  while (shown.length > 2 && context.measureText(shown).width > room) shown = `${shown.slice(0, -2)}…`;
  if (hasRim) context.strokeText(shown, x, y);
  context.fillText(shown, x, y);
}

export function coloursOf({ study, numbers, colour, ink }: Scenery): (row: number) => string {
  if (colour < 0) return () => ink.accent;
  const map = mapOf(study.columns[colour]!, numbers[colour]!);
  return (row) => css(colourOf(map, numbers[colour]![row]!));
}

function mapOf(column: StudyColumn, numbers: Float64Array): ColourMap {
  const range = rangeOf(numbers) ?? [0, 1];
  const field = {
    name: column.name,
    label: column.name,
    unit: column.unit,
    on: 'bodies',
    channel: '',
    column: 0,
    range,
    isSampled: false,
  } as const;
  return colourMap({ ...field, range }, null);
}

const place = ({ low, high }: Axis, x: number) => (x - low) / (high - low);

/** Where the axis of a column stands. */
export const axisPlace = (box: Box, column: number, count: number): number =>
  box.x + 60 + ((box.width - 120) * (count > 1 ? column : 0.5)) / Math.max(1, count - 1);
const parallelTop = 30;
const parallelFoot = 12;

/** The value on the axis of a column at a height of the box. */
export function valueAt(box: Box, axis: Axis, y: number): number {
  const part = (box.y + box.height - parallelFoot - y) / (box.height - parallelTop - parallelFoot);
  return axis.low + Math.min(1, Math.max(0, part)) * (axis.high - axis.low);
}

/** An axis per column, a line per run. */
export function drawParallel(context: Context, box: Box, scenery: Scenery): void {
  const { study, numbers, rows, filters, chosen, ink } = scenery;
  const count = study.columns.length;
  const axes = study.columns.map((column) => axisOf(column));
  const [top, bottom] = [box.y + parallelTop, box.y + box.height - parallelFoot];
  const yOf = (column: number, row: number) => bottom - place(axes[column]!, numbers[column]![row]!) * (bottom - top);
  const colour = coloursOf(scenery);
  const shown = thinned(rows, mostLines);
  const line = (row: number) => {
    context.beginPath();
    let isDown = false; // a value that is not defined leaves a gap
    for (let c = 0; c < count; ++c) {
      const y = yOf(c, row);
      if (Number.isNaN(y)) isDown = false;
      else if (isDown) context.lineTo(axisPlace(box, c, count), y);
      else context.moveTo(axisPlace(box, c, count), y);
      isDown = !Number.isNaN(y);
    }
    context.stroke();
  };
  context.lineWidth = 1;
  context.globalAlpha = Math.min(0.9, Math.max(0.08, 30 / Math.sqrt(shown.length + 1) / 4));
  for (const row of shown) {
    context.strokeStyle = colour(row);
    line(row);
  }
  context.globalAlpha = 1;
  if (chosen >= 0) {
    context.lineWidth = 3;
    context.strokeStyle = ink.text;
    line(chosen);
  }
  const room = (box.width - 120) / Math.max(1, count - 1) - 8;
  for (let c = 0; c < count; ++c) {
    const x = axisPlace(box, c, count);
    context.lineWidth = 1;
    context.strokeStyle = ink.quiet;
    context.strokeRect(x, top, 0, bottom - top);
    const range = filters.get(c);
    if (range) {
      const [y0, y1] = range.map((value) => bottom - place(axes[c]!, value) * (bottom - top)) as [number, number];
      context.fillStyle = ink.accent;
      context.globalAlpha = 0.3;
      context.fillRect(x - 8, y1, 16, y0 - y1);
      context.globalAlpha = 1;
    }
    context.fillStyle = ink.text;
    context.font = `600 ${font(12)}`;
    write(context, headOf(study.columns[c]!), x, box.y + 16, 'center', Math.max(60, room));
    context.fillStyle = ink.text;
    context.font = font(11);
    context.strokeStyle = ink.page; // a rim, to be read over the lines
    context.lineWidth = 3;
    for (const { at, text } of axes[c]!.ticks)
      write(context, text, x + 5, bottom - place(axes[c]!, at) * (bottom - top) + 4, 'left', 70, true);
  }
}

interface Plot {
  x: (value: number) => number;
  y: (value: number) => number;
}

/** The frame of a chart with two axes, and where values lie in it. */
function drawFrame(context: Context, box: Box, across: Axis, up: Axis, names: [string, string], ink: Ink): Plot {
  const [left, right, top, bottom] = [box.x + 64, box.x + box.width - 14, box.y + 26, box.y + box.height - 42];
  const x = (value: number) => left + place(across, value) * (right - left);
  const y = (value: number) => bottom - place(up, value) * (bottom - top);
  context.lineWidth = 1;
  context.strokeStyle = ink.grid;
  context.fillStyle = ink.quiet;
  context.font = font(11);
  for (const { at, text } of across.ticks) {
    context.strokeRect(x(at), top, 0, bottom - top);
    write(context, text, x(at), bottom + 16, 'center', 90);
  }
  for (const { at, text } of up.ticks) {
    context.strokeRect(left, y(at), right - left, 0);
    write(context, text, left - 6, y(at) + 4, 'right', 56);
  }
  context.fillStyle = ink.text;
  context.font = `600 ${font(12)}`;
  write(context, names[0], (left + right) / 2, bottom + 34, 'center', right - left);
  write(context, names[1], box.x + 6, box.y + 16, 'left', box.width - 12);
  return { x, y };
}

/** A margin, so that points at the ends are whole. */
function widened(axis: Axis): Axis {
  const margin = 0.03 * (axis.high - axis.low);
  return { ...axis, low: axis.low - margin, high: axis.high + margin };
}

/** The places of the points of a scatter, by row; what was drawn can so be found by a click. */
export function drawScatter(context: Context, box: Box, scenery: Scenery, across: number, up: number): (row: number) => [number, number] {
  const { study, numbers, rows, chosen, ink } = scenery;
  const [first, second] = [study.columns[across]!, study.columns[up]!];
  const plot = drawFrame(context, box, widened(axisOf(first)), widened(axisOf(second)), [headOf(first), headOf(second)], ink);
  const at = (row: number): [number, number] => [plot.x(numbers[across]![row]!), plot.y(numbers[up]![row]!)];
  const colour = coloursOf(scenery);
  const shown = thinned(rows, mostPoints);
  const radius = shown.length > 3000 ? 1.5 : shown.length > 300 ? 2.5 : 4;
  const dot = (row: number, size: number) => {
    const [x, y] = at(row);
    if (Number.isNaN(x + y)) return;
    context.beginPath();
    context.arc(x, y, size, 0, 2 * Math.PI);
    context.fill();
  };
  context.globalAlpha = shown.length > 300 ? 0.7 : 1;
  for (const row of shown) {
    context.fillStyle = colour(row);
    dot(row, radius);
  }
  context.globalAlpha = 1;
  if (chosen >= 0) {
    context.fillStyle = ink.text;
    dot(chosen, radius + 3);
  }
  return at;
}

/** How often which values occur, with what a certification says of them. */
export function drawHistogram(context: Context, box: Box, scenery: Scenery, column: number): void {
  const { study, numbers, rows, ink } = scenery;
  const info = study.columns[column]!;
  const firstOutput = study.columns.findIndex(({ role }) => role === 'output');
  const certification = study.certification;
  const isCertified = certification !== null && (certification.output ? info.name === certification.output : column === firstOutput);
  const marks = isCertified ? marksOf(certification) : [];
  const histogram = histogramOf(rows.map((row) => numbers[column]![row]!));
  const most = Math.max(1, ...(histogram?.counts ?? []));
  const up: Axis = axisOf({ name: 'runs', unit: '', role: 'output', values: [0, 1.05 * most] });
  const across = axisOf(
    info,
    marks.map(({ at }) => at),
  );
  const plot = drawFrame(context, box, widened(across), up, [headOf(info), 'runs'], ink);
  if (histogram) {
    context.fillStyle = ink.accent;
    context.globalAlpha = 0.75;
    histogram.counts.forEach((count, i) => {
      const [left, right] = [plot.x(histogram.low + i * histogram.width), plot.x(histogram.low + (i + 1) * histogram.width)];
      context.fillRect(left, plot.y(count), Math.max(1, right - left - 1), plot.y(0) - plot.y(count));
    });
    context.globalAlpha = 1;
  }
  marks.forEach(({ at, text }, i) => {
    context.strokeStyle = context.fillStyle = text === 'threshold' ? ink.bad : ink.text;
    context.lineWidth = text === 'threshold' ? 2 : 1;
    context.strokeRect(plot.x(at), plot.y(1.05 * most), 0, plot.y(0) - plot.y(1.05 * most));
    context.font = font(11);
    const isRight = plot.x(at) > box.x + 0.7 * box.width;
    write(context, text, plot.x(at) + (isRight ? -4 : 4), box.y + 40 + 14 * i, isRight ? 'right' : 'left');
  });
  if (isCertified && certification.bound !== undefined) {
    context.fillStyle = ink.text;
    context.font = `600 ${font(12)}`;
    write(context, `probability of failure at most ${shortNumber(certification.bound)}`, box.x + box.width - 14, box.y + 16, 'right');
  }
}

/** All charts in one picture: parallel coordinates above, scatter and histogram below. */
export function drawAll(
  context: Context,
  width: number,
  height: number,
  scenery: Scenery,
  axes: { across: number; up: number; of: number },
): void {
  const { ink, study } = scenery;
  context.fillStyle = ink.page;
  context.fillRect(0, 0, width, height);
  context.fillStyle = ink.text;
  context.font = `600 ${font(15)}`;
  write(context, `${study.scene}: ${study.finished} of ${study.points} runs`, 12, 24, 'left', width - 24);
  const [top, middle] = [36, 36 + (height - 36) / 2];
  drawParallel(context, { x: 0, y: top, width, height: middle - top }, scenery);
  drawScatter(context, { x: 0, y: middle, width: width / 2, height: height - middle }, scenery, axes.across, axes.up);
  drawHistogram(context, { x: width / 2, y: middle, width: width / 2, height: height - middle }, scenery, axes.of);
}

export function sceneryOf(study: StudyData, ink: Ink): Scenery {
  return {
    study,
    numbers: study.columns.map(numbersOf),
    rows: study.runs.map((_, row) => row),
    filters: new Map(),
    colour: study.columns.findIndex(({ role }) => role === 'output'),
    chosen: -1,
    ink,
  };
}

/** The axes that are shown first: the first input that varies across, the first output up. */
export function firstAxes(study: StudyData, numbers: Float64Array[]): { across: number; up: number; of: number } {
  const output = study.columns.findIndex(({ role }) => role === 'output');
  const certified = study.columns.findIndex(({ name }) => name === study.certification?.output);
  const varies = numbers.findIndex((list) => {
    const range = rangeOf(list);
    return range !== null && range[0] < range[1];
  });
  const up = output >= 0 ? output : study.columns.length - 1;
  return { across: Math.max(0, varies), up, of: certified >= 0 ? certified : up };
}
