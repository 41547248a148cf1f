import { gzipSync } from 'node:zlib';
import { build, stop } from 'esbuild';
import { expect, test } from 'vitest';
import { root } from '../../scripts/stack/root.ts';

const client = 'supabase/client/subscriptions.ts';

test('the client has at most 4 kB, minified for ES2020 and compressed', async () => {
  const { outputFiles: [bundle] } = await build({
    absWorkingDir: root,
    entryPoints: [client],
    bundle: true,
    write: false,
    format: 'esm',
    target: 'es2020',
    minify: true,
  }).finally(stop);
  expect(gzipSync(bundle?.contents ?? '').byteLength).toBeLessThanOrEqual(4096);
});

test('the client imports nothing', async () => {
  expect(await Deno.readTextFile(`${root}/${client}`)).not.toMatch(/^\s*import\b|\bimport\(|\bfrom '/m);
});

test("TypeScript's strictest settings accept the client in a browser", async () => {
  const { success, stdout } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...['run', '-A', 'node_modules/typescript/bin/tsc', '--noEmit', '--strict', '--exactOptionalPropertyTypes'],
      ...['--noUncheckedIndexedAccess', '--noPropertyAccessFromIndexSignature', '--noImplicitReturns'],
      ...['--noImplicitOverride', '--noUnusedLocals', '--noUnusedParameters', '--isolatedModules', '--skipLibCheck'],
      ...['--target', 'es2020', '--lib', 'es2020,dom', '--types', 'node', '--module', 'esnext'],
      ...['--moduleResolution', 'bundler', client],
    ],
    cwd: root,
  }).output();
  expect([success, new TextDecoder().decode(stdout)]).toEqual([true, '']);
}, 180_000);
