import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { accept, type Answering, startReceiver } from '../helpers/outbox/receiver.ts';
import { emptyOutbox, enqueueRevalidation, readSideEffect } from '../helpers/outbox/side-effects.ts';
import { createTestDispatcher, receiverEnvironment } from '../helpers/outbox/test-dispatcher.ts';
import { useProject } from '../helpers/project/use-project.ts';

const project = useProject();
const app = startReceiver();
afterAll(() => app.stop());

const start = Date.parse('2026-01-01T00:00:00Z');
const after = (seconds: number) => new Date(start + seconds * 1000).toISOString();

function dispatch(environment: Record<string, string> = {}) {
  return createTestDispatcher(project.apiUrl, { ...receiverEnvironment(app.url), ...environment }).dispatch();
}

beforeEach(async () => {
  await setClock(project.database, after(0));
  await emptyOutbox(project.database);
  app.arrivals.length = 0;
  app.answer = accept;
});
afterEach(() => setClock(project.database, null));

test('a revalidation → one POST with the secret and the paths', async () => {
  await enqueueRevalidation(project.database);
  expect(await dispatch()).toEqual({ delivered: 1, retried: 0, parked: 0, next_attempt_at: null });
  expect(app.arrivals).toHaveLength(1);
  const [{ method, path, headers, body } = expect.fail()] = app.arrivals;
  expect({ method, path, body }).toEqual({
    method: 'POST',
    path: '/api/revalidate',
    body: { paths: ['/subscription', '/pricing', '/analytics', '/dashboard'] },
  });
  expect(headers.get('x-revalidate-secret')).toBe('revalidate-me');
  expect(headers.get('content-type')).toBe('application/json');
});

test('25 pending revalidations → two calls, of 20 and of 5, each path once in a call', async () => {
  for (let i = 1; i <= 25; i++) await enqueueRevalidation(project.database, ['/subscription', `/page-${i}`]);
  expect(await dispatch()).toMatchObject({ delivered: 25, retried: 0 });
  const pages = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => `/page-${from + i}`);
  expect(app.arrivals.map(({ body }) => body)).toEqual([
    { paths: ['/subscription', ...pages(1, 20)] },
    { paths: ['/subscription', ...pages(21, 25)] },
  ]);
});

const redirect: Answering = ({ path }) =>
  path === '/login' ? new Response('log in') : new Response(null, { status: 302, headers: { location: '/login' } });

describe.each<[name: string, answer: Answering, error: string]>([
  ['500', () => new Response(null, { status: 500 }), 'HTTP 500'],
  ['503 with a page', () => new Response('<!doctype html>', { status: 503 }), 'HTTP 503'],
  ['408', () => new Response(null, { status: 408 }), 'HTTP 408'],
  ['409', () => new Response(null, { status: 409 }), 'HTTP 409'],
  ['302 to a page that says 200', redirect, 'HTTP 302'],
  ['304', () => new Response(null, { status: 304 }), 'HTTP 304'],
])('a hook that answers %s', (_name, answer, error) => {
  test('→ retried after 5 s, and delivered', async () => {
    app.answer = answer;
    const key = await enqueueRevalidation(project.database);
    expect(await dispatch()).toEqual({ delivered: 0, retried: 1, parked: 0, next_attempt_at: after(5) });
    expect(await readSideEffect(project.database, key)).toMatchObject({
      state: 'pending',
      attempts: 1,
      last_error: error,
    });
    expect(app.arrivals).toHaveLength(1);
    app.answer = accept;
    await setClock(project.database, after(5));
    expect(await dispatch()).toMatchObject({ delivered: 1, next_attempt_at: null });
  });
});

test.each([400, 401, 403, 404, 405, 422])('a hook that answers %i → parked at once with the reason', async (status) => {
  app.answer = () => new Response('no', { status });
  const key = await enqueueRevalidation(project.database);
  expect(await dispatch()).toEqual({ delivered: 0, retried: 0, parked: 1, next_attempt_at: null });
  expect(await readSideEffect(project.database, key)).toMatchObject({ state: 'parked', last_error: `HTTP ${status}` });
});

test.each<[name: string, answer: Answering]>([
  ['204', () => new Response(null, { status: 204 })],
  ['200 with a page', () => new Response('<!doctype html>done')],
])('a hook that answers %s → delivered: only the status counts', async (_name, answer) => {
  app.answer = answer;
  await enqueueRevalidation(project.database);
  expect(await dispatch()).toMatchObject({ delivered: 1 });
});

test('429 with retry-after → no call until then, and no attempt is counted', async () => {
  app.answer = () => new Response(null, { status: 429, headers: { 'retry-after': '30' } });
  const key = await enqueueRevalidation(project.database);
  expect(await dispatch()).toMatchObject({ retried: 1, next_attempt_at: after(30) });
  expect(await readSideEffect(project.database, key)).toMatchObject({ attempts: 0 });
  app.answer = accept;
  expect(await dispatch()).toMatchObject({ delivered: 0, next_attempt_at: after(30) });
  await setClock(project.database, after(30));
  expect(await dispatch()).toMatchObject({ delivered: 1, next_attempt_at: null });
});

test('a hook that refuses connections → retried, and delivered when it answers again', async () => {
  const gone = startReceiver();
  await gone.stop();
  const key = await enqueueRevalidation(project.database);
  expect(await dispatch({ REVALIDATE_URL: gone.url })).toMatchObject({ retried: 1, next_attempt_at: after(5) });
  expect(await readSideEffect(project.database, key)).toMatchObject({ last_error: 'TypeError' });
  await setClock(project.database, after(5));
  expect(await dispatch()).toMatchObject({ delivered: 1 });
});

test('REVALIDATE_URL empty → settled without a call', async () => {
  const key = await enqueueRevalidation(project.database);
  expect(await dispatch({ REVALIDATE_URL: '' })).toEqual({
    delivered: 1,
    retried: 0,
    parked: 0,
    next_attempt_at: null,
  });
  expect(await readSideEffect(project.database, key)).toMatchObject({ state: 'delivered' });
  expect(app.arrivals).toEqual([]);
});

test.each(['', '/', '/shop/'])(
  'REVALIDATE_URL unset → {APP_URL}/api/revalidate, APP_URL ending in "%s"',
  async (end) => {
    const { REVALIDATE_URL: _, ...environment } = receiverEnvironment(app.url);
    await enqueueRevalidation(project.database);
    const dispatcher = createTestDispatcher(project.apiUrl, { ...environment, APP_URL: app.url + end });
    expect(await dispatcher.dispatch()).toMatchObject({ delivered: 1 });
    expect(app.arrivals.map(({ path }) => path)).toEqual([`${end.replace(/\/$/, '')}/api/revalidate`]);
  },
);

test('REVALIDATE_SECRET unset → revalidations stay unclaimed, and are delivered when it is set a week later', async () => {
  const key = await enqueueRevalidation(project.database);
  expect(await dispatch({ REVALIDATE_SECRET: '' })).toMatchObject({ delivered: 0, next_attempt_at: null });
  await setClock(project.database, after(7 * 86400));
  expect(await dispatch({ REVALIDATE_SECRET: '' })).toMatchObject({ delivered: 0, parked: 0 });
  expect(await readSideEffect(project.database, key)).toMatchObject({ state: 'pending', claims: 0, attempts: 0 });
  expect(await dispatch()).toMatchObject({ delivered: 1, parked: 0 });
});
