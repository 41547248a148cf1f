import { afterAll, beforeAll, expect, inject, test, vi } from 'vitest';
import { freePort } from '../../scripts/stack/ports.ts';
import { createPostgres, type Postgres } from '../../scripts/stack/postgres/postgres.ts';
import { unprivilegedUser } from '../../scripts/stack/process/unprivileged-user.ts';
import { root } from '../../scripts/stack/root.ts';
import { poolUrl, setPoolPassword } from '../helpers/database/pool-role.ts';
import { withClient } from '../helpers/database/postgres-client.ts';
import { call, refusal } from '../helpers/http/requests.ts';
import { isLong } from '../helpers/project/suite.ts';
import { startService } from '../helpers/project/targets.ts';

const target = isLong ? 'served on Deno 2.1.4 over the pool' : "served on today's Deno over the pool";
const certificates = `${root}/tests/fixtures/tls`;
const unavailable = refusal(503, 'Service unavailable');
let postgres: Postgres;
let folder: string;

// A stand-in for `get_health` that answers only over an encrypted connection.
beforeAll(async () => {
  folder = await certificateFolder();
  postgres = createPostgres({ port: freePort(), ephemeral: true, log: () => {} });
  await postgres.start();
  await postgres.ready();
  await withClient(postgres.url(), async (client) => {
    await client.query('create role service_role nologin bypassrls');
    await client.query('create role subscriptions_api login in role service_role');
    await client.query("alter role subscriptions_api set role = 'service_role'");
    await setPoolPassword(client);
    await client.query(`
      create function public.get_health(p_destinations text) returns jsonb language plpgsql security definer as $$
      begin
        if (select ssl from pg_stat_ssl where pid = pg_backend_pid()) is not true then
          raise exception 'in the clear';
        end if;
        return '{"oldest_undelivered_at": null, "last_webhook_at": null, "last_sweep_at": null, "statement": null}';
      end $$`);
    await client.query(`alter system set ssl_cert_file = '${folder}/server.pem'`);
    await client.query(`alter system set ssl_key_file = '${folder}/server-key.pem'`);
    await client.query('alter system set ssl = on');
  });
  await postgres.restart();
});
afterAll(async () => {
  await postgres?.stop();
  await Deno.remove(folder, { recursive: true });
});

/** Postgres requires that its user owns the key file and that no other user can read it. */
async function certificateFolder(): Promise<string> {
  const folder = await Deno.makeTempDir({ prefix: 'certificate-' });
  const user = await unprivilegedUser();
  for (const name of ['server.pem', 'server-key.pem']) {
    await Deno.copyFile(`${certificates}/${name}`, `${folder}/${name}`);
    await Deno.chmod(`${folder}/${name}`, 0o600);
    if (user) await Deno.chown(`${folder}/${name}`, user.uid, user.gid);
  }
  if (user) await Deno.chown(folder, user.uid, user.gid);
  return folder;
}

/** Asks for its health a service with this authority and database. @returns the answer, and what the service logged */
async function health(authority: string | null, url: string = poolUrl(postgres.url())) {
  const service = await startService(
    target,
    { apiUrl: 'http://127.0.0.1:1', poolUrl: url },
    { DATABASE_POOL_CA: authority === null ? '' : await Deno.readTextFile(`${certificates}/${authority}`) },
  );
  try {
    const received = await call(service, 'GET /api/health');
    await vi.waitFor(() => expect(service.log.some(({ event }) => event === 'request')).toBe(true), 30_000);
    const named = (name: string) => service.log.filter(({ event }) => event === name);
    const faults = named('fault').map(({ error }) => error);
    return { received, faults, warnings: named('pool_without_ca'), output: service.output.join('\n') };
  } finally {
    await service.stop();
  }
}

/** The address of the database with a wrong part. */
const wrong = (part: Partial<URL>) => Object.assign(new URL(poolUrl(postgres.url())), part).href;

test("GET /api/health with the authority that signed the database's certificate → 200, encrypted, no warning", async () => {
  expect(await health('authority.pem'))
    .toMatchObject({ received: { status: 200, body: { status: 'ok' } }, warnings: [], faults: [] });
});

test('GET /api/health without an authority → 503 of a database that refuses the clear; a warning for another host', async () => {
  expect(await health(null)).toMatchObject({ received: unavailable, warnings: [] });
  const { warnings } = await health(null, 'postgresql://somebody:secret@nowhere.invalid:6543/postgres');
  expect(warnings).toEqual([{ level: 'warn', event: 'pool_without_ca' }]);
});

const authorityCode = isLong ? 'CERTIFICATE_UNKNOWN_ISSUER' : 'UNABLE_TO_VERIFY_LEAF_SIGNATURE';
test.each<[name: string, code: string, authority: string, url: () => string]>([
  ['another authority', authorityCode, 'another-authority.pem', () => poolUrl(postgres.url())],
  ['a server that refuses TLS', 'TLS_REFUSED', 'authority.pem', () => poolUrl(inject('postgresUrl'))],
  ['a host that is not there', 'ENOTFOUND', 'authority.pem', () => wrong({ hostname: 'nowhere.invalid' })],
  ['another password', '28P01', 'authority.pem', () => wrong({ password: 'guessed-password' })],
])(
  'GET /api/health with %s → 503; the log has the code %s, and no part of address, user and password',
  async (...of) => {
    const [, code, authority, url] = of;
    const { received, faults, warnings, output } = await health(authority, url());
    expect(received).toEqual(unavailable);
    expect({ faults, warnings }).toEqual({ faults: [`get_health failed: ${code}`], warnings: [] });
    const { hostname, port, username, password, pathname } = new URL(url());
    for (const inside of [hostname, `:${port}/`, username, password, pathname.slice(1), 'postgresql:']) {
      expect(output.replaceAll('"event":"listening","port"', '')).not.toContain(inside);
    }
  },
);
