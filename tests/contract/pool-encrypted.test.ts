import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { freePort } from '../../scripts/stack/ports.ts';
import { createPostgres, type Postgres } from '../../scripts/stack/postgres.ts';
import { root } from '../../scripts/stack/root.ts';
import { unprivilegedUser } from '../../scripts/stack/unprivileged-user.ts';
import { answer, refusal } from '../helpers/answer.ts';
import { poolUrl, setPoolPassword } from '../helpers/pool-role.ts';
import { withClient } from '../helpers/postgres-client.ts';
import { poolTargets, startService, type Target } from '../helpers/targets.ts';

const certificates = `${root}/tests/fixtures/tls`;
const unavailable = refusal(503, 'Service unavailable');
let postgres: Postgres;
let folder: string;

// A stand-in answers the health check, and only over an encrypted connection.
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

/** Postgres insists on a key that is its own and that nobody else can read. */
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

async function health(target: Target, authority: string | null): Promise<unknown> {
  const service = await startService(
    target,
    { apiUrl: 'http://127.0.0.1:1', poolUrl: poolUrl(postgres.url()) },
    { DATABASE_POOL_CA: authority === null ? '' : await Deno.readTextFile(`${certificates}/${authority}`) },
  );
  try {
    return await answer(service.request('/api/health'));
  } finally {
    await service.stop();
  }
}

describe.each(poolTargets)('%s', (target) => {
  test("GET /api/health with the authority that signed the database's certificate → 200, encrypted", async () => {
    expect(await health(target, 'authority.pem')).toMatchObject({ status: 200, body: { status: 'ok' } });
  });

  test('GET /api/health with another authority → 503', async () => {
    expect(await health(target, 'another-authority.pem')).toEqual(unavailable);
  });

  test('GET /api/health without an authority → in the clear, here 503', async () => {
    expect(await health(target, null)).toEqual(unavailable);
  });
});
