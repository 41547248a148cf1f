import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { paymentCaptured, paymentFailed } from '../helpers/gateway/events.ts';
import { readOutbox, readPayment, readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createPayment, createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  // One capture has no amount. It grants nothing. Contract: payment.captured needs only payment.entity.id (Fields that
  // an event needs).
  database = await createTestDatabase({ findings: { captured_not_fulfilled: 1 } });
  service = await openSession(database, { role: 'service_role' });
});
afterAll(() => database.close());

async function order(meta: unknown = { tier: 'pro' }) {
  const user = await createUser(database);
  const payment = await createPayment(database, { userId: user.id, meta });
  return { user, ...payment, paymentId: uniqueId('pay') };
}

const verify = (userId: string, orderId: string, paymentId: string) =>
  callRpc(service, 'verify_payment', userId, orderId, paymentId, 'signature');

describe('payment.captured', () => {
  test('confirms a verified payment once, and grants nothing again', async () => {
    const { user, id, orderId, paymentId } = await order();
    await verify(user.id, orderId, paymentId);
    const subscription = await readSubscription(database, user.id);
    const captured = (at: string) =>
      deliver(service, paymentCaptured({ id: paymentId, amount: undefined }, { createdAt: at }));
    expect(await captured('2026-01-01T00:00:00Z')).toBe('applied');
    const { confirmed_at } = await readPayment(database, id);
    expect(confirmed_at).toBeInstanceOf(Date);
    expect(await captured('2026-01-01T00:00:01Z')).toBe('already');
    expect(await readPayment(database, id)).toMatchObject({ confirmed_at });
    expect(await readSubscription(database, user.id)).toEqual(subscription);
    expect(await readOutbox(database, 'email', user.email)).toHaveLength(1);
  });

  test('without an amount captures a failed payment of that id and grants nothing', async () => {
    const { user, id, paymentId } = await order();
    await database.query("update public.payments set status = 'failed', gateway_payment_id = $2 where id = $1", [
      id,
      paymentId,
    ]);
    expect(await deliver(service, paymentCaptured({ id: paymentId, amount: undefined }))).toBe('applied');
    expect(await readPayment(database, id)).toMatchObject({ status: 'captured', fulfilled_at: null });
    expect(await readTier(database, user.id)).toBe('free');
  });

  test('of an unknown payment without an amount changes nothing, whatever order it names', async () => {
    const { user, id, orderId, paymentId } = await order();
    const entity = { id: paymentId, order_id: orderId, amount: undefined, notes: { user_id: user.id } };
    expect(await deliver(service, paymentCaptured(entity))).toBe('unmatched');
    expect(await readPayment(database, id)).toMatchObject({ status: 'created', gateway_payment_id: null });
    expect(await readTier(database, user.id)).toBe('free');
  });

  test.each([undefined, null, 7, {}])('with id %j is ignored', async (id) => {
    await order();
    const { created } = await database.one(
      "select count(*)::int as created from public.payments where status = 'created'",
    );
    expect(await deliver(service, paymentCaptured({ id }))).toBe('ignored: payment.entity.id');
    const after = await database.one("select count(*)::int as created from public.payments where status = 'created'");
    expect(after).toEqual({ created });
  });

  test('of a deleted user is recorded', async () => {
    const { user, id, orderId, paymentId } = await order();
    await verify(user.id, orderId, paymentId);
    await database.query('delete from auth.users where id = $1', [user.id]);
    expect(await deliver(service, paymentCaptured({ id: paymentId, amount: undefined }))).toBe('applied');
    const { confirmed_at } = await readPayment(database, id);
    expect(confirmed_at).toBeInstanceOf(Date);
  });
});

