// Numbers as the interface writes them: four significant digits, SI prefixes, a real minus sign.

const space = '\u00a0';
const prefixes = [
  { power: -12, text: 'p' },
  { power: -9, text: 'n' },
  { power: -6, text: 'µ' },
  { power: -3, text: 'm' },
  { power: 0, text: '' },
  { power: 3, text: 'k' },
  { power: 6, text: 'M' },
  { power: 9, text: 'G' },
] as const;
const superscripts = '⁰¹²³⁴⁵⁶⁷⁸⁹';

const withMinus = (text: string) => text.replace(/^-/, '−');

function raised(exponent: number): string {
  const digits = [...String(Math.abs(exponent))].map((digit) => superscripts[Number(digit)]).join('');
  return (exponent < 0 ? '⁻' : '') + digits;
}

/** A number without unit, of four significant digits: 0.001234, 12350, 1.235×10⁷. */
export function formatNumber(value: number | null | undefined, digits = 4): string {
  if (value === null || value === undefined || Number.isNaN(value)) return 'unknown';
  if (!Number.isFinite(value)) return value > 0 ? '∞' : '−∞';
  if (value === 0) return '0';
  const rounded = Number(value.toPrecision(digits));
  const size = Math.abs(rounded);
  if (size >= 1e-3 && size < 1e6) return withMinus(String(rounded));
  const [mantissa, exponent] = rounded.toExponential().split('e');
  return `${withMinus(mantissa!)}×10${raised(Number(exponent))}`;
}

/** The unit behind a number; "1" and "" are none. */
export const unitText = (unit: string): string => (unit === '' || unit === '1' ? '' : unit.replace(/\^?2\b/g, '²').replace(/\^?3\b/g, '³'));

// Units whose first symbol takes a prefix. A prefix of a square or of a reciprocal would be raised with it, and is left out.
const prefixable = /^(m|N|J|s|Pa|W|Hz)(?![\w^²³])/;

function prefixOf(value: number, unit: string): { power: number; text: string } {
  const symbol = prefixable.exec(unit)?.[1];
  if (!symbol || value === 0 || !Number.isFinite(value)) return { power: 0, text: '' };
  const exponent = Math.floor(Math.log10(Math.abs(Number(value.toPrecision(4)))));
  const most = symbol === 's' ? 0 : symbol === 'm' ? 3 : 9;
  const power = Math.min(most, 3 * Math.floor(exponent / 3));
  const found = prefixes.find((prefix) => prefix.power === power);
  return found && power !== 0 ? found : { power: 0, text: '' };
}

/** A number with unit: 12.35 mm, 1.2 kN m, 0.5236 rad (30°). */
export function formatQuantity(value: number | null | undefined, unit: string): string {
  const known = typeof value === 'number' && Number.isFinite(value);
  const name = unitText(unit);
  if (!known || name === '') return formatNumber(value) + (known && name ? space + name : '');
  if (unit === 'kg' && value !== 0 && Math.abs(value) < 1 && Math.abs(value) >= 1e-3) return `${formatNumber(value * 1e3)}${space}g`;
  const angle = unit === 'rad' ? ` (${formatNumber((value * 180) / Math.PI)}°)` : '';
  const prefix = prefixOf(value, unit);
  return `${formatNumber(value / 10 ** prefix.power)}${space}${prefix.text}${name}${angle}`;
}

/** A part of a whole, to two digits; nobody needs to know how far below a millionth it is. */
export function formatPercent(part: number): string {
  if (!Number.isFinite(part)) return 'unknown';
  if (part !== 0 && Math.abs(part) < 1e-6) return `less than 0.0001${space}%`;
  return `${formatNumber(100 * part, 2)}${space}%`;
}

/** A scale for the ticks of an axis: they are divided by `factor`, and the unit is that of the quotients. */
export function scaleOf(most: number, unit: string): { factor: number; unit: string } {
  const prefix = prefixOf(most, unit);
  return { factor: 10 ** prefix.power, unit: unitText(unit) && prefix.text + unitText(unit) };
}

/** Writes all values of an axis with one prefix and as many decimals as tell neighbours apart, so that the text stands still. */
export function axisFormatter(values: readonly number[], unit: string): (value: number) => string {
  const [low, high] = values.reduce(([l, h], x) => [Math.min(l, x), Math.max(h, x)], [Infinity, -Infinity]);
  const size = Math.max(Math.abs(low), Math.abs(high));
  const prefix = prefixOf(size, unit);
  const factor = 10 ** prefix.power;
  const step = (high - low) / Math.max(1, values.length - 1) / factor;
  const decimals = step > 0 ? Math.min(9, Math.max(0, Math.ceil(-Math.log10(step)) + (step < 1 ? 1 : 0))) : 3;
  const name = unitText(unit);
  const isPlain = size / factor < 1e6 && decimals < 9;
  return (value) => {
    const text = isPlain ? withMinus((value / factor).toFixed(decimals)) : formatNumber(value / factor);
    return name ? `${text}${space}${prefix.text}${name}` : text;
  };
}

export function formatSeconds(seconds: number): string {
  if (!Number.isFinite(seconds)) return 'unknown';
  if (seconds < 60) return formatQuantity(seconds, 's');
  const whole = Math.round(seconds);
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor((whole % 3600) / 60)];
  return hours > 0 ? `${hours} h ${minutes} min` : `${minutes} min ${whole % 60} s`;
}

/** A table as comma-separated values: fields with commas, quotes or line ends are quoted, numbers keep their digits. */
export function csvOf(header: string[], rows: Iterable<number[]>): string {
  const quote = (text: string) => (/[",\r\n]/.test(text) ? `"${text.replace(/"/g, '""')}"` : text);
  const lines = [header.map(quote).join(',')];
  for (const row of rows) lines.push(row.map((x) => (Number.isNaN(x) ? '' : String(x))).join(','));
  return lines.join('\n') + '\n';
}
