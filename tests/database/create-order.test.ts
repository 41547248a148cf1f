import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { setEarlyRenewal } from '../helpers/database/early-renewal.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { paymentCaptured, paymentFailed, refundEvent } from '../helpers/gateway/events.ts';
import { readPayment, readTier } from '../helpers/records/read-records.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  // One payment is captured by hand, without its order.
  database = await createTestDatabase({ findings: { captured_not_fulfilled: 1 } });
  service = await openSession(database, { role: 'service_role' });
});
const start = Date.parse('2026-06-01T00:00:00Z');
const later = (seconds: number) => setClock(database, new Date(start + seconds * 1000).toISOString());
beforeEach(() => later(0));
afterEach(async () => {
  await setClock(database, null);
  await database.query("update public.plans set is_active = true, price = 99900 where tier = 'pro'");
});
afterAll(() => database.close());

const create = (userId: string, tier = 'pro', key: string | null = null) =>
  callRpc(service, 'create_order', userId, tier, key);

/** Creates an order and stores the gateway's id for it. */
async function ordered(userId: string, tier = 'pro', key: string | null = null) {
  const created = await create(userId, tier, key);
  const [id, orderId] = [String(created.payment_id), uniqueId('order')];
  expect(created).toMatchObject({ outcome: 'created', order_id: null });
  expect(await callRpc(service, 'store_order', id, orderId)).toEqual({ outcome: 'stored' });
  return { id, orderId };
}

describe('a new order', () => {
  test('writes the payment before the call to the gateway, with the plan and its price', async () => {
    const { id: userId, email } = await createUser(database);
    const order = await create(userId);
    expect(order).toEqual({
      outcome: 'created',
      payment_id: expect.any(String),
      order_id: null,
      amount: 99900,
      currency: 'INR',
      plan: expect.objectContaining({ tier: 'pro', name: 'Pro', price: 99900, duration_months: 12 }),
      running: null,
      prefill: { email, name: email?.split('@')[0] },
    });
    expect(await readPayment(database, String(order.payment_id))).toMatchObject({
      user_id: userId,
      status: 'created',
      amount: '99900',
      currency: 'INR',
      tier: 'pro',
      plan_id: Object(order.plan).id,
      duration_months: 12,
      meta: { tier: 'pro' },
      gateway_order_id: null,
      gateway_payment_id: null,
      fulfilled_at: null,
    });
  });

  test.each([['unknown', 'select'], ['pro', "update public.plans set is_active = false where tier = 'pro'"]])(
    'of the tier %s, which is not on offer, is refused and writes nothing',
    async (tier, sql) => {
      const { id: userId } = await createUser(database);
      await database.query(sql);
      expect(await create(userId, tier)).toEqual({ outcome: 'plan_not_found' });
      expect(await database.query('select from public.payments where user_id = $1', [userId])).toEqual([]);
    },
  );

  test('of an unknown user is refused', async () => {
    expect(await create(crypto.randomUUID())).toEqual({ outcome: 'user_not_found' });
  });

  test('returns the running tier and its end, until it is cancelled or over', async () => {
    const [{ id: userId }, { id: cancelling }] = [await createUser(database), await createUser(database)];
    for (const id of [userId, cancelling]) {
      const basic = await ordered(id, 'basic');
      await deliver(service, paymentCaptured({ id: uniqueId('pay'), order_id: basic.orderId, amount: 9900 }));
    }
    const running = { tier: 'basic', until: '2026-07-01T00:00:00.000Z' };
    expect(await create(cancelling)).toMatchObject({ outcome: 'created', running });
    await callRpc(service, 'cancel_subscription', cancelling, false);
    expect(await create(cancelling, 'premium')).toMatchObject({ running: null });
    await later(30 * 86_400 - 1);
    expect(await create(userId)).toMatchObject({ running });
    await later(30 * 86_400);
    expect(await create(userId, 'premium')).toMatchObject({ running: null });
  });

  test.each(['replace', 'extend'] as const)(
    'under %s returns when the bought period would start, which is when it then starts',
    async (setting) => {
      await setEarlyRenewal(database, setting);
      onTestFinished(() => setEarlyRenewal(database, 'replace'));
      const [renewing, changing] = [await createUser(database), await createUser(database)];
      for (const { id } of [renewing, changing]) {
        const { orderId } = await ordered(id, 'basic');
        await deliver(service, paymentCaptured({ id: uniqueId('pay'), order_id: orderId, amount: 9900 }));
      }
      await later(86_400);
      const [now, end] = ['2026-06-02T00:00:00.000Z', '2026-07-01T00:00:00.000Z'];
      for (
        const [{ id: userId }, tier, startsAt] of [
          [renewing, 'basic', setting === 'extend' ? end : now],
          [changing, 'pro', now],
        ] as const
      ) {
        const { id, orderId } = await ordered(userId, tier);
        expect(await create(userId, tier)).toMatchObject({
          running: { tier: 'basic', until: end, early_renewal: setting, starts_at: startsAt },
        });
        await deliver(
          service,
          paymentCaptured({ id: uniqueId('pay'), order_id: orderId, amount: tier === 'pro' ? 99900 : 9900 }),
        );
        expect((await readPayment(database, id)).period_start).toEqual(new Date(startsAt));
      }
      // A second renewal starts where the first one ends.
      expect(await create(renewing.id, 'basic')).toMatchObject({
        running: setting === 'extend'
          ? { until: '2026-08-01T00:00:00.000Z', starts_at: '2026-08-01T00:00:00.000Z' }
          : { until: '2026-07-02T00:00:00.000Z', starts_at: now },
      });
    },
  );

  test.each([
    ['the display name', "display_name = 'Asha Rao', username = 'asha'", { name: 'Asha Rao' }],
    ['the username where there is no display name', "display_name = '', username = 'asha'", { name: 'asha' }],
    ['no name where the profile has none', "display_name = null, username = ''", { name: null }],
  ])('returns %s and the e-mail address for the checkout', async (_, profile, expected) => {
    const { id: userId, email } = await createUser(database);
    await database.query(`update public.profiles set ${profile} where user_id = $1`, [userId]);
    expect((await create(userId)).prefill).toEqual({ email, ...expected });
  });

  test.each([null, ''])(
    'of a user with the e-mail address %j and without a profile has nothing to fill in',
    async (email) => {
      const { id: userId } = await createUser(database, { email });
      await database.query('delete from public.profiles where user_id = $1', [userId]);
      expect((await create(userId)).prefill).toEqual({ email: null, name: null });
    },
  );

  test('is fulfilled by its capture', async () => {
    const { id: userId } = await createUser(database);
    const { orderId } = await ordered(userId);
    expect(await deliver(service, paymentCaptured({ id: uniqueId('pay'), order_id: orderId }))).toBe('applied');
    expect(await readTier(database, userId)).toBe('pro');
  });
});