describe('payment.failed', () => {
  const error = { error_code: 'BAD_REQUEST_ERROR', error_description: 'Declined', error_reason: 'payment_failed' };

  test('marks the payment, keeps the tier and replaces meta by the three error fields', async () => {
    const { id, orderId, paymentId } = await order({ tier: 'premium', coupon: 'X' });
    expect(await deliver(service, paymentFailed({ id: paymentId, order_id: orderId, ...error }))).toBe(
      'applied',
    );
    expect(await readPayment(database, id)).toMatchObject({
      status: 'failed',
      tier: 'premium',
      gateway_payment_id: null,
    });
    expect((await readPayment(database, id)).meta).toEqual(error);
  });

  test('stores absent error fields as null and other values unchanged', async () => {
    const { id, orderId } = await order();
    const errors = { error_code: 42, error_description: undefined, error_reason: ['a', null] };
    await deliver(service, paymentFailed({ id: undefined, order_id: orderId, ...errors }));
    expect((await readPayment(database, id)).meta).toEqual({
      error_code: 42,
      error_description: null,
      error_reason: ['a', null],
    });
  });

  test('enqueues one mail per attempt, with all its data', async () => {
    const { user, id, orderId, paymentId } = await order();
    await database.query("update public.profiles set display_name = 'Asha' where user_id = $1", [user.id]);
    const attempt = (attemptId: string, at: string) =>
      deliver(service, paymentFailed({ id: attemptId, order_id: orderId, ...error }, { createdAt: at }));
    const second = uniqueId('pay');
    await attempt(paymentId, '2026-01-01T00:00:00Z');
    await attempt(paymentId, '2026-01-01T00:00:09Z');
    await attempt(second, '2026-01-01T00:01:00Z');
    const payload = {
      to: user.email,
      display_name: 'Asha',
      tier: 'pro',
      amount: 99900,
      currency: 'INR',
      reason: 'Declined',
    };
    expect(await readOutbox(database, 'email', user.email)).toEqual([
      { key: `payment-failed/${paymentId}`, kind: 'payment-failed', payload },
      { key: `payment-failed/${second}`, kind: 'payment-failed', payload },
    ]);
    expect(await readPayment(database, id)).toMatchObject({ status: 'failed', tier: 'pro' });
  });

  test('of attempts without an id enqueues one mail per body', async () => {
    const { user, orderId } = await order();
    const bodies = ['A', 'B'].map((error_code) => paymentFailed({ id: undefined, order_id: orderId, error_code }));
    for (const body of [...bodies, ...bodies]) await deliver(service, body);
    expect(await readOutbox(database, 'email', user.email)).toHaveLength(2);
  });

  test.each<[unknown, unknown]>([
    [{}, 'basic'],
    [{ tier: '' }, 'basic'],
    [{ tier: 'team' }, 'team'],
    [null, 'basic'],
    [[], 'basic'],
  ])('with meta %j names the tier %j in the mail', async (meta, tier) => {
    const { user, orderId, paymentId } = await order(meta);
    await deliver(service, paymentFailed({ id: paymentId, order_id: orderId, error_description: undefined }));
    const [mail] = await readOutbox(database, 'email', user.email);
    expect(mail?.payload).toMatchObject({ tier, reason: null });
  });

  test.each<[string, string]>([
    ['no address', 'update auth.users set email = null where id = $1'],
    ['an empty address', "update auth.users set email = '' where id = $1"],
    ['no profile', 'delete from public.profiles where user_id = $1'],
    ['no account any more', 'delete from auth.users where id = $1'],
  ])('for a user with %s fails the payment without a mail', async (_, sql) => {
    const { user, id, orderId, paymentId } = await order();
    await database.query(sql, [user.id]);
    expect(await deliver(service, paymentFailed({ id: paymentId, order_id: orderId }))).toBe('applied');
    expect(await readPayment(database, id)).toMatchObject({ status: 'failed' });
    expect(await database.query('select from billing.outbox where key = $1', [`payment-failed/${paymentId}`])).toEqual(
      [],
    );
  });

  test('after the order was captured, by this or another attempt, changes nothing and enqueues no mail', async () => {
    const { user, id, orderId, paymentId } = await order();
    await verify(user.id, orderId, paymentId);
    const before = await readPayment(database, id);
    for (const attempt of [paymentId, uniqueId('pay')]) {
      expect(await deliver(service, paymentFailed({ id: attempt, order_id: orderId, ...error }))).toBe(
        'stale',
      );
    }
    expect(await readPayment(database, id)).toEqual(before);
    expect(await readTier(database, user.id)).toBe('pro');
    expect(await readOutbox(database, 'email', user.email)).toHaveLength(1);
  });

  test('before a successful attempt on the same order leaves the tier that was bought', async () => {
    const { user, id, orderId, paymentId } = await order({ tier: 'premium' });
    await deliver(service, paymentFailed({ id: uniqueId('pay'), order_id: orderId, ...error }));
    expect(await verify(user.id, orderId, paymentId)).toMatchObject({ outcome: 'applied', tier: 'premium' });
    expect(await readPayment(database, id)).toMatchObject({ status: 'captured', gateway_payment_id: paymentId });
    expect(await readOutbox(database, 'email', user.email)).toMatchObject([
      { kind: 'payment-failed' },
      { kind: 'payment-success' },
    ]);
  });

  test.each([undefined, null, 7, []])(
    'with order id %j is ignored: no payment without an order changes',
    async (orderId) => {
      const { id } = await order();
      await database.query('update public.payments set gateway_order_id = null where id = $1', [id]);
      const body = paymentFailed({ id: uniqueId('pay'), order_id: orderId });
      expect(await deliver(service, body)).toBe('ignored: payment.entity.order_id');
      expect(await readPayment(database, id)).toMatchObject({ status: 'created' });
    },
  );

  test('of an unknown order is unmatched', async () => {
    const body = paymentFailed({ id: uniqueId('pay'), order_id: uniqueId('order') });
    expect(await deliver(service, body)).toBe('unmatched');
  });

  test('is applied when it is delivered again after its order was stored', async () => {
    const orderId = uniqueId('order');
    const body = paymentFailed({ id: uniqueId('pay'), order_id: orderId });
    expect(await deliver(service, body)).toBe('unmatched');
    const user = await createUser(database);
    const { id } = await createPayment(database, { userId: user.id, orderId });
    expect(await deliver(service, body)).toBe('applied');
    expect(await readPayment(database, id)).toMatchObject({ status: 'failed' });
  });
});
