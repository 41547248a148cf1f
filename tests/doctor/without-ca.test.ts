import { afterAll, beforeEach, describe, expect, test } from 'vitest';
import { createSupportDatabase } from '../../scripts/console/database.ts';
import { database } from '../../scripts/doctor/checks/database.ts';
import { poolRole } from '../../scripts/doctor/checks/pool-role.ts';
import { runChecks } from '../../scripts/doctor/run-checks.ts';
import { root } from '../../scripts/stack/root.ts';
import { hosted } from './doctor.ts';

const certificates = `${root}/tests/fixtures/tls`;
const read = (name: string) => Deno.readTextFile(`${certificates}/${name}`);
const tls = Deno.listenTls({
  ...{ hostname: '127.0.0.1', port: 0 },
  cert: await read('server.pem'),
  key: await read('server-key.pem'),
});
const tcp = Deno.listen({ hostname: '127.0.0.1', port: 0 });
afterAll(() => [tls, tcp].forEach((listener) => listener.close()));
const received: string[] = [];
beforeEach(() => {
  received.length = 0;
});

/** A server between the machine and its database, with a certificate of its own: it reads the password. */
async function eavesdrop(): Promise<void> {
  for await (const client of tcp) {
    await client.read(new Uint8Array(8)); // SSLRequest
    await client.write(new TextEncoder().encode('S'));
    const server = await Deno.connect({ hostname: '127.0.0.1', port: tls.addr.port });
    void client.readable.pipeTo(server.writable).catch(() => {});
    void server.readable.pipeTo(client.writable).catch(() => {});
  }
}
async function askForPassword(): Promise<void> {
  for await (const connection of tls) {
    const buffer = new Uint8Array(1000);
    try {
      await connection.read(buffer); // the start-up message
      await connection.write(new Uint8Array([...new TextEncoder().encode('R'), 0, 0, 0, 8, 0, 0, 0, 3]));
      const length = await connection.read(buffer);
      received.push(new TextDecoder().decode(buffer.subarray(5, (length ?? 6) - 1)));
    } catch {
      // The client refused the certificate.
    }
    connection.close();
  }
}
void eavesdrop().catch(() => {});
void askForPassword().catch(() => {});

const url = `postgresql://asha:s3cret@0.0.0.0:${tcp.addr.port}/postgres`;
const another = await read('another-authority.pem');

/** The ways to that server. @returns what is said */
const callers = {
  async console(url: string, certificate: string, withoutCa: boolean) {
    try {
      const support = createSupportDatabase(url, { certificate, withoutCa });
      await support.read('select 1 as one').finally(() => support.close());
    } catch (error) {
      return String(error);
    }
  },
  async doctor(databaseUrl: string, DATABASE_POOL_CA: string, withoutCa: boolean) {
    const [told] = await runChecks([database], hosted({ databaseUrl, environment: { DATABASE_POOL_CA }, withoutCa }));
    return `${told?.message} ${told?.remedy}`;
  },
  async 'pool-role'(DATABASE_POOL_URL: string, DATABASE_POOL_CA: string, withoutCa: boolean) {
    const environment = { DATABASE_POOL_URL, DATABASE_POOL_CA };
    const [told] = await runChecks([poolRole], hosted({ environment, withoutCa }));
    return `${told?.message} ${told?.remedy}`;
  },
};

describe.each(Object.entries(callers))('%s', (_, call) => {
  test.each(['', '?sslmode=no-verify'])(
    'sends no password to an unknown server, and says what to do: %s',
    async (tls) => {
      const told = [await call(url + tls, '', false), await call(url + tls, another, false)];
      expect(received).toEqual([]);
      expect(told[0]).toMatch(/DATABASE_POOL_CA.* dashboard .*--without-ca/);
      expect(told[1]).toMatch(/CERT|ISSUER|SIGNATURE/);
    },
  );

  test('sends it with --without-ca', async () => {
    await call(`${url}?sslmode=no-verify`, '', true);
    expect(received).toEqual(['s3cret']);
  });
});

test.each([
  ['db.abc.supabase.co:5432', true],
  ['db.abc.supabase.co', true],
  ['aws-0-ap-south-1.pooler.supabase.com:5432', true],
  ['aws-0-ap-south-1.pooler.supabase.com:6543', false],
  ['db.abc.supabase.co:6543', false],
  ['pooler.example.com:5432', false],
])('pool-role warns of a direct connection to a hosted database: %s → %s', async (host, isDirect) => {
  const environment = { DATABASE_POOL_URL: `postgresql://role:secret@${host}/postgres` };
  const messages = (await runChecks([poolRole], hosted({ environment }))).map(({ message }) => message);
  expect(messages.filter((message) => message.includes('does not name the transaction pooler'))).toHaveLength(
    isDirect ? 1 : 0,
  );
  expect(messages.at(-1)).toContain('DATABASE_POOL_CA is not set');
});
