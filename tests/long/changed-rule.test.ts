import { expect, onTestFinished, test } from 'vitest';
import { definedIn } from '../../scripts/check-rule-map.ts';
import { writeMigration } from '../../scripts/migration/write-migration.ts';
import { describeSchema } from '../../scripts/release/describe-schema.ts';
import { migrate } from '../../scripts/stack/postgres/migrate.ts';
import { root } from '../../scripts/stack/root.ts';
import { withClient } from '../helpers/database/postgres-client.ts';
import { createTestDatabase } from '../helpers/database/test-database.ts';
import { copySchema } from '../helpers/project/copy-schema.ts';

test('the example of tests/README.md for a changed rule names the file of the function, and makes a migration that changes nothing else', async () => {
  const readme = await Deno.readTextFile(`${root}/tests/README.md`);
  const example = readme.split('## Contributing: change a rule\n')[1] ?? '';
  const [, file = '', name = '', before = '', after = ''] =
    /```diff\n.*\n *\+\+\+ supabase\/(\S+)\n *@@ (\w+) @@\n {3}-(.*)\n {3}\+(.*)\n {3}```/.exec(example) ?? [];
  const [, migrationName = ''] = /`npm run migration -- (\w+)`/.exec(example) ?? [];
  expect(example).toContain(`\`${name}\` in \`supabase/${file}\``);
  expect(await definedIn(`${root}/supabase/${file}`)).toContain(name);

  const [copy, database] = [await copySchema(), await createTestDatabase()];
  onTestFinished(async () => {
    await database.close();
    await copy.remove();
  });
  await copy.edit(file, before, after);
  const migration = await writeMigration(migrationName, copy.supabase);
  expect(migration?.file).toMatch(new RegExp(`^\\d{14}_${migrationName}\\.sql$`));
  expect(migration?.differences).toEqual([]);

  const describeDatabase = async () => new Set(await withClient(database.url, describeSchema));
  const installed = await describeDatabase();
  await migrate({ url: database.url, seed: false, folder: copy.folder, log: () => {} });
  const upgraded = await describeDatabase();
  const [was, ...othersBefore] = installed.difference(upgraded);
  const [is, ...others] = upgraded.difference(installed);
  expect([...othersBefore, ...others]).toEqual([]);
  expect(was).toMatch(new RegExp(`^function: CREATE OR REPLACE FUNCTION public\\.${name}\\(`));
  expect(is).toBe(was?.replace(before, after));
});
