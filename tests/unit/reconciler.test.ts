import { beforeEach, describe, expect, test, vi } from 'vitest';
import { DatabaseError } from '../../supabase/functions/api/database/rpc.ts';
import type { ReconcileDatabase } from '../../supabase/functions/api/ports.ts';
import { createRateLimit, type GatewayReads, limitRate } from '../../supabase/functions/api/gateway/rate-limit.ts';
import { reconcileAll } from '../../supabase/functions/api/gateway/reconciler.ts';

type Due = {
  readonly payments?: number;
  readonly subscriptions?: number;
  readonly fails?: (id: string) => boolean;
  readonly lacks_payment?: boolean;
};

/** A database in which payments and subscriptions are due. It records the applied answers, and fails for some ids. */
function due({ fails = () => false, lacks_payment = false, ...counts }: Due) {
  const left = { payments: 0, subscriptions: 0, ...counts };
  const applied: unknown[] = [];
  const claim = (kind: keyof typeof left) => {
    const count = Math.min(left[kind], 20);
    left[kind] -= count;
    return Array.from({ length: count }, (_, index) => String(index));
  };
  const subscriptionOf = (id: string) => ({ id, gateway_subscription_id: `sub_${id}` });
  const store = <T>(result: T, ...answer: unknown[]) => (applied.push(answer), Promise.resolve(result));
  const locked = () => Promise.reject(new DatabaseError('apply', '55P03'));
  const database: ReconcileDatabase & { applied: unknown[]; finished: number } = {
    applied,
    finished: 0,
    beginReconciliation: () => Promise.resolve({ began: true }),
    endReconciliation(_, isDone) {
      this.finished += Number(isDone);
      return Promise.resolve();
    },
    claimPaymentsToReconcile: () =>
      Promise.resolve({
        settled: 0,
        payments: claim('payments').map((id) => ({ id, order_id: `order_${id}`, amount: 99900 })),
      }),
    claimSubscriptionsToReconcile: () =>
      Promise.resolve({ settled: 0, subscriptions: claim('subscriptions').map(subscriptionOf) }),
    claimStatementPages: () => Promise.resolve({ pages: [], newest: null }),
    applyStatementPage: () => Promise.resolve({ news: [] }),
    claimSettlementPages: () => Promise.resolve({ pages: [] }),
    applySettlementPage: () => Promise.resolve({ is_complete: false }),
    applyStatementItem: () => Promise.resolve({ applied: false, subscriptions: [] }),
    applyInvoices: (id, items) => store({ applied: items?.length ?? 0 }, id, items),
    applyOrderPayments: (id, items) =>
      fails(id) ? locked() : store({ applied: items?.length ?? 0, ended: false }, id, items),
    applyGatewaySubscription(id, entity) {
      // Throws synchronously, as a bug would.
      if (fails(id)) throw new TypeError('bug');
      return store({ applied: entity !== null, lacks_payment }, id, entity);
    },
  };
  return database;
}

const all = (status: 'unanswered' | 'unknown'): GatewayReads => {
  const read = () => Promise.resolve({ status });
  return {
    hasModeOf: () => true,
    now: () => null,
    listOrderPayments: read,
    listRefunds: read,
    listInvoices: read,
    listCreated: read,
    listSettlementLines: read,
    readInvoice: read,
    readOrder: read,
    readPayment: read,
    readSubscription: read,
  };
};
const nothing = all('unanswered');
const answers: GatewayReads = {
  hasModeOf: () => true,
  now: () => null,
  listOrderPayments: () => Promise.resolve({ status: 'found', value: [{ id: 'pay_A' }] }),
  listRefunds: () => Promise.reject(new Error('nothing was refunded')),
  listInvoices: () => Promise.reject(new Error('every payment is known')),
  listCreated: () => Promise.reject(new Error('no page is due')),
  listSettlementLines: () => Promise.reject(new Error('no settlement lacks lines')),
  readInvoice: () => Promise.reject(new Error('no cycle is new')),
  readOrder: () => Promise.reject(new Error('no payment has another amount')),
  readPayment: () => Promise.reject(new Error('no page is due')),
  readSubscription: () => Promise.resolve({ status: 'found', value: { status: 'active' } }),
};
/** The gateway, with another answer for the payments of an order. */
const listing = (listOrderPayments: GatewayReads['listOrderPayments']): GatewayReads => ({
  ...answers,
  listOrderPayments,
});
/** An answer that takes this long. */
const slow = (milliseconds: number): GatewayReads['listOrderPayments'] => () =>
  new Promise((resolve) => void setTimeout(resolve, milliseconds, { status: 'found', value: [{ id: 'pay_A' }] }));

