import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { type EarlyRenewal, setEarlyRenewal } from '../helpers/database/early-renewal.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { refundEvent } from '../helpers/gateway/events.ts';
import { mailsTo, paymentOf, placeOrder, type Purchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { readPayment, readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createUser } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
let user: Purchase['user'];
beforeAll(async () => {
  database = await createTestDatabase();
  service = await openSession(database, { role: 'service_role' });
});
afterEach(async () => {
  await setClock(database, null);
  await database.query('delete from auth.users');
});
afterAll(() => database.close());

/** A purchase on a day of 2026. Basic is for a month, pro and premium are for a year. */
async function buy(tier: string, day: string, earlyRenewal: EarlyRenewal = 'replace'): Promise<Purchase> {
  await setClock(database, `2026-${day}T00:00:00Z`);
  const order = await placeOrder(database, { tier, user });
  await setEarlyRenewal(database, earlyRenewal);
  await verifyPurchase(service, order);
  return order;
}

/**
 * A year of pro from 1 January, replaced by a month of basic from 1 March, which ends on 1 April, its grace on the
 * 4th.
 */
async function replaced(): Promise<{ pro: Purchase; basic: Purchase }> {
  user = await createUser(database);
  return { pro: await buy('pro', '01-01'), basic: await buy('basic', '03-01') };
}

async function expire(at: string): Promise<unknown> {
  await setClock(database, at);
  return (await database.one('select billing.expire_subscriptions() as ended')).ended;
}

const cancelAtPeriodEnd = () => callRpc(service, 'cancel_subscription', user.id, true);
const subscription = () => readSubscription(database, user.id);
const endMails = async () =>
  (await mailsTo(database, user)).map(String).filter((key) => key.startsWith('subscription-')).map((key) =>
    key.replace(/\/.*\//, ' ')
  );
const setPeriodEnd = ({ id }: Purchase, end: string) =>
  database.query('update public.payments set period_end = $2 where id = $1', [id, end]);
const ended = { status: 'cancelled' };

describe('at the end of a period', () => {
  test('a longer replaced period takes over: tier, plan, period and profile, without a mail', async () => {
    const { pro } = await replaced();
    expect(await expire('2026-04-04T00:00:00Z')).toBe(0);
    expect(await expire('2026-04-04T00:00:00.001Z')).toBe(1);
    expect(await expire('2026-04-04T02:00:00Z')).toBe(0);
    expect(await subscription()).toEqual({
      tier: 'pro',
      status: 'active',
      plan_tier: 'pro',
      gateway_subscription_id: null,
      start: '2026-01-01T00:00:00.000Z',
      end: '2027-01-01T00:00:00.000Z',
    });
    expect(await readTier(database, user.id)).toBe('pro');
    expect(await endMails()).toEqual([]);
    const changes = await database.query(
      'select from_tier, to_tier, cause from billing.tier_changes where user_id = $1 order by id desc limit 1',
      [user.id],
    );
    expect(changes).toEqual([{ from_tier: 'basic', to_tier: 'pro', cause: 'expiry' }]);
    expect(await readPayment(database, pro.id)).toMatchObject({ refunded_amount: '0' });
  });

  test('a period that took over ends after its own grace days, with its mail', async () => {
    await replaced();
    await expire('2026-04-05T00:00:00Z');
    expect(await expire('2027-01-04T00:00:00Z')).toBe(0);
    expect(await expire('2027-01-04T00:00:00.001Z')).toBe(1);
    expect(await subscription()).toMatchObject(ended);
    expect(await readTier(database, user.id)).toBe('free');
    expect(await endMails()).toEqual(['subscription-ended 2027-01-01T00:00:00.000Z']);
  });

  test('of several periods the newest takes over first, then the others while they run', async () => {
    user = await createUser(database);
    await buy('premium', '01-01');
    await buy('pro', '02-01');
    const { id } = await buy('basic', '03-01');
    await setPeriodEnd({ id, orderId: '', paymentId: '', user }, '2026-04-01T00:00:00Z');
    await expire('2026-04-05T00:00:00Z');
    expect(await subscription()).toMatchObject({ tier: 'pro', end: '2027-02-01T00:00:00.000Z' });
    expect(await expire('2027-02-05T00:00:00Z')).toBe(1);
    expect(await subscription()).toMatchObject(ended);
  });

  test('a period whose grace still runs takes over until its grace ends', async () => {
    const { pro } = await replaced();
    await setPeriodEnd(pro, '2026-04-03T00:00:00Z');
    await expire('2026-04-05T00:00:00Z');
    expect(await subscription()).toMatchObject({ tier: 'pro', status: 'active', end: '2026-04-03T00:00:00.000Z' });
    expect(await expire('2026-04-06T00:00:00.000Z')).toBe(0);
    expect(await expire('2026-04-06T00:00:00.001Z')).toBe(1);
    expect(await subscription()).toMatchObject(ended);
    expect(await endMails()).toEqual(['subscription-ended 2026-04-03T00:00:00.000Z']);
  });

  test('a period that ends within a week is announced when it takes over', async () => {
    const { pro } = await replaced();
    await setPeriodEnd(pro, '2026-04-09T00:00:00Z');
    await expire('2026-04-05T00:00:00Z');
    expect(await endMails()).toEqual(['subscription-ending 2026-04-09T00:00:00.000Z']);
  });

  test('an early renewal takes over with the start of the chain that it extends', async () => {
    user = await createUser(database);
    await buy('pro', '01-01');
    await buy('pro', '02-01', 'extend');
    await buy('basic', '03-01');
    await expire('2026-04-05T00:00:00Z');
    expect(await subscription()).toMatchObject({
      tier: 'pro',
      start: '2026-01-01T00:00:00.000Z',
      end: '2028-01-01T00:00:00.000Z',
    });
  });

  test.each<[string, string, (pro: Purchase) => Promise<unknown>]>([
    ['was refunded in full', '2026-04-01', (order) => deliver(service, refundEvent(paymentOf(order), 99900))],
    // Its period ended last, so its end is the end of access, also when the sweep ran late.
    ['is over with its grace', '2026-04-02', (pro) => setPeriodEnd(pro, '2026-04-02T00:00:00Z')],
    ['belongs to another user', '2026-04-01', async (pro) => {
      const { id } = await createUser(database);
      await database.query('update public.payments set user_id = $2 where id = $1', [pro.id, id]);
    }],
  ])('a payment that %s does not take over', async (_, end, change) => {
    const { pro } = await replaced();
    await change(pro);
    expect(await expire('2026-04-05T00:00:00.001Z')).toBe(1);
    expect(await subscription()).toMatchObject(ended);
    expect(await readTier(database, user.id)).toBe('free');
    expect(await endMails()).toEqual([`subscription-ended ${end}T00:00:00.000Z`]);
  });

  test('a payment that was refunded in part takes over', async () => {
    const { pro } = await replaced();
    await deliver(service, refundEvent(paymentOf(pro), 99899));
    await expire('2026-04-05T00:00:00Z');
    expect(await readTier(database, user.id)).toBe('pro');
  });

  test('a payment that the user cancelled for the end of its period has no grace days', async () => {
    user = await createUser(database);
    await buy('basic', '03-01');
    await cancelAtPeriodEnd();
    expect(await expire('2026-04-01T00:00:00.001Z')).toBe(1);
    expect(await subscription()).toMatchObject(ended);
  });

  test('a payment takes over at the end of a period that the user cancelled, and has its own grace days', async () => {
    await replaced();
    await cancelAtPeriodEnd();
    expect(await expire('2026-04-01T00:00:00.001Z')).toBe(1);
    expect(await subscription()).toMatchObject({ tier: 'pro', status: 'active', end: '2027-01-01T00:00:00.000Z' });
    expect(
      await database.one('select cancel_at_period_end from public.subscriptions where user_id = $1', [user.id]),
    ).toEqual({ cancel_at_period_end: false });
    expect(await expire('2027-01-04T00:00:00Z')).toBe(0);
    expect(await expire('2027-01-04T00:00:00.001Z')).toBe(1);
    expect(await subscription()).toMatchObject(ended);
  });

  test('a user without a profile gets one with the tier', async () => {
    await replaced();
    await database.query('delete from public.profiles where user_id = $1', [user.id]);
    await expire('2026-04-05T00:00:00Z');
    expect(await readTier(database, user.id)).toBe('pro');
  });

  test('of a batch the users with another source keep access and the others lose it', async () => {
    await replaced();
    const withPro = user;
    user = await createUser(database);
    await buy('basic', '03-01');
    expect(await expire('2026-04-05T00:00:00Z')).toBe(2);
    expect(await readTier(database, withPro.id)).toBe('pro');
    expect(await readTier(database, user.id)).toBe('free');
  });
});
