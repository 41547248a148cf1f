import postgres from 'postgres';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { localKeys } from '../../scripts/stack/defaults.ts';
import { createLite } from '../../scripts/stack/supabase-lite/lite.ts';
import { freePort } from '../../scripts/stack/ports.ts';
import { createPostgres } from '../../scripts/stack/postgres/postgres.ts';
import { prepareDatabase } from '../../scripts/stack/postgres/prepare-database.ts';

const quiet = () => {};

async function one(url: string, query: string): Promise<unknown> {
  const sql = postgres(url, { max: 1, onnotice: quiet });
  try {
    const [row] = await sql.unsafe(query).values();
    return row?.[0];
  } finally {
    await sql.end();
  }
}

describe('a local Postgres', () => {
  const crashes: Error[] = [];
  const server = createPostgres({
    port: freePort(),
    ephemeral: true,
    log: quiet,
    onCrash: (error) => crashes.push(error),
  });
  beforeAll(async () => {
    await server.start();
    await server.ready();
  });
  afterAll(() => server.stop());

  test('keeps its data after a restart', async () => {
    await one(server.url(), 'create table kept (id integer)');
    const before = server.pid();
    await server.restart();
    expect(server.pid()).not.toBe(before);
    expect(await one(server.url(), 'select count(*)::int from kept')).toBe(0);
    expect(crashes).toEqual([]);
  });

  test('refuses a wrong password', async () => {
    await expect(one(server.url().replace(':postgres@', ':wrong@'), 'select 1')).rejects.toThrow('password');
  });

  test('can be prepared twice, and in two databases at once', async () => {
    await one(server.url(), 'create database first');
    await one(server.url(), 'create database second');
    await Promise.all(['first', 'second'].map((name) => prepareDatabase(server.url(name))));
    await prepareDatabase(server.url('first'));
    const bypass = `select string_agg(rolname, ',') from pg_roles where rolbypassrls and rolname <> 'postgres'`;
    expect(await one(server.url('first'), bypass)).toBe('service_role');
    expect(await one(server.url('first'), `select has_table_privilege('service_role', 'auth.users', 'select')`)).toBe(
      false,
    );
  });

  test('Lite answers again after a restart of Postgres', async () => {
    await one(server.url(), 'create database lite');
    await prepareDatabase(server.url('lite'));
    await one(server.url('lite'), 'create table public.things (id integer); grant select on public.things to anon');
    const lite = createLite({
      databaseUrl: server.url('lite'),
      jwtSecret: localKeys.jwtSecret,
      publishableKey: localKeys.publishable,
      secretKey: localKeys.secret,
      siteUrl: 'http://127.0.0.1:3000',
    }, { log: quiet });
    const status = async () => {
      const answer = await fetch(`${await lite.apiUrl()}/rest/v1/things`, {
        headers: { apikey: localKeys.publishable },
      });
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

  test('stops while it is paused by SIGSTOP', async () => {
    Deno.kill(server.pid() ?? 0, 'SIGSTOP');
    await server.stop();
    expect(server.pid()).toBeUndefined();
    expect(crashes).toEqual([]);
  });

  test('reports its last lines when it crashes', async () => {
    await server.start();
    await server.ready();
    Deno.kill(server.pid() ?? 0, 'SIGKILL');
    await vi.waitFor(() => expect(crashes).toHaveLength(1), { timeout: 20_000, interval: 20 });
    expect(crashes[0]?.message).toContain('database system is ready to accept connections');
  });
});
