import { afterAll, afterEach, beforeEach, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { accept, type Answering, providerError, startReceiver } from '../helpers/outbox/receiver.ts';
import { emptyOutbox, enqueueMail, readSideEffect } from '../helpers/outbox/side-effects.ts';
import { createTestDispatcher, receiverEnvironment } from '../helpers/outbox/test-dispatcher.ts';
import { useProject } from '../helpers/project/use-project.ts';

// The last test leaves rows that wait for a retry, so the findings are checked as of this time, before them.
const project = useProject({ at: '2026-01-01T00:00:00Z' });
const provider = startReceiver();
afterAll(() => provider.stop());

const start = Date.parse('2026-01-01T00:00:00Z');
const after = (seconds: number) => new Date(start + seconds * 1000).toISOString();
const delivered = { delivered: 1, retried: 0, parked: 0, next_attempt_at: null };
const noId = 'no id in the answer';

beforeEach(async () => {
  await setClock(project.database, after(0));
  await emptyOutbox(project.database);
  provider.arrivals.length = 0;
  provider.answer = accept;
});
afterEach(() => setClock(project.database, null));

/** Creates a new dispatcher for each call, as after a restart: no state stays in memory. */
function dispatch() {
  return createTestDispatcher(project.apiUrl, { ...receiverEnvironment(provider.url), REVALIDATE_URL: '' }).dispatch();
}

const page = '<!doctype html><title>Bad gateway</title>';
const transient: [name: string, answer: Answering, error: unknown][] = [
  ['500', () => providerError(500, 'application_error'), '500 application_error'],
  ['503', () => providerError(503, 'service_unavailable'), '503 service_unavailable'],
  ['408', () => providerError(408, 'timeout'), '408 timeout'],
  [
    '409 for the same key in another attempt',
    () => providerError(409, 'concurrent_idempotent_requests'),
    '409 concurrent_idempotent_requests',
  ],
  ['502 with a page', () => new Response(page, { status: 502 }), '502 application_error'],
  ['500 with the JSON null', () => Response.json(null, { status: 500 }), noId],
  ['500 with JSON of another shape', () => Response.json({ error: 'x' }, { status: 500 }), expect.any(String)],
  ['200 with a page', () => new Response(page), 'no answer application_error'],
  ['200 with nothing', () => new Response(null), 'no answer application_error'],
  ['200 with the JSON null', () => Response.json(null), noId],
  ['200 with JSON of another shape', () => Response.json({ status: 'ok' }), noId],
  ['204', () => new Response(null, { status: 204 }), 'no answer application_error'],
  ['304', () => new Response(null, { status: 304 }), '304 application_error'],
];

describe.each(transient)('a provider that answers %s', (_name, answer, error) => {
  test('→ the mail is retried after 5 s under the same key, and sent', async () => {
    provider.answer = answer;
    const key = await enqueueMail(project.database);
    expect(await dispatch()).toEqual({ delivered: 0, retried: 1, parked: 0, next_attempt_at: after(5) });
    expect(await readSideEffect(project.database, key)).toEqual({
      state: 'pending',
      attempts: 1,
      claims: 1,
      last_error: error,
      next_attempt_at: after(5),
    });

    provider.answer = accept;
    await setClock(project.database, after(4.999));
    expect(await dispatch()).toMatchObject({ delivered: 0, next_attempt_at: after(5) });
    await setClock(project.database, after(5));
    expect(await dispatch()).toEqual(delivered);
    expect(provider.arrivals.map(({ headers }) => headers.get('idempotency-key'))).toEqual([key, key]);
    expect(provider.arrivals[1]?.body).toEqual(provider.arrivals[0]?.body);
  });
});

test.each([
  [400, 'validation_error'],
  [401, 'invalid_api_key'],
  [403, 'validation_error'],
  [404, 'not_found'],
  [422, 'missing_required_field'],
])(
  'a provider that answers %i → the mail is parked at once with the reason, and an admin can requeue it',
  async (status, name) => {
    provider.answer = () => providerError(status, name);
    const key = await enqueueMail(project.database);
    expect(await dispatch()).toEqual({ delivered: 0, retried: 0, parked: 1, next_attempt_at: null });
    expect(await readSideEffect(project.database, key)).toMatchObject({
      state: 'parked',
      last_error: `${status} ${name}`,
    });
    expect(await dispatch()).toMatchObject({ delivered: 0, parked: 0 });
    expect(provider.arrivals).toHaveLength(1);

    provider.answer = accept;
    await project.database.query('select billing.requeue(id) from billing.outbox where key = $1', [key]);
    expect(await dispatch()).toEqual(delivered);
  },
);

test('a provider that answers 409 invalid_idempotent_request → delivered: an earlier text was accepted under this key', async () => {
  provider.answer = () => providerError(409, 'invalid_idempotent_request');
  const key = await enqueueMail(project.database);
  expect(await dispatch()).toEqual(delivered);
  expect(await readSideEffect(project.database, key)).toMatchObject({ state: 'delivered', claims: 1 });
});

test('a provider that redirects → the mail is not delivered, whatever the target answers', async () => {
  provider.answer = ({ path }) =>
    path === '/emails' ? new Response(null, { status: 302, headers: { location: '/login' } }) : Response.json({});
  const key = await enqueueMail(project.database);
  expect(await dispatch()).toMatchObject({ delivered: 0, retried: 1 });
  expect(await readSideEffect(project.database, key)).toMatchObject({ state: 'pending' });
});

test('a provider that refuses connections → retried, and sent when it answers again', async () => {
  const gone = startReceiver();
  await gone.stop();
  const key = await enqueueMail(project.database);
  const away = createTestDispatcher(project.apiUrl, { ...receiverEnvironment(gone.url), REVALIDATE_URL: '' });
  expect(await away.dispatch()).toMatchObject({ delivered: 0, retried: 1, next_attempt_at: after(5) });
  expect(await readSideEffect(project.database, key)).toMatchObject({ last_error: 'no answer application_error' });
  await setClock(project.database, after(5));
  expect(await dispatch()).toEqual(delivered);
});

test('a provider that keeps failing is called after 5 s, 30 s, 2 min, 10 min, then hourly, and the mail is parked after 24 h', async () => {
  provider.answer = () => providerError(500, 'application_error');
  const key = await enqueueMail(project.database);
  const called: number[] = [];
  let due: string | null = after(0);
  while (due !== null) {
    await setClock(project.database, due);
    called.push((Date.parse(due) - start) / 1000);
    ({ next_attempt_at: due } = await dispatch());
  }
  const waits = called.slice(1).map((at, index) => at - (called[index] ?? 0));
  expect(waits.slice(0, 5)).toEqual([5, 30, 120, 600, 3600]);
  expect(new Set(waits.slice(5))).toEqual(new Set([3600]));
  expect(called.at(-1)).toBeGreaterThanOrEqual(24 * 3600);
  expect(called.at(-1)).toBeLessThan(25 * 3600);
  expect(await readSideEffect(project.database, key)).toMatchObject({
    state: 'parked',
    last_error: '500 application_error',
  });
});

test('a mail that cannot be rendered → parked at once with the reason; the others are sent', async () => {
  const bad = await enqueueMail(project.database, { amount: 'much' });
  const good = await enqueueMail(project.database);
  expect(await dispatch()).toEqual({ delivered: 1, retried: 0, parked: 1, next_attempt_at: null });
  expect(await readSideEffect(project.database, bad)).toMatchObject({
    state: 'parked',
    last_error: 'not rendered: ZodError',
  });
  expect(await readSideEffect(project.database, good)).toMatchObject({ state: 'delivered' });
});

test('an API key that is not valid in a header → retried, without an effect on other destinations', async () => {
  const key = await enqueueMail(project.database);
  const environment = { ...receiverEnvironment(provider.url), RESEND_API_KEY: 're_\nx', REVALIDATE_URL: '' };
  expect(await createTestDispatcher(project.apiUrl, environment).dispatch()).toMatchObject({ retried: 1 });
  expect(await readSideEffect(project.database, key)).toMatchObject({ state: 'pending', last_error: 'TypeError' });
});
