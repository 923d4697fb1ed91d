// A study as the program puts it into the page, and the arithmetic of its charts.
import { roundTicks, shortNumber } from '../scene/numbers';

/** Raised together with src/view/study_page.cpp. */
export const studyFormat = 1;

export interface StudyColumn {
  name: string;
  unit: string; // "" for pure numbers and inputs
  role: 'input' | 'output';
  /** By row; null where there is none, or where it is not defined. */
  values: (number | null)[];
  /** Of an input that is not always a number: what was set, by row. */
  texts?: string[];
}

/** What `tendril certify` found of one output; every part may be missing. */
export interface Certification {
  output?: string; // the first column of outputs if left out
  mean?: number;
  threshold?: number;
  bound?: number; // of the probability of failure
  quantiles?: Record<string, number>; // by probability
}

export interface StudyData {
  format: number;
  version: string;
  scene: string;
  set: string[]; // overrides that all runs share
  status: string;
  points: number; // of the design
  finished: number;
  design: string;
  runs: string[]; // "0001", by row
  states: string[]; // "success", ..., by row
  messages: Record<string, string>; // by run, of those that did not succeed
  undefined: Record<string, number>; // runs in which an output is not defined
  columns: StudyColumn[];
  certification: Certification | null;
}

export class StudyError extends Error {}

export function checkStudy(data: unknown): StudyData {
  const study = data as StudyData;
  if (typeof study !== 'object' || study === null || study.format !== studyFormat || !Array.isArray(study.columns)) {
    throw new StudyError('The page holds no study that this viewer can read. Make it again with "tendril view".');
  }
  if (study.runs.length === 0) throw new StudyError('The study has no finished runs yet: nothing to show. Look again later.');
  return study;
}

export const headOf = (column: StudyColumn): string => (column.unit ? `${column.name} [${column.unit}]` : column.name);

/** Distinct texts of a column in the order of their first appearance. */
export const categoriesOf = (column: StudyColumn): string[] => [...new Set(column.texts ?? [])];

/** The numbers of a column by row, NaN where there is none; of texts the number of their category. */
export function numbersOf(column: StudyColumn): Float64Array {
  if (!column.texts) return Float64Array.from(column.values, (value) => value ?? NaN);
  const places = new Map(categoriesOf(column).map((text, i) => [text, i]));
  return Float64Array.from(column.texts, (text) => places.get(text)!);
}

export interface Axis {
  low: number;
  high: number;
  ticks: { at: number; text: string }[];
}

export function rangeOf(numbers: Iterable<number>): [number, number] | null {
  let [low, high] = [Infinity, -Infinity];
  for (const x of numbers) {
    if (x < low) low = x;
    if (x > high) high = x;
  }
  return low <= high ? [low, high] : null;
}

/** From the least to the largest number, widened where they are one; categories at whole numbers. */
export function axisOf(column: StudyColumn, also: number[] = []): Axis {
  if (column.texts) {
    const texts = categoriesOf(column);
    return { low: -0.5, high: texts.length - 0.5, ticks: texts.map((text, at) => ({ at, text })) };
  }
  let [low, high] = rangeOf([...numbersOf(column), ...also]) ?? [0, 1];
  if (low === high) {
    const half = Math.abs(low) / 2 || 0.5;
    [low, high] = [low - half, high + half];
  }
  return { low, high, ticks: roundTicks(low, high, 5).map((at) => ({ at, text: shortNumber(at) })) };
}

/** Rows in the order of a column, those without a number last; equal ones keep their order. */
export function sortRows(rows: readonly number[], numbers: ArrayLike<number>, isDescending: boolean): number[] {
  const sign = isDescending ? -1 : 1;
  return [...rows].sort((a, b) => {
    const [x, y] = [numbers[a]!, numbers[b]!];
    if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y)) || a - b;
    return sign * (x - y) || a - b;
  });
}

/** Ranges that a row has to lie in, by column. */
export type Filters = ReadonlyMap<number, readonly [number, number]>;

export function passingRows(columns: readonly ArrayLike<number>[], count: number, filters: Filters): number[] {
  const rows: number[] = [];
  for (let row = 0; row < count; ++row) {
    let passes = true;
    for (const [column, [low, high]] of filters) {
      const x = columns[column]![row]!;
      passes &&= x >= low && x <= high;
    }
    if (passes) rows.push(row);
  }
  return rows;
}

/** At most `most` rows, spread evenly. */
export function thinned(rows: readonly number[], most: number): readonly number[] {
  if (rows.length <= most) return rows;
  return Array.from({ length: most }, (_, i) => rows[Math.floor((i * rows.length) / most)]!);
}

export interface Histogram {
  low: number;
  width: number; // of a bin
  counts: number[];
}

/** Bins of the width of Freedman and Diaconis, 2 (q3 - q1) / n^(1/3), between 5 and 60 of them. Numbers that are not finite are left out. */
export function histogramOf(numbers: Iterable<number>): Histogram | null {
  const sorted = Float64Array.from([...numbers].filter(Number.isFinite)).sort();
  if (sorted.length === 0) return null;
  let [low, high] = [sorted[0]!, sorted[sorted.length - 1]!];
  if (low === high) {
    const half = Math.abs(low) / 2 || 0.5;
    [low, high] = [low - half, high + half];
  }
  const quartile = (part: number) => sorted[Math.floor(part * (sorted.length - 1))]!;
  const wanted = (2 * (quartile(0.75) - quartile(0.25))) / Math.cbrt(sorted.length);
  const bins = Math.min(60, Math.max(5, wanted > 0 ? Math.ceil((high - low) / wanted) : 5));
  const width = (high - low) / bins;
  const counts = new Array<number>(bins).fill(0);
  for (const x of sorted) ++counts[Math.min(bins - 1, Math.floor((x - low) / width))]!;
  return { low, width, counts };
}

/** Lines that a certification draws into the histogram of its output. */
export function marksOf(certification: Certification | null): { at: number; text: string }[] {
  if (!certification) return [];
  const { mean, threshold, quantiles = {} } = certification;
  const marks = Object.entries(quantiles).map(([part, at]) => ({ at, text: `${shortNumber(100 * Number(part))} % quantile` }));
  if (mean !== undefined) marks.push({ at: mean, text: 'mean' });
  if (threshold !== undefined) marks.push({ at: threshold, text: 'threshold' });
  return marks.filter(({ at }) => typeof at === 'number' && Number.isFinite(at));
}

const quoted = (word: string) => (/^[\w.,:=/+-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`);

/** The command that runs one row again, with all its results. */
export function commandOf(study: StudyData, row: number): string {
  const inputs = study.columns.filter(({ role }) => role === 'input');
  const values = inputs.map(({ name, texts, values: numbers }) => `${name}=${texts ? texts[row] : numbers[row]}`);
  return ['tendril run', quoted(study.scene), ...[...study.set, ...values].map((entry) => `--set ${quoted(entry)}`)].join(' ');
}
