import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { type Check, fail, pass, skip, warn } from '../../scripts/doctor/check.ts';
import { createMask } from '../../scripts/doctor/mask.ts';
import { secretValues } from '../../scripts/doctor/project.ts';
import { resultLine, resultsJson, summaryLine } from '../../scripts/doctor/report.ts';
import { runChecks } from '../../scripts/doctor/run-checks.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { diagnose, hosted, local } from './doctor.ts';
import { startFake } from './fake-server.ts';

const check = (name: string, run: Check['run'], fields: Partial<Check> = {}): Check => ({ name, run, ...fields });
const shown = (mask = (text: string) => text) => (results: Awaited<ReturnType<typeof runChecks>>) =>
  JSON.parse(resultsJson(results, mask));

describe('a check', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.close());

  test('whose server never answers fails at its deadline, aborts its request, and the next check runs', async () => {
    const server = startFake('hang');
    const results = await runChecks(
      [
        check('hanging', async ({ request }) => [pass(String((await request(server.url)).status))]),
        check('next', () => Promise.resolve([pass('ran')])),
      ],
      hosted(),
      { deadline: 200 },
    );
    expect(shown()(results)).toEqual([
      {
        check: 'hanging',
        status: 'fail',
        message: 'no answer within 0.2 s',
        remedy: 'Check that the server is running, and run the doctor again.',
      },
      { check: 'next', status: 'pass', message: 'ran' },
    ]);
    await server.hungUp;
    await server.stop();
  });

  test('has a deadline of 5 s', async () => {
    const server = startFake('hang');
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    try {
      let result: unknown;
      const hanging = check('hanging', async ({ request }) => [pass(String((await request(server.url)).status))]);
      const diagnosis = diagnose(hanging, hosted()).then((found) => result = found);
      await vi.advanceTimersByTimeAsync(4999);
      expect(result).toBeUndefined();
      await vi.advanceTimersByTimeAsync(1);
      await diagnosis;
      expect(result).toMatchObject({ status: 'fail', message: 'no answer within 5 s' });
    } finally {
      vi.useRealTimers();
    }
    await server.stop();
  });

  test('whose database never answers fails at its deadline', async () => {
    const silent = Deno.listen({ hostname: '127.0.0.1', port: 0 });
    const databaseUrl = `postgresql://postgres:x@127.0.0.1:${silent.addr.port}/postgres`;
    const results = await runChecks(
      [check('hanging', async ({ query }) => [pass(String(await query('select 1')))])],
      hosted({ databaseUrl }),
      { deadline: 200 },
    );
    expect(shown()(results)).toMatchObject([{ status: 'fail', message: 'no answer within 0.2 s' }]);
    silent.close();
  });

  test('whose statement takes too long fails at its deadline, and its statement is cancelled', async () => {
    const results = await runChecks(
      [check('slow', async ({ query }) => [pass(String(await query('select pg_sleep(3600) as slow_statement')))])],
      hosted({ databaseUrl: database.url }),
      { deadline: 200 },
    );
    expect(shown()(results)).toMatchObject([{ status: 'fail', message: 'no answer within 0.2 s' }]);
    await expect.poll(() =>
      database.query("select from pg_stat_activity where query like '%slow\\_statement' and pid <> pg_backend_pid()")
    ).toEqual([]);
  });

  test('cannot write to the database', async () => {
    const writing = check('writing', async ({ query }) => {
      await query('create table public.mine ()');
      return [pass('written')];
    });
    expect(await diagnose(writing, hosted({ databaseUrl: database.url }))).toMatchObject({
      status: 'fail',
      message: 'cannot execute CREATE TABLE in a read-only transaction (25006)',
    });
  });

  test('that throws fails', async () => {
    expect(await diagnose(check('broken', () => Promise.reject(new Error('a bug'))), hosted()))
      .toMatchObject({ status: 'fail', message: 'a bug' });
  });

  test('is one line with its worst status, the problems, and each remedy once', async () => {
    const mixed = check(
      'mixed',
      () => Promise.resolve([pass('good'), warn('odd', 'Look.'), fail('bad', 'Repair.'), fail('worse', 'Repair.')]),
    );
    const [result] = await runChecks([mixed], hosted());
    if (result === undefined) throw new Error('no result');
    expect(resultLine(result, (text) => text)).toBe('fail  mixed                bad; worse; odd -> Repair. Look.');
  });

  test('after a gate that failed is skipped', async () => {
    const gate = check('gate', () => Promise.resolve([fail('closed', 'Open it.')]), { isGate: true });
    const results = await runChecks([gate, check('next', () => Promise.resolve([pass('ran')]))], local());
    expect(results.map(({ status, message }) => [status, message])).toEqual([['fail', 'closed'], ['skip', 'see gate']]);
    expect(summaryLine(results)).toBe('1 fail, 1 skip');
  });

  test('without the access it needs is skipped', async () => {
    const needy = (need: 'database' | 'access token') =>
      check('needy', () => Promise.resolve([pass('ran')]), { needs: [need] });
    expect(await diagnose(needy('database'), hosted())).toEqual({
      status: 'skip',
      message: 'DATABASE_URL is not given',
    });
    expect(await diagnose(needy('access token'), hosted()))
      .toEqual({ status: 'skip', message: 'SUPABASE_ACCESS_TOKEN is not given' });
    expect(await diagnose(needy('database'), hosted({ databaseUrl: database.url })))
      .toEqual({ status: 'pass', message: 'ran' });
    expect(skip('why')).toEqual({ status: 'skip', message: 'why' });
  });
});

