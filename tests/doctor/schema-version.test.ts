import { afterAll, beforeAll, expect, test } from 'vitest';
import { checkSchemaVersion, migrationVersions } from '../../scripts/schema-version.ts';
import { root } from '../../scripts/stack/root.ts';

let folder: string;
beforeAll(async () => {
  folder = await Deno.makeTempDir({ prefix: 'migrations-' });
  for await (const { name } of Deno.readDir(`${root}/supabase/migrations`)) {
    await Deno.writeTextFile(`${folder}/${name}`, '');
  }
});
afterAll(() => Deno.remove(folder, { recursive: true }));

test('checkSchemaVersion accepts the committed version, and reports a newer migration', async () => {
  expect(await checkSchemaVersion()).toEqual([]);
  expect(await checkSchemaVersion(folder)).toEqual([]);
  await Deno.writeTextFile(`${folder}/29991231000000_newer.sql`, '');
  expect(await checkSchemaVersion(folder)).toEqual([
    'generated/schema-version.ts is not the version of the newest migration: run `npm run generate`',
  ]);
});

test('files that are not migrations have no version', async () => {
  await Deno.writeTextFile(`${folder}/notes.sql`, '');
  await Deno.writeTextFile(`${folder}/29991231000001_notes.md`, '');
  expect(await migrationVersions(folder)).toEqual([...await migrationVersions(), '29991231000000']);
});