const faults: unknown[] = [];
beforeEach(() => {
  faults.length = 0;
});
const reconcile = (database: ReconcileDatabase, gateway = answers) =>
  reconcileAll(database, gateway, (error) => faults.push(error));

/** Reconciles while the clock of the timers advances, not the machine's. */
async function reconcileWithFakeClock(database: ReconcileDatabase, gateway: () => GatewayReads = () => answers) {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  try {
    const result = reconcile(database, gateway());
    await vi.advanceTimersByTimeAsync(120_000);
    return await result;
  } finally {
    vi.useRealTimers();
  }
}

test('the pages of a list are read one after the other in one run, also while nothing else is left', async () => {
  const page = { list: 'payments', pass: 'new', from: 0, to: 1 } as const;
  const database = due({});
  let [skip, isLeased] = [0, false];
  database.claimStatementPages = () => {
    const pages = isLeased || skip >= 300 ? [] : [{ ...page, skip }];
    isLeased = true;
    return Promise.resolve({ pages, newest: null });
  };
  database.applyStatementPage = () => {
    [skip, isLeased] = [skip + 100, false];
    return Promise.resolve({ news: [] });
  };
  const listCreated: GatewayReads['listCreated'] = () =>
    new Promise((resolve) => void setTimeout(resolve, 10, { status: 'found', value: [] }));
  expect(await reconcileWithFakeClock(database, () => ({ ...answers, listCreated }))).toEqual({
    asked: 3,
    applied: 0,
    unanswered: 0,
  });
  expect({ skip, finished: database.finished }).toEqual({ skip: 300, finished: 1 });
});

test('the lists are not read with the key of another account, which does not know the newest payment: it is asked once', async () => {
  const asked: string[] = [];
  const read = async (status: 'unknown' | 'unanswered' | 'found', isOfMode = true) => {
    const database = due({});
    let skip = 0;
    database.claimStatementPages = () => {
      const pages = skip < 300 ? [{ list: 'payments', pass: 'new', from: 0, to: 1, skip } as const] : [];
      skip += 100;
      return Promise.resolve({ pages, newest: { payment: 'pay_newest', key: 'key' } });
    };
    const readPayment: GatewayReads['readPayment'] = (id) => {
      asked.push(id);
      return Promise.resolve(status === 'found' ? { status, value: {} } : { status });
    };
    const listCreated: GatewayReads['listCreated'] = () => Promise.resolve({ status: 'found', value: [] });
    return (await reconcile(database, { ...answers, hasModeOf: () => isOfMode, readPayment, listCreated })).asked;
  };
  expect([await read('unknown'), await read('unanswered'), await read('found')]).toEqual([0, 3, 3]);
  expect(asked).toEqual(['pay_newest', 'pay_newest', 'pay_newest']);
  // The tests before the first real payment.
  expect(await read('unknown', false)).toBe(3);
});

test('the next page of a list is read, also where a claim from before the last one finds nothing', async () => {
  const page = { list: 'payments', pass: 'new', from: 0, to: 1 } as const;
  const database = due({});
  let [skip, isLeased] = [0, false];
  const applied = Promise.withResolvers<void>();
  database.claimStatementPages = async () => {
    const pages = isLeased || skip >= 200 ? [] : [{ ...page, skip }];
    // The answer of the first claim that finds nothing is under way while the page is applied.
    if (isLeased) await applied.promise;
    else isLeased = pages.length > 0;
    return { pages, newest: null };
  };
  database.applyStatementPage = () => {
    [skip, isLeased] = [skip + 100, false];
    setTimeout(applied.resolve, 10);
    return Promise.resolve({ news: [] });
  };
  const listCreated: GatewayReads['listCreated'] = () =>
    new Promise((resolve) => void setTimeout(resolve, 10, { status: 'found', value: [] }));
  await reconcileWithFakeClock(database, () => ({ ...answers, listCreated }));
  expect(skip).toBe(200);
});

