import { expect, test } from 'vitest';
import { z } from 'zod';
import { readProduct } from '../../scripts/add/product.ts';
import { buildRegistry } from '../../scripts/generate/registry.ts';
import { root } from '../../scripts/stack/root.ts';

const itemSchema = z.strictObject({
  $schema: z.literal('https://ui.shadcn.com/schema/registry-item.json'),
  name: z.enum(['subscriptions', 'billing-page']),
  type: z.literal('registry:block'),
  title: z.string(),
  description: z.string(),
  files: z.array(z.strictObject({
    path: z.string(),
    type: z.enum(['registry:file', 'registry:component']),
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

test('the billing page has the client and its own files, with imports that an app finds', async () => {
  const item = itemSchema.parse(JSON.parse((await buildRegistry()).get('billing-page.json') ?? ''));
  const client = item.files.find(({ path }) => path === 'lib/subscriptions.ts');
  expect(client?.content).toBe(await Deno.readTextFile(`${root}/supabase/client/subscriptions.ts`));
  const targets = item.files.map(({ target }) => target);
  for (const { path, content } of item.files) {
    for (const [, from = ''] of content.matchAll(/^import .* from '(.*)';$/gm)) {
      const isFound = from === 'react' || from === '@/lib/subscriptions' ||
        ['ts', 'tsx'].some((extension) => targets.includes(`@components/billing-page/${from.slice(2)}.${extension}`));
      expect([path, from, isFound]).toEqual([path, from, true]);
    }
  }
  expect(item.docs).toContain('<BillingPage subscriptions={subscriptions}');
});

test('the index lists the items without the text of its files', async () => {
  const registry = JSON.parse((await buildRegistry()).get('registry.json') ?? '');
  expect(registry).toMatchObject({
    name: 'supabase-subscriptions',
    items: [{ name: 'subscriptions' }, { name: 'billing-page' }],
  });
  expect(registry.homepage).toEqual(expect.any(String));
  expect(Object.keys(registry.items[0].files[0])).toEqual(['path', 'type', 'target']);
});
