import { expect, test } from 'vitest';
import { createCanceller } from '../../supabase/functions/api/cancel-at-gateway.ts';
import type { Gateway } from '../../supabase/functions/api/ports.ts';

const row = {
  id: 1,
  key: 'cancel-subscription/sub_1',
  kind: 'cancel-subscription',
  payload: { gateway_subscription_id: 'sub_1', at_cycle_end: false },
};

/** A gateway that answers a cancellation so, and has the subscription in that status afterwards. */
function gateway(status: number, afterwards: string | null = 'active', retryAfter: string | null = null): Gateway {
  return {
    createOrder: () => Promise.resolve(null),
    cancelSubscription: (id) => Promise.resolve({ status: id === 'sub_1' ? status : 400, retryAfter }),
    readSubscription: () =>
      Promise.resolve(
        afterwards === null ? { status: 'unanswered' } : { status: 'found', value: { status: afterwards } },
      ),
    listOrderPayments: () => Promise.resolve({ status: 'unanswered' }),
  };
}

const deliver = (to: Gateway, rows = [row]) => createCanceller(to)(rows)[0]?.deliver();

test('a cancellation that the gateway takes is delivered', async () => {
  expect(await deliver(gateway(200))).toEqual({ status: 'delivered' });
});

test.each(['cancelled', 'completed', 'expired'])('a refusal of one that is %s already is delivered', async (status) => {
  expect(await deliver(gateway(400, status))).toEqual({ status: 'delivered' });
});

test.each([[400, 'active'], [404, null], [401, null]])(
  'HTTP %i while it is %s is refused',
  async (status, afterwards) => {
    expect(await deliver(gateway(status, afterwards))).toEqual({ status: 'refused', error: `HTTP ${status}` });
  },
);

test.each([[500, 'HTTP 500'], [503, 'HTTP 503'], [0, 'no answer']])(
  'status %i is tried again',
  async (status, error) => {
    expect(await deliver(gateway(status))).toEqual({ status: 'failed', error });
  },
);

test('429 pauses the gateway for as long as it asks', async () => {
  expect(await deliver(gateway(429, null, '7'))).toEqual({ status: 'paused', error: 'HTTP 429', seconds: 7 });
});

test('a row of another kind is refused and nothing is called', async () => {
  const silent: Gateway = {
    ...gateway(200),
    cancelSubscription: () => Promise.reject(new Error('called')),
  };
  expect(await deliver(silent, [{ ...row, kind: 'refund' }])).toEqual({ status: 'refused', error: 'unknown row' });
});
