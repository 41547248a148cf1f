import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { freePort } from '../../scripts/stack/ports.ts';
import { removeFolder } from '../../scripts/stack/postgres/init-database.ts';
import { createPostgres, type Postgres } from '../../scripts/stack/postgres/postgres.ts';
import { createScheduler } from '../../scripts/stack/scheduler.ts';
import type { Service } from '../../scripts/stack/service.ts';
import { createCluster } from '../helpers/database/clusters.ts';
import { templateDatabase } from '../helpers/database/postgres-client.ts';
import { openDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { startReceiver } from '../helpers/outbox/receiver.ts';
import { localPassword } from '../helpers/project/keys.ts';
import { createUser } from '../helpers/records/records.ts';
import { repeatUntil } from '../helpers/project/repeat-until.ts';

/** The internal endpoints of the function: they record their calls. */
const api = startReceiver();
let folder: string;
let postgres: Postgres;
let database: TestDatabase;
let scheduler: Service | undefined;

beforeAll(async () => {
  folder = await createCluster('migrated');
  postgres = createPostgres({
    port: freePort(),
    password: localPassword,
    dataFolder: folder,
    ephemeral: true,
    log: () => {},
  });
  await postgres.start();
  await postgres.ready();
  database = openDatabase(postgres.url(templateDatabase), { findings: { entitled_not_paid: 3 } });
});
afterAll(async () => {
  await database.close();
  await postgres.stop();
  await removeFolder(folder);
  await api.stop();
});
beforeEach(() => {
  api.arrivals.length = 0;
  answerOutbox();
});
afterEach(() => scheduler?.stop());

const dispatched = () => api.arrivals.filter(({ path }) => path === '/outbox').length;
const untilDispatched = (times: number) =>
  vi.waitFor(() => expect(dispatched()).toBeGreaterThanOrEqual(times), { timeout: 30_000, interval: 10 });
const notify = () => database.query("select pg_notify('outbox', '')");

/** How the dispatcher answers from now on: when the next row is due. */
function answerOutbox(next_attempt_at: () => string | null | Promise<string | null> = () => null): void {
  api.answer = async () => Response.json({ delivered: 0, next_attempt_at: await next_attempt_at() });
}

/** Starts a scheduler, and waits for its first call. */
async function launch(sweepMs = 600_000): Promise<void> {
  const databaseUrl = postgres.url(templateDatabase);
  scheduler = createScheduler({ databaseUrl, internalUrl: api.url, secretKey: 'sb_secret_1', sweepMs });
  await scheduler.start();
  await scheduler.ready();
  await untilDispatched(1);
}

/** Edits a tier as an admin does in Studio, which enqueues a revalidation. */
async function editTier(): Promise<void> {
  const { id } = await createUser(database);
  await database.query("update public.profiles set subscription_tier = 'pro' where user_id = $1", [id]);
}

/** The number of connections whose newest statement matches. */
async function connections(statement: string): Promise<number> {
  const others = 'select from pg_stat_activity where pid <> pg_backend_pid() and query ilike $1';
  return (await database.query(others, [statement])).length;
}

test('the dispatcher is called at the start, by a POST with the secret key, and when a tier is edited by SQL', async () => {
  await launch();
  const [{ method, headers } = expect.fail()] = api.arrivals;
  expect([method, headers.get('apikey'), dispatched()]).toEqual(['POST', 'sb_secret_1', 1]);
  await editTier();
  await untilDispatched(2);
  expect(api.arrivals.map(({ path }) => path)).not.toContain('/reconcile');
});

test('it is called when the next row is due, without a sweep', async () => {
  // Counted from the first call: a start on a busy machine may take longer.
  let due = 0;
  answerOutbox(() => new Date(due ||= Date.now() + 400).toISOString());
  await launch();
  answerOutbox();
  await untilDispatched(2);
  expect(Date.now()).toBeGreaterThanOrEqual(due);
});

test('sweeps call it without a notification, and reconcile, also after calls that failed', async () => {
  let failures = 3;
  api.answer = () => failures-- > 0 ? new Response('down', { status: 502 }) : Response.json({ next_attempt_at: null });
  await launch(50);
  await untilDispatched(4);
  await vi.waitFor(() => expect(api.arrivals.some(({ path }) => path === '/reconcile')).toBe(true), 30_000);
  expect(await connections('%billing.sweep()%')).toBe(1);
});

test('a notification during a call leads to another call, although that call returns a later due time', async () => {
  await launch();
  for (let call = 2; call <= 8; call += 2) {
    const held = Promise.withResolvers<string>();
    answerOutbox(() => held.promise);
    await notify();
    await untilDispatched(call);
    await notify();
    answerOutbox(() => '2999-01-01T00:00:00.000Z');
    held.resolve('2999-01-01T00:00:00.000Z');
    await untilDispatched(call + 1);
  }
});

test('continuous notifications do not delay the call', async () => {
  await launch();
  await repeatUntil('a second dispatch', 100_000, async () => {
    await notify();
    return dispatched() >= 2;
  });
});

test('it is called after a restart of the database, because notifications were lost, and then by notifications', async () => {
  await launch();
  await postgres.restart();
  await untilDispatched(dispatched() + 1);
  const before = dispatched();
  await editTier();
  await untilDispatched(before + 1);
});

test('stop closes the connections and ends running calls; it can be called twice', async () => {
  const ended = Promise.withResolvers<string | null>();
  answerOutbox(() => ended.promise);
  await launch(50);
  await scheduler?.stop();
  await scheduler?.stop();
  const calls = dispatched();
  await vi.waitFor(async () => {
    expect([await connections('listen %'), await connections('%billing.sweep()%')]).toEqual([0, 0]);
  }, { timeout: 30_000 });
  await editTier();
  expect(dispatched()).toBe(calls);
  ended.resolve(null);
});
