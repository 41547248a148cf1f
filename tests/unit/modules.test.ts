import { expect, test } from 'vitest';
import { functionVariables } from '../../scripts/stack/function/environment.ts';
import { root } from '../../scripts/stack/root.ts';
import { readConfig } from '../../supabase/functions/api/config.ts';

/** The modules of the project below these folders. */
async function filesUnder(...folders: string[]): Promise<string[]> {
  const files = await Promise.all(folders.map(async (folder) => {
    const entries = await Array.fromAsync(Deno.readDir(folder));
    return await Promise.all(
      entries.map(({ name, isDirectory }) =>
        isDirectory ? filesUnder(`${folder}/${name}`) : name.endsWith('.ts') ? [`${folder}/${name}`] : []
      ),
    );
  }));
  return files.flat(2);
}

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

/** The first import cycle: its files in the order of their imports; empty where there is none. */
function findCycle(graph: Map<string, string[]>): string[] {
  const finished = new Set<string>();
  function visit(file: string, path: string[]): string[] {
    if (path.includes(file)) return [...path.slice(path.indexOf(file)), file];
    if (finished.has(file)) return [];
    for (const imported of graph.get(file) ?? []) {
      const cycle = visit(imported, [...path, file]);
      if (cycle.length > 0) return cycle;
    }
    finished.add(file);
    return [];
  }
  for (const file of graph.keys()) {
    const cycle = visit(file, []);
    if (cycle.length > 0) return cycle;
  }
  return [];
}

test('the imports of function, client and scripts have no cycle, and a cycle is found', async () => {
  const files = await filesUnder(
    ...['scripts', 'supabase/functions/api', 'supabase/client'].map((it) => `${root}/${it}`),
  );
  const graph = new Map(await Promise.all(files.map(async (file) => [file, await importsOf(file, true)] as const)));
  const edges = [...graph.values()].flat().filter((name) => name.startsWith('/'));
  expect(edges.length).toBeGreaterThan(80);
  expect(edges.filter((file) => file.endsWith('.ts') && !graph.has(file))).toEqual([]);
  expect(findCycle(graph)).toEqual([]);
  expect(findCycle(new Map([['a', ['b']], ['b', ['c', 'd']], ['c', []], ['d', ['b']]]))).toEqual(['b', 'd', 'b']);
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
    ...['@supabase/supabase-js/cors', 'hono', 'hono/cors', 'hono/factory', 'hono/route', 'node:crypto', 'zod'],
  ]);
  expect(names).toContain('routes/verify-payment.ts');
  const later = [
    'database/pool-transport.ts',
    'database/rest-transport.ts',
    'outbox/render-email.ts',
    'openapi/operations.ts',
  ];
  expect(later.filter((name) => names.includes(name))).toEqual([]);
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
