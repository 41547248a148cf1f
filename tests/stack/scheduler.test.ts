import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest';
import { localKeys } from '../../scripts/stack/defaults.ts';
import { createScheduler } from '../../scripts/stack/scheduler.ts';
import type { Service } from '../../scripts/stack/service.ts';
import type { Row } from '../helpers/database/test-database.ts';
import { type FaultProject, startFaultProject } from '../helpers/faults/fault-project.ts';
import { type ApiProxy, startApiProxy } from '../helpers/http/api-proxy.ts';
import { accept, startReceiver } from '../helpers/outbox/receiver.ts';
import { countRows, emptyOutbox, enqueueRevalidation, readSideEffect } from '../helpers/outbox/side-effects.ts';
import { receiverEnvironment } from '../helpers/outbox/test-dispatcher.ts';
import { createUser } from '../helpers/records/records.ts';

const app = startReceiver();
let project: FaultProject;
let proxy: ApiProxy;
let scheduler: Service | undefined;
const patience = { timeout: 30_000, interval: 20 };

beforeAll(async () => {
  project = await startFaultProject({ ...receiverEnvironment(app.url), RESEND_API_KEY: '' });
  proxy = startApiProxy(() => project.edgeFunction.url, async (_request, forwardRequest) => {
    try {
      return await forwardRequest();
    } catch {
      return new Response(null, { status: 502 });
    }
  });
  // The first retry would run after 5 s, which is too long for these tests.
  await project.database.query(
    "create or replace function billing.retry_delay(p_attempts integer) returns interval language sql immutable set search_path = pg_catalog, pg_temp return interval '300 milliseconds'",
  );
});
afterAll(async () => {
  await proxy.stop();
  await project.stop();
  await app.stop();
});
beforeEach(async () => {
  app.answer = accept;
  await emptyOutbox(project.database);
  app.arrivals.length = 0;
});
afterEach(() => scheduler?.stop());

/** Starts a scheduler. */
async function launch({ internalUrl = proxyUrl(), sweepMs = 600_000 } = {}): Promise<void> {
  scheduler = createScheduler({
    databaseUrl: project.postgres.url(),
    internalUrl,
    secretKey: localKeys.secret,
    sweepMs,
  });
  await scheduler.start();
  await scheduler.ready();
}

/** Starts a scheduler and waits until it has delivered a row, so that the test starts in a known state. */
async function startScheduler(sweepMs?: number): Promise<void> {
  await launch({ sweepMs });
  await eventually(async () => untilDelivered(await enqueueRevalidation(project.database), 1000));
  await emptyOutbox(project.database);
  app.arrivals.length = 0;
}

/** The proxy's address stays the same when the function is restarted. */
function proxyUrl(): string {
  return `${proxy.url}/api/internal`;
}

/** Enqueues a revalidation without a notification, as the function's requests do. */
async function enqueueSilently(): Promise<string> {
  const session = await project.database.connect();
  await session.query("set subscriptions.request = 'on'");
  const { rows } = await session.query(
    `insert into billing.outbox (key, destination, kind, payload)
     values (gen_random_uuid()::text, 'revalidation', 'revalidation', '{"paths": ["/silent"]}') returning key`,
  );
  await session.end();
  return String(rows[0].key);
}

/** The connections whose newest statement matches, with what they do. */
async function connections(statement: string): Promise<Row[]> {
  return await project.database.query(
    `select state, wait_event, (now() - query_start)::text as since from pg_stat_activity
     where pid <> pg_backend_pid() and query ilike $1`,
    [statement],
  );
}

async function untilDelivered(key: string, timeout = patience.timeout): Promise<void> {
  await vi.waitFor(async () => {
    expect(await readSideEffect(project.database, key)).toMatchObject({ state: 'delivered' });
  }, { ...patience, timeout });
}

/** Repeats the work until it succeeds: a claim of a killed or restarted process is lost until its lease expires. */
async function eventually(work: () => Promise<void>): Promise<void> {
  await vi.waitFor(work, patience);
}

/** Edits a tier as an admin does in Studio, and waits for the revalidation. */
async function editTier(timeout = patience.timeout): Promise<void> {
  const { id } = await createUser(project.database);
  await project.database.query(
    "insert into billing.grants (user_id, tier, until, reason) values ($1, 'pro', '2126-01-01', 'as agreed')",
    [id],
  );
  await project.database.query("update public.profiles set subscription_tier = 'pro' where user_id = $1", [id]);
  await vi.waitFor(() => expect(app.arrivals.length).toBeGreaterThan(0), { ...patience, timeout });
}

