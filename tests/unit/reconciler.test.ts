import { expect, test } from 'vitest';
import type { Gateway, ReconcileDatabase } from '../../supabase/functions/api/ports.ts';
import { reconcileAll } from '../../supabase/functions/api/reconciler.ts';

type Asked = Pick<Gateway, 'listOrderPayments' | 'readSubscription'>;

/** A database in which so many payments and subscriptions are due, and what was applied to it. */
function due({ payments = 0, subscriptions = 0 }): ReconcileDatabase & { applied: unknown[] } {
  const applied: unknown[] = [];
  let [waiting, billed] = [payments, subscriptions];
  const take = (count: number) => Array.from({ length: Math.min(count, 20) }, (_, index) => String(index));
  return {
    applied,
    claimPaymentsToReconcile() {
      const claimed = take(waiting);
      waiting -= claimed.length;
      return Promise.resolve({ settled: 0, payments: claimed.map((id) => ({ id, orderId: `order_${id}` })) });
    },
    claimSubscriptionsToReconcile() {
      const claimed = take(billed);
      billed -= claimed.length;
      return Promise.resolve(claimed.map((id) => ({ id, gatewaySubscriptionId: `sub_${id}` })));
    },
    applyOrderPayments(id, items) {
      applied.push([id, items]);
      return Promise.resolve({ applied: items?.length ?? 0, ended: false });
    },
    applyGatewaySubscription(subscription, entity) {
      applied.push([subscription.id, entity]);
      return Promise.resolve({ applied: entity !== null });
    },
  };
}

const answers: Asked = {
  listOrderPayments: () => Promise.resolve({ status: 'found', value: [{ id: 'pay_A' }] }),
  readSubscription: () => Promise.resolve({ status: 'found', value: { status: 'active' } }),
};
const nothing: Asked = {
  listOrderPayments: () => Promise.resolve({ status: 'unanswered' }),
  readSubscription: () => Promise.resolve({ status: 'unanswered' }),
};
const unknown: Asked = {
  listOrderPayments: () => Promise.resolve({ status: 'unknown' }),
  readSubscription: () => Promise.resolve({ status: 'unknown' }),
};

test('it asks about everything that is due, batch after batch', async () => {
  const database = due({ payments: 45, subscriptions: 21 });
  expect(await reconcileAll(database, answers)).toEqual({ asked: 66, applied: 66, unanswered: 0 });
  expect(database.applied).toHaveLength(66);
});

test('it asks about at most five at once', async () => {
  let [open, most] = [0, 0];
  const listOrderPayments: Asked['listOrderPayments'] = async () => {
    most = Math.max(most, ++open);
    await Promise.resolve();
    open -= 1;
    return { status: 'found', value: [] };
  };
  await reconcileAll(due({ payments: 40 }), { ...answers, listOrderPayments });
  expect(most).toBe(5);
});

test('what the gateway does not know is applied as that', async () => {
  const database = due({ payments: 1, subscriptions: 1 });
  expect(await reconcileAll(database, unknown)).toEqual({ asked: 2, applied: 0, unanswered: 0 });
  expect(database.applied).toEqual([['0', null], ['0', null]]);
});

test('one order that gets no answer holds up no other', async () => {
  const listOrderPayments: Asked['listOrderPayments'] = (id) =>
    id === 'order_0' ? nothing.listOrderPayments(id) : answers.listOrderPayments(id);
  const database = due({ payments: 10 });
  const report = await reconcileAll(database, { ...answers, listOrderPayments });
  expect(report).toEqual({ asked: 10, applied: 9, unanswered: 1 });
});

test('a gateway that is away is left alone after a few questions', async () => {
  const database = due({ payments: 100 });
  const { asked, unanswered } = await reconcileAll(database, nothing);
  expect(asked).toBeLessThan(10);
  expect(unanswered).toBe(asked);
  expect(database.applied).toEqual([]);
});
