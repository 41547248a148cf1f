import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { localKeys } from '../../scripts/stack/defaults.ts';
import { createLite } from '../../scripts/stack/supabase-lite/lite.ts';
import { freePort } from '../../scripts/stack/ports.ts';
import { createPostgres } from '../../scripts/stack/postgres/postgres.ts';
import { prepareDatabase } from '../../scripts/stack/postgres/prepare-database.ts';
import { withClient } from '../helpers/database/postgres-client.ts';

const quiet = () => {};

const crashes: Error[] = [];
const server = createPostgres({ port: freePort(), ephemeral: true, log: quiet, onCrash: (one) => crashes.push(one) });
beforeAll(async () => {
  await server.start();
  await server.ready();
});
afterAll(() => server.stop());

const run = (url: string, query: string) => withClient(url, async (client) => (await client.query(query)).rows);

test('a local Postgres keeps its data after a restart, and refuses a wrong password', async () => {
  await run(server.url(), 'create table kept (id integer)');
  const before = server.pid();
  await server.restart();
  expect([server.pid() === before, await run(server.url(), 'select from kept'), crashes]).toEqual([false, [], []]);
  await expect(run(server.url().replace(':postgres@', ':wrong@'), 'select 1')).rejects.toThrow('password');
});

test('it can be prepared twice, and in two databases at once', async () => {
  for (const name of ['first', 'second']) await run(server.url(), `create database ${name}`);
  await Promise.all(['first', 'second'].map((name) => prepareDatabase(server.url(name))));
  await prepareDatabase(server.url('first'));
  const bypassing = `select rolname, has_table_privilege(rolname, 'auth.users', 'select') as may_read
    from pg_roles where rolbypassrls and rolname <> 'postgres'`;
  expect(await run(server.url('first'), bypassing)).toEqual([{ rolname: 'service_role', may_read: false }]);
});

test('Lite answers again after a restart of Postgres', async () => {
  const databaseUrl = server.url('first');
  await run(databaseUrl, 'create table public.things (id integer); grant select on public.things to anon');
  const { jwtSecret, publishable: publishableKey, secret: secretKey } = localKeys;
  const keys = { jwtSecret, publishableKey, secretKey };
  const lite = createLite({ siteUrl: 'http://127.0.0.1:3000', databaseUrl, ...keys }, { log: quiet });
  const status = async () => {
    const answer = await fetch(`${await lite.apiUrl()}/rest/v1/things`, { headers: { apikey: publishableKey } });
    await answer.body?.cancel();
    return answer.status;
  };
  try {
    await lite.start();
    await lite.ready();
    expect(await status()).toBe(200);
    await server.restart();
    await vi.waitFor(async () => expect(await status()).toBe(200), { timeout: 20_000, interval: 50 });
    expect(await lite.studioUrl(0)).toBeUndefined();
  } finally {
    await lite.stop();
  }
  expect(lite.pid()).toBeUndefined();
});

test('it stops while it is paused by SIGSTOP, and reports its last lines when it crashes', async () => {
  Deno.kill(server.pid() ?? 0, 'SIGSTOP');
  await server.stop();
  expect([server.pid(), crashes]).toEqual([undefined, []]);
  await server.start();
  await server.ready();
  Deno.kill(server.pid() ?? 0, 'SIGKILL');
  await vi.waitFor(() => expect(crashes).toHaveLength(1), { timeout: 20_000, interval: 20 });
  expect(crashes[0]?.message).toContain('database system is ready to accept connections');
});
