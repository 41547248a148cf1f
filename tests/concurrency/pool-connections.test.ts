import { expect, test, vi } from 'vitest';
import { createPoolTransport } from '../../supabase/functions/api/pool-transport.ts';
import { callRpc, openSession } from '../helpers/session.ts';
import { useProject } from '../helpers/use-project.ts';

const project = useProject();

/** How many connections the service's role has open. */
async function connections(): Promise<unknown> {
  const { open } = await project.database.one(
    "select count(*)::int as open from pg_stat_activity where usename = 'subscriptions_api' and datname = current_database()",
  );
  return open;
}

test('forty calls at once are answered over eight connections, which are closed after ten seconds without use', async () => {
  const call = createPoolTransport(project.poolUrl, null);
  expect(await connections()).toBe(0);
  const answers = await Promise.all(Array.from({ length: 40 }, () => call('get_health', {})));
  const service = await openSession(project.database, { role: 'service_role' });
  expect(answers).toEqual(Array(40).fill(await callRpc(service, 'get_health')));
  expect(await connections()).toBe(8);
  await vi.waitFor(async () => expect(await connections()).toBe(0), { timeout: 20_000, interval: 200 });
});

test('a call that fails leaves no connection in a failed state behind', async () => {
  const call = createPoolTransport(project.poolUrl, null);
  for (let i = 0; i < 20; i++) {
    await expect(call('verify_payment', { p_user_id: 'x', p_order_id: '', p_payment_id: '', p_signature: '' }))
      .rejects.toMatchObject({ name: 'DatabaseError', code: '22P02', message: 'verify_payment failed: 22P02' });
  }
  expect(await Promise.all(Array.from({ length: 8 }, () => call('get_health', {})))).toHaveLength(8);
  expect(await connections()).toBeLessThanOrEqual(8);
});

test('a call whose connection was cut while nobody used it is answered over a new one', async () => {
  const call = createPoolTransport(project.poolUrl, null);
  await call('get_health', {});
  await project.database.query(
    "select pg_terminate_backend(pid) from pg_stat_activity where usename = 'subscriptions_api'",
  );
  await vi.waitFor(async () => expect(await connections()).toBe(0));
  expect(await call('get_health', {})).toMatchObject({ oldest_undelivered_at: null });
});
