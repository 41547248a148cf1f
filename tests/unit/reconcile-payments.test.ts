import { expect, test, vi } from 'vitest';
import { createApp } from '../../supabase/functions/api/app.ts';
import { readConfig } from '../../supabase/functions/api/config.ts';
import { createDatabase, DatabaseError } from '../../supabase/functions/api/database/database.ts';
import type { Gateway } from '../../supabase/functions/api/ports.ts';

const environment: Record<string, string> = {
  SUPABASE_URL: 'https://abc.supabase.co',
  SUPABASE_PUBLISHABLE_KEYS: '{"default":"sb_publishable_1"}',
  SUPABASE_SECRET_KEYS: '{"default":"sb_secret_1"}',
};
const gateway: Gateway = {
  createOrder: () => Promise.resolve(null),
  createSubscription: () => Promise.resolve(null),
  cancelSubscription: () => Promise.resolve({ status: 0, retryAfter: null }),
  readSubscription: () => Promise.resolve({ status: 'found', value: { status: 'active' } }),
  listOrderPayments: () => Promise.resolve({ status: 'found', value: [{ id: 'pay_A', email: 'asha@example.com' }] }),
  readPayment: () => Promise.resolve({ status: 'unknown' }),
  listRefunds: () => Promise.resolve({ status: 'unanswered' }),
  listInvoices: () => Promise.resolve({ status: 'unanswered' }),
};

/** Calls the endpoint. The database returns these answers for each SQL function, in order, and throws errors. */
async function reconcile(
  answers: Record<string, unknown[]>,
  variables: Record<string, string> = {},
  answering: Gateway = gateway,
) {
  const config = readConfig((name) => variables[name] ?? environment[name]);
  const log: Record<string, unknown>[] = [];
  const database = createDatabase((name) => {
    const answer = answers[name]?.shift();
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  }, config);
  const auth = { authenticate: () => Promise.resolve(null) };
  const app = createApp(config, { auth, database, gateway: answering, senders: {} }, (entry) => log.push({ ...entry }));
  const response = await app.request('/api/internal/reconcile', { method: 'POST', headers: { apikey: 'sb_secret_1' } });
  return { status: response.status, body: await response.json(), id: response.headers.get('x-request-id'), log };
}

const due = {
  begin_reconciliation: [{ began: true }],
  claim_payments_to_reconcile: [
    { settled: 0, payments: [{ id: 'a', order_id: 'order_1' }, { id: 'b', order_id: 'order_2' }] },
    { settled: 0, payments: [] },
  ],
  claim_subscriptions_to_reconcile: [
    { settled: 0, subscriptions: [{ id: 'c', gateway_subscription_id: 'sub_1' }] },
    { settled: 0, subscriptions: [] },
  ],
  claim_subscription_orders: [{ orders: [] }, { orders: [] }],
};

test('an answer that cannot be applied → 200, one line in the log that names the call and no data', async () => {
  const locked = new DatabaseError('apply_order_payments', '55P03');
  const { status, body, id, log } = await reconcile({
    ...structuredClone(due),
    apply_order_payments: [locked, { applied: 1, ended: false }],
    apply_gateway_subscription: [{ applied: true, lacks_payment: false }],
  });
  expect({ status, body }).toEqual({ status: 200, body: { asked: 3, applied: 2, unanswered: 1 } });
  expect(log).toMatchObject([
    { level: 'error', event: 'fault', request_id: id, error: 'apply_order_payments failed: 55P03' },
    { level: 'info', event: 'request', request_id: id, outcome: 'incomplete' },
  ]);
});

test('an invalid result of an SQL function is logged without its content', async () => {
  const { status, body, log } = await reconcile({
    ...structuredClone(due),
    apply_order_payments: [{ applied: 'order_1' }, { applied: 1, ended: false }],
    apply_gateway_subscription: [{ applied: true, lacks_payment: false }],
  });
  expect({ status, body }).toEqual({ status: 200, body: { asked: 3, applied: 2, unanswered: 1 } });
  expect(log).toHaveLength(2);
  expect(JSON.stringify(log)).not.toMatch(/order_1|pay_|sub_|@|sb_secret/);
});

test('all answers applied → 200, only the request in the log', async () => {
  const { status, body, log } = await reconcile({
    ...structuredClone(due),
    apply_order_payments: [{ applied: 1, ended: false }, { applied: 0, ended: true }],
    apply_gateway_subscription: [{ applied: false, lacks_payment: false }],
  });
  expect({ status, body }).toEqual({ status: 200, body: { asked: 3, applied: 2, unanswered: 0 } });
  expect(log).toMatchObject([{ event: 'request', outcome: 'reconciled' }]);
});

test('the gateway gets no more calls a second than RECONCILE_CALLS_PER_SECOND', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  try {
    const calledAt: number[] = [];
    const start = performance.now();
    const readSubscription: Gateway['readSubscription'] = (id) => {
      calledAt.push(performance.now() - start);
      return gateway.readSubscription(id);
    };
    const subscriptions = ['1', '2', '3', '4'].map((id) => ({ id, gateway_subscription_id: `sub_${id}` }));
    const answering = reconcile(
      {
        begin_reconciliation: [{ began: true }],
        claim_payments_to_reconcile: [{ settled: 0, payments: [] }, { settled: 0, payments: [] }],
        claim_subscriptions_to_reconcile: [{ settled: 0, subscriptions }, { settled: 0, subscriptions: [] }],
        claim_subscription_orders: [{ orders: [] }, { orders: [] }],
        apply_gateway_subscription: subscriptions.map(() => ({ applied: false, lacks_payment: false })),
      },
      { RECONCILE_CALLS_PER_SECOND: '4' },
      { ...gateway, readSubscription },
    );
    await vi.advanceTimersByTimeAsync(1000);
    expect((await answering).body).toEqual({ asked: 4, applied: 0, unanswered: 0 });
    expect(calledAt).toEqual([0, 250, 500, 750]);
  } finally {
    vi.useRealTimers();
  }
});

test('a database that is down → 500, one line beside the request', async () => {
  const { status, body, log } = await reconcile({
    begin_reconciliation: [{ began: true }],
    claim_payments_to_reconcile: [new DatabaseError('claim_payments_to_reconcile', undefined)],
  });
  expect({ status, body }).toEqual({ status: 500, body: { error: 'Failed to reconcile' } });
  expect(log).toMatchObject([
    { event: 'fault', error: 'claim_payments_to_reconcile failed' },
    { event: 'request', outcome: 'reconcileFailed' },
  ]);
});
