import { afterAll, beforeEach, expect, onTestFinished, test } from 'vitest';
import { root } from '../../scripts/stack/root.ts';
import type { OutboxRow } from '../../supabase/functions/api/ports.ts';
import { createRevalidator, nothingToRevalidate } from '../../supabase/functions/api/outbox/revalidate.ts';
import { accept, startReceiver } from '../helpers/outbox/receiver.ts';

const app = startReceiver();
afterAll(() => app.stop());
beforeEach(() => {
  app.answer = accept;
  app.arrivals.length = 0;
});

const row = (id: number, payload: unknown): OutboxRow => ({ id, key: `key/${id}`, kind: 'revalidation', payload });
const rows = [row(1, { paths: ['/a', '/b'] }), row(2, { paths: ['/b', '/c'] })];
const send = createRevalidator({ url: `${app.url}/hook?site=1`, secret: 'revalidate-me' });

test('all rows are one attempt, with their paths merged in their order', async () => {
  const attempts = send(rows);
  expect(attempts.map((attempt) => attempt.rows)).toEqual([rows]);
  expect(await attempts[0]?.deliver()).toEqual({ status: 'delivered' });
  expect(app.arrivals.map(({ method, path, body }) => ({ method, path, body }))).toEqual([
    { method: 'POST', path: '/hook', body: { paths: ['/a', '/b', '/c'] } },
  ]);
  expect(app.arrivals[0]?.headers.get('x-revalidate-secret')).toBe('revalidate-me');
});

test('a redirect is not followed, and an endless answer is not read', async () => {
  app.answer = () => new Response(null, { status: 307, headers: { location: '/elsewhere' } });
  expect(await send(rows)[0]?.deliver()).toEqual({ status: 'failed', error: 'HTTP 307' });
  expect(app.arrivals.map(({ path }) => path)).toEqual(['/hook']);
  app.answer = () => new Response(new ReadableStream({ pull: (stream) => stream.enqueue(new Uint8Array(1024)) }));
  expect(await send(rows)[0]?.deliver()).toEqual({ status: 'delivered' });
});

test.each([null, {}, { paths: '/a' }, { paths: [1] }])('the payload %j → failed, not thrown', async (payload) => {
  expect(await send([row(1, payload)])[0]?.deliver()).toEqual({ status: 'failed', error: 'ZodError' });
  expect(app.arrivals).toEqual([]);
});

test('a secret that is not a valid header → failed, not thrown, and without the secret', async () => {
  const [attempt] = createRevalidator({ url: app.url, secret: 'two\nlines' })(rows);
  expect(await attempt?.deliver()).toEqual({ status: 'failed', error: 'TypeError' });
});

test('without cached pages all rows are delivered without a call', async () => {
  const attempts = nothingToRevalidate(rows);
  expect(attempts.flatMap((attempt) => attempt.rows)).toEqual(rows);
  expect(await attempts[0]?.deliver()).toEqual({ status: 'delivered' });
});

test('the Next.js route handler of the deployment guide refreshes the pages, and refuses another secret', async () => {
  const recipe = await Deno.readTextFile(`${root}/supabase/docs/revalidate-route.ts`);
  expect(recipe).toContain("from 'next/cache'");
  const folder = await Deno.makeTempDir();
  onTestFinished(() => Deno.remove(folder, { recursive: true }));
  // This module stands in for next/cache and records the paths.
  const cache = 'export const paths = []; export const revalidatePath = (path) => paths.push(path);';
  await Deno.writeTextFile(`${folder}/cache.ts`, cache);
  await Deno.writeTextFile(`${folder}/route.ts`, recipe.replace("'next/cache'", "'./cache.ts'"));
  const { POST } = await import(`${folder}/route.ts`);
  Deno.env.set('REVALIDATE_SECRET', 'recipe-secret');
  onTestFinished(() => Deno.env.delete('REVALIDATE_SECRET'));
  const server = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen: () => {} }, POST);
  onTestFinished(() => server.shutdown());
  const sendWith = (secret: string) =>
    createRevalidator({ url: `http://127.0.0.1:${server.addr.port}`, secret })(rows)[0]?.deliver();
  expect(await sendWith('wrong')).toEqual({ status: 'refused', error: 'HTTP 401' });
  expect(await sendWith('recipe-secret')).toEqual({ status: 'delivered' });
  expect((await import(`${folder}/cache.ts`)).paths).toEqual(['/a', '/b', '/c']);
});
