import { expect, test } from 'vitest';
import { root } from '../../scripts/stack/root.ts';

test('each promise of the section Security names tests that exist', async () => {
  const guide = await Deno.readTextFile(`${root}/supabase/docs/operations.md`);
  const [, table = ''] = /\n## Security\n.*?(\n\|.*?)\n\n/s.exec(guide) ?? [];
  const [, , ...rows] = table.trim().split('\n');
  expect(rows.length).toBeGreaterThan(10);
  for (const row of rows) {
    const named = [...row.matchAll(/`(\w+\/[\w-]*)`/g)].map(([, name = '']) => name);
    expect(named, row).not.toEqual([]);
    for (const name of named) await Deno.stat(`${root}/tests/${name}${name.endsWith('/') ? '' : '.test.ts'}`);
  }
});