const refunded = listing(() => Promise.resolve({ status: 'found', value: [{ id: 'pay_A', status: 'refunded' }] }));
const invoices = [{ id: 'inv_A', payment_id: 'pay_A', status: 'paid' }];
const active = { status: 'active' };

test.each<[string, Due, GatewayReads, report: number[], applied: unknown[]]>([
  [
    'an unknown order or subscription is applied as null',
    { payments: 1, subscriptions: 1 },
    all('unknown'),
    [2, 0, 0],
    [['0', null], ['0', null]],
  ],
  [
    'an order whose refunds get no answer is not applied',
    { payments: 1 },
    { ...refunded, listRefunds: nothing.listRefunds },
    [1, 0, 1],
    [],
  ],
  [
    'the invoices of a subscription are read if the payment of a cycle is not known',
    { subscriptions: 1, lacks_payment: true },
    { ...answers, listInvoices: () => Promise.resolve({ status: 'found', value: invoices }) },
    [1, 2, 0],
    [['0', active], ['sub_0', invoices]],
  ],
  [
    'a subscription whose invoices get no answer is read again',
    { subscriptions: 1, lacks_payment: true },
    { ...answers, listInvoices: nothing.listInvoices },
    [1, 0, 1],
    [['0', active], ['0', active]],
  ],
])('%s', async (_, records, gateway, [asked, applied, unanswered], stored) => {
  const database = due(records);
  expect(await reconcile(database, gateway)).toEqual({ asked, applied, unanswered });
  expect(database.applied).toEqual(stored);
});

test('everything that is due is reconciled, batch after batch, and the run is stored as finished', async () => {
  const database = due({ payments: 45, subscriptions: 21 });
  expect(await reconcile(database)).toEqual({ asked: 66, applied: 66, unanswered: 0 });
  expect([database.applied.length, database.finished, faults]).toEqual([66, 1, []]);
});

test.each<[string, Due, GatewayReads]>([
  ['a read without an answer', { payments: 1 }, nothing],
  ['an answer that is not applied', { payments: 1, fails: () => true }, answers],
])('a run with %s is not stored as finished', async (_, records, gateway) => {
  const database = due(records);
  await reconcile(database, gateway);
  expect(database.finished).toBe(0);
});

test('a read without an answer is repeated once, after the others of its round, and does not stop them', async () => {
  const read: string[] = [];
  const gateway = listing((id) => {
    read.push(id);
    const isBusy = id === 'order_3' || id === 'order_7' && read.filter((one) => one === id).length === 1;
    return isBusy ? nothing.listOrderPayments(id) : answers.listOrderPayments(id);
  });
  expect(await reconcile(due({ payments: 10 }), gateway)).toEqual({ asked: 10, applied: 9, unanswered: 1 });
  expect(read.slice(10)).toEqual(['order_3', 'order_7']);
});

test('a gateway that answers nothing gets fewer than ten calls; failures that are not in a row do not end the run', async () => {
  const database = due({ payments: 100 });
  const { asked, unanswered } = await reconcile(database, nothing);
  expect(asked).toBeLessThan(10);
  expect({ unanswered, applied: database.applied, faults }).toEqual({ unanswered: asked, applied: [], faults: [] });
  let calls = 0;
  const gateway = listing((id) => (++calls % 3 === 0 ? answers : nothing).listOrderPayments(id));
  expect((await reconcile(due({ payments: 90 }), gateway)).asked).toBe(90);
});

test('answers that cannot be applied are logged once each and do not stop the others', async () => {
  const database = due({ payments: 45, subscriptions: 21, fails: (id) => Number(id) < 7 });
  // Batches of 20, 20 and 5 payments, of 20 and 1 subscriptions: five times seven of them, and one.
  expect(await reconcile(database)).toEqual({ asked: 66, applied: 66 - 27, unanswered: 27 });
  expect(faults.filter((fault) => fault instanceof DatabaseError)).toHaveLength(7 + 7 + 5);
  expect(faults.filter((fault) => fault instanceof TypeError)).toHaveLength(7 + 1);
});

