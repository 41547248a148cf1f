import { expect, test } from 'vitest';
import { z } from 'zod';
import { readProduct } from '../../scripts/add/product.ts';
import { buildRegistry } from '../../scripts/registry.ts';
import { root } from '../../scripts/stack/root.ts';

const itemSchema = z.strictObject({
  $schema: z.literal('https://ui.shadcn.com/schema/registry-item.json'),
  name: z.literal('subscriptions'),
  type: z.literal('registry:block'),
  title: z.string(),
  description: z.string(),
  files: z.array(z.strictObject({
    path: z.string(),
    type: z.literal('registry:file'),
    target: z.string(),
    content: z.string(),
  })),
  docs: z.string(),
});

test('the item has every file of npm run add, byte for byte, below the root of the project', async () => {
  const item = itemSchema.parse(JSON.parse((await buildRegistry()).get('subscriptions.json') ?? ''));
  const { files } = await readProduct(root, 'api');
  expect(item.files.map(({ target }) => target)).toEqual([...files.keys()].map((path) => `~/${path}`));
  for (const { path, content } of item.files) {
    expect([path, new TextEncoder().encode(content)]).toEqual([path, files.get(path)]);
  }
  expect(item.docs).toMatch(/^\[functions\.api\]\n[^[]*^verify_jwt = false$/m);
  expect(item.docs).toContain(await Deno.readTextFile(`${root}/supabase/functions/.env.example`));
});

test('the index lists the item without the text of its files', async () => {
  const registry = JSON.parse((await buildRegistry()).get('registry.json') ?? '');
  expect(registry).toMatchObject({ name: 'supabase-subscriptions', items: [{ name: 'subscriptions' }] });
  expect(registry.homepage).toEqual(expect.any(String));
  expect(Object.keys(registry.items[0].files[0])).toEqual(['path', 'type', 'target']);
});
