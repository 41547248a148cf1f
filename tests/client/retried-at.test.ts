import { expect, test } from 'vitest';
import { type Payment, retriedAt } from '../../supabase/client/subscriptions.ts';

const nothing = { subscription_id: null, price_key: null, interval: null, interval_count: null, meta: {} };
const none = { gateway_order_id: null, gateway_payment_id: null, gateway_signature: null, dispute_status: null };
const never = { confirmed_at: null, fulfilled_at: null, period_start: null, period_end: null, paid_amount: null };
const sold = { user_id: 'user', amount: 9900, currency: 'INR', tier: 'pro', refunded_amount: 0 };

/** A payment of a subscription; null: an order. */
function payment(status: Payment['status'], at: string, gateway_subscription_id: string | null = 'sub_1'): Payment {
  const times = { created_at: at, captured_at: status === 'captured' ? at : null };
  return { id: at, status, ...nothing, ...none, ...never, ...sold, ...times, gateway_subscription_id };
}

test('a renewal that failed was retried with the first charge of its subscription after it', () => {
  const failed = payment('failed', '2026-07-01T00:00:00.5+00:00');
  const charges = ['2026-08-01', '2026-07-03', '2026-06-01'].map((day) => payment('captured', `${day}T00:00:00+00:00`));
  expect(retriedAt(failed, [charges[0]!, charges[1]!, failed, charges[2]!])).toBe('2026-07-03T00:00:00+00:00');
});

test('a renewal that failed was not retried by an order, by another subscription, or before it', () => {
  const failed = payment('failed', '2026-07-01T00:00:00+00:00');
  const others = [
    payment('captured', '2026-07-02T00:00:00+00:00', null),
    payment('captured', '2026-07-02T00:00:00+00:00', 'sub_2'),
    payment('captured', '2026-06-01T00:00:00+00:00'),
  ];
  expect(retriedAt(failed, [...others, failed])).toBeNull();
});

test('an order that failed and a charge were not retried', () => {
  const [order, charge] = [
    payment('failed', '2026-07-01T00:00:00Z', null),
    payment('captured', '2026-07-01T00:00:00Z'),
  ];
  const later = [payment('captured', '2026-07-02T00:00:00Z', null), payment('captured', '2026-07-02T00:00:00Z')];
  expect([order, charge].map((one) => retriedAt(one, later))).toEqual([null, null]);
});
