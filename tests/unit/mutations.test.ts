import { expect, test } from 'vitest';
import { root } from '../../scripts/stack/root.ts';
import { kindsOf } from '../mutations/kinds.ts';
import { mutations } from '../mutations/list.ts';
import { applyMutation } from '../mutations/run-mutation.ts';

test('each mutation changes one place, and names tests that exist', async () => {
  const files = await testFiles(`${root}/tests`);
  const faults: string[] = [];
  for (const mutation of mutations) {
    for (const part of mutation.tests) {
      if (!files.some((file) => file.includes(part))) faults.push(`${mutation.breaks}: no test ${part}`);
    }
    await applyMutation(mutation, root, () => Promise.resolve()).catch(({ message }) => faults.push(message));
  }
  expect(faults).toEqual([]);
  expect(new Set(mutations.map(({ breaks }) => breaks)).size).toBe(mutations.length);
});

test('kinds are named by paths', () => {
  const killers = [
    'database/access-histories.test.ts > a',
    'database/refunds.test.ts > b',
    'contract/http.test.ts > c',
  ];
  expect(kindsOf(killers)).toEqual(['contract', 'histories', 'rules']);
});

async function testFiles(folder: string): Promise<string[]> {
  const names: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    if (isDirectory) names.push(...await testFiles(`${folder}/${name}`));
    else if (name.endsWith('.test.ts')) names.push(`${folder}/${name}`.slice(root.length + '/tests/'.length));
  }
  return names;
}
