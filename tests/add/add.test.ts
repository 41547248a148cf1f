import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { pathsBelow } from '../../scripts/add/product.ts';
import { root } from '../../scripts/stack/root.ts';
import { type AppFolder, createAppFolder, expectCode, initialise, runAdd } from './app-folder.ts';

const { version }: { version: string } = JSON.parse(await Deno.readTextFile(`${root}/package.json`));
const hash = (text: string) => createHash('sha256').update(text).digest('hex');

let app: AppFolder;
beforeAll(async () => {
  app = await createAppFolder();
  await initialise(app.folder);
});
afterAll(() => app.remove());

test('--check without an installation → 1, and names the record', async () => {
  const outcome = await app.add(['--check']);
  expectCode(outcome, 1);
  expect(outcome.stdout).toBe('supabase/subscriptions.json is missing\n');
});

test('--dry-run lists each migration, writes nothing, exit code 0', async () => {
  const before = await app.state();
  const outcome = await app.add(['--dry-run']);
  expectCode(outcome, 0);
  expect(outcome.stdout).toContain('add    supabase/migrations/20261122000001_schema.sql');
  expect(await app.state()).toEqual(before);
});

test('into a fresh supabase init: every file byte for byte, the settings, and a record of all hashes', async () => {
  const config = await app.read('supabase/config.toml');
  expectCode(await app.add(), 0);
  const rooms = { migrations: 'supabase/migrations', 'functions/api': 'supabase/functions/api', emails: 'emails' };
  const files: Record<string, string> = {};
  for (const [to, from] of Object.entries(rooms)) {
    for (const path of await pathsBelow(`${root}/${from}`)) {
      files[`supabase/${to}/${path}`] = hash(await Deno.readTextFile(`${root}/${from}/${path}`));
    }
  }
  const client = 'supabase/client/subscriptions.ts';
  files[client] = hash(await Deno.readTextFile(`${root}/${client}`));
  expect(JSON.parse(await app.read('supabase/subscriptions.json'))).toEqual({ version, function: 'api', files });
  for (const [path, expected] of Object.entries(files)) {
    expect([path, hash(await app.read(path))]).toEqual([path, expected]);
  }

  const added = (await app.read('supabase/config.toml')).slice(config.length);
  expect(added).toMatch(/^\n\[functions\.api\]\n[^[]*^verify_jwt = false$/m);
  expect(await app.read('supabase/.gitignore')).toContain('\nfunctions/.env\n');
  const example = await app.read('supabase/functions/.env.example');
  expect(example).toMatch(/^# subscriptions: begin .*\n[^]*^# GATEWAY_KEY_ID=\n[^]*^# subscriptions: end\n$/m);
  // Of `supabase init`, outside of a repository: config.toml alone.
  const others = ['config.toml', 'functions/.env.example', '.gitignore', 'subscriptions.json'].map((name) =>
    `supabase/${name}`
  );
  expect(Object.keys(await app.state()).toSorted()).toEqual([...Object.keys(files), ...others].toSorted());
});

test.each(['api', 'billing'])(
  'of a function %s the next steps name its address for Vault, and after an upgrade no longer',
  async (name) => {
    const app = await createAppFolder();
    const { stdout } = await app.add(['--function', name]);
    const url = `https://<ref>.supabase.co/functions/v1${name === 'api' ? '' : '/billing'}`;
    expect(stdout).toContain(`select vault.create_secret('${url}', 'subscriptions_url');`);
    expect(stdout).toContain("select vault.create_secret('<INTERNAL_KEY>', 'subscriptions_internal_key');");
    await app.write(
      'supabase/subscriptions.json',
      (await app.read('supabase/subscriptions.json')).replace(version, '0.3.0'),
    );
    expect((await app.add()).stdout).toMatch(/^Next:\n(?!.*create_secret)[^]*billing\.set_up\(\)/m);
    await app.remove();
  },
);

test('into an app whose TypeScript compiles all folders: the output says what to exclude, and then no longer', async () => {
  const include = ['**/*.ts'];
  const app = await createAppFolder({ 'tsconfig.json': JSON.stringify({ include, exclude: ['node_modules'] }) });
  const note =
    'tsconfig.json of the app includes supabase/functions/, which Deno compiles: add "supabase" to its "exclude".';
  expect((await app.add()).stdout).toContain(note);
  await app.write(
    'tsconfig.json',
    `{ "include": ${JSON.stringify(include)}, "exclude": ["supabase"] } // with a comment`,
  );
  await Deno.remove(`${app.folder}/supabase/client/subscriptions.ts`);
  await Deno.remove(`${app.folder}/supabase/subscriptions.json`);
  expect((await app.add()).stdout).toMatch(/^Done\.\n(?![^]*tsconfig)/m);
  await app.remove();
});

test('again: exit code 0, and no bytes and no time change; --check → 0', async () => {
  const before = await app.state();
  const outcome = await app.add();
  expectCode(outcome, 0);
  expect(outcome.stdout).toContain('nothing to do');
  expectCode(await app.add(['--check']), 0);
  expect(await app.state()).toEqual(before);
});

test('an edited and a deleted file → 1 with a unified diff, nothing is written, and --check names both', async () => {
  const path = 'supabase/functions/api/app.ts';
  const text = await app.read(path);
  await app.write(path, text.replace('/** The HTTP application', '/** Our application'));
  const deleted = 'supabase/client/subscriptions.ts';
  const client = await app.read(deleted);
  await Deno.remove(`${app.folder}/${deleted}`);
  const before = await app.state();
  const outcome = await app.add();
  expectCode(outcome, 1);
  expect(outcome.stdout).toMatch(
    /^--- a\/supabase\/functions\/api\/app\.ts\n\+\+\+ b\/supabase\/functions\/api\/app\.ts\n@@ -\d+,7 \+\d+,7 @@\n( .*\n){3}-\/\*\* The HTTP application.*\n\+\/\*\* Our application/m,
  );
  expect(outcome.stdout).toContain(`--- a/${deleted}\n+++ /dev/null\n@@ -1,`);
  expect(await app.state()).toEqual(before);
  const checked = await app.add(['--check']);
  expectCode(checked, 1);
  expect(checked.stdout).toBe(`${deleted} is not as it was installed\n${path} is not as it was installed\n`);
  await app.write(path, text);
  await app.write(deleted, client);
  expectCode(await app.add(), 0);
});

test.each<[string, string[]]>([
  ['no folder', []],
  ['two folders', ['.', '..']],
  ['an unknown option', ['.', '--force']],
  ['a folder that does not exist', ['/nowhere']],
  ['a folder without config.toml', ['tests']],
  ['the folder of the service', ['.']],
  ['a function with a slash', ['/nowhere', '--function', '../x']],
])('%s → 2, with the usage and without a stack trace', async (_, args) => {
  const outcome = await runAdd(args);
  expectCode(outcome, 2);
  expect(outcome.stderr).toMatch(/^[^\n]+\nUsage: npm run add -- <folder>/);
  expect(outcome.stdout + outcome.stderr).not.toMatch(/^\s+at /m);
});

test('an app ignores .env already and has variables and functions of its own: these stay', async () => {
  const own = await createAppFolder({
    '.gitignore': 'node_modules\n.env\n',
    'supabase/functions/.env.example': 'OWN=1',
    'supabase/functions/hello/index.ts': 'Deno.serve(() => new Response());\n',
  });
  expectCode(await own.add(), 0);
  expect(await own.read('supabase/functions/.env.example')).toMatch(/^OWN=1\n\n# subscriptions: begin/);
  expect(Object.keys(await own.state())).not.toContain('supabase/.gitignore');
  expect(await own.read('.gitignore')).toBe('node_modules\n.env\n');
  await own.remove();
});

test('a damaged record → 1 with a sentence', async () => {
  const damaged = await createAppFolder({ 'supabase/subscriptions.json': '{"files": {"../x": "a"}}' });
  const outcome = await damaged.add();
  expectCode(outcome, 1);
  expect(outcome.stderr).toBe('supabase/subscriptions.json is damaged: restore it from your repository\n');
  await damaged.remove();
});
