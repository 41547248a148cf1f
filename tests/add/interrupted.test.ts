import { afterEach, expect, test } from 'vitest';
import { readInstalled } from '../../scripts/add/installed.ts';
import { planInstallation } from '../../scripts/add/plan.ts';
import type { Product } from '../../scripts/add/product.ts';
import { type Disk, writeSteps } from '../../scripts/add/write-steps.ts';
import { type AppFolder, createAppFolder, expectCode } from './app-folder.ts';

// A run that ends at any change of a file, and what the next one makes of it.

const bytes = (text: string) => new TextEncoder().encode(text);
const product = (version: string, name: string, files: Record<string, string>): Product => ({
  version,
  function: name,
  variables: `# OF=${version}\n`,
  files: new Map(Object.entries(files).map(([path, text]) => [`supabase/${path}`, bytes(text)])),
});
const first = product('1.0.0', 'api', {
  'migrations/20260101000000_one.sql': 'create table public.one (id int);\n',
  'functions/api/index.ts': '// first\n',
  'functions/api/old/gone.ts': '// old\n',
  'client/subscriptions.ts': '// client\n',
});
const second = product('2.0.0', 'billing', {
  'migrations/20260101000000_one.sql': 'create table public.one (id int);\n',
  'migrations/20260201000000_two.sql': 'create table public.two (id int);\n',
  'functions/billing/index.ts': '// second\n',
  'client/subscriptions.ts': '// client of the second\n',
});

let app: AppFolder;
afterEach(() => app.remove());

async function install(to: Product, disk?: Disk): Promise<void> {
  const installed = await readInstalled(app.folder);
  const { steps, collisions, edits } = await planInstallation(app.folder, installed, to);
  expect([...collisions, ...edits]).toEqual([]);
  await writeSteps(app.folder, steps, disk);
}

/** A disk that ends at one of its calls: a file is written by half, and nothing is done afterwards. */
function endingDisk(after: number): { disk: Disk; hasEnded: () => boolean } {
  let calls = 0;
  const end = () => (calls += 1) > after;
  const call = <T extends unknown[], R>(change: (...args: T) => Promise<R>) => async (...args: T) => {
    if (end()) throw new Error('The run ends');
    return await change(...args);
  };
  const disk: Disk = {
    mkdir: call(Deno.mkdir),
    rename: call(Deno.rename),
    remove: call(Deno.remove),
    async writeFile(path, data, options) {
      const isLast = end();
      if (isLast && calls > after + 1) throw new Error('The run ends');
      if (!(data instanceof Uint8Array)) throw new Error('Bytes alone are written');
      await Deno.writeFile(path, isLast ? data.slice(0, data.length / 2) : data, options);
      if (isLast) throw new Error('The run ends');
    },
  };
  return { disk, hasEnded: () => calls > after };
}

async function texts(): Promise<Record<string, string>> {
  return Object.fromEntries(Object.entries(await app.state()).map(([path, text]) => [path, text.replace(/^\S+ /, '')]));
}

test.each<[what: string, steps: Product[]]>([
  ['an installation', [first]],
  ['an upgrade that moves the function and drops files', [first, second]],
])('%s that ends at any write goes on at the next run', async (_, versions) => {
  const last = versions.at(-1) ?? first;
  app = await createAppFolder();
  for (const version of versions) await install(version);
  const expected = await texts();
  await app.remove();
  let ended = true;
  let after = 0;
  for (; ended; after += 1) {
    app = await createAppFolder();
    for (const version of versions.slice(0, -1)) await install(version);
    const { disk, hasEnded } = endingDisk(after);
    await install(last, disk).catch(() => {});
    ended = hasEnded();
    await install(last);
    expect(await texts()).toEqual(expected);
    if (ended) await app.remove();
  }
  expect(after).toBeGreaterThan(10);
});

test('a disk that is full while files are written: no file of the app changes, and nothing is left behind', async () => {
  app = await createAppFolder();
  const before = await app.state();
  let calls = 0;
  const full: Disk = {
    ...{ mkdir: Deno.mkdir, rename: Deno.rename, remove: Deno.remove },
    writeFile: (...args) => (calls += 1) > 3 ? Promise.reject(new Error('No space left')) : Deno.writeFile(...args),
  };
  await expect(install(first, full)).rejects.toThrow('No space left\nNothing is written.');
  expect(await app.state()).toEqual(before);
});

test('a folder, a file or the settings behind a link that leaves the app → 1, and nothing is written there', async () => {
  app = await createAppFolder();
  const outside = await Deno.makeTempDir({ prefix: 'outside-' });
  await Deno.writeTextFile(`${outside}/config.toml`, 'project_id = "app"\n');
  await Deno.symlink(outside, `${app.folder}/supabase/functions`);
  await Deno.mkdir(`${app.folder}/supabase/client`);
  await Deno.symlink(`${outside}/missing.ts`, `${app.folder}/supabase/client/subscriptions.ts`);
  await Deno.remove(`${app.folder}/supabase/config.toml`);
  await Deno.symlink(`${outside}/config.toml`, `${app.folder}/supabase/config.toml`);
  const outcome = await app.add();
  expectCode(outcome, 1);
  for (const place of ['functions', 'client/subscriptions.ts', 'config.toml']) {
    expect(outcome.stdout).toContain(`supabase/${place} is a link that leaves the folder of the app. Way out: `);
  }
  expect(Array.from(Deno.readDirSync(outside), ({ name }) => name)).toEqual(['config.toml']);
  expect(await Deno.readTextFile(`${outside}/config.toml`)).toBe('project_id = "app"\n');
  await Deno.remove(outside, { recursive: true });
});

test('a link inside of the app stays one, and its file keeps its rights', async () => {
  app = await createAppFolder();
  await Deno.rename(`${app.folder}/supabase/config.toml`, `${app.folder}/settings.toml`);
  await Deno.chmod(`${app.folder}/settings.toml`, 0o640);
  await Deno.symlink('../settings.toml', `${app.folder}/supabase/config.toml`);
  await install(first);
  expect((await Deno.lstat(`${app.folder}/supabase/config.toml`)).isSymlink).toBe(true);
  expect(await app.read('settings.toml')).toContain('[functions.api]');
  expect(((await Deno.stat(`${app.folder}/settings.toml`)).mode ?? 0) & 0o777).toBe(0o640);
});

test('a file in place of a folder, and the reverse → 1, and nothing is written', async () => {
  app = await createAppFolder({ 'supabase/client': 'a file', 'supabase/emails/layout.tsx/own.txt': '' });
  const before = await app.state();
  const outcome = await app.add();
  expectCode(outcome, 1);
  expect(outcome.stdout).toContain('supabase/client is not a folder. Way out: move it.');
  expect(outcome.stdout).toContain('supabase/emails/layout.tsx is not a file. Way out: move it.');
  expect(await app.state()).toEqual(before);
});

test.each(['supabase/functions/hello/index.ts', 'supabase/seed.sql', 'supabase/client/../seed.sql', 'README.md'])(
  'a record that names %s is damaged: the file stays',
  async (path) => {
    app = await createAppFolder({ 'README.md': '', 'supabase/seed.sql': '', 'supabase/functions/hello/index.ts': '' });
    const hash = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855';
    await app.write(
      'supabase/subscriptions.json',
      JSON.stringify({ version: '0.1.0', function: 'api', files: { [path]: hash } }),
    );
    const before = await app.state();
    const outcome = await app.add();
    expectCode(outcome, 1);
    expect(outcome.stderr).toContain('supabase/subscriptions.json is damaged');
    expect(await app.state()).toEqual(before);
  },
);
