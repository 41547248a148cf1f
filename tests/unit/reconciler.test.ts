import { beforeEach, describe, expect, test, vi } from 'vitest';
import { DatabaseError } from '../../supabase/functions/api/database/database.ts';
import type { ReconcileDatabase } from '../../supabase/functions/api/ports.ts';
import { createRateLimit, type GatewayReads, limitRate } from '../../supabase/functions/api/gateway/rate-limit.ts';
import { reconcileAll } from '../../supabase/functions/api/gateway/reconciler.ts';

/** A database in which payments and subscriptions are due. It records the applied answers, and fails for some ids. */
function due(
  { payments = 0, subscriptions = 0, orders = 0, fails = () => false, lacksPayment = false }: {
    payments?: number;
    subscriptions?: number;
    orders?: number;
    fails?: (id: string) => boolean;
    lacksPayment?: boolean;
  },
): ReconcileDatabase & { applied: unknown[]; finished: number } {
  const applied: unknown[] = [];
  let [waiting, billed, asked] = [payments, subscriptions, orders];
  const take = (count: number) => Array.from({ length: Math.min(count, 20) }, (_, index) => String(index));
  return {
    applied,
    finished: 0,
    beginReconciliation: () => Promise.resolve({ began: true }),
    endReconciliation(_, isDone) {
      this.finished += Number(isDone);
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
        settled: 0,
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
      return Promise.resolve({ applied: entity !== null, lacks_payment: lacksPayment });
    },
    applyInvoices(id, items) {
      applied.push([id, items]);
      return Promise.resolve({ applied: items?.length ?? 0 });
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
      return Promise.resolve({ applied: entity !== null, lacks_payment: lacksPayment });
    },
  };
}

