import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sweep } from '../../scripts/stack/postgres/sweep.ts';
import { createCallStandIns, dropCallStandIns, recordedCalls } from '../helpers/database/call-stand-ins.ts';
import { setClock } from '../helpers/database/clock.ts';
import { listen } from '../helpers/database/notifications.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { emptyOutbox } from '../helpers/outbox/side-effects.ts';
import { insertSubscriptions } from '../helpers/records/records.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
beforeEach(async () => {
  await emptyOutbox(database);
  await setClock(database, '2026-03-01T00:00:00Z');
});
afterAll(async () => {
  await dropCallStandIns(database);
  await database.close();
});

/** Inserts mails that are a hundred days older than the clock. */
function insertMails(count: number) {
  return database.query(
    `insert into billing.outbox (key, destination, kind, payload, created_at, queued_at, next_attempt_at, delivered_at)
     select gen_random_uuid(), 'email', 'kind', '{}', at, at, at, at
     from generate_series(1, $1) n
     cross join (values (timestamptz '2025-11-21T00:00:00Z')) t (at)`,
    [count],
  );
}

async function countRows(): Promise<unknown> {
  return (await database.one('select count(*)::int from billing.outbox')).count;
}

describe('the sweep', () => {
  test('does one batch of one job per call and returns its size; with nothing left it notifies and calls the dispatcher', async () => {
    await createCallStandIns(database);
    const listener = await listen(database, 'outbox');
    await insertMails(1001);
    const before = await listener.count();
    const called = (await recordedCalls(database)).length;
    const sweepOnce = async () => (await database.one('select billing.sweep() as done')).done;
    expect([await sweepOnce(), await sweepOnce()]).toEqual([1000, 1]);
    expect(await countRows()).toBe(0);
    expect(await listener.count()).toBe(before);
    expect(await sweepOnce()).toBe(0);
    expect(await recordedCalls(database)).toHaveLength(called + 1);
    expect(await sweepOnce()).toBe(0);
    expect(await listener.count()).toBe(before + 2);
    expect(await recordedCalls(database)).toHaveLength(called + 2);
  });

  test('as scheduled commits after each batch and continues until nothing is left', async () => {
    await insertSubscriptions(database, 250, "timestamptz '2026-01-01'");
    await emptyOutbox(database);
    await insertMails(1500);
    await database.query('truncate billing.tier_changes');
    await database.query(sweep);
    expect(
      await database.one(
        `select count(*)::int as ended, count(distinct xmin::text)::int as transactions from billing.tier_changes`,
      ),
    ).toEqual({ ended: 250, transactions: 3 });
    const rows = await database.query('select kind, count(*)::int from billing.outbox group by kind order by kind');
    expect(rows).toEqual([{ kind: 'revalidation', count: 3 }, { kind: 'subscription-ended', count: 250 }]);
    await database.query('delete from auth.users');
  });

  test('continues with the other jobs after one fails', async () => {
    await database.query('alter function billing.expire_subscriptions() rename to expire_hidden');
    try {
      await insertMails(1);
      await database.query(sweep);
      expect(await countRows()).toBe(0);
    } finally {
      await database.query('alter function billing.expire_hidden() rename to expire_subscriptions');
    }
  });
});
