import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Check, fail, type Outcome, pass, warn } from '../../scripts/doctor/check.ts';
import { database as databaseCheck } from '../../scripts/doctor/checks/database.ts';
import { createMask } from '../../scripts/doctor/mask.ts';
import { secretValues } from '../../scripts/doctor/project.ts';
import { resultLine, resultsJson, summaryLine } from '../../scripts/doctor/report.ts';
import { runChecks } from '../../scripts/doctor/run-checks.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { expectReport, hosted, local } from './doctor.ts';
import { startFake } from './fake-server.ts';

const check = (name: string, run: Check['run'], fields: Partial<Check> = {}): Check => ({ name, run, ...fields });
const ends = (name: string, outcomes: Outcome[], fields: Partial<Check> = {}) =>
  check(name, () => Promise.resolve(outcomes), fields);
const asking = (url: string) => check('asking', async ({ request }) => [pass(String((await request(url)).status))]);
const querying = (sql: string) => check('querying', async ({ query }) => [pass(String(await query(sql)))]);

describe('a check', () => {
  let database: TestDatabase;
  beforeAll(async () => {
    database = await createTestDatabase();
  });
  afterAll(() => database.close());
  const late = (check: string) => ({
    check,
    status: 'fail',
    message: 'no answer within 1 s',
    remedy: 'Check that the server is running, and run the doctor again.',
  });
  const run = async (checks: Check[], databaseUrl = database.url) =>
    JSON.parse(resultsJson(await runChecks(checks, hosted({ databaseUrl }), { deadline: 1000 }), (text) => text));

  test('whose server never answers fails at its deadline, aborts its request, and the next check runs', async () => {
    const server = startFake('hang');
    expect(await run([asking(server.url), ends('next', [pass('ran')])]))
      .toEqual([late('asking'), { check: 'next', status: 'pass', message: 'ran' }]);
    await server.hungUp;
    await server.stop();
  });

  test('of a database that never answers fails at its deadline, and those that need it are skipped without a connection', async () => {
    const silent = Deno.listen({ hostname: '127.0.0.1', port: 0 });
    let connections = 0;
    void (async () => {
      for await (const _ of silent) connections += 1;
    })().catch(() => {});
    const needy = ['one', 'other'].map((name) => ends(name, [pass('ran')], { needs: ['database'] }));
    const checks = [ends('before', [pass('ran')]), databaseCheck, ...needy, ends('beside', [pass('ran')])];
    const told = await run(checks, `postgresql://postgres:x@127.0.0.1:${silent.addr.port}/postgres`);
    silent.close();
    const skipped = { status: 'skip', message: 'the check "database" failed', remedy: 'Repair that first.' };
    expect(told.slice(1, 4))
      .toEqual([late('database'), { check: 'one', ...skipped }, { check: 'other', ...skipped }]);
    expect([told[0].message, told[4].message, connections]).toEqual(['ran', 'ran', 1]);
  });

  test('whose statement takes too long fails at its deadline, and its statement is cancelled', async () => {
    expect(await run([querying('select pg_sleep(3600) as slow_statement')])).toEqual([late('querying')]);
    await expect.poll(
      () =>
        database.query("select from pg_stat_activity where query like '%slow\\_statement' and pid <> pg_backend_pid()"),
      { timeout: 30_000 },
    ).toEqual([]);
  });

  test('cannot write to the database, and fails where it throws', async () => {
    const isRefused = 'fail cannot execute CREATE TABLE in a read-only transaction (25006)';
    await expectReport(querying('create table public.mine ()'), hosted({ databaseUrl: database.url }), isRefused);
    await expectReport(check('broken', () => Promise.reject(new Error('a bug'))), hosted(), 'fail a bug');
  });

  test('is one line with its worst status, the problems, and each remedy once', async () => {
    const mixed = ends('mixed', [pass('good'), warn('odd', 'Look.'), fail('bad', 'Repair.'), fail('worse', 'Repair.')]);
    const lines = (await runChecks([mixed], hosted())).map((result) => resultLine(result, (text) => text));
    expect(lines).toEqual(['fail  mixed                bad; worse; odd -> Repair. Look.']);
  });

  test('after a gate that failed is skipped', async () => {
    const gate = ends('gate', [fail('closed', 'Open it.')], { gateOf: 'all' });
    const results = await runChecks([gate, ends('next', [pass('ran')])], local());
    expect(results.map(({ status, message }) => `${status} ${message}`)).toEqual([
      'fail closed',
      'skip the check "gate" failed',
    ]);
    expect(summaryLine(results)).toBe('1 fail, 1 skip');
  });

  test('without the access it needs is skipped', async () => {
    const needy = ends('needy', [pass('ran')], { needs: ['database'] });
    await expectReport(needy, hosted(), 'skip DATABASE_URL not given');
    await expectReport(needy, hosted({ databaseUrl: database.url }), 'pass ran');
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
    ['a variable', 'webhook-before'],
    ['a variable that the doctor does not know', 'later-secret'],
    ['a decoded password', 'pool/password'],
    ['the password in a public address', 'url-password'],
    ['the password of the database', 'db-password'],
    ['Base64', btoa('webhook-before')],
    ['percent-encoding', encodeURIComponent('key "secret" with quotes')],
    ['JSON', JSON.stringify('key "secret" with quotes').slice(1, -1)],
  ])('covers %s', (_, secret) => {
    expect(mask(`before ${secret} after`)).toBe('before *** after');
  });

  test('does not cover public values', () => {
    expect(mask('rzp_live_shown of https://app.example')).toBe('rzp_live_shown of https://app.example');
  });
});