describe('the mask', () => {
  const environment = {
    GATEWAY_KEY_ID: 'rzp_live_shown',
    GATEWAY_KEY_SECRET: 'key "secret" with quotes',
    GATEWAY_WEBHOOK_SECRET: 'webhook',
    GATEWAY_WEBHOOK_SECRET_PREVIOUS: 'webhook-before',
    DATABASE_POOL_URL: 'postgresql://role.ref:pool%2Fpassword@pooler.example:6543/postgres',
    REVALIDATE_URL: 'https://user:url-password@app.example/api/revalidate',
    A_LATER_VARIABLE: 'later-secret',
  };
  const project = hosted({ environment, accessToken: 'sbp_token', databaseUrl: 'postgresql://u:db-password@h/d' });
  const mask = createMask(secretValues(project));

  test.each([
    ...Object.entries(environment).filter(([name]) => !['GATEWAY_KEY_ID', 'REVALIDATE_URL'].includes(name)),
    ['a percent-encoded password', 'pool%2Fpassword'],
    ['a decoded password', 'pool/password'],
    ['the password in a public address', 'url-password'],
    ['the password of the database', 'db-password'],
    ['the access token', 'sbp_token'],
    ['Base64', btoa('webhook-before')],
    ['percent-encoding', encodeURIComponent('key "secret" with quotes')],
    ['JSON', JSON.stringify('key "secret" with quotes').slice(1, -1)],
  ])('covers %s', (_, secret) => {
    expect(mask(`before ${secret} after`)).toBe('before *** after');
  });

  test('does not cover public values', () => {
    expect(mask('rzp_live_shown of https://app.example')).toBe('rzp_live_shown of https://app.example');
    expect(
      createMask(secretValues(local({ databaseUrl: 'postgresql://postgres:postgres@127.0.0.1/postgres' })))('postgres'),
    )
      .toBe('postgres');
  });

  test('covers messages and remedies in both report formats', async () => {
    const revealing = check('revealing', () => Promise.resolve([fail('it is later-secret', 'Say later-secret.')]));
    const results = await runChecks([revealing], project);
    expect(shown(mask)(results))
      .toEqual([{ check: 'revealing', status: 'fail', message: 'it is ***', remedy: 'Say ***.' }]);
    expect(results.map((result) => resultLine(result, mask)).join()).not.toContain('later-secret');
  });
});