describe('an open order', () => {
  test('is returned for 30 minutes; after that a new order is created', async () => {
    const { id: userId } = await createUser(database);
    const { id, orderId } = await ordered(userId);
    for (const seconds of [0, 60, 1799]) {
      await later(seconds);
      expect(await create(userId)).toMatchObject({ outcome: 'existing', payment_id: id, order_id: orderId });
    }
    await later(1800);
    const next = await create(userId);
    expect(next).toMatchObject({ outcome: 'created' });
    expect(next.payment_id).not.toBe(id);
  });

  test('is returned after an attempt on it failed', async () => {
    const { id: userId } = await createUser(database);
    const { id, orderId } = await ordered(userId);
    await deliver(service, paymentFailed({ id: uniqueId('pay'), order_id: orderId }));
    expect(await create(userId)).toMatchObject({ outcome: 'existing', payment_id: id });
  });

  test.each<[string, (orderId: string) => Promise<unknown>]>([
    ['paid', (order_id) => deliver(service, paymentCaptured({ id: uniqueId('pay'), order_id }))],
    [
      'paid and refunded before its capture arrived',
      (order_id) => deliver(service, refundEvent({ id: uniqueId('pay'), order_id }, 99900)),
    ],
  ])('that was %s is not open any more', async (_, pay) => {
    const { id: userId } = await createUser(database);
    const { orderId } = await ordered(userId);
    await pay(orderId);
    expect(await create(userId)).toMatchObject({ outcome: 'created' });
  });

  test('of another user, another tier or another price is not returned', async () => {
    const [{ id: userId }, { id: stranger }] = [await createUser(database), await createUser(database)];
    const { orderId } = await ordered(userId);
    expect(await create(stranger)).toMatchObject({ outcome: 'created' });
    expect(await create(userId, 'premium')).toMatchObject({ outcome: 'created', amount: 199900 });
    await database.query("update public.plans set price = 109900 where tier = 'pro'");
    expect(await create(userId)).toMatchObject({ outcome: 'created', amount: 109900 });
    // The old order still sells at the old price.
    expect(await deliver(service, paymentCaptured({ id: uniqueId('pay'), order_id: orderId }))).toBe('applied');
    expect(await readTier(database, userId)).toBe('pro');
  });

  test('without a gateway id is in flight for 30 seconds, and then abandoned', async () => {
    const { id: userId } = await createUser(database);
    await create(userId);
    await later(29);
    expect(await create(userId)).toEqual({ outcome: 'in_flight' });
    await later(30);
    expect(await create(userId)).toMatchObject({ outcome: 'created' });
  });
});

