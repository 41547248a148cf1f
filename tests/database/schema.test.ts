import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { subscriptionEvent } from '../helpers/gateway/events.ts';
import { readOutbox } from '../helpers/records/read-records.ts';
import { createPayment, createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

test('basic, pro and premium are on offer after the migrations', async () => {
  const rows = await database.query(
    'select tier, name, duration_months, currency, is_active from public.plans order by price',
  );
  expect(rows).toEqual([
    { tier: 'basic', name: 'Basic', duration_months: 1, currency: 'INR', is_active: true },
    { tier: 'pro', name: 'Pro', duration_months: 12, currency: 'INR', is_active: true },
    { tier: 'premium', name: 'Premium', duration_months: 12, currency: 'INR', is_active: true },
  ]);
});

describe('a payment that an app inserts with user, amount, order and meta', () => {
  test.each(['pro', 'enterprise', 'Équipe 🙂', ''])('stores tier %j', async (tier) => {
    const { id } = await createUser(database);
    const payment = await createPayment(database, { userId: id, meta: { tier } });
    const row = await database.one(
      'select status, currency, meta, tier, refunded_amount from public.payments where id = $1',
      [payment.id],
    );
    expect(row).toEqual({ status: 'created', currency: 'INR', meta: { tier }, tier: null, refunded_amount: '0' });
  });

  test.each([{}, null, [], 'pro', 7])('stores meta %j', async (meta) => {
    const { id } = await createUser(database);
    const payment = await createPayment(database, { userId: id, meta });
    const row = await database.one('select meta from public.payments where id = $1', [payment.id]);
    expect(row).toEqual({ meta });
  });
});

test('no constraint names a tier', async () => {
  const rows = await database.query(
    `select conname from pg_constraint where pg_get_constraintdef(oid) ~* '(basic|pro|premium|free)\\M'`,
  );
  expect(rows).toEqual([]);
  const { id } = await createUser(database);
  await database.query("insert into public.plans (tier, name, price) values ('team', 'Team', 1)");
  await database.query("update public.profiles set subscription_tier = 'team' where user_id = $1", [id]);
  await database.query("insert into public.subscriptions (user_id, tier, status) values ($1, 'team', 'active')", [id]);
  await database.query('delete from auth.users where id = $1', [id]);
});

describe('a unique constraint covers', () => {
  const unique = (constraint: string) => ({ code: '23505', constraint });

  test('the order id and the gateway payment id of a payment, except null', async () => {
    const { id } = await createUser(database);
    const insert = (order: string | null, payment: string | null) =>
      database.query(
        'insert into public.payments (user_id, amount, gateway_order_id, gateway_payment_id) values ($1, 1, $2, $3)',
        [id, order, payment],
      );
    const [order, payment] = [uniqueId('order'), uniqueId('pay')];
    await insert(order, payment);
    await expect(insert(order, null)).rejects.toMatchObject(unique('payments_gateway_order_id_key'));
    await expect(insert(null, payment)).rejects.toMatchObject(unique('payments_gateway_payment_id_key'));
    await insert(null, null);
    await insert(null, null);
  });

  test('the user of a subscription', async () => {
    const { id } = await createUser(database);
    const insert = () =>
      database.query("insert into public.subscriptions (user_id, tier, status) values ($1, 'pro', 'cancelled')", [id]);
    await insert();
    await expect(insert()).rejects.toMatchObject(unique('subscriptions_user_id_key'));
  });

  test('the tier and the gateway plan of a plan', async () => {
    const insert = (tier: string, plan: string | null) =>
      database.query("insert into public.plans (tier, name, price, gateway_plan_id) values ($1, 'Plan', 1, $2)", [
        tier,
        plan,
      ]);
    await insert('unique', 'plan_unique');
    await expect(insert('unique', null)).rejects.toMatchObject(unique('plans_tier_key'));
    await expect(insert('other', 'plan_unique')).rejects.toMatchObject(unique('plans_gateway_plan_id_key'));
    await insert('other', null);
  });
});

test.each([
  ['a negative amount', 'payments', 'amount = -1'],
  ['a negative refund', 'payments', 'refunded_amount = -1'],
  ['a length of 0 months', 'payments', 'duration_months = 0'],
  ['a currency in lower case', 'payments', "currency = 'inr'"],
  ['an unknown status', 'payments', "status = 'paid'"],
  ['an unknown status', 'subscriptions', "status = 'expired'"],
  ['a negative price', 'plans', 'price = -1'],
  ['a negative duration', 'plans', 'duration_months = -1'],
  ['negative days of grace', 'plans', 'grace_days = -1'],
])('%s is refused in %s', async (_, table, assignment) => {
  const { id } = await createUser(database);
  await createPayment(database, { userId: id });
  await database.query("insert into public.subscriptions (user_id, tier, status) values ($1, 'pro', 'cancelled')", [
    id,
  ]);
  await expect(database.query(`update public.${table} set ${assignment}`)).rejects.toMatchObject({ code: '23514' });
});

describe('a user is deleted', () => {
  async function subscriber(gatewaySubscriptionId: string | null, { isCancelled = false } = {}) {
    const user = await createUser(database);
    const payment = await createPayment(database, { userId: user.id });
    const service = await openSession(database, { role: 'service_role' });
    await callRpc(service, 'verify_payment', user.id, payment.orderId, uniqueId('pay'), 'signature');
    await database.query('update public.subscriptions set gateway_subscription_id = $2 where user_id = $1', [
      user.id,
      gatewaySubscriptionId,
    ]);
    if (isCancelled) {
      await deliver(service, subscriptionEvent({ name: 'cancelled', userId: user.id, id: gatewaySubscriptionId }));
    }
    await database.query('delete from auth.users where id = $1', [user.id]);
    return { userId: user.id, paymentId: payment.id };
  }

  test('profile and subscription are deleted, the payment stays without its user', async () => {
    const { userId, paymentId } = await subscriber(null);
    expect(await database.query('select from public.profiles where user_id = $1', [userId])).toEqual([]);
    expect(await database.query('select from public.subscriptions where user_id = $1', [userId])).toEqual([]);
    const row = await database.one(
      'select user_id, subscription_id, status, tier, fulfilled_at is not null as fulfilled from public.payments where id = $1',
      [paymentId],
    );
    expect(row).toEqual({ user_id: null, subscription_id: null, status: 'captured', tier: 'pro', fulfilled: true });
  });

  test('the gateway subscription is cancelled at the gateway, once', async () => {
    const id = uniqueId('sub');
    await subscriber(id);
    expect(await readOutbox(database, 'gateway', id)).toEqual([
      {
        key: `cancel-subscription/${id}`,
        kind: 'cancel-subscription',
        payload: { gateway_subscription_id: id, at_cycle_end: false },
      },
    ]);
  });

  test('a subscription that the gateway cancelled is not cancelled there again', async () => {
    const id = uniqueId('sub');
    await subscriber(id, { isCancelled: true });
    expect(await readOutbox(database, 'gateway', id)).toEqual([]);
  });
});