const answers: GatewayReads = {
  listOrderPayments: () => Promise.resolve({ status: 'found', value: [{ id: 'pay_A' }] }),
  listRefunds: () => Promise.reject(new Error('nothing was refunded')),
  listInvoices: () => Promise.reject(new Error('every payment is known')),
  readSubscription: () => Promise.resolve({ status: 'found', value: { status: 'active' } }),
};
const nothing: GatewayReads = {
  listOrderPayments: () => Promise.resolve({ status: 'unanswered' }),
  listRefunds: () => Promise.resolve({ status: 'unanswered' }),
  listInvoices: () => Promise.resolve({ status: 'unanswered' }),
  readSubscription: () => Promise.resolve({ status: 'unanswered' }),
};
const unknown: GatewayReads = {
  listOrderPayments: () => Promise.resolve({ status: 'unknown' }),
  listRefunds: () => Promise.resolve({ status: 'unknown' }),
  listInvoices: () => Promise.resolve({ status: 'unknown' }),
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

test('the invoices of a subscription are read if the payment of a cycle is not known', async () => {
  const database = due({ subscriptions: 1, orders: 1, lacksPayment: true });
  const invoices = [{ id: 'inv_A', payment_id: 'pay_A', status: 'paid' }];
  const listInvoices: GatewayReads['listInvoices'] = () => Promise.resolve({ status: 'found', value: invoices });
  expect(await reconcile(database, { ...answers, listInvoices })).toEqual({ asked: 2, applied: 4, unanswered: 0 });
  expect(database.applied).toContainEqual(['sub_0', invoices]);
});

test('a subscription whose invoices get no answer is read again', async () => {
  const database = due({ subscriptions: 1, lacksPayment: true });
  const report = await reconcile(database, { ...answers, listInvoices: nothing.listInvoices });
  expect(report).toEqual({ asked: 1, applied: 0, unanswered: 1 });
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
  const listOrderPayments: GatewayReads['listOrderPayments'] = (id) =>
    ['order_9', 'order_19'].includes(id) ? nothing.listOrderPayments(id) : answers.listOrderPayments(id);
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

/** Runs work while the clock of the timers advances, not the machine's. */
async function withFakeClock<T>(start: () => Promise<T>, milliseconds = 120_000): Promise<T> {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  try {
    const result = start();
    await vi.advanceTimersByTimeAsync(milliseconds);
    return await result;
  } finally {
    vi.useRealTimers();
  }
}

/** An answer that takes this long. */
const slow = (milliseconds: number): GatewayReads['listOrderPayments'] => () =>
  new Promise((resolve) => void setTimeout(resolve, milliseconds, { status: 'found', value: [{ id: 'pay_A' }] }));

test('after 58 s no read starts, also within a batch; the run is stored as finished', async () => {
  const database = due({ payments: 200 });
  const report = await withFakeClock(() => reconcile(database, { ...answers, listOrderPayments: slow(9_000) }));
  expect(report).toEqual({ asked: 35, applied: 35, unanswered: 0 });
  expect(database.finished).toBe(1);
});

test('a run that is out of time without an answer is not stored as finished', async () => {
  const database = due({ payments: 200, fails: () => true });
  await withFakeClock(() => reconcile(database, { ...answers, listOrderPayments: slow(9_000) }));
  expect(database.finished).toBe(0);
});

test('at ten calls a second a run makes 580, and payments, subscriptions and orders each get a third', async () => {
  const calls: Record<'payments' | 'subscriptions', number> = { payments: 0, subscriptions: 0 };
  const gateway = {
    ...answers,
    listOrderPayments: (id: string) => (calls.payments += 1, slow(100)(id)),
    readSubscription: (id: string) => (calls.subscriptions += 1, answers.readSubscription(id)),
  };
  const database = due({ payments: 10_000, subscriptions: 10_000, orders: 10_000 });
  const { asked } = await withFakeClock(() => reconcile(database, limitRate(gateway, createRateLimit(10))));
  // Five more wait for their call when the time is over.
  expect(asked).toBe(580 + 5);
  // The last round is not complete: its payments come first.
  expect(calls).toEqual({ payments: 200, subscriptions: 385 });
});

test('after 54 s no round is claimed, and the last one is read to its end', async () => {
  const database = due({ subscriptions: 10_000 });
  const readSubscription: GatewayReads['readSubscription'] = () =>
    new Promise((resolve) => void setTimeout(resolve, 100, { status: 'found', value: { status: 'active' } }));
  const gateway = limitRate({ ...answers, readSubscription }, createRateLimit(10));
  const { asked } = await withFakeClock(() => reconcile(database, gateway));
  // A round of 20 takes two seconds. The 28th is claimed while the last reads of the 27th wait for their call.
  expect(asked).toBe(28 * 20);
  expect(database.applied).toHaveLength(28 * 20);
});

test('while the last answers of a round are open, the next round starts', async () => {
  const opened: number[] = [];
  const listOrderPayments: GatewayReads['listOrderPayments'] = (id) => {
    opened.push(performance.now());
    return slow(id === 'order_19' ? 10_000 : 100)(id);
  };
  await withFakeClock(() => reconcile(due({ payments: 40 }), { ...answers, listOrderPayments }));
  expect(opened.filter((at) => at - (opened[0] ?? 0) < 2_000)).toHaveLength(40);
});

test('what needed no call of the gateway is no end: the next round is claimed', async () => {
  const database = due({ subscriptions: 20 });
  const { claimSubscriptionsToReconcile } = database;
  let renewed = 3;
  database.claimSubscriptionsToReconcile = () =>
    renewed-- > 0 ? Promise.resolve({ settled: 200, subscriptions: [] }) : claimSubscriptionsToReconcile();
  expect(await reconcile(database, answers)).toEqual({ asked: 20, applied: 20, unanswered: 0 });
});

test('failures of the gateway that are not in a row do not end the run', async () => {
  let calls = 0;
  const listOrderPayments: GatewayReads['listOrderPayments'] = (id) =>
    ++calls % 3 === 0 ? answers.listOrderPayments(id) : nothing.listOrderPayments(id);
  const { asked, applied, unanswered } = await reconcile(due({ payments: 90 }), { ...answers, listOrderPayments });
  expect(asked).toBe(90);
  expect(unanswered).toBeGreaterThan(20);
  expect(applied + unanswered).toBe(90);
});

test('a read without an answer is repeated once, after the others of its round', async () => {
  const read: string[] = [];
  const listOrderPayments: GatewayReads['listOrderPayments'] = (id) => {
    read.push(id);
    const isBusy = id === 'order_3' || id === 'order_7' && read.filter((one) => one === id).length === 1;
    return isBusy ? nothing.listOrderPayments(id) : answers.listOrderPayments(id);
  };
  const report = await reconcile(due({ payments: 10 }), { ...answers, listOrderPayments });
  expect(report).toEqual({ asked: 10, applied: 9, unanswered: 1 });
  expect(read.slice(10)).toEqual(['order_3', 'order_7']);
});

describe('while another run has the lease', () => {
  /** A database whose lease is free after so many attempts. It counts the attempts. */
  const leased = (refusals: number) => {
    const database = { ...due({ payments: 1 }), attempts: 0 };
    database.beginReconciliation = () => Promise.resolve({ began: database.attempts++ >= refusals });
    return database;
  };

  test('a call waits, and reconciles after it', async () => {
    const database = leased(5);
    expect(await withFakeClock(() => reconcile(database, answers))).toEqual({ asked: 1, applied: 1, unanswered: 0 });
  });

  test('for more than 20 s, a call ends without a read', async () => {
    const database = leased(Infinity);
    const report = await withFakeClock(() => reconcile(database, answers));
    expect(report).toEqual({ asked: 0, applied: 0, unanswered: 0 });
    expect(database.attempts).toBe(21);
    expect(database.applied).toEqual([]);
  });

  test('the wait counts as time of the run', async () => {
    const { beginReconciliation } = leased(15);
    const startedAt: number[] = [];
    const listOrderPayments: GatewayReads['listOrderPayments'] = (id) => {
      startedAt.push(performance.now());
      return slow(1000)(id);
    };
    const many = { ...due({ payments: 1000 }), beginReconciliation };
    await withFakeClock(() => reconcile(many, { ...answers, listOrderPayments }));
    // 39 of the 54 seconds are left: ten rounds of 20 reads, which take four seconds each.
    expect(startedAt).toHaveLength(200);
  });
});
