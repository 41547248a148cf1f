import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkLockTimeouts, checkSchemaFiles } from '../../scripts/check/migrations.ts';
import { checkReleases } from '../../scripts/check/releases.ts';
import { checkRuleMap } from '../../scripts/check/rule-map.ts';
import { hashesText, hashRelease } from '../../scripts/release/file-hashes.ts';
import { checkSchemaVersion } from '../../scripts/check/schema-version.ts';
import { migrationVersions } from '../../scripts/stack/postgres/migration-versions.ts';

let folder: string;
const write = (path: string, text: string) => Deno.writeTextFile(`${folder}/${path}`, text);

beforeEach(async () => {
  folder = await Deno.makeTempDir({ prefix: 'checks-' });
  for (const name of ['migrations', 'releases', 'schemas', 'functions/api/http']) {
    await Deno.mkdir(`${folder}/${name}`, { recursive: true });
  }
});
afterEach(() => Deno.remove(folder, { recursive: true }));

test.each([
  ['`01_plans.sql`: `plans`, `list`; `02_orders.sql`: `orders`; `http/send.ts`', []],
  ['`01_plans.sql`: `orders`', ['01_plans.sql does not define orders']],
  ['`01_plans.sql`', ['what 01_plans.sql defines is not named']],
])('the row %s of the map of rules has the problems %j', async (cell, problems) => {
  await writeSchemas();
  const table = `| section | file |\n| --- | --- |\n| A rule | ${cell} |\n| A rule | \`http/send.ts\` |\n`;
  await write('README.md', `# A\n\n## Which rule lives where\n\n${table}\n## Next\n`);
  expect(await checkRuleMap(folder)).toEqual(problems.map((problem) => `supabase/README.md, "A rule": ${problem}`));
});

async function writeSchemas(): Promise<void> {
  await write('functions/api/http/send.ts', '');
  const plans = 'create table public.plans (id int);\n-- Lists them.\ncreate function public.list()';
  await write('schemas/01_plans.sql', plans);
  await write('schemas/02_orders.sql', 'create view billing.orders as select 1 as one;');
}

test('schema files that define an object again, drop one, name a missing one, or have the name of another are refused', async () => {
  await writeSchemas();
  expect(await checkSchemaFiles(folder)).toEqual([]);
  await write('schemas/03_plans.sql', 'create or replace function public.list();\ndrop view billing.orders;');
  await write('schemas/04_tables.sql', 'create table if not exists public.plans (id int);');
  await write('schemas/05_more.sql', 'create function billing.more() as $$ begin perform billing.gone(1); end $$;');
  const rule = 'a schema file only creates, and each object once';
  expect(await checkSchemaFiles(folder)).toEqual([
    'supabase/schemas has two files of the name plans.sql',
    `supabase/schemas/03_plans.sql: "create or replace function public.list()": ${rule}`,
    `supabase/schemas/03_plans.sql: "drop view billing.orders": ${rule}`,
    `supabase/schemas/04_tables.sql: "create table if not exists public.plans (id int)": ${rule}`,
    'supabase/schemas/05_more.sql: no schema file defines billing.gone',
  ]);
});

test('a schema version that is not that of the newest migration is refused; other files have no version', async () => {
  const migrations = `${folder}/migrations`;
  const versions = await migrationVersions();
  for (const name of [...versions.map((version) => `${version}_a.sql`), 'notes.sql', '29991231000001_notes.md']) {
    await write(`migrations/${name}`, '');
  }
  expect(await migrationVersions(migrations)).toEqual(versions);
  expect(await checkSchemaVersion(migrations)).toEqual([]);
  await write('migrations/29991231000000_newer.sql', '');
  expect(await checkSchemaVersion(migrations)).toEqual([
    'generated/schema-version.ts is not the version of the newest migration: run `npm run generate`',
  ]);
});

describe('released files', () => {
  const first = 'migrations/20270101000001_first.sql';
  const second = 'migrations/20270101000002_second.sql';
  const third = 'migrations/20270101000003_third.sql';
  const release = async (version: string) => {
    for (const path of [`releases/${version}.sql`, `releases/${version}.json`]) await write(path, path);
    await write(`releases/${version}.sha256`, hashesText(await hashRelease(version, folder)));
  };
  const changed = (path: string, version = '1.2.3') => `${path} is part of release ${version} and was changed`;
  beforeEach(async () => {
    for (const path of [first, second]) await write(path, path);
    await release('1.2.3');
  });

  test('have a list of hashes that sha256sum checks', async () => {
    const text = await Deno.readTextFile(`${folder}/releases/1.2.3.sha256`);
    expect(text.trimEnd().split('\n').map((line) => line.replace(/^[0-9a-f]{64} {2}/, ''))).toEqual(
      [first, second, 'releases/1.2.3.json', 'releases/1.2.3.sql'],
    );
  });

  const same = 'migrations/20270101000002_third.sql';

  test.each<[string, change: () => Promise<void>, problems: string[]]>([
    ['with a later migration are accepted', () => write(third, ''), []],
    ['with a changed migration are refused', () => write(first, 'changed'), [changed(first)]],
    ['with a changed snapshot are refused', () => write('releases/1.2.3.sql', ''), [changed('releases/1.2.3.sql')]],
    ['without a migration are refused', () => Deno.remove(`${folder}/${second}`), [
      `${second} is part of release 1.2.3 and is missing`,
    ]],
    ['with a new migration of the same version are refused', () => write(same, ''), [
      `${same} is new and not later than ${second} of release 1.2.3`,
    ]],
    ['are those of each release, the newest by its version and not by its name', async () => {
      await write(third, '');
      await release('1.10.0');
      for (const path of [third, first]) await write(path, 'changed');
    }, [changed(first), changed(first, '1.10.0'), changed(third, '1.10.0')]],
  ])('%s', async (_, change, problems) => {
    await change();
    const advice = expect.stringMatching(/^Released files never change: write a new migration\./);
    expect(await checkReleases(folder)).toEqual(problems.length === 0 ? [] : [...problems, advice]);
  });

  test('are followed by migrations that begin with a limit for their locks', async () => {
    await write(third, "-- Made by a tool.\nset local lock_timeout = '2s';\ncreate table one ();");
    expect(await checkLockTimeouts(folder)).toEqual([]);
    await write(third, "create table one ();\nset local lock_timeout = '2s';");
    expect(await checkLockTimeouts(folder)).toEqual([
      `supabase/${third} does not begin with "set local lock_timeout = '2s';"`,
    ]);
  });
});
