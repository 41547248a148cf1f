import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { type EarlyRenewal, setEarlyRenewal } from '../helpers/database/early-renewal.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { readPayment, readSubscription } from '../helpers/records/read-records.ts';
import { createPayment, createUser, uniqueId } from '../helpers/records/records.ts';
import { grantTier } from '../helpers/records/support-actions.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  // Two renewals replace a running period. The findings are checked while both periods run.
  database = await createTestDatabase({ findings: { paid_twice: 2 }, at: '2026-02-10T12:00:00Z' });
  service = await openSession(database, { role: 'service_role' });
  await database.query("insert into public.plans (tier, name, price) values ('monthly', 'Monthly', 1)");
});
afterAll(() => database.close());
beforeEach(() => setClock(database, null));

/** Buys a plan of a number of months at a time. @returns the end of the paid period */
async function buy(
  at: string,
  months: number | null,
  { userId, early = 'replace', tier = 'monthly', session = service }: {
    userId?: string;
    early?: EarlyRenewal;
    tier?: string;
    session?: pg.Client;
  } = {},
): Promise<{ userId: string; paymentId: string; validUntil: unknown }> {
  const owner = userId ?? (await createUser(database)).id;
  await setClock(database, at);
  await setEarlyRenewal(database, early);
  await database.query('update public.plans set duration_months = $1 where tier = $2', [months, tier]);
  const { id, orderId } = await createPayment(database, { userId: owner, meta: { tier } });
  const result = await callRpc(session, 'verify_payment', owner, orderId, uniqueId('pay'), 'signature');
  return { userId: owner, paymentId: id, validUntil: result.valid_until };
}

describe('a period of calendar months in UTC', () => {
  test.each<[string, number | null, string]>([
    ['2026-01-15T10:20:30.123Z', 1, '2026-02-15T10:20:30.123Z'],
    ['2026-01-31T00:00:00.000Z', 1, '2026-02-28T00:00:00.000Z'],
    ['2028-01-31T12:00:00.000Z', 1, '2028-02-29T12:00:00.000Z'],
    ['2028-02-29T12:00:00.000Z', 12, '2029-02-28T12:00:00.000Z'],
    ['2028-02-29T12:00:00.000Z', 48, '2032-02-29T12:00:00.000Z'],
    ['2100-01-31T12:00:00.000Z', 1, '2100-02-28T12:00:00.000Z'],
    ['2026-08-31T23:59:59.999Z', 6, '2027-02-28T23:59:59.999Z'],
    ['2026-12-31T23:30:00.000Z', 2, '2027-02-28T23:30:00.000Z'],
    ['2026-05-31T18:45:00.000Z', 1, '2026-06-30T18:45:00.000Z'],
    ['2026-03-01T00:00:00.000Z', null, '2027-03-01T00:00:00.000Z'],
    ['2026-03-01T00:00:00.000Z', 0, '2027-03-01T00:00:00.000Z'],
    ['2026-03-01T00:00:00.000Z', 1200, '2126-03-01T00:00:00.000Z'],
  ])('from %s of %s months ends %s', async (from, months, expected) => {
    const { userId, validUntil } = await buy(from, months);
    expect(validUntil).toBe(expected);
    expect(await readSubscription(database, userId)).toMatchObject({ start: from, end: expected });
  });

  // In UTC it is 31 January, in Kolkata already 1 February. The first hours of a month in UTC are the previous month
  // in New York.
  test.each(['UTC', 'Asia/Kolkata', 'America/New_York', 'Pacific/Kiritimati', 'Pacific/Apia'])(
    'is the same in a session with the time zone %s',
    async (zone) => {
      const session = await openSession(database, { role: 'service_role' });
      await session.query(`set timezone = '${zone}'`);
      expect((await buy('2026-01-31T20:00:00Z', 1, { session })).validUntil).toBe('2026-02-28T20:00:00.000Z');
      expect((await buy('2026-03-01T02:00:00Z', 1, { session })).validUntil).toBe('2026-04-01T02:00:00.000Z');
      // Clocks go back on 1 November in New York: a month of local time would end an hour off.
      expect((await buy('2026-10-15T12:00:00Z', 1, { session })).validUntil).toBe('2026-11-15T12:00:00.000Z');
    },
  );
});

test('the stored end equals the returned one, cut to milliseconds', async () => {
  await setClock(database, null);
  await database.query(`
    create or replace function billing.clock()
    returns timestamptz language sql stable set search_path = pg_catalog, pg_temp
    return timestamptz '2026-01-15T10:20:30.123999Z'`);
  const { id } = await createUser(database);
  const { id: paymentId, orderId } = await createPayment(database, { userId: id, meta: { tier: 'basic' } });
  const { valid_until } = await callRpc(service, 'verify_payment', id, orderId, uniqueId('pay'), 'signature');
  expect(valid_until).toBe('2026-02-15T10:20:30.123Z');
  const row = await database.one(
    `select p.period_end = $2 and s.current_period_end = $2 and s.current_period_start = $3 as exact
     from public.payments p join public.subscriptions s on s.id = p.subscription_id where p.id = $1`,
    [paymentId, valid_until, '2026-01-15T10:20:30.123Z'],
  );
  expect(row).toEqual({ exact: true });
});

