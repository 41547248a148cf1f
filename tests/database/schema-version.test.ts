import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { migrationVersions } from '../../scripts/schema-version.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';

let database: TestDatabase;
let service: pg.Client;
let newest: string;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await openSession(database, { role: 'service_role' });
  newest = (await migrationVersions()).at(-1) ?? '';
});
afterAll(() => database.close());

const versionFor = async (functionVersion: string) => {
  const { version } = await callRpc(service, 'get_schema_version', functionVersion);
  return version;
};

test('an applied version is returned, also where newer migrations of the app are applied', async () => {
  expect(await versionFor(newest)).toBe(newest);
  await database.query(`
    insert into supabase_migrations.schema_migrations (version, name)
    values ('29990101000000', 'reports')`);
  expect(await versionFor(newest)).toBe(newest);
});

test('for a version that is not applied, an older one is returned', async () => {
  expect(await versionFor('29981231000000')).toBe(newest);
});

test('without a migration that is old enough, and without the history of the CLI, no version is known', async () => {
  expect(await versionFor('20000101000000')).toBeNull();
  await database.query('drop schema supabase_migrations cascade');
  expect(await versionFor(newest)).toBeNull();
});
