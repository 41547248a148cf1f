import { readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { functionVariables } from '../../scripts/stack/function/environment.ts';
import { root } from '../../scripts/stack/root.ts';
import { readConfig } from '../../supabase/functions/api/config.ts';

/** What a module imports at its start, but not its types: paths of the project's modules, names of the others. */
async function importsOf(file: string, areTypesIncluded = false): Promise<string[]> {
  const text = await Deno.readTextFile(file);
  const statement = areTypesIncluded
    ? /^(?:import|export)\b(?:[^;=]*?from)? '([^']+)'/gm
    : /^(?:import|export)\b(?! type)(?:[^;=]*?from)? '([^']+)'/gm;
  return [...text.matchAll(statement)].map(([, name = '']) =>
    name.startsWith('.') ? new URL(name, `file://${file}`).pathname : name
  );
}

test('the imports of function, client and scripts have no cycle', async () => {
  const folders = ['scripts', 'supabase/functions/api', 'supabase/client'].map((folder) => `${root}/${folder}`);
  const names = await Promise.all(
    folders.map(async (folder) => (await readdir(folder, { recursive: true })).map((name) => `${folder}/${name}`)),
  );
  const files = names.flat().filter((name) => name.endsWith('.ts'));
  const graph = new Map(await Promise.all(files.map(async (file) => [file, await importsOf(file, true)] as const)));
  const edges = [...graph.values()].flat().filter((name) => name.startsWith('/'));
  expect(edges.length).toBeGreaterThan(80);
  expect(edges.filter((file) => file.endsWith('.ts') && !graph.has(file))).toEqual([]);
  // A file that imports no file that is left is in no cycle.
  for (let left = Infinity; graph.size < left;) {
    left = graph.size;
    for (const [file, imports] of graph) if (!imports.some((one) => graph.has(one))) graph.delete(file);
  }
  expect([...graph.keys()]).toEqual([]);
});

test('the start loads no database transport and no module that few requests need', async () => {
  const folder = `${root}/supabase/functions/api/`;
  const loaded = new Set<string>();
  async function load(name: string): Promise<void> {
    if (loaded.has(name)) return;
    loaded.add(name);
    if (name.endsWith('.ts')) { for (const imported of await importsOf(name)) await load(imported); }
  }
  await load(`${folder}index.ts`);
  const names = [...loaded].map((name) => name.replace(folder, ''));
  expect(names.filter((name) => !name.endsWith('.ts')).toSorted()).toEqual([
    ...['@supabase/supabase-js/cors', 'hono', 'hono/cors', 'hono/factory', 'hono/route', 'hono/utils/url'],
    ...['node:crypto', 'zod'],
  ]);
  expect(names).toContain('routes/verify-payment.ts');
  expect(names).not.toContain('database/pool-transport.ts');
  expect(names).not.toContain('database/rest-transport.ts');
  expect(names).not.toContain('outbox/render-email.ts');
  expect(names).not.toContain('receipts/render-receipt.ts');
  expect(names).not.toContain('openapi/operations.ts');
});

test('.env.example lists exactly the variables that the function reads and the platform does not set', async () => {
  const read = new Set<string>();
  readConfig((name) => {
    read.add(name);
    return /^SUPABASE_(URL|ANON_KEY|SERVICE_ROLE_KEY)$/.test(name) ? 'http://127.0.0.1' : undefined;
  });
  const own = [...read].filter((name) => !name.startsWith('SUPABASE_') && name !== 'PORT');
  expect((await functionVariables()).toSorted()).toEqual(own.toSorted());
});
