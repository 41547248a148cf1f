import { describe, expect, test } from 'vitest';
import { createCanceller } from '../../supabase/functions/api/outbox/cancel-at-gateway.ts';
import type { Gateway, GatewaySubscription, Reading } from '../../supabase/functions/api/ports.ts';

const row = {
  id: 1,
  key: 'cancel-subscription/sub_1',
  kind: 'cancel-subscription',
  payload: { gateway_subscription_id: 'sub_1', at_cycle_end: false },
};

/** A gateway that answers a cancellation with `status`, and a later read with the status `afterwards`. */
function gateway(status: number, afterwards: string | null = 'active', retryAfter: string | null = null): Gateway {
  return {
    createOrder: () => Promise.resolve(null),
    createSubscription: () => Promise.resolve(null),
    cancelSubscription: (id) => Promise.resolve({ status: id === 'sub_1' ? status : 400, retryAfter }),
    readSubscription: () =>
      Promise.resolve(
        afterwards === null ? { status: 'unanswered' } : { status: 'found', value: { status: afterwards } },
      ),
    listOrderPayments: () => Promise.resolve({ status: 'unanswered' }),
    readPayment: () => Promise.resolve({ status: 'unknown' }),
    listRefunds: () => Promise.resolve({ status: 'unanswered' }),
    listInvoices: () => Promise.resolve({ status: 'unanswered' }),
  };
}

const deliver = (to: Gateway, rows = [row]) => createCanceller(to)(rows)[0]?.deliver();

test('a cancellation that the gateway accepts is delivered', async () => {
  expect(await deliver(gateway(200))).toEqual({ status: 'delivered' });
});

test.each(['cancelled', 'completed', 'expired'])(
  'a refused cancellation of a subscription that is already %s is delivered',
  async (status) => {
    expect(await deliver(gateway(400, status))).toEqual({ status: 'delivered' });
  },
);

test.each([[400, 'active'], [404, null], [401, null]])(
  'HTTP %i for a subscription with the status %s is refused',
  async (status, afterwards) => {
    expect(await deliver(gateway(status, afterwards))).toEqual({ status: 'refused', error: `HTTP ${status}` });
  },
);

test.each([[500, 'HTTP 500'], [503, 'HTTP 503'], [0, 'no answer']])(
  'status %i is retried',
  async (status, error) => {
    expect(await deliver(gateway(status))).toEqual({ status: 'failed', error });
  },
);

test('429 pauses the destination for the seconds of retry-after', async () => {
  expect(await deliver(gateway(429, null, '7'))).toEqual({ status: 'paused', error: 'HTTP 429', seconds: 7 });
});

test('a row of another kind is refused and nothing is called', async () => {
  const silent: Gateway = {
    ...gateway(200),
    cancelSubscription: () => Promise.reject(new Error('called')),
  };
  expect(await deliver(silent, [{ ...row, kind: 'refund' }])).toEqual({ status: 'refused', error: 'unknown row' });
});

test('a cancellation at once that is refused before the first cycle is not repeated', async () => {
  const asked: boolean[] = [];
  const refusing: Gateway = {
    ...gateway(0),
    cancelSubscription(_id, atCycleEnd) {
      asked.push(atCycleEnd);
      return Promise.resolve({ status: 400, retryAfter: null });
    },
    readSubscription: () => Promise.resolve({ status: 'found', value: { status: 'created', current_end: null } }),
  };
  expect(await deliver(refusing)).toEqual({ status: 'refused', error: 'HTTP 400' });
  expect(asked).toEqual([false]);
});

test('a refusal is retried when the subscription cannot be read', async () => {
  expect(await deliver(gateway(400, null))).toEqual({ status: 'failed', error: 'HTTP 400' });
});

