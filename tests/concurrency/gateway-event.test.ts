import { describe, expect, test } from 'vitest';
import {
  type Act,
  asOwner,
  countDeadlocks,
  openRacers,
  overlap,
  race,
  untilBlocked,
} from '../helpers/database/racers.ts';
import { callRpc } from '../helpers/database/session.ts';
import { useDatabase } from '../helpers/database/use-database.ts';
import { deliver, sha256 } from '../helpers/gateway/deliver.ts';
import { orderPaid, paymentCaptured, paymentFailed, type SubscriptionEvent } from '../helpers/gateway/events.ts';
import { subscriptionEvent } from '../helpers/gateway/events.ts';
import { listed } from '../helpers/gateway/reconciliation.ts';
import { seededRandom, shuffle } from '../helpers/orderings/permutations.ts';
import { mailsTo, paymentOf, placeOrder, type Purchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { readLedger, readOutbox, readPayment, readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';
import { day } from '../helpers/records/time.ts';

// The cancellation of an attached gateway subscription ends two purchases of a user. Others depend on the order of execution
// of the changes of one user.
const database = useDatabase({
  findings: {
    paid_not_entitled: 2,
    captured_not_fulfilled: 'any',
    charged_after_cancellation: 'any',
    charged_after_replacement: 'any',
    paid_twice: 'any',
    missed_webhook: 'any',
  },
});

const send = (body: string): Act => (session) => deliver(session, body);
const verify = (order: Purchase): Act => async (session) => (await verifyPurchase(session, order)).outcome;
const failed = ({ orderId }: Purchase) => paymentFailed({ id: uniqueId('pay'), order_id: orderId });
const period = { planId: 'plan_pro', start: day('2126-01-01'), end: day('2126-02-01') };
const cancelled = (userId: string) => subscriptionEvent({ name: 'cancelled', userId, id: uniqueId('sub') });

describe('deliveries of one event', () => {
  test.each([['commit', 2], ['rollback', 1]] as const)(
    'the second waits for the first, and after its %s the event was applied once',
    async (end, deliveries) => {
      const order = await placeOrder(database);
      const body = failed(order);
      expect(await overlap(database, send(body), send(body), end)).toEqual(['applied', 'applied']);
      expect(await readLedger(database, sha256(body))).toMatchObject({ deliveries, attempts: 1 });
      expect(await mailsTo(database, order.user)).toHaveLength(1);
    },
  );
});

test('an event that arrived before its subscription is applied, although a repeated delivery of it is in progress', async () => {
  const { id: userId } = await createUser(database);
  const of = { userId, id: uniqueId('sub'), planId: 'plan_pro' };
  const early = subscriptionEvent({ name: 'cancelled', ...of, createdAt: day('01-02') });
  const repeating = await database.connect();
  expect(await database.send(early)).toBe('unmatched');
  await repeating.query('begin');
  expect(await deliver(repeating, early)).toBe('unmatched');
  const activated = subscriptionEvent({ name: 'activated', ...of, ...period, createdAt: day('01-01') });
  expect(await database.send(activated)).toBe('applied');
  await repeating.query('commit');
  expect(await readSubscription(database, userId)).toMatchObject({ status: 'cancelled' });
  expect(await readTier(database, userId)).toBe('free');
});

describe('a purchase and a cancellation of the same user', () => {
  const state = async (userId: string) => {
    const { tier, status } = await readSubscription(database, userId) ?? {};
    return `${await readTier(database, userId)}: ${tier} ${status}`;
  };

  /** A user with a purchase of pro, and an order of premium. */
  async function subscriber(): Promise<Purchase> {
    const first = await placeOrder(database);
    await verifyPurchase(database.service, first);
    return await placeOrder(database, { user: first.user, tier: 'premium' });
  }

  test('the verify first: the cancellation ends the purchase; the other way round the verify starts a new period', async () => {
    const [one, two] = [await subscriber(), await subscriber()];
    const applied = ['applied', 'applied'];
    expect(await overlap(database, verify(one), send(cancelled(one.user.id)))).toEqual(applied);
    expect(await overlap(database, send(cancelled(two.user.id)), verify(two))).toEqual(applied);
    expect(await state(one.user.id)).toBe('free: premium cancelled');
    expect(await state(two.user.id)).toBe('premium: premium active');
  });

  const newcomer = () => placeOrder(database, { tier: 'premium' });
  test.each([['with a subscription', subscriber], ['without one', newcomer]])(
    'of a user %s: a verify that began first and waits for the cancellation starts a new period',
    async (_, make) => {
      const order = await make();
      const [verifying, cancelling] = [await database.connect(), await database.connect()];
      // The time of a transaction is the start of its first statement.
      await verifying.query('begin; select now()');
      await cancelling.query('begin');
      await deliver(cancelling, cancelled(order.user.id));
      const purchase = verifyPurchase(verifying, order);
      await untilBlocked(database, verifying, purchase);
      await cancelling.query('commit');
      expect(await purchase).toMatchObject({ outcome: 'applied', tier: 'premium' });
      await verifying.query('commit');
      expect(await state(order.user.id)).toBe('premium: premium active');
    },
  );
});

describe('a user is deleted during', () => {
  const gatewayId = uniqueId('sub');
  const events = {
    'a verify': verify,
    'a failed payment': (order: Purchase) => send(failed(order)),
    'an activation': ({ user }: Purchase) =>
      send(subscriptionEvent({ name: 'activated', userId: user.id, id: gatewayId + user.id, ...period })),
  };

  test.each<[keyof typeof events, string, string, string]>([
    ['a verify', 'before', 'applied', 'captured, mails: 1, cancellations: 0'],
    ['a verify', 'after', 'payment_not_found', 'created, mails: 0, cancellations: 0'],
    ['a failed payment', 'before', 'applied', 'failed, mails: 1, cancellations: 0'],
    ['a failed payment', 'after', 'applied', 'failed, mails: 0, cancellations: 0'],
    ['an activation', 'before', 'applied', 'created, mails: 0, cancellations: 1'],
    ['an activation', 'after', 'applied', 'created, mails: 0, cancellations: 1'],
  ])('%s that is %s the deletion → %s; %s; nothing else is left', async (name, when, outcome, left) => {
    const order = await placeOrder(database);
    const { user, id } = order;
    const remove = asOwner('delete from auth.users where id = $1', [user.id]);
    const result = when === 'before'
      ? (await overlap(database, events[name](order), remove))[0]
      : (await overlap(database, remove, events[name](order)))[1];
    expect(result).toBe(outcome);
    const { status, ...payment } = await readPayment(database, id);
    const mails = (await readOutbox(database, 'email', user.email)).length;
    const cancellations = (await readOutbox(database, 'gateway', gatewayId + user.id)).length;
    expect(`${status}, mails: ${mails}, cancellations: ${cancellations}`).toBe(left);
    expect(payment).toMatchObject({ user_id: null, subscription_id: null });
    expect(payment.gateway_payment_id).toBe(status === 'captured' ? order.paymentId : null);
    expect([await readSubscription(database, user.id), await readTier(database, user.id)]).toEqual([null, undefined]);
  });
});

test.each([[1, false], [2, true]])(
  'changes of every kind of one user at once, seed %i, with the deletion of the user: %j → no partial effect',
  async (seed, isDeleted) => {
    const orders = [await placeOrder(database)];
    const { user } = orders[0]!;
    orders.push(await placeOrder(database, { user, tier: 'basic' }));
    const acts = orders.flatMap((order, index) => {
      const { id, orderId, paymentId } = order;
      const rpc = (name: string, ...parameters: unknown[]): Act => (session) => callRpc(session, name, ...parameters);
      const of = { userId: user.id, id: `sub_${index}_${user.id}`, ...period };
      const event = (name: SubscriptionEvent['name']) =>
        send(subscriptionEvent({ name, ...of, createdAt: day(`01-0${index + 1}`) }));
      const captured = send(paymentCaptured({ id: paymentId, amount: undefined }));
      const attempts = JSON.stringify(
        listed(order, { id: `${paymentId}_0`, status: 'failed' }, { status: 'captured' }),
      );
      return [
        ...[verify(order), verify(order), captured, captured, send(failed(order))],
        ...[event('activated'), event('charged'), event('cancelled')],
        send(orderPaid(paymentOf(order), { id: orderId })),
        ...['apply_order_payments', 'apply_order_read'].map((name) => rpc(name, id, attempts)),
        ...[rpc('claim_payments_to_reconcile'), rpc('get_order', user.id, orderId, true)],
        rpc('verify_returned_payment', orderId, paymentId, 'signature'),
        asOwner("update public.profiles set display_name = 'X' where user_id = $1", [user.id]),
      ];
    });
    if (isDeleted) acts.push(asOwner('delete from auth.users where id = $1', [user.id]));
    await race<unknown>(database, shuffle(acts, seededRandom(seed)));

    const partial = await database.query(
      `select id from public.payments
       -- A payment without a user fulfils nothing.
       where (status = 'captured') is distinct from (fulfilled_at is not null) and user_id is not null
         or (fulfilled_at is not null) is distinct from (period_end is not null)
       union all
       select user_id from billing.captured_not_fulfilled where reason <> 'paid, user gone'`,
    );
    expect(partial).toEqual([]);
    const { status, tier } = await readSubscription(database, user.id) ?? {};
    expect(await readTier(database, user.id)).toBe(isDeleted ? undefined : status === 'active' ? tier : 'free');
    const success = (await mailsTo(database, user)).filter((key) => String(key).startsWith('payment-success/'));
    const fulfilled = await database.query(
      "select 'payment-success/' || id as key from public.payments where id = any ($1) and fulfilled_at is not null",
      [orders.map(({ id }) => id)],
    );
    expect(success.sort()).toEqual(fulfilled.map(({ key }) => key).sort());
  },
);

test('a first charge and its verification, which wait for the payment, cause no deadlock', async () => {
  const { id: userId } = await createUser(database);
  const made = await database.rpc('create_subscription', userId, 'pro');
  const [id, payment] = [uniqueId('sub'), { id: uniqueId('pay'), amount: 99900, currency: 'INR', status: 'captured' }];
  await database.rpc('store_subscription', made.id, id, 'https://gateway.example/s/1');
  const body = subscriptionEvent({ name: 'charged', userId, id, ...period, payment, fields: { paid_count: 1 } });
  const entity = JSON.stringify(JSON.parse(body).payload.subscription.entity);
  const [blocker, webhook, verifying] = await openRacers(database, 3);
  await blocker!.query('begin');
  await blocker!.query('select billing.lock_gateway_payment($1)', [payment.id]);
  const charged = deliver(webhook!, body);
  await untilBlocked(database, webhook!, charged);
  const verified = callRpc(verifying!, 'verify_subscription', userId, id, payment.id, entity, JSON.stringify(payment));
  await untilBlocked(database, verifying!, verified);
  await blocker!.query('rollback');
  expect(await charged).toBe('applied');
  expect(await verified).toMatchObject({ outcome: 'already_applied', tier: 'pro' });
});

test('calls that wait for a lock fail after three seconds and write nothing', async () => {
  const [byUser, byPayment] = [await placeOrder(database), await placeOrder(database)];
  const [byProfile, failing] = [await placeOrder(database), await placeOrder(database)];
  const cancelling = await createUser(database);
  const stored = failed(failing);
  await database.send(stored);

  const holder = await database.connect();
  await holder.query('begin');
  const lock = (table: string, key: string, id: string) =>
    holder.query(`select from ${table} where ${key} = $1 for update`, [id]);
  for (const { id } of [byUser.user, cancelling]) await lock('auth.users', 'id', id);
  await lock('public.payments', 'id', byPayment.id);
  await lock('public.profiles', 'user_id', byProfile.user.id);
  await lock('public.payments', 'id', failing.id);
  await lock('billing.gateway_events', "encode(body_sha256, 'hex')", sha256(stored));

  const calls = [
    ...[byUser, byPayment, byProfile].map(verify),
    ...[failed(failing), stored, cancelled(cancelling.id)].map(send),
  ];
  const started = performance.now();
  const waited = await race(
    database,
    calls.map((call) => (session) => call(session).catch(({ code }) => [code, performance.now() - started])),
  );
  await holder.query('rollback');
  expect(waited).toEqual(Array(6).fill(['55P03', expect.any(Number)]));
  for (const milliseconds of waited.flat().filter((one) => typeof one === 'number')) {
    expect(milliseconds).toBeGreaterThan(2900);
    expect(milliseconds).toBeLessThan(5000);
  }
  for (const { id } of [byUser, byPayment, byProfile]) {
    expect(await readPayment(database, id)).toMatchObject({ status: 'created' });
  }
  expect(await verify(byProfile)(database.service)).toBe('applied');
});

test('none of these tests caused a deadlock', async () => {
  expect(await countDeadlocks(database)).toBe(0);
});
