import { afterEach, beforeEach, expect, test } from 'vitest';
import { checkSchemaFiles } from '../../scripts/check-migrations.ts';
import { checkRuleMap } from '../../scripts/check-rule-map.ts';

let folder: string;
const write = (path: string, text: string) => Deno.writeTextFile(`${folder}/${path}`, text);
const map = (...cells: string[]) =>
  write(
    'README.md',
    `# A\n\n## Which rule lives where\n\n| section | file |\n| --- | --- |\n${
      cells.map((cell) => `| A rule | ${cell} |\n`).join('')
    }\n## Next\n`,
  );

beforeEach(async () => {
  folder = await Deno.makeTempDir({ prefix: 'rule-map-' });
  for (const name of ['schemas', 'functions/api/http']) await Deno.mkdir(`${folder}/${name}`, { recursive: true });
  await write('functions/api/http/send.ts', '');
  await write(
    'schemas/01_plans.sql',
    'create table public.plans (id int);\n-- Lists them.\ncreate function public.list()',
  );
  await write('schemas/02_orders.sql', 'create view billing.orders as select 1 as one;');
});
afterEach(() => Deno.remove(folder, { recursive: true }));

test('a row that names files, and what each schema file defines, is accepted', async () => {
  await map('`01_plans.sql`: `plans`, `list`; `02_orders.sql`: `orders`; `http/send.ts`', '`http/send.ts`');
  expect(await checkRuleMap(folder)).toEqual([]);
});

test.each([
  ['`01_plans.sql`: `orders`', '01_plans.sql does not define orders'],
  ['`02_plans.sql`: `plans`', 'supabase/schemas/02_plans.sql does not exist'],
  ['`http/sent.ts`', 'supabase/functions/api/http/sent.ts does not exist'],
  ['`01_plans.sql`', 'what 01_plans.sql defines is not named'],
  ['`http/send.ts`: `plans`', 'http/send.ts does not define plans'],
  ['`plans`', 'it names no file'],
])('the row %s is refused', async (cell, problem) => {
  await map(cell);
  expect(await checkRuleMap(folder)).toEqual([`supabase/README.md, "A rule": ${problem}`]);
});

test('schema files that define an object again, drop one, name a missing one, or have the name of another are refused', async () => {
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
