import { beforeEach, expect, test, vi } from 'vitest';
import { DatabaseError } from '../../supabase/functions/api/database/database.ts';
import type { Gateway, ReconcileDatabase } from '../../supabase/functions/api/ports.ts';
import { reconcileAll } from '../../supabase/functions/api/gateway/reconciler.ts';

type GatewayReads = Pick<Gateway, 'listOrderPayments' | 'listRefunds' | 'readSubscription'>;

/** A database in which payments and subscriptions are due. It records the applied answers, and fails for some ids. */
function due(
  { payments = 0, subscriptions = 0, orders = 0, fails = () => false }: {
    payments?: number;
    subscriptions?: number;
    orders?: number;
    fails?: (id: string) => boolean;
  },
): ReconcileDatabase & { applied: unknown[]; finished: number } {
  const applied: unknown[] = [];
  let [waiting, billed, asked] = [payments, subscriptions, orders];
  const take = (count: number) => Array.from({ length: Math.min(count, 20) }, (_, index) => String(index));
  return {
    applied,
    finished: 0,
    finishReconciliation() {
      this.finished += 1;
      return Promise.resolve();
    },
    claimPaymentsToReconcile() {
      const claimed = take(waiting);
      waiting -= claimed.length;
      return Promise.resolve({ settled: 0, payments: claimed.map((id) => ({ id, order_id: `order_${id}` })) });
    },
    claimSubscriptionsToReconcile() {
      const claimed = take(billed);
      billed -= claimed.length;
      return Promise.resolve({
        subscriptions: claimed.map((id) => ({ id, gateway_subscription_id: `sub_${id}` })),
      });
    },
    claimSubscriptionOrders() {
      const claimed = take(asked);
      asked -= claimed.length;
      return Promise.resolve({ orders: claimed.map((id) => ({ id, gateway_subscription_id: `sub_${id}` })) });
    },
    applySubscriptionOrder(id, entity) {
      if (fails(id)) return Promise.reject(new DatabaseError('apply_subscription_order', '55P03'));
      applied.push([id, entity]);
      return Promise.resolve({ applied: entity !== null });
    },
    applyOrderPayments(id, items) {
      if (fails(id)) return Promise.reject(new DatabaseError('apply_order_payments', '55P03'));
      applied.push([id, items]);
      return Promise.resolve({ applied: items?.length ?? 0, ended: false });
    },
    applyGatewaySubscription(subscription, entity) {
      // Throws synchronously, as a bug would.
      if (fails(subscription.id)) throw new TypeError('bug');
      applied.push([subscription.id, entity]);
      return Promise.resolve({ applied: entity !== null });
    },
  };
}

const answers: GatewayReads = {
  listOrderPayments: () => Promise.resolve({ status: 'found', value: [{ id: 'pay_A' }] }),
  listRefunds: () => Promise.reject(new Error('nothing was refunded')),
  readSubscription: () => Promise.resolve({ status: 'found', value: { status: 'active' } }),
};
const nothing: GatewayReads = {
  listOrderPayments: () => Promise.resolve({ status: 'unanswered' }),
  listRefunds: () => Promise.resolve({ status: 'unanswered' }),
  readSubscription: () => Promise.resolve({ status: 'unanswered' }),
};
const unknown: GatewayReads = {
  listOrderPayments: () => Promise.resolve({ status: 'unknown' }),
  listRefunds: () => Promise.resolve({ status: 'unknown' }),
  readSubscription: () => Promise.resolve({ status: 'unknown' }),
};

const faults: unknown[] = [];
beforeEach(() => {
  faults.length = 0;
});
const reconcile = (database: ReconcileDatabase, gateway: GatewayReads) =>
  reconcileAll(database, gateway, (error) => faults.push(error));

test('everything that is due is reconciled, batch after batch', async () => {
  const database = due({ payments: 45, subscriptions: 21 });
  expect(await reconcile(database, answers)).toEqual({ asked: 66, applied: 66, unanswered: 0 });
  expect(database.applied).toHaveLength(66);
  expect(faults).toEqual([]);
});

test('at most five reads run at once', async () => {
  let [open, most] = [0, 0];
  const listOrderPayments: GatewayReads['listOrderPayments'] = async () => {
    most = Math.max(most, ++open);
    await Promise.resolve();
    open -= 1;
    return { status: 'found', value: [] };
  };
  await reconcile(due({ payments: 40 }), { ...answers, listOrderPayments });
  expect(most).toBe(5);
});

test('an unknown order or subscription is applied as null', async () => {
  const database = due({ payments: 1, subscriptions: 1, orders: 1 });
  expect(await reconcile(database, unknown)).toEqual({ asked: 3, applied: 0, unanswered: 0 });
  expect(database.applied).toEqual([['0', null], ['0', null], ['0', null]]);
});

test('the run is stored as finished once, and only if every read was answered and applied', async () => {
  const all = due({ payments: 45 });
  await reconcile(all, answers);
  expect(all.finished).toBe(1);
  const away = due({ payments: 1 });
  await reconcile(away, nothing);
  expect(away.finished).toBe(0);
  const failing = due({ payments: 1, fails: () => true });
  await reconcile(failing, answers);
  expect(failing.finished).toBe(0);
});

