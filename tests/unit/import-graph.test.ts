import { expect, test } from 'vitest';
import { root } from '../../scripts/stack/root.ts';

/** The files of some folders, each with its imports. */
async function importGraph(folders: string[]): Promise<Map<string, string[]>> {
  const graph = new Map<string, string[]>();
  for (const file of (await Promise.all(folders.map(filesUnder))).flat()) {
    const text = await Deno.readTextFile(file);
    const specifiers = [...text.matchAll(/^(?:import|export)\b[^;]*?from '(\.[^']+)'/gm)].map(([, specifier]) =>
      new URL(String(specifier), `file://${file}`).pathname
    );
    graph.set(file, specifiers);
  }
  return graph;
}

async function filesUnder(path: string): Promise<string[]> {
  const files: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(path)) {
    if (isDirectory) files.push(...await filesUnder(`${path}/${name}`));
    else if (name.endsWith('.ts')) files.push(`${path}/${name}`);
  }
  return files;
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

test.each([
  { name: 'the function', folders: ['supabase/functions/api'] },
  {
    name: 'the scripts, which import from the function and the client',
    folders: ['scripts', 'supabase/functions/api', 'supabase/client'],
  },
])('the imports of $name have no cycle', async ({ folders }) => {
  const graph = await importGraph(folders.map((folder) => `${root}/${folder}`));
  const edges = [...graph.values()].flat();
  expect(edges.length).toBeGreaterThan(80);
  expect(edges.filter((file) => file.endsWith('.ts') && !graph.has(file))).toEqual([]);
  expect(findCycle(graph).map((file) => file.replace(`${root}/`, ''))).toEqual([]);
});

test('a cycle is found', () => {
  const graph = new Map([['a', ['b']], ['b', ['c', 'd']], ['c', []], ['d', ['b']]]);
  expect(findCycle(graph)).toEqual(['b', 'd', 'b']);
});
