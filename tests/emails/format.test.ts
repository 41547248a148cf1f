import { expect, test } from 'vitest';
import {
  formatAmount,
  formatCurrency,
  formatInterval,
  formatLongDate,
} from '../../supabase/functions/api/outbox/format.ts';

test.each([
  [0, 'INR', '₹0.00'],
  [5, 'INR', '₹0.05'],
  [123456, 'INR', '₹1234.56'],
  [Number.MAX_SAFE_INTEGER, 'INR', '₹90071992547409.91'],
  [1234, 'USD', 'USD 12.34'],
  [1234, 'JPY', 'JPY 1234'],
  [5, 'KWD', 'KWD 0.005'],
])('%d minor units of %s are written %s', (amount, currency, text) => {
  expect(formatAmount(amount, currency)).toBe(text);
});

test.each([
  [0, 'INR', '₹0.00'],
  [149900, 'INR', '₹1,499.00'],
  [12345678, 'INR', '₹1,23,456.78'],
  [12345678, 'USD', '$123,456.78'],
  [1000, 'JPY', '¥1,000'],
  [1234, 'KWD', 'KWD\u00a01.234'],
])('%d minor units of %s are shown to people as %s', (amount, currency, text) => {
  expect(formatCurrency(amount, currency)).toBe(text);
});

test('an amount is shown with the code of its currency where it must be unambiguous', () => {
  expect(formatCurrency(12345678, 'USD', 'code')).toBe('USD\u00a0123,456.78');
});

test.each(
  [
    ['month', 1, 'every month'],
    ['month', 3, 'every 3 months'],
    ['year', 1, 'every year'],
    ['year', 2, 'every 2 years'],
  ] as const,
)('an interval of %s × %d is %s', (interval, count, text) => {
  expect(formatInterval(interval, count)).toBe(text);
});

test.each([
  ['2027-11-20T11:45:40.559Z', undefined, '20 November 2027'],
  ['2027-12-31T18:29:59.999Z', 'Asia/Kolkata', '31 December 2027'],
  ['2027-12-31T18:30:00.000Z', 'Asia/Kolkata', '1 January 2028'],
  ['2027-12-31T18:30:00.000Z', undefined, '31 December 2027'],
  ['2028-03-01T04:59:59.999Z', 'America/New_York', '29 February 2028'],
])('the day of %s in time zone %s is %s', (at, timeZone, text) => {
  expect(formatLongDate(at, timeZone)).toBe(text);
});

test.each([
  ...[0.5, Number.MAX_SAFE_INTEGER + 1, NaN, Infinity].flatMap((amount) => [
    () => formatAmount(amount, 'INR'),
    () => formatCurrency(amount, 'INR'),
  ]),
  () => formatCurrency(100, '₹'),
  () => formatAmount(100, '₹'),
  () => formatLongDate('soon'),
  () => formatLongDate('2027-11-20T11:45:40.559Z', 'Bombay'),
])('an invalid amount, currency, time or time zone is refused: %#', (format) => {
  expect(format).toThrow(RangeError);
});
