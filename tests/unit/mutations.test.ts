import { readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { root } from '../../scripts/stack/root.ts';
import { mutations } from '../mutations/list.ts';
import { applyMutation } from '../mutations/run-mutation.ts';

test('each mutation changes one place, and names tests that exist', async () => {
  const files = (await readdir(`${root}/tests`, { recursive: true })).filter((file) => file.endsWith('.test.ts'));
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
