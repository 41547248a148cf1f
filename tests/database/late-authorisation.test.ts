import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest';
import { type EarlyRenewal, setEarlyRenewal } from '../helpers/database/early-renewal.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver, sha256 } from '../helpers/gateway/deliver.ts';
import { orderPaid, paymentCaptured, paymentFailed } from '../helpers/gateway/events.ts';
import { mailsTo, paymentOf, placeOrder, readPurchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { readLedger, readPayment, readTier } from '../helpers/records/read-records.ts';
import { createPayment, createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  // One capture has another amount than its order, and one renewal replaces a running period.
  database = await createTestDatabase({ findings: { failed_events: 1, paid_twice: 1 } });
  service = await openSession(database, { role: 'service_role' });
});
afterAll(() => database.close());

describe.each([['the same payment id', true], ['another payment id', false]])(
  'failed, then captured with %s',
  (_, same) => {
    test.each(['basic', 'pro', 'premium'])(
      'fulfils %s, with a mail for each event',
      async (tier) => {
        const order = await placeOrder(database, { tier });
        const attempt = same ? order.paymentId : uniqueId('pay');
        expect(await deliver(service, paymentFailed({ id: attempt, order_id: order.orderId }))).toBe('applied');
        expect(await deliver(service, paymentCaptured(paymentOf(order)))).toBe(
          'applied',
        );
        expect(await readPurchase(database, order)).toEqual({
          status: 'captured',
          paymentId: order.paymentId,
          isFulfilled: true,
          subscription: { tier, status: 'active' },
          tier,
          mails: [`payment-failed/${attempt}`, `payment-success/${order.id}`],
        });
      },
    );

    test('then failed again: the payment stays captured', async () => {
      const order = await placeOrder(database);
      const attempt = same ? order.paymentId : uniqueId('pay');
      await deliver(service, paymentFailed({ id: attempt, order_id: order.orderId }));
      await deliver(service, paymentCaptured(paymentOf(order)));
      const before = await readPurchase(database, order);
      expect(await deliver(service, paymentFailed({ id: attempt, order_id: order.orderId }))).toBe('stale');
      expect(await readPurchase(database, order)).toEqual(before);
    });
  },
);

/** Delivers events before their order is known. */
async function early(bodies: readonly string[]): Promise<void> {
  for (const body of bodies) expect(await deliver(service, body)).toBe('unmatched');
}

describe('events that arrive before their order', () => {
  test.each([[['captured']], [['failed', 'captured']], [['captured', 'failed']]])(
    '%j are applied when the app inserts the order',
    async (names) => {
      const user = await createUser(database);
      const money = { id: uniqueId('pay'), order_id: uniqueId('order') };
      const bodies = names.map((name) =>
        name === 'captured' ? paymentCaptured(money) : paymentFailed({ ...money, id: 'pay_other' })
      );
      await early(bodies);
      const { id } = await createPayment(database, { userId: user.id, orderId: money.order_id });
      expect(await readPayment(database, id)).toMatchObject({
        status: 'captured',
        tier: 'pro',
        gateway_payment_id: money.id,
        fulfilled_at: expect.any(Date),
      });
      expect(await readTier(database, user.id)).toBe('pro');
      expect((await mailsTo(database, user)).filter((key) => key === `payment-success/${id}`)).toHaveLength(1);
      for (const body of bodies) {
        expect((await readLedger(database, sha256(body))).outcome).toMatch(/^(applied|stale)$/);
      }
    },
  );

  test('are applied when the app inserts the order as the service role, which has no other right that it needs', async () => {
    const user = await createUser(database);
    const money = { id: uniqueId('pay'), order_id: uniqueId('order') };
    await early([paymentCaptured(money)]);
    await service.query(
      `insert into public.payments (user_id, amount, gateway_order_id, meta) values ($1, 99900, $2, '{"tier": "pro"}')`,
      [user.id, money.order_id],
    );
    expect(await readTier(database, user.id)).toBe('pro');
  });

  test('are applied when the order id is written to a payment', async () => {
    const order = await placeOrder(database);
    await database.query('update public.payments set gateway_order_id = null where id = $1', [order.id]);
    const money = paymentOf(order);
    await early([paymentFailed(money), paymentCaptured(money)]);
    await database.query('update public.payments set gateway_order_id = $2 where id = $1', [order.id, order.orderId]);
    expect(await readPurchase(database, order)).toMatchObject({ isFulfilled: true, tier: 'pro' });
  });

  test('are applied by store_order, once', async () => {
    const user = await createUser(database);
    const { payment_id: id } = await callRpc(service, 'create_order', user.id, 'pro');
    const money = { id: uniqueId('pay'), order_id: uniqueId('order') };
    await early([paymentCaptured(money)]);
    for (let time = 0; time < 2; time++) {
      expect(await callRpc(service, 'store_order', id, money.order_id)).toEqual({ outcome: 'stored' });
    }
    expect(await readPayment(database, String(id))).toMatchObject({ status: 'captured', gateway_payment_id: money.id });
    expect(await mailsTo(database, user)).toEqual([`payment-success/${id}`]);
  });

  test('are applied when order.paid matches the order by its receipt', async () => {
    const order = await placeOrder(database);
    await database.query('update public.payments set gateway_order_id = null where id = $1', [order.id]);
    const money = paymentOf(order);
    const [late, attempt] = [paymentCaptured(money), paymentFailed({ ...money, id: uniqueId('pay') })];
    await early([attempt, late]);
    const receipt = order.id.replaceAll('-', '');
    expect(await deliver(service, orderPaid(money, { id: order.orderId, receipt }))).toBe('applied');
    expect(await readLedger(database, sha256(late))).toMatchObject({ outcome: 'already' });
    expect(await readLedger(database, sha256(attempt))).toMatchObject({ outcome: 'stale' });
    expect(await readPurchase(database, order)).toMatchObject({ tier: 'pro', mails: [`payment-success/${order.id}`] });
  });

  test('of another amount become a mismatch: the insert succeeds and grants nothing', async () => {
    const user = await createUser(database);
    const money = { id: uniqueId('pay'), order_id: uniqueId('order'), amount: 1 };
    const body = paymentCaptured(money);
    await early([body]);
    const { id } = await createPayment(database, { userId: user.id, orderId: money.order_id });
    expect(await readPayment(database, id)).toMatchObject({ status: 'created' });
    expect(await readLedger(database, sha256(body))).toMatchObject({ outcome: 'mismatch' });
  });

  test.each<[EarlyRenewal, EarlyRenewal]>([['replace', 'extend'], ['extend', 'replace']])(
    'that arrive under the setting %s and are applied under %s follow the second',
    async (arrived, applied) => {
      onTestFinished(() => setEarlyRenewal(database, 'replace'));
      const first = await placeOrder(database);
      await verifyPurchase(service, first);
      const { payment_id: id } = await callRpc(service, 'create_order', first.user.id, 'pro');
      const money = { id: uniqueId('pay'), order_id: uniqueId('order') };
      await setEarlyRenewal(database, arrived);
      await early([paymentCaptured(money)]);
      await setEarlyRenewal(database, applied);
      await callRpc(service, 'store_order', id, money.order_id);
      const [running, renewal] = [await readPayment(database, first.id), await readPayment(database, String(id))];
      expect(renewal).toMatchObject({ status: 'captured', fulfilled_at: expect.any(Date) });
      expect(renewal.period_start).toEqual(applied === 'extend' ? running.period_end : renewal.fulfilled_at);
    },
  );
});
