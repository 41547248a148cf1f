import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Check, pass } from '../../scripts/doctor/check.ts';
import { database as databaseCheck } from '../../scripts/doctor/checks/database.ts';
import { poolRole } from '../../scripts/doctor/checks/pool-role.ts';
import { migrate } from '../../scripts/stack/postgres/migrate.ts';
import { prepareDatabase } from '../../scripts/stack/postgres/prepare-database.ts';
import { root } from '../../scripts/stack/root.ts';
import { unprivilegedUser } from '../../scripts/stack/process/unprivileged-user.ts';
import { type HostedPostgres, startHostedPostgres } from '../helpers/database/hosted-postgres.ts';
import { poolUrl, setPoolPassword } from '../helpers/database/pool-role.ts';
import { withClient } from '../helpers/database/postgres-client.ts';
import { openDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { diagnose, hosted } from './doctor.ts';
import { deadAddress } from './fake-server.ts';

const certificates = `${root}/tests/fixtures/tls`;
const authority = await Deno.readTextFile(`${certificates}/authority.pem`);
let postgres: HostedPostgres;
let database: TestDatabase;
let folder: string;

// A separate server, because roles belong to the whole server, and this one needs TLS.
beforeAll(async () => {
  postgres = await startHostedPostgres();
  folder = await Deno.makeTempDir({ prefix: 'certificate-' });
  const user = await unprivilegedUser();
  if (user) await Deno.chown(folder, user.uid, user.gid);
  for (const name of ['server.pem', 'server-key.pem']) {
    await Deno.copyFile(`${certificates}/${name}`, `${folder}/${name}`);
    await Deno.chmod(`${folder}/${name}`, 0o600);
    if (user) await Deno.chown(`${folder}/${name}`, user.uid, user.gid);
  }
  await prepareDatabase(postgres.url);
  await migrate({ url: postgres.url, seed: false, log: () => {} });
  database = openDatabase(postgres.url);
  await withClient(postgres.url, setPoolPassword);
  for (const [name, value] of [['ssl_cert_file', 'server.pem'], ['ssl_key_file', 'server-key.pem']]) {
    await database.query(`alter system set ${name} = '${folder}/${value}'`);
  }
  await database.query('alter system set ssl = on');
  await database.query('select pg_reload_conf()');
  // New connections use the new settings.
  await vi.waitFor(async () => {
    const { rows } = await withClient(postgres.url, (client) => client.query('show ssl'));
    expect(rows).toEqual([{ ssl: 'on' }]);
  });
});
afterAll(async () => {
  await database?.close();
  await postgres?.stop();
  await Deno.remove(folder, { recursive: true });
});

const url = (change: (url: URL) => void = () => {}) => {
  const url = new URL(poolUrl(postgres.url));
  change(url);
  return url.href;
};
const check = (DATABASE_POOL_URL: string, DATABASE_POOL_CA = '') =>
  diagnose(poolRole, hosted({ environment: { DATABASE_POOL_URL, DATABASE_POOL_CA } }));
const as = (name: string) => url((url) => void (url.username = name));

async function createRole(name: string, ...statements: string[]): Promise<void> {
  await database.query(`create role ${name} login noinherit password 'pool role of the tests'`);
  for (const statement of statements) await database.query(statement);
}

describe('the connection of the other checks', () => {
  const isEncrypted: Check = {
    name: 'is-encrypted',
    run: async ({ query }) => {
      const [row] = await query('select ssl from pg_stat_ssl where pid = pg_backend_pid()');
      return [pass(String(row?.ssl))];
    },
  };
  const elsewhere = () => postgres.url.replace('127.0.0.1', '0.0.0.0');

  test('is encrypted to another machine, and verified where DATABASE_POOL_CA is set', async () => {
    expect(await diagnose(isEncrypted, hosted({ databaseUrl: postgres.url }))).toMatchObject({ message: 'false' });
    expect(await diagnose(isEncrypted, hosted({ databaseUrl: elsewhere() }))).toMatchObject({ message: 'true' });
    const another = await Deno.readTextFile(`${certificates}/another-authority.pem`);
    const project = hosted({ databaseUrl: elsewhere(), environment: { DATABASE_POOL_CA: another } });
    expect(await diagnose(isEncrypted, project)).toMatchObject({ status: 'skip' });
    expect(await diagnose(databaseCheck, project)).toMatchObject({ status: 'fail' });
  });
});

describe('pool-role', () => {
  test('passes for the role of the deployment guide', async () => {
    expect(await check(url()))
      .toEqual({ status: 'pass', message: 'subscriptions_api acts as service_role, 4000 ms a statement' });
  });

  test('passes over an encrypted connection, also with the line breaks of the certificate written as \\n', async () => {
    expect(await check(url(), authority)).toMatchObject({ status: 'pass' });
    expect(await check(url(), authority.replaceAll('\n', '\\n'))).toMatchObject({ status: 'pass' });
  });

  test('fails with the certificate of another authority', async () => {
    expect(await check(url(), await Deno.readTextFile(`${certificates}/another-authority.pem`))).toMatchObject({
      status: 'fail',
      message: expect.stringMatching(/^DATABASE_POOL_URL can't be connected to: [A-Z_]*(CERT|ISSUER|SIGNATURE)/),
      remedy: expect.stringContaining('DATABASE_POOL_CA'),
    });
  });

  test('warns without a certificate where the host is another machine', async () => {
    // 0.0.0.0 reaches this machine but is not one of the names that the doctor treats as local.
    expect(await check(url((url) => void (url.hostname = '0.0.0.0')))).toEqual({
      status: 'warn',
      message: 'DATABASE_POOL_CA is not set: the connection of the function is not verified',
      remedy: expect.stringContaining('database settings'),
    });
  });

  test.each([
    ['a wrong password', (url: URL) => void (url.password = 'wrong'), 'the login is refused (28P01)'],
    ['no server', (url: URL) => void (url.port = new URL(deadAddress()).port), 'ECONNREFUSED'],
  ])('fails with %s', async (_, change, reason) => {
    expect(await check(url(change)))
      .toMatchObject({ status: 'fail', message: `DATABASE_POOL_URL can't be connected to: ${reason}` });
  });

  test('fails for the role postgres', async () => {
    expect(await check(postgres.url)).toMatchObject({
      status: 'fail',
      message: expect.stringContaining(
        'postgres acts as postgres, not as service_role; postgres has more rights than the service',
      ),
    });
  });

  test('fails for a role that does not act as service_role', async () => {
    await createRole('does_not_act', "alter role does_not_act set statement_timeout = '4s'");
    expect(await check(as('does_not_act')))
      .toMatchObject({ status: 'fail', message: 'does_not_act acts as does_not_act, not as service_role' });
  });

  test.each([['off', '0'], ['10000 ms', '10s']])('warns where statement_timeout is %s', async (shown, value) => {
    const name = `waits_${value}`;
    await createRole(
      name,
      `grant service_role to ${name}`,
      `alter role ${name} set role = 'service_role'`,
      `alter role ${name} set statement_timeout = '${value}'`,
    );
    expect(await check(as(name))).toEqual({
      status: 'warn',
      message: `statement_timeout of ${name} is ${shown}`,
      remedy: `Run "alter role ${name} set statement_timeout = '4s';".`,
    });
  });

  test('is skipped where the function calls the database over REST', async () => {
    expect(await check('')).toMatchObject({ status: 'skip', message: expect.stringContaining('over REST') });
  });
});
