import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { countDeadlocks, openRacers } from '../helpers/database/racers.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { claim, complete } from '../helpers/outbox/claims.ts';
import { isLong } from '../helpers/project/is-long.ts';
import { emptyOutbox } from '../helpers/outbox/side-effects.ts';

const count = isLong ? 10_000 : 2000;

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

/** Claims and completes until nothing is due. @returns the ids in the order of their claims */
async function drain(session: pg.Client): Promise<number[]> {
  const claimed: number[] = [];
  for (;;) {
    const { token, ids } = await claim(session, 'email');
    if (ids.length === 0) return claimed;
    claimed.push(...ids);
    expect(await complete(session, token, ids)).toBe(ids.length);
  }
}

test.each([2, 4, 8])(`%d dispatchers at once on ${count} rows claim each row exactly once`, async (dispatchers) => {
  await emptyOutbox(database);
  const rows = await database.query(
    `insert into billing.outbox (key, destination, kind, payload)
     select 'payment-success/' || n, 'email', 'payment-success', '{}' from generate_series(1, $1) n
     returning id::int`,
    [count],
  );
  const sessions = await openRacers(database, dispatchers);
  const claimed = await Promise.all(sessions.map(drain));

  expect(claimed.flat().sort((one, other) => one - other)).toEqual(rows.map((row) => row.id));
  expect(
    await database.one(
      `select count(*) filter (where delivered_at is not null)::int as delivered, max(attempts) as attempts
       from billing.outbox`,
    ),
  ).toEqual({ delivered: count, attempts: 1 });
  expect(await countDeadlocks(database, sessions)).toBe(0);
});
