import { expect, test } from 'vitest';
import { formatAmount, formatLongDate } from '../../supabase/functions/api/outbox/format.ts';

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
  ['2027-11-20T11:45:40.559Z', undefined, '20 November 2027'],
  ['2027-12-31T18:29:59.999Z', 'Asia/Kolkata', '31 December 2027'],
  ['2027-12-31T18:30:00.000Z', 'Asia/Kolkata', '1 January 2028'],
  ['2027-12-31T18:30:00.000Z', undefined, '31 December 2027'],
  ['2028-03-01T04:59:59.999Z', 'America/New_York', '29 February 2028'],
])('the day of %s in time zone %s is %s', (at, timeZone, text) => {
  expect(formatLongDate(at, timeZone)).toBe(text);
});

test.each([
  ...[0.5, Number.MAX_SAFE_INTEGER + 1, NaN, Infinity].map((amount) => () => formatAmount(amount, 'INR')),
  () => formatAmount(100, '₹'),
  () => formatLongDate('soon'),
  () => formatLongDate('2027-11-20T11:45:40.559Z', 'Bombay'),
])('an invalid amount, currency, time or time zone is refused: %#', (format) => {
  expect(format).toThrow(RangeError);
});
