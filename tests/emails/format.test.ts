import { expect, test } from 'vitest';
import { formatAmount, formatLongDate, formatTier } from '../../supabase/functions/api/outbox/format.ts';

test.each([
  [0, '₹0.00'],
  [5, '₹0.05'],
  [99, '₹0.99'],
  [100, '₹1.00'],
  [123456, '₹1234.56'],
  [Number.MAX_SAFE_INTEGER, '₹90071992547409.91'],
])('%d paise are written %s', (amount, text) => {
  expect(formatAmount(amount, 'INR')).toBe(text);
});

test.each([
  [1234, 'USD', 'USD 12.34'],
  [1234, 'JPY', 'JPY 1234'],
  [0, 'JPY', 'JPY 0'],
  [1234, 'KWD', 'KWD 1.234'],
  [5, 'KWD', 'KWD 0.005'],
])('%d minor units of %s are written %s', (amount, currency, text) => {
  expect(formatAmount(amount, currency)).toBe(text);
});

test.each([0.5, Number.MAX_SAFE_INTEGER + 1, NaN, Infinity])('%d is refused as an amount', (amount) => {
  expect(() => formatAmount(amount, 'INR')).toThrow(RangeError);
});

test('an invalid currency code is refused', () => {
  expect(() => formatAmount(100, '₹')).toThrow(RangeError);
});

test.each([
  ['2027-11-20T11:45:40.559Z', undefined, '20 November 2027'],
  ['2027-03-01T00:00:00.000Z', undefined, '1 March 2027'],
  ['2027-12-31T18:29:59.999Z', 'Asia/Kolkata', '31 December 2027'],
  ['2027-12-31T18:30:00.000Z', 'Asia/Kolkata', '1 January 2028'],
  ['2027-12-31T18:30:00.000Z', undefined, '31 December 2027'],
  ['2028-03-01T04:59:59.999Z', 'America/New_York', '29 February 2028'],
])('the day of %s in time zone %s is %s', (at, timeZone, text) => {
  expect(formatLongDate(at, timeZone)).toBe(text);
});

test('an invalid time or time zone is refused', () => {
  expect(() => formatLongDate('soon')).toThrow(RangeError);
  expect(() => formatLongDate('2027-11-20T11:45:40.559Z', 'Bombay')).toThrow(RangeError);
});

test.each([
  ['basic', 'Basic'],
  ['pro', 'Pro'],
  ['premium', 'Premium'],
  ['Team 5', 'Team 5'],
  ['constructor', 'constructor'],
  [undefined, 'Basic'],
])('the plan of tier %s is called %s', (tier, name) => {
  expect(formatTier(tier)).toBe(name);
});