test('a tier edited by SQL is delivered without a sweep and without a request', async () => {
  await startScheduler();
  const started = performance.now();
  await editTier();
  // Far less than the minute between two sweeps.
  expect(performance.now() - started).toBeLessThan(10_000);
  await vi.waitFor(async () => expect(await countRows(project.database)).toMatchObject({ pending: 0 }), patience);
  expect(app.arrivals[0]?.body).toEqual({ paths: ['/subscription', '/pricing', '/analytics', '/dashboard'] });
});

test('a row that is due before the scheduler starts is delivered', async () => {
  const key = await enqueueSilently();
  await launch();
  await untilDelivered(key);
});

test('a failed delivery is retried when the row is due, without a sweep', async () => {
  await startScheduler();
  app.answer = () => new Response(null, { status: 500 });
  const key = await enqueueRevalidation(project.database);
  await vi.waitFor(async () => {
    expect(await readSideEffect(project.database, key)).toMatchObject({ last_error: 'HTTP 500', attempts: 1 });
  }, patience);
  app.answer = accept;
  await untilDelivered(key);
  expect(await readSideEffect(project.database, key)).toMatchObject({ attempts: 2 });
});

test('sweeps deliver rows without a notification', async () => {
  await startScheduler(100);
  await untilDelivered(await enqueueSilently());
});

test('the scheduler delivers again after a restart of the function', async () => {
  await startScheduler(100);
  await project.edgeFunction.stop();
  await enqueueRevalidation(project.database);
  await project.edgeFunction.start();
  await project.edgeFunction.ready();
  await eventually(() => editTier(1000));
});

test('stop closes the connections and ends running calls; it can be called twice, and before start', async () => {
  const ended = Promise.withResolvers<void>();
  const hanging = startReceiver();
  hanging.answer = () => ended.promise.then(() => new Response());
  try {
    await launch({ internalUrl: hanging.url, sweepMs: 50 });
    await vi.waitFor(() => expect(hanging.arrivals.length).toBeGreaterThan(0), patience);
    await scheduler?.stop();
    await scheduler?.stop();
    const calls = hanging.arrivals.length;
    await vi.waitFor(async () => {
      expect(await connections('listen %')).toEqual([]);
      expect(await connections('%billing.sweep()%')).toEqual([]);
    }, patience);
    await enqueueRevalidation(project.database);
    expect(hanging.arrivals).toHaveLength(calls);
  } finally {
    ended.resolve();
    await hanging.stop();
  }
  await createScheduler({ databaseUrl: '', internalUrl: '', secretKey: '' }).stop();
});

describe('with a dispatcher that only counts its calls', () => {
  const dispatcher = startReceiver();
  let hold: Promise<void>;
  const nextCall = (count: number) => vi.waitFor(() => expect(dispatcher.arrivals).toHaveLength(count), patience);
  const notify = () => project.database.query("select pg_notify('outbox', '')");

  beforeEach(async () => {
    hold = Promise.resolve();
    dispatcher.arrivals.length = 0;
    dispatcher.answer = async () => {
      await hold;
      return Response.json({ delivered: 0, retried: 0, parked: 0, next_attempt_at: '2999-01-01T00:00:00.000Z' });
    };
    await launch({ internalUrl: dispatcher.url });
    await nextCall(1);
  });
  afterAll(() => dispatcher.stop());

  test('each call is a POST with the secret key', () => {
    const [{ method, headers } = expect.fail()] = dispatcher.arrivals;
    expect({ method, key: headers.get('apikey') }).toEqual({ method: 'POST', key: localKeys.secret });
  });

  test('a notification during a call leads to another call, although that call returns a later due time', async () => {
    for (let call = 2; call <= 11; call++) {
      const held = Promise.withResolvers<void>();
      hold = held.promise;
      await notify();
      await nextCall(call);
      await notify();
      held.resolve();
      hold = Promise.resolve();
      // The call for the second notification.
      await nextCall(++call);
    }
  });

  test('continuous notifications do not delay the call', async () => {
    let over = false;
    const noticing = (async () => {
      while (!over) await notify();
    })();
    await vi.waitFor(() => expect(dispatcher.arrivals.length).toBeGreaterThan(1), patience).finally(() => over = true);
    await noticing;
  });

  test('it is called after a restart of the database, because notifications were lost', async () => {
    await project.postgres.restart();
    await vi.waitFor(() => expect(dispatcher.arrivals.length).toBeGreaterThan(1), patience);
  });
});

test.each([
  ['by notifications', 600_000],
  ['by sweeps', 100],
])('the scheduler delivers again %s after a restart of the database', async (_name, sweepMs) => {
  await startScheduler(sweepMs);
  await project.postgres.restart();
  await vi.waitFor(async () => expect(await connections('listen %')).toHaveLength(1), patience);
  await eventually(() => editTier(1000));
});
