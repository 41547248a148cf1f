/// <reference lib="dom" />
import { element, money } from '../../stack/shop/element.ts';
import type { Amounts } from '../rows.ts';
import { now } from './clock.ts';
import { textOf } from './zone.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const relative = new Intl.RelativeTimeFormat('en', { numeric: 'auto', style: 'short' });

/** Shows a time in the seller's zone, and in UTC on hover. @param missing what to show instead of no time */
export function time(iso: string | null, missing = '–', format: 'minute' | 'day' | 'ago' = 'minute'): Node {
  if (iso === null) return element('span', { className: 'soft' }, missing);
  const at = new Date(iso);
  const text = format === 'ago' ? ago(at) : textOf(at, format);
  return element('time', { dateTime: iso, title: utc(at) }, text);
}

/** How long ago a time is, or how far ahead. */
export function ago(at: Date): string {
  const distance = at.getTime() - now();
  const size = Math.abs(distance);
  if (size < MINUTE) return distance > 0 ? 'in a moment' : 'just now';
  if (size < HOUR) return relative.format(Math.trunc(distance / MINUTE), 'minute');
  if (size < 2 * DAY) return relative.format(Math.trunc(distance / HOUR), 'hour');
  return relative.format(Math.trunc(distance / DAY), 'day');
}

/** A time in UTC, to the second. */
export function utc(at: Date): string {
  return `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;
}

/** Amounts by currency, the largest first. */
export function amounts(byCurrency: Amounts | null, missing = '–'): string {
  const shown = Object.entries(byCurrency ?? {}).toSorted(([, one], [, other]) => other - one);
  return shown.map(([currency, amount]) => money(amount, currency)).join(' · ') || missing;
}

/** A name of the database as words: `payment-success` is `Payment success`. */
export function words(name: string): string {
  // An event to the app is called as the app receives it: `receipt.issued`.
  if (name.includes('.')) return name;
  const text = name.replaceAll(/[_-]/g, ' ');
  return text.charAt(0).toUpperCase() + text.slice(1);
}

/** Calendar months as text: `3 months`, `1 year`. */
export function monthsText(months: number): string {
  const [count, unit] = months % 12 === 0 ? [months / 12, 'year'] : [months, 'month'];
  return new Intl.NumberFormat('en', { style: 'unit', unit, unitDisplay: 'long' }).format(count);
}
