import { afterAll, beforeAll, expect, test } from 'vitest';
import { root } from '../../scripts/stack/root.ts';
import { createRevalidator } from '../../supabase/functions/api/outbox/revalidate.ts';

let folder: string;
let server: Deno.HttpServer<Deno.NetAddr>;

beforeAll(async () => {
  const guide = await Deno.readTextFile(`${root}/supabase/docs/deployment.md`);
  const [, recipe = ''] = /`app\/api\/revalidate\/route\.ts`, refreshes the pages:\n\n```ts\n(.*?)```/s.exec(guide) ??
    [];
  expect(recipe).toContain("from 'next/cache'");
  folder = await Deno.makeTempDir();
  // This module stands in for next/cache and records the paths.
  await Deno.writeTextFile(
    `${folder}/cache.ts`,
    'export const paths = []; export const revalidatePath = (path) => paths.push(path);',
  );
  await Deno.writeTextFile(`${folder}/route.ts`, recipe.replace("'next/cache'", "'./cache.ts'"));
  const { POST } = await import(`${folder}/route.ts`);
  server = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen: () => {} }, POST);
  Deno.env.set('REVALIDATE_SECRET', 'recipe-secret');
});
afterAll(async () => {
  Deno.env.delete('REVALIDATE_SECRET');
  await server.shutdown();
  await Deno.remove(folder, { recursive: true });
});

const send = (secret: string) => {
  const rows = [{ id: 1, key: 'revalidation/1', kind: 'revalidation', payload: { paths: ['/pricing', '/dashboard'] } }];
  const [attempt] = createRevalidator({ url: `http://127.0.0.1:${server.addr.port}`, secret })(rows);
  return attempt?.deliver();
};

test('the Next.js route handler of the deployment guide refreshes the pages that the service names', async () => {
  expect(await send('recipe-secret')).toEqual({ status: 'delivered' });
  const { paths } = await import(`${folder}/cache.ts`);
  expect(paths).toEqual(['/pricing', '/dashboard']);
});

test('the Next.js route handler of the deployment guide refuses another secret', async () => {
  expect(await send('wrong')).toEqual({ status: 'refused', error: 'HTTP 401' });
});
