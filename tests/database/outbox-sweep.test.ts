import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { sweep } from '../../scripts/stack/sweep.ts';
import { createCallStandIns, dropCallStandIns, recordedCalls } from '../helpers/call-stand-ins.ts';
import { setClock } from '../helpers/clock.ts';
import { listen } from '../helpers/notifications.ts';
import { insertSubscriptions } from '../helpers/periods.ts';
import { emptyOutbox } from '../helpers/outbox.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/test-database.ts';

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

/** Rows of a week before the clock began to tell 2026: all older than any limit but `deliveredAt`. */
function insertRows(count: number, deliveredAt: string | null, parkedAt: string | null = null) {
  return database.query(
    `insert into private.outbox (key, destination, kind, payload, created_at, queued_at, next_attempt_at, delivered_at, parked_at)
     select gen_random_uuid(), 'gateway', 'kind', '{}', at, at, at, $2, $3
     from generate_series(1, $1) n
     cross join (values (timestamptz '2025-12-24T00:00:00Z')) t (at)`,
    [count, deliveredAt, parkedAt],
  );
}

async function countRows(): Promise<unknown> {
  return (await database.one('select count(*)::int from private.outbox')).count;
}

async function deleteDelivered(): Promise<unknown> {
  return (await database.one('select private.delete_delivered() as deleted')).deleted;
}

describe('delete_delivered', () => {
  test('forgets what was delivered more than 30 days ago and nothing younger', async () => {
    await insertRows(1, '2026-01-29T23:59:59Z');
    await insertRows(1, '2026-01-30T00:00:00Z');
    await insertRows(1, '2026-02-28T00:00:00Z');
    expect(await deleteDelivered()).toBe(1);
    expect(await deleteDelivered()).toBe(0);
    expect(await countRows()).toBe(2);
  });

  test('forgets nothing that is pending or parked, however old', async () => {
    await insertRows(2, null);
    await insertRows(3, null, '2025-12-25T00:00:00Z');
    expect(await deleteDelivered()).toBe(0);
    expect(await countRows()).toBe(5);
  });

  test('takes 1000 at a time, and 0 when nothing is left', async () => {
    await insertRows(2500, '2026-01-01T00:00:00Z');
    expect([await deleteDelivered(), await deleteDelivered(), await deleteDelivered(), await deleteDelivered()])
      .toEqual([1000, 1000, 500, 0]);
    expect(await countRows()).toBe(0);
  });

  test('passes over rows that another session holds', async () => {
    await insertRows(3, '2026-01-01T00:00:00Z');
    const other = await database.connect();
    await other.query('begin');
    await other.query('select from private.outbox limit 1 for update');
    expect(await deleteDelivered()).toBe(2);
    await other.query('rollback');
    expect(await deleteDelivered()).toBe(1);
  });
});

describe('the sweep', () => {
  test('does a batch of one job a call, and says how much; with nothing left it notifies and calls the dispatcher', async () => {
    await createCallStandIns(database);
    const listener = await listen(database, 'outbox');
    await insertRows(1001, '2026-01-01T00:00:00Z');
    const before = await listener.count();
    const called = (await recordedCalls(database)).length;
    const sweepOnce = async () => (await database.one('select private.sweep() as done')).done;
    expect([await sweepOnce(), await sweepOnce()]).toEqual([1000, 1]);
    expect(await countRows()).toBe(0);
    expect(await listener.count()).toBe(before);
    expect(await sweepOnce()).toBe(0);
    expect(await recordedCalls(database)).toHaveLength(called + 1);
    expect(await sweepOnce()).toBe(0);
    expect(await listener.count()).toBe(before + 2);
    expect(await recordedCalls(database)).toHaveLength(called + 2);
  });

  test('as it is scheduled commits after each batch and goes on until nothing is left', async () => {
    await insertSubscriptions(database, 250, "timestamptz '2026-01-01'");
    await emptyOutbox(database);
    await insertRows(1500, '2026-01-01T00:00:00Z');
    await database.query('truncate private.tier_changes');
    await database.query(sweep);
    expect(
      await database.one(
        `select count(*)::int as ended, count(distinct xmin::text)::int as transactions from private.tier_changes`,
      ),
    ).toEqual({ ended: 250, transactions: 3 });
    const rows = await database.query('select kind, count(*)::int from private.outbox group by kind order by kind');
    expect(rows).toEqual([{ kind: 'revalidation', count: 3 }, { kind: 'subscription-ended', count: 250 }]);
    await database.query('delete from auth.users');
  });

  test('goes on with the other jobs when one fails', async () => {
    await database.query('alter function private.expire_subscriptions() rename to expire_hidden');
    try {
      await insertRows(1, '2026-01-01T00:00:00Z');
      await database.query(sweep);
      expect(await countRows()).toBe(0);
    } finally {
      await database.query('alter function private.expire_hidden() rename to expire_subscriptions');
    }
  });
});
