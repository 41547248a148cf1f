import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { describeSchema } from '../../scripts/release/describe-schema.ts';
import { laterMigrations } from '../../scripts/release/file-hashes.ts';
import type { ReleaseNotes } from '../../scripts/release/release-files.ts';
import { migrationVersions } from '../../scripts/stack/postgres/migration-versions.ts';
import { migrate } from '../../scripts/stack/postgres/migrate.ts';
import { setClock } from '../helpers/database/clock.ts';
import { withClient } from '../helpers/database/postgres-client.ts';
import {
  readCurrentRelease,
  type ReleaseFiles,
  releaseToUpgrade,
  restoreReleasedDatabase,
} from '../helpers/database/released-database.ts';
import { openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type Row, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { subscriptionEvent } from '../helpers/gateway/events.ts';
import { repeatUntil } from '../helpers/project/repeat-until.ts';
import { readPayment, readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createPayment } from '../helpers/records/records.ts';

/** What every user of the sample reads. */
const readAnswers = (database: TestDatabase) =>
  database.query('select u.email, public.get_subscription(u.id) as answer from auth.users u order by u.email');

/** The findings at the end of the sample, with a schedule that runs. */
async function readFindings(database: TestDatabase, { at }: ReleaseNotes): Promise<Row[]> {
  await setClock(database, at);
  await database.query('select billing.sweep()');
  await database.query("update billing.scheduled_jobs set done_at = now() where name = 'reconciliation'");
  return await database.query(
    `select f.finding, f.subject, f.user_id, to_json(f.since) #>> '{}' as since
     from billing.findings f
     -- Nothing was reconciled since the sample was made.
     where f.finding <> 'reconciliation_backlog'
     order by f.finding, f.user_id`,
  );
}

let release: ReleaseFiles;
let database: TestDatabase;
let notes: ReleaseNotes;
let before: Row[];
let applied: string[];
beforeAll(async () => {
  release = await releaseToUpgrade();
  ({ database, notes } = await restoreReleasedDatabase(release));
  before = await readAnswers(database);
  const lines: string[] = [];
  await migrate({ url: database.url, seed: false, log: (line) => void lines.push(line) });
  applied = [...new Set(lines.flatMap((line) => line.match(/\d{14}_\w+\.sql/g) ?? []))];
});
afterAll(async () => {
  await database.close();
  await release.remove();
});

test('two runs of the sample make the same release, which fills every table that no setting fills', async () => {
  const current = await readCurrentRelease();
  expect(current.sql.length).toBeLessThan(1_000_000);
  expect(await readCurrentRelease()).toEqual(current);
  // Platform calls, and what receipts and settlements fill: the sample has neither.
  const empty = current.tables.filter(({ rows }) => rows.length === 0).map(({ table }) => table);
  expect(empty).toEqual([
    ...['public.billing_details', 'public.receipts', 'billing.book_months', 'billing.checked_books'],
    ...[
      'billing.documents_due',
      'billing.function_calls',
      'billing.settlement_lines',
      'billing.settlements',
    ],
  ]);
});

describe('a released database, upgraded by db push', () => {
  test('gets exactly the newer migrations, and has the schema of a new installation', async () => {
    expect(applied).toEqual(await laterMigrations(release.version, release.folder));
    const versions = await database.query('select version from supabase_migrations.schema_migrations order by version');
    expect(versions.map(({ version }) => version)).toEqual(await migrationVersions());
    const fresh = await createTestDatabase();
    const describe = (url: string) => withClient(url, describeSchema);
    expect(await describe(database.url)).toEqual(await describe(fresh.url));
    await fresh.close();
  });

  test('shows every user of the sample the same subscription, and has exactly the findings that it left open', async () => {
    expect(before.length).toBeGreaterThan(20);
    // A newer schema may add fields.
    expect(await readAnswers(database)).toMatchObject(before);
    expect(notes.findings.length).toBeGreaterThan(5);
    expect(await readFindings(database, notes)).toEqual(notes.findings);
  });

  test('goes on: a charge renews, and an event that waited is applied when its order is stored', async () => {
    await setClock(database, '2026-11-15T00:02:00Z');
    const service = await openSession(database, { role: 'service_role' });
    const { user_id: farid } = await database.one(
      "select user_id from billing.gateway_subscriptions where gateway_subscription_id = 'sub_farid'",
    );
    const charge = subscriptionEvent({
      ...{ name: 'charged', userId: String(farid), id: 'sub_farid', planId: 'plan_basic' },
      ...{ start: '2026-11-15T00:00:00Z', end: '2026-12-15T00:00:00Z', createdAt: '2026-11-15T00:01:00Z' },
      payment: { id: 'pay_farid_4', amount: 4900 },
    });
    expect(await deliver(service, charge)).toBe('applied');
    const renewed = { status: 'active', end: '2026-12-15T00:00:00.000Z' };
    expect(await readSubscription(database, String(farid))).toMatchObject(renewed);

    const uma = await database.one("select id from auth.users where email = 'uma@example.com'");
    const { id } = await createPayment(database, { userId: String(uma.id), orderId: 'order_unknown' });
    expect(await readPayment(database, id)).toMatchObject({ status: 'captured', gateway_payment_id: 'pay_unknown' });
    expect(await readTier(database, String(uma.id))).toBe('pro');
  });
});

test('what was to begin while no sweep ran begins after the upgrade from 0.3.0, and what is over stays as it was', async () => {
  const { database: other, notes } = await restoreReleasedDatabase({ ...release, version: '0.3.0' });
  try {
    await setClock(other, notes.at);
    const { id } = await other.one(
      "insert into auth.users (id, email) values (gen_random_uuid(), 'late@example.com') returning id",
    );
    await other.query(
      `with row as (insert into public.subscriptions (user_id, tier, status, revision, due_at) values ($1, 'pro', 'cancelled', 1, null))
       insert into public.payments (
         user_id, amount, status, tier, plan_id, captured_at, confirmed_at, fulfilled_at, period_start, period_end,
         chain_start, extends_from, settle_at, since, gateway_order_id, gateway_payment_id
       )
       select $1, p.price, 'captured', p.tier, p.id, bought.at, bought.at, bought.at, starts.at, starts.at + interval '1 month',
         starts.at, starts.at, starts.at, bought.at, 'order_late', 'pay_late'
       from public.plans p, (select billing.clock() - interval '10 days' as at) bought, (select billing.clock() - interval '1 minute' as at) starts
       where p.tier = 'basic' and p.lookup_key is null`,
      [id],
    );
    const isOver = "from public.subscriptions where status = 'cancelled' and user_id <> $1";
    await other.query(
      `update public.subscriptions set due_at = billing.clock() where user_id = (select user_id ${isOver} limit 1)`,
      [id],
    );
    const over = await other.query(`select id, revision, updated_at ${isOver} order by id`, [id]);
    await migrate({ url: other.url, seed: false, log: () => {} });
    const sweep = async () => (await other.one('select billing.sweep() as done')).done === 0;
    await repeatUntil('the sweep has nothing left to do', 1000, sweep);
    expect(await readSubscription(other, String(id))).toMatchObject({ tier: 'basic', status: 'active' });
    const ids = over.map((row) => row.id);
    expect(
      await other.query('select id, revision, updated_at from public.subscriptions where id = any ($1) order by id', [
        ids,
      ]),
    )
      .toEqual(over);
    await other.query("delete from public.payments where gateway_payment_id = 'pay_late'");
    await other.query('delete from auth.users where id = $1', [id]);
    expect(await readFindings(other, notes)).toEqual(notes.findings);
  } finally {
    await other.close();
  }
});
