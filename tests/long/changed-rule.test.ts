import { afterAll, beforeAll, expect, test } from 'vitest';
import { definedIn } from '../../scripts/check-rule-map.ts';
import { writeMigration } from '../../scripts/migration/write-migration.ts';
import { describeSchema } from '../../scripts/release/describe-schema.ts';
import { migrate } from '../../scripts/stack/postgres/migrate.ts';
import { root } from '../../scripts/stack/root.ts';
import { setClock } from '../helpers/database/clock.ts';
import { withClient } from '../helpers/database/postgres-client.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { copySchema, type SchemaCopy } from '../helpers/project/copy-schema.ts';
import { createUser } from '../helpers/records/records.ts';

/** The example of tests/README.md, "Contributing: change a rule". */
const example = (await Deno.readTextFile(`${root}/tests/README.md`)).split('## Contributing: change a rule\n')[1] ?? '';
const [, file = '', name = '', before = '', after = ''] =
  /```diff\n.*\n *\+\+\+ supabase\/(\S+)\n *@@ (\w+) @@\n {3}-(.*)\n {3}\+(.*)\n {3}```/.exec(example) ?? [];
const [, migrationName = ''] = /`npm run migration -- (\w+)`/.exec(example) ?? [];

let copy: SchemaCopy;
let database: TestDatabase;
beforeAll(async () => {
  copy = await copySchema();
  database = await createTestDatabase();
});
afterAll(async () => {
  await database.close();
  await copy.remove();
});

const describeDatabase = async () => new Set(await withClient(database.url, describeSchema));

test('the example of a changed rule names the schema file that defines the function', async () => {
  expect(example).toContain(`\`${name}\` in \`supabase/${file}\``);
  expect(await definedIn(`${root}/supabase/${file}`)).toContain(name);
});

test('the example of a changed rule makes a migration that changes this rule and nothing else', async () => {
  await copy.edit(file, before, after);
  const migration = await writeMigration(migrationName, copy.supabase);
  expect(migration?.file).toMatch(new RegExp(`^\\d{14}_${migrationName}\\.sql$`));
  expect(migration?.differences).toEqual([]);

  const installed = await describeDatabase();
  await migrate({ url: database.url, seed: false, folder: copy.folder, log: () => {} });
  const upgraded = await describeDatabase();
  const [was, ...othersBefore] = installed.difference(upgraded);
  const [is, ...others] = upgraded.difference(installed);
  expect([...othersBefore, ...others]).toEqual([]);
  expect(was).toMatch(new RegExp(`^function: CREATE OR REPLACE FUNCTION public\\.${name}\\(`));
  expect(is).toBe(was?.replace(before, after));
});

test('after the example of a changed rule an open order is returned for 60 minutes', async () => {
  const service = await openSession(database, { role: 'service_role' });
  const { id } = await createUser(database);
  const create = async (at: string) => {
    await setClock(database, at);
    return await callRpc(service, 'create_order', id, 'pro');
  };
  const { payment_id } = await create('2026-06-01T00:00:00Z');
  await callRpc(service, 'store_order', payment_id, 'order_open');
  expect(await create('2026-06-01T00:59:59Z')).toMatchObject({ outcome: 'existing', payment_id });
  expect(await create('2026-06-01T01:00:00Z')).toMatchObject({ outcome: 'created' });
});
