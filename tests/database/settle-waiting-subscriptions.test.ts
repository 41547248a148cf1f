import type pg from 'pg';
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { subscriptionEvent } from '../helpers/gateway/events.ts';
import { readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createUser, deleteUsers, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await openSession(database, { role: 'service_role' });
});
afterEach(async () => {
  await database.query('drop function if exists public.refuse_user cascade');
  await database.query('update public.plans set gateway_plan_id = null');
  await deleteUsers(database);
});
afterAll(() => database.close());

/** Three users whose gateway subscriptions have an unknown plan, in the order of their ids. */
async function waiting(): Promise<string[]> {
  await setClock(database, '2026-01-01T00:00:00Z');
  const period = { start: '2026-01-01T00:00:00Z', end: '2026-02-01T00:00:00Z' };
  const ids: string[] = [];
  for (let number = 0; number < 3; number += 1) {
    const { id: userId } = await createUser(database);
    const event = { name: 'activated', userId, id: uniqueId('sub'), planId: 'plan_new', ...period } as const;
    expect(await deliver(service, subscriptionEvent(event))).toBe('unmatched');
    ids.push(userId);
  }
  return ids.sort();
}

async function addPlan(): Promise<void> {
  await database.query("update public.plans set gateway_plan_id = 'plan_new' where tier = 'premium'");
  await database.query('select billing.sweep()');
}

test('gateway subscriptions whose plan is added give access after the next sweep', async () => {
  const users = await waiting();
  await addPlan();
  for (const userId of users) {
    expect(await readSubscription(database, userId)).toMatchObject({ tier: 'premium', status: 'active' });
    expect(await readTier(database, userId)).toBe('premium');
  }
});

test('a trigger that raises an error for one user stops no other', async () => {
  const [refused, ...others] = await waiting();
  await database.query(`
    create function public.refuse_user() returns trigger language plpgsql as $$
    begin
      if new.user_id = '${refused}' then
        raise exception 'refused';
      end if;
      return new;
    end $$;
    create trigger refuse_user before update on public.profiles
    for each row execute function public.refuse_user()`);
  await addPlan();
  for (const userId of others) expect(await readTier(database, userId)).toBe('premium');
});