describe('a second purchase', () => {
  const first = '2026-01-31T10:00:00.000Z';

  test('replaces a running period by one from now', async () => {
    const { userId } = await buy(first, 12);
    const { validUntil } = await buy('2026-02-10T10:00:00.000Z', 1, { userId });
    expect(validUntil).toBe('2026-03-10T10:00:00.000Z');
    expect(await readSubscription(database, userId)).toMatchObject({
      start: '2026-02-10T10:00:00.000Z',
      end: '2026-03-10T10:00:00.000Z',
    });
  });

  describe('under "extend"', () => {
    const early = 'extend';

    test('of the same tier before the end extends the period', async () => {
      const { userId } = await buy(first, 1);
      const { paymentId, validUntil } = await buy('2026-02-10T10:00:00.000Z', 1, { userId, early });
      expect(validUntil).toBe('2026-03-31T10:00:00.000Z');
      expect(await readSubscription(database, userId)).toMatchObject({ start: first, end: '2026-03-31T10:00:00.000Z' });
      const { period_start } = await readPayment(database, paymentId);
      expect(period_start).toEqual(new Date('2026-02-28T10:00:00.000Z'));
    });

    test('of a month from 31 January, twice, ends on 28 February, 31 March and 30 April', async () => {
      const { userId, validUntil } = await buy(first, 1);
      expect(validUntil).toBe('2026-02-28T10:00:00.000Z');
      expect((await buy('2026-02-10T10:00:00.000Z', 1, { userId, early })).validUntil).toBe('2026-03-31T10:00:00.000Z');
      expect((await buy('2026-03-10T10:00:00.000Z', 1, { userId, early })).validUntil).toBe('2026-04-30T10:00:00.000Z');
      expect(await readSubscription(database, userId)).toMatchObject({ start: first, end: '2026-04-30T10:00:00.000Z' });
    });

    test('of another tier starts now', async () => {
      const { userId } = await buy(first, 1);
      const { validUntil } = await buy('2026-02-10T10:00:00.000Z', 12, { userId, early, tier: 'pro' });
      expect(validUntil).toBe('2027-02-10T10:00:00.000Z');
    });

    test.each(['2026-02-28T10:00:00.000Z', '2026-04-01T10:00:00.000Z'])(
      'at or after the end starts now: %s',
      async (at) => {
        const { userId } = await buy(first, 1);
        await buy(at, 1, { userId, early });
        expect(await readSubscription(database, userId)).toMatchObject({ start: at });
      },
    );

    test('extends the source that rules after another one lapsed, although the sweep did not expire that one yet', async () => {
      const { id: userId } = await createUser(database);
      const january = (day: number) => setClock(database, `2026-01-0${day}T00:00:00Z`);
      await january(1);
      await grantTier(database, userId, 'monthly', '2026-06-01Z');
      await january(2);
      await grantTier(database, userId, 'premium', '2026-03-01Z');
      const { validUntil } = await buy('2026-03-04T00:00:01Z', 1, { userId, early: 'extend' });
      expect(validUntil).toBe('2026-07-01T00:00:00.000Z');
    });

    test('of a cancelled subscription starts now', async () => {
      const { userId } = await buy(first, 1);
      await database.query("update public.subscriptions set status = 'cancelled' where user_id = $1", [userId]);
      const at = '2026-02-10T10:00:00.000Z';
      await buy(at, 1, { userId, early });
      expect(await readSubscription(database, userId)).toMatchObject({ start: at, status: 'active' });
    });

    test('a first purchase starts now', async () => {
      expect((await buy(first, 1, { early })).validUntil).toBe('2026-02-28T10:00:00.000Z');
    });

    test('verified again adds nothing', async () => {
      const { userId } = await buy(first, 1);
      const { paymentId } = await buy('2026-02-10T10:00:00.000Z', 1, { userId, early });
      const payment = await readPayment(database, paymentId);
      const repeat = await callRpc(
        service,
        'verify_payment',
        userId,
        payment.gateway_order_id,
        payment.gateway_payment_id,
        'signature',
      );
      expect(repeat).toMatchObject({ outcome: 'already_applied', valid_until: '2026-03-31T10:00:00.000Z' });
      expect(await readSubscription(database, userId)).toMatchObject({ end: '2026-03-31T10:00:00.000Z' });
    });
  });
});
