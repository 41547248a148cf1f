import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from '../../scripts/stack/root.ts';
import { type AppFolder, createAppFolder, createVersion, expectCode } from './app-folder.ts';

// Three versions: this one, one with a migration and changed files, and one that drops two files.
const added = 'supabase/migrations/20300101000000_add_note.sql';
const dropped = 'supabase/functions/billing/extra/old.ts';
const client = 'supabase/client/subscriptions.ts';
const first = 'supabase/migrations/20261122000001_schema.sql';

let app: AppFolder;
let second: string;
let third: string;
beforeAll(async () => {
  app = await createAppFolder();
  second = await createVersion('90.0.0');
  await Deno.writeTextFile(`${second}/${added}`, 'alter table public.plans add column note text;\n');
  await Deno.mkdir(`${second}/supabase/functions/api/extra`);
  await Deno.writeTextFile(`${second}/supabase/functions/api/extra/old.ts`, 'export {};\n');
  await change(`${second}/${client}`, (text) => `${text}// second\n`);
  await change(`${second}/supabase/functions/.env.example`, (text) => `${text}# NEW_VARIABLE=\n`);
  third = await createVersion('90.1.0', second);
  await Deno.remove(`${third}/supabase/functions/api/extra`, { recursive: true });
  await Deno.remove(`${third}/emails/theme.ts`);
  expectCode(await app.add(['--function', 'billing']), 0);
});
afterAll(() => Promise.all([app.folder, second, third].map((folder) => Deno.remove(folder, { recursive: true }))));

async function change(path: string, edit: (text: string) => string): Promise<void> {
  await Deno.writeTextFile(path, edit(await Deno.readTextFile(path)));
}
const record = async () => JSON.parse(await app.read('supabase/subscriptions.json'));
const withoutTimes = async () =>
  Object.fromEntries(Object.entries(await app.state()).map(([path, text]) => [path, text.replace(/^\S+ /, '')]));

test('--check with the record of another version → 1', async () => {
  const outcome = await app.add(['--check'], second);
  expectCode(outcome, 1);
  expect(outcome.stdout).toMatch(/^supabase\/subscriptions\.json names version \S+, this is 90\.0\.0\n$/);
});

test('an edited file stops an upgrade: 1, a diff, nothing is written; the file of the new version is accepted', async () => {
  const text = await app.read(client);
  await app.write(client, `// mine\n${text}`);
  const before = await app.state();
  const outcome = await app.add([], second);
  expectCode(outcome, 1);
  expect(outcome.stdout).toContain(
    `${client} was edited; compared with 90.0.0:\n--- a/${client}\n+++ b/${client}\n@@ `,
  );
  expect(outcome.stdout).toContain('\n+// mine\n');
  expect(await app.state()).toEqual(before);
  // As an interrupted upgrade leaves it.
  await app.write(client, `${text}// second\n`);
  expectCode(await app.add(['--dry-run'], second), 0);
});

test('an upgrade keeps the function name and the migrations, and writes what the version changed and added', async () => {
  const before = await app.state();
  const outcome = await app.add([], second);
  expectCode(outcome, 0);
  const after = await app.state();
  const changed = Object.keys(after).filter((path) => after[path] !== before[path]);
  expect(changed.toSorted()).toEqual([
    dropped,
    'supabase/functions/.env.example',
    added,
    'supabase/subscriptions.json',
  ].toSorted());
  expect(await record()).toMatchObject({ version: '90.0.0', function: 'billing' });
  const example = await app.read('supabase/functions/.env.example');
  expect(example.match(/# NEW_VARIABLE=|# subscriptions: begin/g)).toEqual([
    '# subscriptions: begin',
    '# NEW_VARIABLE=',
  ]);
  expectCode(await app.add(['--check'], second), 0);
});

test('the next upgrade removes what the version dropped, with its folder; both upgrades in one end the same', async () => {
  expectCode(await app.add([], third), 0);
  const paths = Object.keys(await app.state());
  expect(paths).not.toContain(dropped);
  expect(paths).not.toContain('supabase/emails/theme.ts');
  await expect(Deno.stat(`${app.folder}/supabase/functions/billing/extra`)).rejects.toThrow(Deno.errors.NotFound);
  expect(Object.keys((await record()).files)).toEqual(paths.filter(isInstalled).toSorted());

  const both = await createAppFolder();
  expectCode(await both.add(['--function', 'billing']), 0);
  expectCode(await both.add([], third), 0);
  const end = Object.entries(await both.state()).map(([path, text]) => [path, text.replace(/^\S+ /, '')]);
  expect(Object.fromEntries(end)).toEqual(await withoutTimes());
  await both.remove();
});

test('a version that rewrites or drops an installed migration → 1, and nothing is written', async () => {
  const before = await app.state();
  await change(`${third}/${first}`, (text) => `-- another text\n${text}`);
  await Deno.remove(`${third}/${added}`);
  const outcome = await app.add([], third);
  expectCode(outcome, 1);
  expect(outcome.stdout).toContain(`${first} is installed, and version 90.1.0 has another text: a migration is never`);
  expect(outcome.stdout).toContain('\n+-- another text\n');
  expect(outcome.stdout).toContain(`${added} is installed, and version 90.1.0 does not have it: a migration is never`);
  expect(await app.state()).toEqual(before);
});

test('another --function moves the function and its section', async () => {
  const moved = await createAppFolder();
  expectCode(await moved.add(), 0);
  expectCode(await moved.add(['--function', 'billing']), 0);
  const paths = Object.keys(await moved.state());
  expect(paths.filter((path) => path.startsWith('supabase/functions/api'))).toEqual([]);
  expect((await moved.read('supabase/config.toml')).match(/^\[functions\..*/gm)).toEqual(['[functions.billing]']);
  expectCode(await moved.add(['--check'], root), 0);
  await moved.remove();
});

function isInstalled(path: string): boolean {
  return /^supabase\/(migrations|functions\/billing|client|emails)\//.test(path);
}
