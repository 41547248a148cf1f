import { afterAll, beforeAll, describe, expect, inject, test, vi } from 'vitest';
import { freePort } from '../../scripts/stack/ports.ts';
import { createPostgres, type Postgres } from '../../scripts/stack/postgres/postgres.ts';
import { unprivilegedUser } from '../../scripts/stack/process/unprivileged-user.ts';
import { root } from '../../scripts/stack/root.ts';
import { poolUrl, setPoolPassword } from '../helpers/database/pool-role.ts';
import { withClient } from '../helpers/database/postgres-client.ts';
import { answer, refusal } from '../helpers/http/answer.ts';
import { poolTargets, type RunningService, startService, type Target } from '../helpers/project/targets.ts';

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
        return '{"oldest_undelivered_at": null, "last_webhook_at": null, "last_sweep_at": null}';
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

async function started(
  target: Target,
  authority: string | null,
  url: string = poolUrl(postgres.url()),
): Promise<RunningService> {
  return await startService(
    target,
    { apiUrl: 'http://127.0.0.1:1', poolUrl: url },
    { DATABASE_POOL_CA: authority === null ? '' : await Deno.readTextFile(`${certificates}/${authority}`) },
  );
}

async function health(target: Target, authority: string | null): Promise<unknown> {
  const service = await started(target, authority);
  try {
    return await answer(service.request('/api/health'));
  } finally {
    await service.stop();
  }
}

/** The faults that a health check logs, and the whole output of the service. */
async function faults(target: Target, authority: string | null, url: string): Promise<[unknown[], string]> {
  const service = await started(target, authority, url);
  try {
    await answer(service.request('/api/health'));
    await vi.waitFor(() => expect(service.log.some(({ event }) => event === 'request')).toBe(true));
    return [service.log.filter(({ event }) => event === 'fault').map(({ error }) => error), service.output.join('\n')];
  } finally {
    await service.stop();
  }
}

/** The address of the database with a wrong part, set by `change`. */
function wrong(change: (url: URL) => void): string {
  const url = new URL(poolUrl(postgres.url()));
  change(url);
  return url.href;
}

describe.each(poolTargets)('%s', (target) => {
  test("GET /api/health with the authority that signed the database's certificate → 200, encrypted", async () => {
    expect(await health(target, 'authority.pem')).toMatchObject({ status: 200, body: { status: 'ok' } });
  });

  test('GET /api/health with another authority → 503', async () => {
    expect(await health(target, 'another-authority.pem')).toEqual(unavailable);
  });

  test('GET /api/health without an authority → an unencrypted connection, which this database refuses: 503', async () => {
    expect(await health(target, null)).toEqual(unavailable);
  });

  // The codes of today's Deno, then of the hosted runtime's.
  const authorityCode = target.includes('2.1.4') ? 'CERTIFICATE_UNKNOWN_ISSUER' : 'UNABLE_TO_VERIFY_LEAF_SIGNATURE';
  const cases: [name: string, code: string, authority: string | null, url: () => string][] = [
    ['another authority', authorityCode, 'another-authority.pem', () => poolUrl(postgres.url())],
    ['a server that refuses TLS', 'TLS_REFUSED', 'authority.pem', () => poolUrl(inject('postgresUrl'))],
    ['a host that is not there', 'ENOTFOUND', 'authority.pem', () => wrong((url) => url.hostname = 'nowhere.invalid')],
    ['a port without a listener', 'ECONNREFUSED', 'authority.pem', () => wrong((url) => url.port = '1')],
    ['another password', '28P01', 'authority.pem', () => wrong((url) => url.password = 'guessed-password')],
    ['another database', '3D000', 'authority.pem', () => wrong((url) => url.pathname = '/elsewhere')],
  ];
  test.each(cases)('%s → the log has the code %s, and no part of address, user and password', async (...of) => {
    const [, code, authority, url] = of;
    const [logged, output] = await faults(target, authority, url());
    expect(logged).toEqual([`get_health failed: ${code}`]);
    const { hostname, port, username, password, pathname } = new URL(url());
    for (const inside of [`${hostname}`, `:${port}/`, username, password, pathname.slice(1), 'postgresql:']) {
      expect(output.replaceAll('"event":"listening","port"', '')).not.toContain(inside);
    }
  });
});

describe.each(poolTargets.filter((target) => target.startsWith('served')))('%s', (target) => {
  const warnings = async (authority: string | null, url: string): Promise<unknown[]> => {
    const service = await started(target, authority, url);
    try {
      for (let request = 0; request < 2; request += 1) await answer(service.request('/api/health'));
      return service.log.filter(({ event }) => event === 'pool_without_ca');
    } finally {
      await service.stop();
    }
  };
  const elsewhere = 'postgresql://somebody:secret@nowhere.invalid:6543/postgres';

  test('a pool on another host without an authority → one warning for all requests', async () => {
    expect(await warnings(null, elsewhere)).toEqual([{ level: 'warn', event: 'pool_without_ca' }]);
  });

  test('a pool on another host with an authority, or on this machine → no warning', async () => {
    expect(await warnings('authority.pem', elsewhere)).toEqual([]);
    expect(await warnings(null, poolUrl(postgres.url()))).toEqual([]);
  });
});