test('an order without an answer does not stop the others', async () => {
  const listOrderPayments: GatewayReads['listOrderPayments'] = (id) =>
    id === 'order_0' ? nothing.listOrderPayments(id) : answers.listOrderPayments(id);
  const database = due({ payments: 10 });
  const report = await reconcile(database, { ...answers, listOrderPayments });
  expect(report).toEqual({ asked: 10, applied: 9, unanswered: 1 });
});

test('a refunded payment is applied with its refunds', async () => {
  const database = due({ payments: 1 });
  const refunds = [{ id: 'rfnd_A', payment_id: 'pay_A', amount: 100, status: 'processed', created_at: 1 }];
  const report = await reconcile(database, {
    ...answers,
    listOrderPayments: () => Promise.resolve({ status: 'found', value: [{ id: 'pay_A', status: 'refunded' }] }),
    listRefunds: () => Promise.resolve({ status: 'found', value: refunds }),
  });
  expect(report).toEqual({ asked: 1, applied: 1, unanswered: 0 });
  expect(database.applied).toEqual([['0', [{ id: 'pay_A', status: 'refunded', refunds }]]]);
});

test('an order whose refunds get no answer is not applied', async () => {
  const database = due({ payments: 1 });
  const report = await reconcile(database, {
    ...nothing,
    listOrderPayments: () => Promise.resolve({ status: 'found', value: [{ id: 'pay_A', amount_refunded: 1 }] }),
  });
  expect(report).toEqual({ asked: 1, applied: 0, unanswered: 1 });
  expect(database.applied).toEqual([]);
});

test('a gateway that answers nothing gets fewer than ten calls', async () => {
  const database = due({ payments: 100 });
  const { asked, unanswered } = await reconcile(database, nothing);
  expect(asked).toBeLessThan(10);
  expect(unanswered).toBe(asked);
  expect(database.applied).toEqual([]);
  expect(faults).toEqual([]);
});

test('answers that cannot be applied are logged once each and do not stop the others', async () => {
  const database = due({ payments: 45, subscriptions: 21, fails: (id) => Number(id) < 7 });
  // Batches of 20, 20 and 5 payments, of 20 and 1 subscriptions: five times seven of them, and one.
  const failed = { payments: 7 + 7 + 5, subscriptions: 7 + 1 };
  expect(await reconcile(database, answers)).toEqual({ asked: 66, applied: 66 - 27, unanswered: 27 });
  expect(database.applied).toHaveLength(66 - 27);
  expect(faults.filter((fault) => fault instanceof DatabaseError)).toHaveLength(failed.payments);
  expect(faults.filter((fault) => fault instanceof TypeError)).toHaveLength(failed.subscriptions);
});

test('faults of the database do not end the run', async () => {
  let calls = 0;
  const listOrderPayments: GatewayReads['listOrderPayments'] = (id) =>
    ++calls % 10 === 0 ? nothing.listOrderPayments(id) : answers.listOrderPayments(id);
  const database = due({ payments: 25, fails: () => true });
  const report = await reconcile(database, { ...answers, listOrderPayments });
  expect(report).toEqual({ asked: 25, applied: 0, unanswered: 25 });
  expect(faults).toHaveLength(23);
});

test.each(['claimPaymentsToReconcile', 'claimSubscriptionsToReconcile'] as const)(
  'a database whose %s fails ends the run before an answer is applied',
  async (name) => {
    const down = new DatabaseError('claim', undefined);
    const database = { ...due({ payments: 1, subscriptions: 1 }), [name]: () => Promise.reject(down) };
    await expect(reconcile(database, answers)).rejects.toBe(down);
    expect(database.applied).toEqual([]);
  },
);

test('a database that fails during the run ends it with the next claim', async () => {
  let isDown = false;
  const database = due({ payments: 100, fails: () => isDown });
  const { claimPaymentsToReconcile } = database;
  database.claimPaymentsToReconcile = () =>
    isDown ? Promise.reject(new DatabaseError('claim', undefined)) : claimPaymentsToReconcile();
  const report = reconcile(database, {
    ...answers,
    listOrderPayments(id) {
      isDown ||= id === 'order_10';
      return answers.listOrderPayments(id);
    },
  });
  await expect(report).rejects.toThrow('claim failed');
  expect(faults.length).toBeGreaterThan(0);
  expect(database.applied.length + faults.length).toBe(20);
});

test('after 25 s no read starts, also within a batch', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  try {
    const database = due({ payments: 100 });
    const slow: GatewayReads['listOrderPayments'] = () =>
      new Promise((resolve) => void setTimeout(resolve, 9_000, { status: 'found', value: [{ id: 'pay_A' }] }));
    const report = reconcile(database, { ...answers, listOrderPayments: slow });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await report).toEqual({ asked: 15, applied: 15, unanswered: 0 });
  } finally {
    vi.useRealTimers();
  }
});
