import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { database as databaseCheck } from '../../scripts/doctor/checks/database.ts';
import { findings } from '../../scripts/doctor/checks/findings.ts';
import { schedule, scheduleFindings } from '../../scripts/doctor/checks/schedule.ts';
import { versions } from '../../scripts/doctor/checks/versions.ts';
import { migrationVersions } from '../../scripts/schema-version.ts';
import { createUser } from '../helpers/records/records.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { diagnose, hosted } from './doctor.ts';
import { deadAddress, startFake } from './fake-server.ts';

let database: TestDatabase;
let newest: string;
/** The answer of `GET /api/health`. */
let health: Response;
const service = startFake(({ path }) => path === '/functions/v1/api/health' ? health.clone() : null);
beforeAll(async () => {
  database = await createTestDatabase();
  newest = (await migrationVersions()).at(-1) ?? '';
});
afterAll(async () => {
  await service.stop();
  await database.close();
});
beforeEach(() => {
  health = Response.json({ status: 'ok' }, { headers: { 'x-schema-version': newest } });
});

const project = () => hosted({ databaseUrl: database.url, functionsUrl: `${service.url}/functions/v1` });
const otherUrl = (change: (url: URL) => void) => {
  const url = new URL(database.url);
  change(url);
  return { ...project(), databaseUrl: url.href };
};

describe('database', () => {
  test('passes where the database answers', async () => {
    expect(await diagnose(databaseCheck, project()))
      .toEqual({ status: 'pass', message: expect.stringMatching(/^Postgres 17[.]\d+ answers, as postgres$/) });
  });

  test.each([
    ['the password is wrong', (url: URL) => void (url.password = 'wrong'), 'the login is refused (28P01)'],
    ['the database is missing', (url: URL) => void (url.pathname = '/missing'), '3D000'],
    ['no server listens', (url: URL) => void (url.port = new URL(deadAddress()).port), 'ECONNREFUSED'],
  ])('fails where %s, and the checks that need it are skipped', async (_, change, reason) => {
    const away = otherUrl(change);
    expect(await diagnose(databaseCheck, away)).toEqual({
      status: 'fail',
      message: `the database can't be reached: ${reason}`,
      remedy: expect.stringContaining('DATABASE_URL'),
    });
    expect(await diagnose(findings, away))
      .toEqual({ status: 'skip', message: 'the database can\'t be reached, see the check "database"' });
  });

  test('is skipped without DATABASE_URL', async () => {
    expect(await diagnose(databaseCheck, hosted())).toEqual({ status: 'skip', message: 'DATABASE_URL is not given' });
  });
});

/** Adds rows to `billing.findings` while `work` runs. */
async function whileFound(
  rows: [finding: string, subject: string | null, detail: unknown][],
  work: () => Promise<void>,
) {
  await database.query('alter view billing.findings rename to real_findings');
  await database.query(`
    create view billing.findings as
    select * from billing.real_findings
    union all
    select r.finding, r.subject, null::uuid, null::timestamptz, r.detail, r.detail ->> 'remedy', null
    from jsonb_to_recordset('${
    JSON.stringify(
      rows.map(([finding, subject, detail]) => ({ finding, subject, detail })),
    )
  }') r (finding text, subject text, detail jsonb)`);
  await database.query('grant select on billing.findings to subscriptions_support');
  try {
    await work();
  } finally {
    await database.query('drop view billing.findings');
    await database.query('alter view billing.real_findings rename to findings');
  }
}

