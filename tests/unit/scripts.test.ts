import { expect, test } from 'vitest';
import { root } from '../../scripts/stack/root.ts';

const read = async (name: string) => JSON.parse(await Deno.readTextFile(`${root}/${name}`));
const { scripts, license }: { scripts: Record<string, string>; license: string } = await read('package.json');

// cmd.exe knows programs, arguments and &&.
const ofSh =
  /(^|&& *)(exec|export|env|source|\.|cd|rm|cp|mv|mkdir|test|\[) |(^|&& *)\w+=|[;|$`'~<>\\*?(){}]|(?<!&)&(?!&)/;

test.each(Object.entries(scripts))('npm run %s runs in every shell: %s', (_, script) => {
  expect(script).not.toMatch(ofSh);
});

const wrong = [
  'exec deno run x',
  'A=1 deno',
  'deno a && B=2 deno',
  "deno 'a'",
  'deno $PORT',
  'deno a; deno b',
  'deno a &',
];
test.each(wrong)('the pattern finds `%s`', (script) => expect(script).toMatch(ofSh));

test('the licence is MIT, in package.json, the lock and LICENSE', async () => {
  const { packages } = await read('package-lock.json');
  expect([license, packages[''].license]).toEqual(['MIT', 'MIT']);
  expect(await Deno.readTextFile(`${root}/LICENSE`)).toMatch(
    /^MIT License\n\nCopyright \(c\) \d{4} the supabase-subscriptions authors\n/,
  );
});
