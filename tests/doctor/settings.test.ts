import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { applyFixes, proposals } from '../../scripts/doctor/apply-fixes.ts';
import { credit, earlyRenewal } from '../../scripts/doctor/checks/settings.ts';
import { runChecks } from '../../scripts/doctor/run-checks.ts';
import { setCredit } from '../helpers/database/credit.ts';
import { setEarlyRenewal } from '../helpers/database/early-renewal.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { diagnose, hosted, local } from './doctor.ts';
import { type ManagedProject, startManagementApi } from './fake-management-api.ts';

const managed: ManagedProject = {
  token: 'sbp_token',
  rights: 'read',
  functions: [],
  secrets: {},
  security: [],
  performance: [],
  answer: null,
};
const api = startManagementApi(() => managed);
let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(async () => {
  await api.stop();
  await database.close();
});
beforeEach(async () => {
  managed.secrets = {};
  await setEarlyRenewal(database, 'replace');
  await setCredit(database, 'on');
});

type Environment = Record<string, string>;
const project = (environment: Environment = {}) =>
  hosted({ databaseUrl: database.url, environment, managementUrl: api.url, accessToken: 'sbp_token' });

test('passes where EARLY_RENEWAL is the setting, and where it is not given', async () => {
  expect(await diagnose(earlyRenewal, project({ EARLY_RENEWAL: 'replace' })))
    .toEqual({ status: 'pass', message: 'the setting is replace' });
  await setEarlyRenewal(database, 'extend');
  const environments: Environment[] = [{ EARLY_RENEWAL: 'extend' }, { EARLY_RENEWAL: '' }, {}];
  for (const environment of environments) {
    expect(await diagnose(earlyRenewal, project(environment)))
      .toEqual({ status: 'pass', message: 'the setting is extend' });
    expect(await diagnose(earlyRenewal, local({ databaseUrl: database.url, environment })))
      .toMatchObject({ status: 'pass' });
  }
});

test('fails where EARLY_RENEWAL is another value, and its fix writes the setting', async () => {
  const given = project({ EARLY_RENEWAL: 'extend' });
  expect(await diagnose(earlyRenewal, given)).toEqual({
    status: 'fail',
    message: 'the setting early_renewal is replace, and EARLY_RENEWAL of this environment is extend',
    remedy: 'Run "update billing.settings set early_renewal = \'extend\';" or correct EARLY_RENEWAL.',
  });
  const fixes = proposals(await runChecks([earlyRenewal], given));
  expect(fixes.map(({ fix }) => fix.title)).toEqual(['set early_renewal to extend in billing.settings']);
  expect(await applyFixes(given, fixes)).toEqual([]);
  expect(await diagnose(earlyRenewal, given)).toEqual({ status: 'pass', message: 'the setting is extend' });
});

test('warns about a secret of the function with another value than the setting', async () => {
  managed.secrets = { EARLY_RENEWAL: 'extend' };
  expect(await diagnose(earlyRenewal, project())).toEqual({
    status: 'warn',
    message: 'the secret EARLY_RENEWAL has no effect: the setting of the database is replace',
    remedy: expect.stringContaining('supabase secrets unset EARLY_RENEWAL'),
  });
  for (const secret of ['replace', '']) {
    managed.secrets = { EARLY_RENEWAL: secret };
    expect(await diagnose(earlyRenewal, project())).toMatchObject({ status: 'pass' });
  }
});

test('is skipped with an invalid value, and without a database', async () => {
  expect(await diagnose(earlyRenewal, project({ EARLY_RENEWAL: 'sometimes' })))
    .toEqual({ status: 'skip', message: 'EARLY_RENEWAL is invalid: see the check "secrets"' });
  expect(await diagnose(earlyRenewal, hosted())).toEqual({ status: 'skip', message: 'DATABASE_URL is not given' });
});

test('compares CREDIT with the setting credit in the same way', async () => {
  expect(await diagnose(credit, project({ CREDIT: 'on' }))).toEqual({ status: 'pass', message: 'the setting is on' });
  const given = project({ CREDIT: 'off' });
  expect(await diagnose(credit, given)).toMatchObject({
    status: 'fail',
    message: 'the setting credit is on, and CREDIT of this environment is off',
  });
  expect(await applyFixes(given, proposals(await runChecks([credit], given)))).toEqual([]);
  expect(await diagnose(credit, given)).toEqual({ status: 'pass', message: 'the setting is off' });
  managed.secrets = { CREDIT: 'on' };
  expect(await diagnose(credit, project())).toMatchObject({
    status: 'warn',
    message: 'the secret CREDIT has no effect: the setting of the database is off',
  });
});
