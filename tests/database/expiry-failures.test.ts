import type pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { readAccessFindings } from '../helpers/database/findings.ts';
import { openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { placeOrder, type Purchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { readSubscription, readTier } from '../helpers/records/read-records.ts';
import { deleteUsers } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await openSession(database, { role: 'service_role' });
});
afterEach(async () => {
  await database.query('drop function if exists public.refuse_user cascade');
  await deleteUsers(database);
});
afterAll(() => database.close());

/** A purchase of basic for January: it lapses on 4 February. */
async function bought(): Promise<Purchase> {
  await setClock(database, '2026-01-01T00:00:00Z');
  const order = await placeOrder(database, { tier: 'basic' });
  await verifyPurchase(service, order);
  return order;
}

/** Creates a trigger of the app that raises an error for the profile of one user. */
async function refuse({ user }: Purchase, sqlstate: string): Promise<void> {
  await database.query(`
    create function public.refuse_user() returns trigger language plpgsql as $$
    begin
      if new.user_id = '${user.id}' then
        raise exception 'refused' using errcode = '${sqlstate}';
      end if;
      return new;
    end $$;
    create trigger refuse_user before update on public.profiles
    for each row execute function public.refuse_user()`);
}

async function expire(at: string): Promise<unknown> {
  await setClock(database, at);
  return (await database.one('select billing.expire_subscriptions() as ended')).ended;
}

test.each(['P0001', '23514', '55P03'])(
  'a trigger that raises %s for one user stops no other expiry',
  async (sqlstate) => {
    const [one, refused, two] = [await bought(), await bought(), await bought()];
    await refuse(refused, sqlstate);
    expect(await expire('2026-02-05T00:00:00Z')).toBe(3);
    for (const { user } of [one, two]) {
      expect(await readSubscription(database, user.id)).toMatchObject({ status: 'cancelled' });
      expect(await readTier(database, user.id)).toBe('free');
    }
    expect(await readSubscription(database, refused.user.id)).toMatchObject({ status: 'active' });
    expect(await readTier(database, refused.user.id)).toBe('basic');
    expect(await readAccessFindings(database)).toContainEqual(['expiry_failed', refused.user.id]);
    expect(
      await database.one(
        "select detail as error, at as failed_at from billing.marks where kind = 'settle_failure' and key = $1",
        [
          refused.user.id,
        ],
      ),
    ).toEqual({ error: sqlstate, failed_at: new Date('2026-02-05T00:00:00Z') });
  },
);

test('a user whose expiry failed is retried after an hour, and expired after the cause is fixed', async () => {
  const refused = await bought();
  await refuse(refused, 'P0001');
  expect(await expire('2026-02-05T00:00:00Z')).toBe(1);
  expect(await expire('2026-02-05T00:59:59Z')).toBe(0);
  expect(await expire('2026-02-05T01:00:00Z')).toBe(1);
  await database.query('drop function public.refuse_user cascade');
  expect(await expire('2026-02-05T01:59:59Z')).toBe(0);
  expect(await expire('2026-02-05T02:00:00Z')).toBe(1);
  expect(await readTier(database, refused.user.id)).toBe('free');
  expect(await readAccessFindings(database)).toEqual([]);
});

test('a user who renewed after expiry had selected the subscription is skipped, which is no failure', async () => {
  const { user } = await bought();
  await setClock(database, '2026-02-05T00:00:00Z');
  await verifyPurchase(service, await placeOrder(database, { user, tier: 'basic' }));
  await database.query('select billing.settle_lapsed($1)', [[user.id]]);
  expect(await readSubscription(database, user.id)).toMatchObject({ status: 'active' });
  expect(await readTier(database, user.id)).toBe('basic');
});
