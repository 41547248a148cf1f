import { expect, test } from 'vitest';
import { stateOf } from '../../supabase/client/blocks/billing-page/state.ts';
import type { CurrentSubscription } from '../../supabase/client/subscriptions.ts';

test('a trial whose row was written by hand names what is charged after it', () => {
  const price = { lookup_key: 'pro', amount: 99900, currency: 'INR', interval: 'month', interval_count: 1 };
  const running = {
    status: 'active',
    tier: 'pro',
    plan: null,
    price: null,
    current_period_end: '2027-01-26T12:00:00Z',
  };
  const charge = { status: 'authenticated', next_charge_at: '2027-01-17T12:00:00Z', price, next: null };
  const current: CurrentSubscription = Object.assign(
    {},
    JSON.parse(
      JSON.stringify({ currentTier: 'pro', payments: [], subscription: running, billing: charge }),
    ),
  );
  expect(stateOf(current, [], Date.parse('2027-01-16T12:00:00Z')).lines.join()).toContain(
    '₹999.00 is charged from then on.',
  );
});