describe('an order of another API key id', () => {
  const createUnder = (userId: string, keyId: string | null, key: string | null = null) =>
    callRpc(service, 'create_order', userId, 'pro', key, keyId);

  test.each([null, 'key'])(
    'is not returned, since the gateway does not know it under this key (Idempotency-Key %j)',
    async (key) => {
      const { id: userId } = await createUser(database);
      const inTest = await createUnder(userId, 'key_test_1', key);
      await callRpc(service, 'store_order', inTest.payment_id, uniqueId('order'));
      expect(await createUnder(userId, 'key_test_1', key)).toMatchObject({
        outcome: 'existing',
        payment_id: inTest.payment_id,
      });
      await later(60);
      const live = await createUnder(userId, 'key_live_1', key);
      expect(live).toMatchObject({ outcome: 'created' });
      expect(live.payment_id).not.toBe(inTest.payment_id);
      await callRpc(service, 'store_order', live.payment_id, uniqueId('order'));
      expect(await createUnder(userId, 'key_live_1', key)).toMatchObject({
        outcome: 'existing',
        payment_id: live.payment_id,
      });
    },
  );
});

describe('an idempotency key', () => {
  test('is one of at most twenty of an order; a known key is still answered', async () => {
    const { id: userId } = await createUser(database);
    const { orderId } = await ordered(userId, 'pro', 'key 1');
    for (let count = 2; count <= 20; count += 1) {
      await later(count);
      expect(await create(userId, 'pro', `key ${count}`)).toMatchObject({ outcome: 'existing', order_id: orderId });
    }
    await later(60);
    expect(await create(userId, 'pro', 'key 21')).toEqual({ outcome: 'rate_limited', retry_after: 1740 });
    expect(await create(userId, 'pro', 'key 20')).toMatchObject({ outcome: 'existing', order_id: orderId });
    expect(await create(userId)).toMatchObject({ outcome: 'existing', order_id: orderId });
    await later(1800);
    expect(await create(userId, 'pro', 'key 21')).toMatchObject({ outcome: 'created' });
  });

  test('names its order for seven days, then another one, also of another tier', async () => {
    const { id: userId } = await createUser(database);
    const { id } = await ordered(userId, 'pro', 'key');
    await later(7 * 86400 - 1);
    expect(await create(userId, 'pro', 'key')).toMatchObject({ outcome: 'existing', payment_id: id });
    expect(await create(userId, 'premium', 'key')).toEqual({ outcome: 'key_conflict' });
    await later(7 * 86400);
    expect(await create(userId, 'premium', 'key')).toMatchObject({ outcome: 'created' });
  });

  test('repeated returns the same order at its price, after any time, paid or not on offer any more', async () => {
    const { id: userId } = await createUser(database);
    const { id, orderId } = await ordered(userId, 'pro', 'key');
    const same = { outcome: 'existing', payment_id: id, order_id: orderId, amount: 99900 };
    expect(await create(userId, 'pro', 'key')).toMatchObject(same);
    await later(7200);
    expect(await create(userId, 'pro', 'key')).toMatchObject(same);
    await database.query("update public.plans set price = 1, is_active = false where tier = 'pro'");
    expect(await create(userId, 'pro', 'key')).toMatchObject(same);
    await deliver(service, paymentCaptured({ id: uniqueId('pay'), order_id: orderId }));
    expect(await create(userId, 'pro', 'key')).toMatchObject(same);
  });

  test('with another tier is a conflict and writes nothing', async () => {
    const { id: userId } = await createUser(database);
    await ordered(userId, 'pro', 'key');
    for (const tier of ['premium', 'unknown']) {
      expect(await create(userId, tier, 'key')).toEqual({ outcome: 'key_conflict' });
    }
    expect(await database.query('select from public.payments where user_id = $1', [userId])).toHaveLength(1);
  });

  test('of another user is another key', async () => {
    const [{ id: userId }, { id: stranger }] = [await createUser(database), await createUser(database)];
    const { id } = await ordered(userId, 'pro', 'key');
    expect((await create(stranger, 'premium', 'key')).payment_id).not.toBe(id);
  });

  test('is in flight while its order has no id, and names a new order after 30 seconds', async () => {
    const { id: userId } = await createUser(database);
    await create(userId, 'pro', 'key');
    expect(await create(userId, 'pro', 'key')).toEqual({ outcome: 'in_flight' });
    await later(30);
    const { id } = await ordered(userId, 'pro', 'key');
    await later(7200);
    expect(await create(userId, 'pro', 'key')).toMatchObject({ outcome: 'existing', payment_id: id });
  });

  test('that returned an open order keeps it', async () => {
    const { id: userId } = await createUser(database);
    const { id } = await ordered(userId);
    expect(await create(userId, 'pro', 'key')).toMatchObject({ payment_id: id });
    await later(3600);
    expect(await create(userId, 'pro', 'key')).toMatchObject({ outcome: 'existing', payment_id: id });
  });

  test('is deleted with a discarded order', async () => {
    const { id: userId } = await createUser(database);
    const { payment_id } = await create(userId, 'pro', 'key');
    await callRpc(service, 'discard_order', payment_id);
    expect(await create(userId, 'premium', 'key')).toMatchObject({ outcome: 'created' });
  });
});

