import { createHash } from 'node:crypto';
import { basename, dirname } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { denoEnvironment } from '../../scripts/stack/process/deno-environment.ts';
import { root } from '../../scripts/stack/root.ts';
import { type FakeServer, startFake } from '../doctor/fake-server.ts';

// What a deploy uploads runs here on the hosted runtime's Deno, with packages that it downloads from a registry.
let folder: string;
let platform: FakeServer;
let registry: FakeServer;
let uploaded = new FormData();
const packages = new Map<string, { manifest: { version: string }; archive: Uint8Array<ArrayBuffer> }>();

beforeAll(async () => {
  folder = await Deno.makeTempDir({ prefix: 'deploy-' });
  platform = startFake(async ({ method, headers, text }) => {
    if (method === 'POST') uploaded = await new Response(text, { headers }).formData();
    return Response.json({ id: '1', slug: 'api', name: 'api', status: 'ACTIVE', version: 1 }, { status: 201 });
  });
  registry = startFake(({ path }) => {
    const name = decodeURIComponent(path.slice(1)).replace(/\.tgz$/, '');
    const { manifest, archive } = packages.get(name) ?? {};
    if (manifest === undefined || path.endsWith('.tgz')) return archive ? new Response(archive) : null;
    const dist = {
      tarball: `${registry.url}/${encodeURIComponent(name)}.tgz`,
      integrity: integrityOf(name),
      shasum: digest(name, 'sha1', 'hex'),
    };
    const versions = { [manifest.version]: { ...manifest, dist } };
    return Response.json({ name, 'dist-tags': { latest: manifest.version }, versions });
  });
});
afterAll(async () => {
  await Promise.all([platform.stop(), registry.stop(), Deno.remove(folder, { recursive: true })]);
});

test('the deployed function starts with the packages of its deno.lock, and not with one that the registry replaced', async () => {
  await deploy();
  const lockFile = `${folder}/supabase/functions/api/deno.lock`;
  const lock: { npm: Record<string, { integrity: string }> } = JSON.parse(await Deno.readTextFile(lockFile));
  // The archives of this registry are packed here, so they have hashes of their own.
  for (const [id, locked] of Object.entries(lock.npm)) {
    const name = id.replace(/(.)@.*/, '$1');
    await publish(name);
    locked.integrity = integrityOf(name);
  }
  await Deno.writeTextFile(lockFile, JSON.stringify(lock));
  expect(await serve()).toContain('SUPABASE_URL is not set');

  await publish('hono', '--exclude=README.md');
  expect(await serve()).toContain('Integrity check failed for package: "npm:hono@');
});

/** Writes what `supabase functions deploy` uploads to the folder. */
async function deploy(): Promise<void> {
  const profile = `${folder}/profile.yaml`;
  const urls = `api_url: ${platform.url}\ndashboard_url: ${platform.url}`;
  await Deno.writeTextFile(profile, `name: fake\n${urls}\nproject_host: example.test\n`);
  const command = 'functions deploy api --use-api --yes --remote=abcdefghijklmnopqrst';
  await run(Deno.execPath(), [
    ...['run', '-A', '--no-lock', '--no-config', `${root}/node_modules/supabase/dist/supabase.js`],
    ...command.split(' '),
    ...['--workdir', root],
  ], {
    SUPABASE_TELEMETRY_DISABLED: '1',
    SUPABASE_PROFILE: profile,
    SUPABASE_ACCESS_TOKEN: `sbp_${'0'.repeat(40)}`,
  });
  for (const file of uploaded.getAll('file')) {
    if (!(file instanceof File)) continue;
    await Deno.mkdir(dirname(`${folder}/${file.name}`), { recursive: true });
    await Deno.writeTextFile(`${folder}/${file.name}`, await file.text());
  }
}

/** Packs an installed package for the registry. */
async function publish(name: string, ...options: string[]): Promise<void> {
  const path = `${root}/node_modules/${name}`;
  const args = ['-czf', '-', ...options, '-C', dirname(path), basename(path)];
  const { stdout: archive } = await new Deno.Command('tar', { args }).output();
  packages.set(name, { manifest: JSON.parse(await Deno.readTextFile(`${path}/package.json`)), archive });
}

function digest(name: string, algorithm: string, encoding: 'base64' | 'hex'): string {
  return createHash(algorithm).update(packages.get(name)?.archive ?? '').digest(encoding);
}

function integrityOf(name: string): string {
  return `sha512-${digest(name, 'sha512', 'base64')}`;
}

/** Runs the function without a cache. @returns its output; it ends, since no variable is set. */
async function serve(): Promise<string> {
  const env = { DENO_DIR: await Deno.makeTempDir({ dir: folder }), NPM_CONFIG_REGISTRY: registry.url };
  const args = ['run', '--quiet', '--frozen', '-A', 'index.ts'];
  return run(`${root}/node_modules/deno-hosted/deno`, args, env, `${folder}/supabase/functions/api`);
}

async function run(command: string, args: string[], env: Record<string, string>, cwd = root): Promise<string> {
  const { stdout, stderr } = await new Deno.Command(command, {
    args,
    cwd,
    clearEnv: true,
    env: { ...denoEnvironment(), PATH: Deno.env.get('PATH') ?? '', ...env },
  }).output();
  return new TextDecoder().decode(stdout) + new TextDecoder().decode(stderr);
}
