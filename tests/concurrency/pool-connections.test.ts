import { afterEach, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest';
import { root } from '../../scripts/stack/root.ts';
import { createPoolTransport } from '../../supabase/functions/api/database/pool-transport.ts';
import { startPostgresProxy } from '../helpers/database/postgres-proxy.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { useProject } from '../helpers/project/use-project.ts';
import { createPayment, createUser } from '../helpers/records/records.ts';

const project = useProject();
let early: string;
let late: string;
beforeAll(async () => {
  [early, late] = [(await createUser(project.database)).id, (await createUser(project.database)).id];
  await createPayment(project.database, { userId: early });
});

/** The connections of the service's role: their processes, their starts, and which wait for a lock. */
const connections = async () =>
  await project.database.query(
    `select pid::int, backend_start, coalesce(wait_event_type = 'Lock', false) as waits from pg_stat_activity
     where usename = 'subscriptions_api' and datname = current_database()`,
  );
const untilOpen = (count: number) =>
  vi.waitFor(async () => expect(await connections()).toHaveLength(count), { timeout: 20_000, interval: 100 });
const cut = async () => {
  for (const { pid } of await connections()) await project.database.query('select pg_terminate_backend($1)', [pid]);
  await untilOpen(0);
};
// Each pool keeps one connection open.
afterEach(cut);

const read = (call: ReturnType<typeof createPoolTransport>, userId: string) =>
  call('get_subscription', { p_user_id: userId });
const failureOf = (call: Promise<unknown>) => call.catch((error: unknown) => error);
const failure = (code: string) => ({ name: 'DatabaseError', code, message: `get_subscription failed: ${code}` });
const nothing = '{"subscription":null,"currentTier":"free","entitlements":{},"payments":[],"billing":null}';

test('forty calls at once use eight connections, of which one stays open after ten seconds without use', async () => {
  const call = createPoolTransport(project.poolUrl, null);
  expect(await connections()).toEqual([]);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const answers = await Promise.all(Array.from({ length: 40 }, () => call('get_health', {})));
  const service = await openSession(project.database, { role: 'service_role' });
  expect(answers).toEqual(Array(40).fill(await callRpc(service, 'get_health')));
  await vi.advanceTimersByTimeAsync(9_999);
  expect(await connections()).toHaveLength(8);
  await vi.advanceTimersByTimeAsync(1);
  vi.useRealTimers();
  await untilOpen(1);
  const before = await connections();
  await call('get_health', {});
  expect(await connections()).toEqual(before);
});

test('a call that fails leaves no connection in a failed transaction', async () => {
  const call = createPoolTransport(project.poolUrl, null);
  const wrong = { p_user_id: 'x', p_order_id: '', p_payment_id: '', p_signature: '' };
  const failures = await Promise.all(Array.from({ length: 8 }, () => failureOf(call('verify_payment', wrong))));
  const failed = { name: 'DatabaseError', code: '22P02', message: 'verify_payment failed: 22P02' };
  expect(failures).toMatchObject(Array(8).fill(failed));
  expect(await Promise.all(Array.from({ length: 8 }, () => call('get_health', {})))).toHaveLength(8);
  expect((await connections()).length).toBeLessThanOrEqual(8);
});

test('a call after its idle connection was cut is answered over a new connection', async () => {
  const call = createPoolTransport(project.poolUrl, null);
  await read(call, late);
  await cut();
  expect(await read(call, late)).toBe(nothing);
});

describe('while a lock makes every read of a subscription wait', () => {
  /** Runs a function while a table is locked. `waiting` resolves when so many calls wait. @returns their processes */
  async function whileReadsWait(run: (waiting: (count: number) => Promise<unknown[]>) => Promise<void>): Promise<void> {
    const admin = await project.database.connect();
    await admin.query('begin; lock table public.subscriptions in access exclusive mode');
    try {
      await run((count) =>
        vi.waitFor(async () => {
          const pids = (await connections()).flatMap(({ pid, waits }) => waits ? [pid] : []);
          expect(pids).toHaveLength(count);
          return pids;
        }, { timeout: 20_000 })
      );
    } finally {
      await admin.query('rollback');
    }
  }

  test('calls that time out have their connections closed, and no other call gets their late answers', async () => {
    // The role's own statement_timeout must not end the statement first.
    const patient = encodeURIComponent('-c statement_timeout=0');
    const call = createPoolTransport(`${project.poolUrl}?options=${patient}`, null);
    let stuck: unknown[] = [];
    await whileReadsWait(async (waiting) => {
      const unanswered = Array.from({ length: 8 }, () => failureOf(read(call, early)));
      stuck = await waiting(8);
      expect(await Promise.all(unanswered)).toMatchObject(Array(8).fill(failure('CALL_TIMEOUT')));
    });
    const answers = await Promise.all(Array.from({ length: 20 }, () => read(call, late)));
    expect(answers).toEqual(Array(20).fill(nothing));
    await vi.waitFor(async () => {
      const alive = await project.database.query('select from pg_stat_activity where pid = any ($1)', [stuck]);
      expect(alive).toEqual([]);
    }, { timeout: 10_000 });
  });

  test('a connection that breaks without a message fails its call, and the process continues', async () => {
    const proxy = startPostgresProxy(() => project.poolUrl);
    const transport = JSON.stringify(`${root}/supabase/functions/api/database/pool-transport.ts`);
    const script = `
      const { createPoolTransport } = await import(${transport});
      const call = createPoolTransport(${JSON.stringify(proxy.url)}, null);
      console.log(String(await call('get_subscription', { p_user_id: '${late}' }).catch((error) => error)));
      Deno.exit();
    `;
    // A separate process: the test runner would hide an uncaught error.
    const config = `${root}/supabase/functions/api/deno.json`;
    const args = ['eval', '--no-lock', '--config', config, '--node-modules-dir=manual', '--cached-only', script];
    await whileReadsWait(async (waiting) => {
      const ended = new Deno.Command(Deno.execPath(), { args }).output();
      await waiting(1);
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
});
