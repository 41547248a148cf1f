import { expect, test } from 'vitest';
import { isPaidNow, stateOf } from '../../supabase/client/blocks/billing-page/state.ts';
import type { CurrentSubscription } from '../../supabase/client/subscriptions.ts';

const charged = { currency: 'INR', interval: 'month', interval_count: 1 };
const running = { status: 'active', plan: null, price: null };

/** The lines of the page of 16 January for a tier that runs with these fields, and what is billed. */
function linesOf(tier: string, fields: object, billing: unknown): string[] {
  const text = JSON.stringify({
    currentTier: tier,
    payments: [],
    subscription: { ...running, tier, ...fields },
    billing,
  });
  const current: CurrentSubscription = Object.assign({}, JSON.parse(text));
  return stateOf(current, [], Date.parse('2027-01-16T12:00:00Z')).lines;
}

test('what ends before a change begins does not say that nothing more is charged', () => {
  const price = { ...charged, lookup_key: 'basic', amount: 4900 };
  const next = {
    ...{ tier: 'basic', price, amount: 4900, currency: 'INR' },
    ...{ starts_at: '2027-02-10T12:00:00Z', undo_until: null },
  };
  const linesWith = (billing: unknown) =>
    linesOf('basic', { current_period_end: '2027-01-30T12:00:00Z', cancel_at_period_end: true }, billing);
  expect(linesWith({ status: 'active', next_charge_at: null, price: null, next })).toEqual([
    'You keep it until 30 Jan 2027.',
  ]);
  expect(linesWith(null)).toEqual(['You keep it until 30 Jan 2027. Nothing more is charged.']);
});

test('a trial whose row was written by hand names what is charged after it', () => {
  const price = { ...charged, lookup_key: 'pro', amount: 99900 };
  const billing = { status: 'authenticated', next_charge_at: '2027-01-17T12:00:00Z', price, next: null };
  expect(linesOf('pro', { current_period_end: '2027-01-26T12:00:00Z' }, billing).join())
    .toContain('₹999.00 is charged from then on.');
});

test('on a device whose clock is slow, what runs is not what comes next, and what waits is', () => {
  const payment = { status: 'captured', tier: 'pro', amount: 9900, paid_amount: 9900, refunded_amount: 0 };
  const bought = { ...payment, period_start: '2027-01-16T12:00:00Z', period_end: '2027-02-16T12:00:00Z' };
  const waiting = { ...payment, period_start: '2027-02-16T12:00:00Z', period_end: '2027-03-16T12:00:00Z' };
  const nextOf = (...payments: unknown[]) => {
    const subscription = {
      ...{ status: 'active', tier: 'pro', plan: null, price: null },
      ...{ current_period_start: bought.period_start, current_period_end: bought.period_end, access_ends_at: null },
    };
    const text = JSON.stringify({ currentTier: 'pro', payments, subscription, billing: null });
    const current: CurrentSubscription = Object.assign({}, JSON.parse(text));
    return stateOf(current, [], Date.parse('2027-01-16T11:59:00Z')).next?.text;
  };
  expect(nextOf(bought)).toBeUndefined();
  expect(nextOf(waiting, bought)).toBe('Pro starts on 16 Feb 2027.');
});

test.each(
  [
    ['now', 12875, '2031-02-02T12:00:00Z', true],
    ['now', 0, null, false],
    ['period_end', 4900, '2031-02-24T12:00:00Z', false],
    ['period_end', 4900, '2031-02-02T12:00:00Z', true],
  ] as const,
)('a change %s of %i due at %s is paid when it is confirmed, whatever the device’s clock: %s', (...row) => {
  const [when, amount_due, due_at, isPaid] = row;
  const starts_at = when === 'now' ? '2031-02-02T12:00:00Z' : '2031-02-24T12:00:00Z';
  const rest = { credit: 0, currency: 'INR', ends_at: '2031-03-24T12:00:00Z', from: 'pro', to: 'premium' };
  const change = { ...rest, from_price: null, to_price: 'premium', renews: true, next_charge: null };
  expect(isPaidNow({ ...change, amount_due, due_at, starts_at }, when)).toBe(isPaid);
});