describe('schedule and findings', () => {
  test('pass without findings', async () => {
    expect(await diagnose(schedule, project()))
      .toEqual({ status: 'pass', message: 'nothing is missing, failing or overdue' });
    expect(await diagnose(findings, project())).toEqual({ status: 'pass', message: 'billing.findings is empty' });
  });

  test('warn about each kind of finding, with the number of its rows', async () => {
    const { id } = await createUser(database);
    await database.query("update public.profiles set subscription_tier = 'pro' where user_id = $1", [id]);
    const { status, message } = await diagnose(findings, project());
    expect({ status, message }).toEqual({ status: 'warn', message: expect.stringContaining('1 entitled_not_paid') });
    await database.query("update public.profiles set subscription_tier = 'free' where user_id = $1", [id]);
    expect(await diagnose(findings, project())).toMatchObject({ status: 'pass' });
  });

  test.each(scheduleFindings.filter((finding) => finding !== 'missing_part'))(
    'fail the check schedule with %s, and not the check findings',
    async (finding) => {
      await whileFound([[finding, 'subscriptions-sweep', { remedy: 'Do that.' }]], async () => {
        expect(await diagnose(schedule, project()))
          .toEqual({ status: 'fail', message: `${finding}: subscriptions-sweep`, remedy: 'Do that.' });
        expect(await diagnose(findings, project())).toMatchObject({ status: 'pass' });
      });
    },
  );

  test('fail with the error of Postgres where the schema is older', async () => {
    await database.query('alter view billing.findings rename to away');
    expect(await diagnose(findings, project())).toEqual({
      status: 'fail',
      message: 'relation "billing.findings" does not exist (42P01)',
      remedy: expect.stringContaining('migrations'),
    });
    await database.query('alter view billing.away rename to findings');
  });
});

describe('versions', () => {
  const migrations = 'supabase_migrations.schema_migrations';

  test('pass where files, database and function agree', async () => {
    expect(await diagnose(versions, project())).toEqual({ status: 'pass', message: `all have version ${newest}` });
    expect(await diagnose(versions, { ...project(), databaseUrl: null })).toMatchObject({ status: 'pass' });
  });

  test.each([
    ['of an older schema', { 'x-schema-version': '20260101000000' }, '20260101000000'],
    ['without the header x-schema-version', {}, 'an older schema'],
  ])('fail with a function %s', async (_, headers, version) => {
    health = Response.json({ status: 'ok' }, { headers });
    expect(await diagnose(versions, project())).toMatchObject({
      status: 'fail',
      message: `the function is made for ${version}, not for ${newest}`,
      remedy: expect.stringContaining('functions deploy api'),
    });
  });

  test('warn with a function of a newer schema', async () => {
    health = Response.json({ status: 'ok' }, { headers: { 'x-schema-version': '29991231000000' } });
    expect(await diagnose(versions, project())).toMatchObject({ status: 'warn', remedy: 'Update this checkout.' });
  });

  test('fail where the function has no database, and where no server answers', async () => {
    health = Response.json({ error: 'Service unavailable' }, { status: 503 });
    expect(await diagnose(versions, project()))
      .toMatchObject({ status: 'fail', message: 'GET /api/health answers 503' });
    const url = deadAddress();
    expect(await diagnose(versions, { ...project(), functionsUrl: `${url}/functions/v1` })).toEqual({
      status: 'fail',
      message: `${url} can't be reached`,
      remedy: 'Check the address and the network.',
    });
  });

  test('fail where the database lacks migrations', async () => {
    await database.query(`create table public.removed as select * from ${migrations} order by version desc limit 2`);
    await database.query(`delete from ${migrations} where version in (select version from public.removed)`);
    expect(await diagnose(versions, project())).toMatchObject({
      status: 'fail',
      message: expect.stringMatching(/^the database lacks 2 of \d+ migrations, the oldest \d{14}$/),
      remedy: expect.stringContaining('supabase db push'),
    });
    await database.query(`insert into ${migrations} select * from public.removed`);
    await database.query('drop table public.removed');
  });

  test('pass where the database has newer migrations of the app', async () => {
    await database.query(`insert into ${migrations} (version, name) values ('29991231000000', 'reports')`);
    expect(await diagnose(versions, project())).toEqual({ status: 'pass', message: `all have version ${newest}` });
    await database.query(`delete from ${migrations} where version = '29991231000000'`);
  });
});
