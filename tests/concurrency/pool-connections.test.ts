import { afterEach, expect, test, vi } from 'vitest';
import { root } from '../../scripts/stack/root.ts';
import { createPoolTransport } from '../../supabase/functions/api/database/pool-transport.ts';
import { startPostgresProxy } from '../helpers/database/postgres-proxy.ts';
import { createPayment, createUser } from '../helpers/records/records.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { useProject } from '../helpers/project/use-project.ts';

const project = useProject();

/** The number of open connections of the service's role. */
async function connections(): Promise<unknown> {
  const { open } = await project.database.one(
    "select count(*)::int as open from pg_stat_activity where usename = 'subscriptions_api' and datname = current_database()",
  );
  return open;
}

const kept = () =>
  project.database.query(
    "select backend_start from pg_stat_activity where usename = 'subscriptions_api' and datname = current_database()",
  );

// Each pool keeps one connection open.
afterEach(async () => {
  await project.database.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'subscriptions_api' and datname = current_database()",
  );
  await vi.waitFor(async () => expect(await connections()).toBe(0));
});

test('forty calls at once use eight connections, of which one stays open after ten seconds without use', async () => {
  const call = createPoolTransport(project.poolUrl, null);
  expect(await connections()).toBe(0);
  const answers = await Promise.all(Array.from({ length: 40 }, () => call('get_health', {})));
  const service = await openSession(project.database, { role: 'service_role' });
  expect(answers).toEqual(Array(40).fill(await callRpc(service, 'get_health')));
  expect(await connections()).toBe(8);
  await vi.waitFor(async () => expect(await connections()).toBe(1), { timeout: 20_000, interval: 200 });
  const before = await kept();
  await call('get_health', {});
  expect(await kept()).toEqual(before);
});

test('a call that fails leaves no connection in a failed transaction', async () => {
  const call = createPoolTransport(project.poolUrl, null);
  for (let i = 0; i < 20; i++) {
    await expect(call('verify_payment', { p_user_id: 'x', p_order_id: '', p_payment_id: '', p_signature: '' }))
      .rejects.toMatchObject({ name: 'DatabaseError', code: '22P02', message: 'verify_payment failed: 22P02' });
  }
  expect(await Promise.all(Array.from({ length: 8 }, () => call('get_health', {})))).toHaveLength(8);
  expect(await connections()).toBeLessThanOrEqual(8);
});

test('a call after its idle connection was cut is answered over a new connection', async () => {
  const call = createPoolTransport(project.poolUrl, null);
  await call('get_health', {});
  await project.database.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'subscriptions_api' and datname = current_database()",
  );
  await vi.waitFor(async () => expect(await connections()).toBe(0));
  expect(await call('get_health', {})).toMatchObject({ oldest_undelivered_at: null });
});

/** Runs a function while a table lock blocks every read of a subscription. */
async function whileReadsWait(run: (waiting: () => Promise<number[]>) => Promise<void>): Promise<void> {
  const admin = await project.database.connect();
  await admin.query('begin');
  await admin.query('lock table public.subscriptions in access exclusive mode');
  try {
    await run(async () => {
      const rows = await project.database.query(
        "select pid from pg_stat_activity where usename = 'subscriptions_api' and datname = current_database() and wait_event_type = 'Lock'",
      );
      return rows.map(({ pid }) => Number(pid));
    });
  } finally {
    await admin.query('rollback');
  }
}

test('calls that time out have their connections closed, and no other call gets their late answers', async () => {
  // The role's own statement_timeout must not end the statement first.
  const patient = encodeURIComponent('-c statement_timeout=0');
  const call = createPoolTransport(`${project.poolUrl}?options=${patient}`, null);
  const [early, late] = [await createUser(project.database), await createUser(project.database)];
  await createPayment(project.database, { userId: early.id });
  let stuck: number[] = [];
  await whileReadsWait(async (waiting) => {
    const unanswered = Array.from(
      { length: 8 },
      () => call('get_subscription', { p_user_id: early.id }).catch((error: unknown) => error),
    );
    await vi.waitFor(async () => expect(stuck = await waiting()).toHaveLength(8), { timeout: 3000 });
    for (const failure of await Promise.all(unanswered)) {
      expect(failure).toMatchObject({
        name: 'DatabaseError',
        code: 'CALL_TIMEOUT',
        message: 'get_subscription failed: CALL_TIMEOUT',
      });
    }
  });
  const answers = await Promise.all(Array.from({ length: 20 }, () => call('get_subscription', { p_user_id: late.id })));
  expect(answers).toEqual(Array(20).fill('{"subscription":null,"currentTier":"free","payments":[],"billing":null}'));
  await vi.waitFor(async () => {
    const alive = await project.database.query('select pid from pg_stat_activity where pid = any ($1)', [stuck]);
    expect(alive).toEqual([]);
  }, { timeout: 10_000 });
});

test('a connection that is cut during a call fails that call alone', async () => {
  const call = createPoolTransport(project.poolUrl, null);
  const user = await createUser(project.database);
  await whileReadsWait(async (waiting) => {
    const failure = call('get_subscription', { p_user_id: user.id }).catch((error: unknown) => error);
    await vi.waitFor(async () => expect(await waiting()).toHaveLength(1), { timeout: 3000 });
    await project.database.query('select pg_terminate_backend($1)', [(await waiting())[0]]);
    expect(await failure).toMatchObject({ name: 'DatabaseError', code: '57P01' });
  });
  expect(await call('get_subscription', { p_user_id: user.id })).toContain('"currentTier":"free"');
});

test('a connection that breaks without a message during a call fails that call, and the process continues', async () => {
  const proxy = startPostgresProxy(() => project.poolUrl);
  const user = await createUser(project.database);
  const script = `
    const { createPoolTransport } = await import(${
    JSON.stringify(`${root}/supabase/functions/api/database/pool-transport.ts`)
  });
    const call = createPoolTransport(${JSON.stringify(proxy.url)}, null);
    const failure = await call('get_subscription', { p_user_id: '${user.id}' }).catch((error) => error);
    console.log(String(failure));
    Deno.exit();
  `;
  // A separate process: the test runner would hide an uncaught error.
  const config = `${root}/supabase/functions/api/deno.json`;
  const args = ['eval', '--config', config, '--node-modules-dir=manual', '--cached-only', script];
  await whileReadsWait(async (waiting) => {
    const ended = new Deno.Command(Deno.execPath(), { args }).output();
    await vi.waitFor(async () => expect(await waiting()).toHaveLength(1), { timeout: 20_000 });
    proxy.stop();
    const { code, stdout, stderr } = await ended;
    const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
    expect({ code, out, err }).toEqual({
      code: 0,
      out: 'DatabaseError: get_subscription failed: CONNECTION_CLOSED\n',
      err: '',
    });
  });
});
