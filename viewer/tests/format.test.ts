import { expect, test } from 'vitest';
import { axisFormatter, csvOf, formatNumber, formatPercent, formatQuantity, formatSeconds, scaleOf, unitText } from '../src/ui/format';

const plain = (text: string) => text.replace(/\u00a0/g, ' ');
const quantity = (value: number | null | undefined, unit: string) => plain(formatQuantity(value, unit));

test('a number has four significant digits, and a power of ten where it is very small or large', () => {
  expect(formatNumber(0)).toBe('0');
  expect(formatNumber(-0)).toBe('0');
  expect(formatNumber(1.23456)).toBe('1.235');
  expect(formatNumber(-12345.6)).toBe('−12350');
  expect(formatNumber(999999.9)).toBe('1×10⁶');
  expect(formatNumber(0.00123449)).toBe('0.001234');
  expect(formatNumber(1.6e-19)).toBe('1.6×10⁻¹⁹');
  expect(formatNumber(-2.5e12)).toBe('−2.5×10¹²');
});

test('what is not known or not finite is said in words', () => {
  for (const value of [NaN, null, undefined]) expect(formatNumber(value)).toBe('unknown');
  expect(formatNumber(Infinity)).toBe('∞');
  expect(formatNumber(-Infinity)).toBe('−∞');
  expect(quantity(null, 'm')).toBe('unknown');
  expect(quantity(-Infinity, 'N')).toBe('−∞');
});

test('units take SI prefixes', () => {
  expect(quantity(0.0123456, 'm')).toBe('12.35 mm');
  expect(quantity(7.982e-5, 'm')).toBe('79.82 µm');
  expect(quantity(12345, 'N')).toBe('12.35 kN');
  expect(quantity(-4.3e7, 'N m')).toBe('−43 MN m');
  expect(quantity(0.00025, 'm/s')).toBe('250 µm/s');
  expect(quantity(2.1e11, 'Pa')).toBe('210 GPa');
  expect(quantity(0.25, 'kg')).toBe('250 g');
  expect(quantity(3600, 's')).toBe('3600 s');
  expect(quantity(0, 'm')).toBe('0 m');
});

test('a value that is rounded up to the next prefix has it', () => {
  expect(quantity(0.99999, 'N')).toBe('1 N');
  expect(quantity(999.99, 'N')).toBe('1 kN');
  expect(quantity(0.99994, 'N')).toBe('999.9 mN');
});

test('squares, reciprocals and pure numbers take none', () => {
  expect(quantity(1e-6, 'm^2')).toBe('1×10⁻⁶ m²');
  expect(quantity(1234, '1/m')).toBe('1234 1/m');
  expect(quantity(0.001, '1')).toBe('0.001');
  expect(quantity(0.5, '')).toBe('0.5');
  expect(unitText('1')).toBe('');
  expect(unitText('kg/m^3')).toBe('kg/m³');
});

test('angles are given in degrees as well', () => {
  expect(quantity(Math.PI / 6, 'rad')).toBe('0.5236 rad (30°)');
  expect(quantity(2, 'rad/s')).toBe('2 rad/s');
});

test('values of an axis share prefix and decimals, and neighbours differ', () => {
  const times = Array.from({ length: 1001 }, (_, i) => i * 1e-6);
  const write = axisFormatter(times, 's');
  expect(new Set(times.map(write)).size).toBe(times.length);
  expect(plain(write(5e-6))).toMatch(/^0\.0050? ms$/);
  expect(plain(axisFormatter([0, 10, 20], 's')(10))).toBe('10 s');
  expect(axisFormatter([0.5], '1')(0.5)).toBe('0.500');
});

test('parts are given in hundredths', () => {
  expect(plain(formatPercent(0.0123))).toBe('1.2 %');
  expect(plain(formatPercent(0))).toBe('0 %');
  expect(plain(formatPercent(1e-15))).toBe('less than 0.0001 %');
  expect(formatPercent(NaN)).toBe('unknown');
});

test('ticks of an axis are divided by the factor of its prefix', () => {
  expect(scaleOf(7.3e-6, 'J')).toEqual({ factor: 1e-6, unit: 'µJ' });
  expect(scaleOf(5, '1')).toEqual({ factor: 1, unit: '' });
});

test('long times are given in minutes and hours', () => {
  expect(plain(formatSeconds(58.016))).toBe('58.02 s');
  expect(formatSeconds(119.7)).toBe('2 min 0 s');
  expect(formatSeconds(7322)).toBe('2 h 2 min');
  expect(plain(formatSeconds(1.2e-5))).toBe('12 µs');
});

test('tables keep all digits, and names with commas or quotes stay in their column', () => {
  expect(csvOf(['a', 'b, "c"\n'], [[0.1, NaN]])).toBe('a,"b, ""c""\n"\n0.1,\n');
});
