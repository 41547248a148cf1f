import { expect, test } from 'vitest';
import { definedIn } from '../../scripts/check/rule-map.ts';
import { root } from '../../scripts/stack/root.ts';

// That such a change makes a migration: long/migration.
test('the example of tests/README.md for a changed rule names the file of the function, and a line that stands there once', async () => {
  const readme = await Deno.readTextFile(`${root}/tests/README.md`);
  const example = readme.split('## Contributing: change a rule\n')[1] ?? '';
  const [, file = '', name = '', before = ''] =
    /```diff\n.*\n *\+\+\+ supabase\/(\S+)\n *@@ (\w+) @@\n {3}-(.*)\n {3}\+/.exec(example) ?? [];
  expect(example).toContain(`\`${name}\` in \`supabase/${file}\``);
  const path = `${root}/supabase/${file}`;
  expect(await definedIn(path)).toContain(name);
  expect((await Deno.readTextFile(path)).split(before)).toHaveLength(2);
});