test('ten new orders an hour: the eleventh gets retry_after, and an open one is still returned', async () => {
  const { id: userId } = await createUser(database);
  for (let order = 0; order < 10; order++) {
    await later(order * 60);
    await database.query("update public.plans set price = price + 1 where tier = 'pro'");
    await ordered(userId);
  }
  expect(await create(userId)).toMatchObject({ outcome: 'existing' });
  expect(await create(userId, 'premium')).toEqual({ outcome: 'rate_limited', retry_after: 3060 });
  expect(await create((await createUser(database)).id, 'premium')).toMatchObject({ outcome: 'created' });
  await later(3599);
  expect(await create(userId, 'premium')).toEqual({ outcome: 'rate_limited', retry_after: 1 });
  await later(3600);
  expect(await create(userId, 'premium')).toMatchObject({ outcome: 'created' });
});

describe('store_order and discard_order', () => {
  test('store an id once: the same id again is stored, another id is refused', async () => {
    const { id: userId } = await createUser(database);
    const { id, orderId } = await ordered(userId);
    expect(await callRpc(service, 'store_order', id, orderId)).toEqual({ outcome: 'stored' });
    expect(await callRpc(service, 'store_order', id, uniqueId('order'))).toEqual({ outcome: 'payment_not_found' });
    expect(await readPayment(database, id)).toMatchObject({ gateway_order_id: orderId });
    expect(await callRpc(service, 'store_order', crypto.randomUUID(), orderId)).toEqual({
      outcome: 'payment_not_found',
    });
  });

  test('delete a payment without an order, and no other', async () => {
    const { id: userId } = await createUser(database);
    const { id } = await ordered(userId);
    const { payment_id } = await create(userId, 'premium');
    for (const payment of [id, payment_id, payment_id, crypto.randomUUID()]) {
      expect(await callRpc(service, 'discard_order', payment)).toEqual({ outcome: 'discarded' });
    }
    expect(await database.query('select id from public.payments where user_id = $1', [userId])).toEqual([{ id }]);
  });

  test.each(["status = 'failed'", "status = 'captured'", "gateway_payment_id = 'pay_of_no_order'"])(
    'keep a payment with %s although it has no order',
    async (field) => {
      const { id: userId } = await createUser(database);
      const { payment_id } = await create(userId);
      await database.query(`update public.payments set ${field} where id = $1`, [payment_id]);
      await callRpc(service, 'discard_order', payment_id);
      expect(await database.query('select from public.payments where user_id = $1', [userId])).toHaveLength(1);
    },
  );
});