test('a database that is down during the run ends it with the next claim', async () => {
  const down = new DatabaseError('claim', undefined);
  let isDown = false;
  const database = due({ payments: 100, fails: () => isDown });
  const { claimPaymentsToReconcile: claim } = database;
  database.claimPaymentsToReconcile = () => isDown ? Promise.reject(down) : claim();
  const gateway = listing((id) => {
    isDown ||= id === 'order_10';
    return answers.listOrderPayments(id);
  });
  await expect(reconcile(database, gateway)).rejects.toBe(down);
  expect(faults.length).toBeGreaterThan(0);
  expect(database.applied.length + faults.length).toBe(20);
});

describe('the time of a run:', () => {
  test('five reads run at once, and after 58 s none starts, also within a batch; the run is stored as finished', async () => {
    const database = due({ payments: 200 });
    expect(await reconcileWithFakeClock(database, () => listing(slow(9_000))))
      .toEqual({ asked: 35, applied: 35, unanswered: 0 });
    expect(database.finished).toBe(1);
  });

  test('at ten calls a second payments and subscriptions each get a half of a run', async () => {
    const calls = { payments: 0, subscriptions: 0 };
    const gateway = {
      ...answers,
      listOrderPayments: (id: string) => (calls.payments += 1, slow(100)(id)),
      readSubscription: (id: string) => (calls.subscriptions += 1, answers.readSubscription(id)),
    };
    const database = due({ payments: 10_000, subscriptions: 10_000 });
    await reconcileWithFakeClock(database, () => limitRate(gateway, createRateLimit(10)));
    // The last round is not complete: no call of it is due before the time is over.
    expect(calls).toEqual({ payments: 280, subscriptions: 280 });
  });

  test('after 54 s no round is claimed, and the last one is read to its end', async () => {
    const gateway = () => limitRate(listing(slow(100)), createRateLimit(10));
    const { asked, applied } = await reconcileWithFakeClock(due({ payments: 10_000 }), gateway);
    // A round of 20 takes two seconds. The 28th is claimed while the last reads of the 27th wait for their call.
    expect([asked, applied]).toEqual([28 * 20, 28 * 20]);
  });

  test('while the last answers of a round are open, the next round starts', async () => {
    const opened: number[] = [];
    const gateway = listing((id) => (opened.push(performance.now()), slow(id === 'order_19' ? 10_000 : 100)(id)));
    await reconcileWithFakeClock(due({ payments: 40 }), () => gateway);
    expect(opened.filter((at) => at - (opened[0] ?? 0) < 2_000)).toHaveLength(40);
  });

  test('what needed no call of the gateway is no end: the next round is claimed', async () => {
    const database = due({ subscriptions: 20 });
    const { claimSubscriptionsToReconcile: claim } = database;
    let renewed = 3;
    database.claimSubscriptionsToReconcile = () =>
      renewed-- > 0 ? Promise.resolve({ settled: 200, subscriptions: [] }) : claim();
    expect(await reconcile(database)).toEqual({ asked: 20, applied: 20, unanswered: 0 });
  });
});

describe('while another run has the lease', () => {
  /** A database whose lease is free after so many attempts. It counts the attempts. */
  const leased = (refusals: number, payments = 1) => {
    const database = { ...due({ payments }), attempts: 0 };
    database.beginReconciliation = () => Promise.resolve({ began: database.attempts++ >= refusals });
    return database;
  };

  test('a call waits, and reconciles after it; for more than 20 s, it ends without a read', async () => {
    expect(await reconcileWithFakeClock(leased(5))).toMatchObject({ asked: 1, applied: 1 });
    const database = leased(Infinity);
    expect(await reconcileWithFakeClock(database)).toMatchObject({ asked: 0, applied: 0 });
    expect(database.attempts).toBe(21);
  });

  test('the wait counts as time of the run', async () => {
    // 39 of the 54 seconds are left: ten rounds of 20 reads, which take four seconds each.
    expect(await reconcileWithFakeClock(leased(15, 1000), () => listing(slow(1000)))).toMatchObject({ asked: 200 });
  });
});
