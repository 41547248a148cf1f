import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Plans, watchPlans } from '../helpers/database/query-plans.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { isLong } from '../helpers/project/is-long.ts';

const rows = isLong ? 100_000 : 15_000;
const secondsBetween = 3_000_000 / rows;

let database: TestDatabase;
let plans: Plans;
beforeAll(async () => {
  database = await createTestDatabase();
  await database.query('alter table billing.outbox set (autovacuum_enabled = off)');
  await database.query(
    `insert into billing.outbox (key, destination, kind, payload, created_at, queued_at, next_attempt_at, delivered_at)
     select 'payment-success/' || n, 'email', 'payment-success', '{}', at, at, at, at
     from generate_series(1, ${rows}) n
     cross join lateral (select now() - make_interval(secs => n * ${secondsBetween})) t (at)`,
  );
  await database.query(
    `select billing.enqueue('payment-failed/' || n, 'email', 'payment-failed', '{}') from generate_series(1, 1000) n`,
  );
  plans = await watchPlans(database);
});
afterAll(() => database.close());

/** The index by which each function reads the table. */
const calls = [
  ["public.claim_outbox('email')", 'outbox_pending_idx'],
  ["public.complete_outbox(gen_random_uuid(), '1,2,3')", 'outbox_pkey'],
  ["public.fail_outbox(gen_random_uuid(), '1,2,3', 'HTTP 500')", 'outbox_pkey'],
  ["public.next_outbox_attempt('email,revalidation')", 'outbox_pending_idx'],
  ['public.get_health()', 'outbox_pending_idx'],
  ['billing.requeue(1)', 'outbox_pkey'],
  ['billing.delete_mails()', 'outbox_mails_created_at_idx'],
  ['public.purge_records(400, 30, 1100)', 'outbox_delivered_at_idx'],
  ['public.purge_records(400, 30, 1100)', 'outbox_parked_at_idx'],
];

async function expectIndexReads(call: string, index: string): Promise<void> {
  // Often enough for a generic plan that Postgres keeps for later calls, for any parameters.
  for (let count = 0; count < 8; count += 1) {
    const reads = await plans.readsOf('outbox', call);
    expect(reads.filter((read) => read.includes(index)), reads.join()).not.toEqual([]);
    expect(reads).not.toContain('Seq Scan on outbox');
  }
}

describe(`with ${rows} delivered rows`, () => {
  test.each(calls)('%s reads by %s, call after call', expectIndexReads);

  test.each(calls)('%s reads by %s, also after an analyze', async (call, index) => {
    await database.query('analyze billing.outbox');
    await expectIndexReads(call, index);
  });

  test('a claim reads the earliest due rows from the index without a sort', async () => {
    await database.query('analyze billing.outbox');
    await plans.readsOf('outbox', "public.claim_outbox('email')");
    expect(plans.last()).toMatch(
      /Limit[^]*LockRows.*\n.*Result.*\n.*One-Time Filter.*\n.*Index Scan using outbox_pending_idx/,
    );
  });

  test('a read of the whole table is detected', async () => {
    expect(await plans.readsOf('outbox', 'max(payload::text) from billing.outbox')).toEqual(['Seq Scan on outbox']);
  });
});
