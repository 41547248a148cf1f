import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { localKeys } from '../helpers/project/keys.ts';
import { createLite } from '../../scripts/stack/supabase-lite/lite.ts';
import { freePort } from '../../scripts/stack/ports.ts';
import { removeFolder } from '../../scripts/stack/postgres/init-database.ts';
import { migrate } from '../../scripts/stack/postgres/migrate.ts';
import { createPostgres } from '../../scripts/stack/postgres/postgres.ts';
import { prepareDatabase } from '../../scripts/stack/postgres/prepare-database.ts';
import { root } from '../../scripts/stack/root.ts';
import { createCluster } from '../helpers/database/clusters.ts';
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
  await expect(run(Object.assign(new URL(server.url()), { password: 'postgres' }).href, 'select 1')).rejects.toThrow(
    'password',
  );
});

test('kept data get the password of each start, whatever they had, and listen on no Unix socket', async () => {
  const dataFolder = await createCluster('empty');
  for (const password of [undefined, crypto.randomUUID()]) {
    const kept = createPostgres({ port: freePort(), password, dataFolder, ephemeral: false, log: quiet });
    await kept.start();
    await kept.ready();
    expect(await run(kept.url(), 'show unix_socket_directories')).toEqual([{ unix_socket_directories: '' }]);
    await kept.stop();
  }
  await removeFolder(dataFolder);
});

test('a migration that begins with `set local` holds it to its end, and nothing warns about that', async () => {
  const folder = await Deno.makeTempDir();
  const migrations = `${folder}/supabase/migrations`;
  await Deno.mkdir(migrations, { recursive: true });
  await Deno.copyFile(`${root}/supabase/config.toml`, `${folder}/supabase/config.toml`);
  await Deno.writeTextFile(
    `${migrations}/20260101000000_one.sql`,
    "set local lock_timeout = '2s';\ndo $$ begin raise warning 'another one'; end $$;\n" +
      "create table held as select current_setting('lock_timeout') as value;",
  );
  const lines: string[] = [];
  const logged = createPostgres({ port: freePort(), ephemeral: true, log: (line) => lines.push(line) });
  onTestFinished(async () => {
    await logged.stop();
    await Deno.remove(folder, { recursive: true });
  });
  await logged.start();
  await logged.ready();
  await migrate({ url: logged.url(), seed: false, folder, log: quiet });
  expect(await run(logged.url(), 'select value from held')).toEqual([{ value: '2s' }]);
  await vi.waitFor(() =>
    expect(lines.filter((line) => line.includes('WARNING'))).toEqual([
      expect.stringMatching(/WARNING: {2}another one$/),
    ])
  );
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

test('Lite is replaced when it does not answer while Postgres does, and not while Postgres is silent, too', async () => {
  const { jwtSecret, publishable: publishableKey, secret: secretKey } = localKeys;
  const keys = { jwtSecret, publishableKey, secretKey };
  const lines: string[] = [];
  const lite = createLite({ siteUrl: 'http://127.0.0.1:3000', databaseUrl: server.url('first'), ...keys }, {
    log: (line) => void lines.push(line),
    watch: { everyMs: 50, silentMs: 1000 },
  });
  const replaced = () => lines.filter((line) => line.includes('it is replaced')).length;
  try {
    await lite.start();
    await lite.ready();
    const pid = lite.pid() ?? 0;
    Deno.kill(server.pid() ?? 0, 'SIGSTOP');
    Deno.kill(pid, 'SIGSTOP');
    // Longer than it waits for both.
    await new Promise((resolve) => setTimeout(resolve, 8000));
    expect([lite.pid(), replaced()]).toEqual([pid, 0]);
    Deno.kill(server.pid() ?? 0, 'SIGCONT');
    await vi.waitFor(() => expect(replaced()).toBe(1), { timeout: 30_000 });
    await vi.waitFor(() => expect(lite.pid()).not.toBe(pid), { timeout: 30_000 });
    await lite.ready();
    expect((await fetch(`${await lite.apiUrl()}/rest/v1/things`, { headers: { apikey: publishableKey } })).status).toBe(
      200,
    );
  } finally {
    await lite.stop();
  }
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