describe('at the end of a cycle', () => {
  const atCycleEnd = { ...row, payload: { ...row.payload, at_cycle_end: true } };
  const found = (value: GatewaySubscription): Reading<GatewaySubscription> => ({ status: 'found', value });

  /** Delivers to a gateway with a status for each kind of cancellation. The subscription is read between them. */
  async function cancel(statuses: { atCycleEnd: number; atOnce: number }, subscription: Reading<GatewaySubscription>) {
    const asked: string[] = [];
    const delivery = await deliver({
      ...gateway(0),
      cancelSubscription(_id, whether) {
        asked.push(whether ? 'cancel at cycle end' : 'cancel at once');
        return Promise.resolve({ status: whether ? statuses.atCycleEnd : statuses.atOnce, retryAfter: null });
      },
      readSubscription() {
        asked.push('read');
        return Promise.resolve(subscription);
      },
    }, [atCycleEnd]);
    return { asked, delivery };
  }

  test('a cancellation that the gateway accepts is the only call', async () => {
    expect(await cancel({ atCycleEnd: 200, atOnce: 200 }, found({ status: 'authenticated', current_end: null })))
      .toEqual({ asked: ['cancel at cycle end'], delivery: { status: 'delivered' } });
  });

  test.each(['created', 'authenticated'])(
    'a refused cancellation of a subscription that is %s and has no cycle is repeated at once',
    async (status) => {
      expect(await cancel({ atCycleEnd: 400, atOnce: 200 }, found({ status, current_end: null }))).toEqual({
        asked: ['cancel at cycle end', 'read', 'cancel at once'],
        delivery: { status: 'delivered' },
      });
    },
  );

  test.each<[string, GatewaySubscription]>([
    ['active', { status: 'active', current_end: 1_797_776_460 }],
    ['active without a cycle', { status: 'active', current_end: null }],
    ['pending', { status: 'pending', current_end: 1_797_776_460 }],
    ['halted', { status: 'halted', current_end: 1_797_776_460 }],
    ['paused', { status: 'paused', current_end: null }],
    ['authenticated with a cycle', { status: 'authenticated', current_end: 1_797_776_460 }],
    ['authenticated without the field current_end', { status: 'authenticated' }],
    ['in an unknown status', { status: 'trialing', current_end: null }],
  ])('a subscription that is %s is never cancelled at once', async (_, subscription) => {
    expect(await cancel({ atCycleEnd: 400, atOnce: 200 }, found(subscription)))
      .toEqual({ asked: ['cancel at cycle end', 'read'], delivery: { status: 'refused', error: 'HTTP 400' } });
  });

  test.each<[number, string]>([[500, 'failed'], [0, 'failed'], [429, 'paused'], [401, 'refused'], [404, 'refused']])(
    'status %i does not lead to a cancellation at once: %s',
    async (status, outcome) => {
      const { asked, delivery } = await cancel(
        { atCycleEnd: status, atOnce: 200 },
        found({ status: 'authenticated', current_end: null }),
      );
      expect(asked).not.toContain('cancel at once');
      expect(delivery).toMatchObject({ status: outcome });
    },
  );

  test.each<[string, Reading<GatewaySubscription>, string]>([
    ['is unknown', { status: 'unknown' }, 'refused'],
    ['cannot be read', { status: 'unanswered' }, 'failed'],
  ])('a subscription that %s is not cancelled at once: %s', async (_, reading, outcome) => {
    expect(await cancel({ atCycleEnd: 400, atOnce: 200 }, reading))
      .toEqual({ asked: ['cancel at cycle end', 'read'], delivery: { status: outcome, error: 'HTTP 400' } });
  });

  test.each(['cancelled', 'completed', 'expired'])('a subscription that is already %s is delivered', async (status) => {
    expect(await cancel({ atCycleEnd: 400, atOnce: 200 }, found({ status, current_end: null })))
      .toEqual({ asked: ['cancel at cycle end', 'read'], delivery: { status: 'delivered' } });
  });

  test.each([[400, 'HTTP 400'], [500, 'HTTP 500'], [0, 'no answer']])(
    'a cancellation at once that gets status %i is retried from the first call',
    async (status, error) => {
      expect(await cancel({ atCycleEnd: 400, atOnce: status }, found({ status: 'created', current_end: null })))
        .toMatchObject({ delivery: { status: 'failed', error } });
    },
  );

  test('a second attempt after one whose result was not stored is delivered', async () => {
    let status = 'authenticated';
    const twice: Gateway = {
      ...gateway(0),
      cancelSubscription(_id, whether) {
        if (whether || status === 'cancelled') return Promise.resolve({ status: 400, retryAfter: null });
        status = 'cancelled';
        return Promise.resolve({ status: 200, retryAfter: null });
      },
      readSubscription: () => Promise.resolve(found({ status, current_end: null })),
    };
    expect(await deliver(twice, [atCycleEnd])).toEqual({ status: 'delivered' });
    expect(await deliver(twice, [atCycleEnd])).toEqual({ status: 'delivered' });
  });
});
