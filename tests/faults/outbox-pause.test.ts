import { afterAll, afterEach, beforeEach, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { accept, providerError, startReceiver } from '../helpers/outbox/receiver.ts';
import {
  countRows,
  emptyOutbox,
  enqueueMail,
  enqueueMails,
  enqueueRevalidation,
  readSideEffect,
} from '../helpers/outbox/side-effects.ts';
import { createTestDispatcher, receiverEnvironment } from '../helpers/outbox/test-dispatcher.ts';
import { useProject } from '../helpers/project/use-project.ts';

const project = useProject();
const receiver = startReceiver();
afterAll(() => receiver.stop());

const start = Date.parse('2026-01-01T00:00:00Z');
const after = (seconds: number) => new Date(start + seconds * 1000).toISOString();
const dispatch = () => createTestDispatcher(project.apiUrl, receiverEnvironment(receiver.url)).dispatch();

beforeEach(async () => {
  await setClock(project.database, after(0));
  await emptyOutbox(project.database);
  receiver.arrivals.length = 0;
});
afterEach(() => setClock(project.database, null));

/** Answers 429 to requests of a path, and accepts the rest. */
function limit(path: string, headers: Record<string, string>): void {
  receiver.answer = (arrival) =>
    arrival.path === path ? providerError(429, 'rate_limit_exceeded', headers) : accept(arrival);
}

test('429 with retry-after in seconds → nothing is sent until then, and no attempt is counted', async () => {
  limit('/emails', { 'retry-after': '120' });
  const key = await enqueueMail(project.database);
  expect(await dispatch()).toEqual({ delivered: 0, retried: 1, parked: 0, next_attempt_at: after(120) });
  expect(await readSideEffect(project.database, key)).toMatchObject({
    state: 'pending',
    attempts: 0,
    last_error: '429 rate_limit_exceeded',
    next_attempt_at: after(120),
  });

  receiver.answer = accept;
  const later = await enqueueMail(project.database);
  await setClock(project.database, after(119.999));
  expect(await dispatch()).toEqual({ delivered: 0, retried: 0, parked: 0, next_attempt_at: after(120) });
  expect(await readSideEffect(project.database, later)).toMatchObject({ attempts: 0, claims: 0 });
  expect(receiver.arrivals).toHaveLength(1);
  await setClock(project.database, after(120));
  expect(await dispatch()).toEqual({ delivered: 2, retried: 0, parked: 0, next_attempt_at: null });
});

test('429 with retry-after as a date → nothing is sent until then', async () => {
  // The date is relative to the clock of the machine, the pause to the clock of the database.
  limit('/emails', { 'retry-after': new Date(Date.now() + 90_000).toUTCString() });
  await enqueueMail(project.database);
  const { next_attempt_at: next } = await dispatch();
  const seconds = (Date.parse(next ?? '') - start) / 1000;
  expect(seconds).toBeGreaterThan(60);
  expect(seconds).toBeLessThanOrEqual(90);
});

test.each([
  ['no retry-after', () => providerError(429, 'rate_limit_exceeded'), 60],
  ['a retry-after that is no time', () => providerError(429, 'daily_quota_exceeded', { 'retry-after': 'soon' }), 60],
  ['a retry-after of a day', () => providerError(429, 'daily_quota_exceeded', { 'retry-after': '86400' }), 3600],
  ['a page', () => new Response('slow down', { status: 429, headers: { 'retry-after': '7' } }), 7],
])(
  '429 with %s → a pause of a minute unless retry-after gives another, an hour at most',
  async (_name, answer, seconds) => {
    receiver.answer = answer;
    const key = await enqueueMail(project.database);
    expect(await dispatch()).toMatchObject({ retried: 1, next_attempt_at: after(seconds) });
    expect(await readSideEffect(project.database, key)).toMatchObject({ attempts: 0 });
  },
);

test('429 to the first of forty mails → only requests in flight are still sent', async () => {
  limit('/emails', { 'retry-after': '1' });
  await enqueueMails(project.database, 40);
  expect(await dispatch()).toEqual({ delivered: 0, retried: 20, parked: 0, next_attempt_at: after(1) });
  expect(receiver.arrivals.length).toBeLessThanOrEqual(5);

  receiver.answer = accept;
  await setClock(project.database, after(1));
  expect(await dispatch()).toMatchObject({ delivered: 40, next_attempt_at: null });
  expect(await countRows(project.database)).toEqual({ pending: 0, delivered: 40, parked: 0 });
});

test('429 for 25 hours → parked after 24, as after any other failure', async () => {
  limit('/emails', { 'retry-after': '3600' });
  const key = await enqueueMail(project.database);
  for (let hour = 0; hour < 24; hour++) {
    await setClock(project.database, after(hour * 3600));
    expect(await dispatch()).toMatchObject({ retried: 1, parked: 0 });
  }
  await setClock(project.database, after(24 * 3600));
  expect(await dispatch()).toMatchObject({ retried: 0, parked: 1, next_attempt_at: null });
  expect(await readSideEffect(project.database, key)).toMatchObject({
    state: 'parked',
    last_error: '429 rate_limit_exceeded',
  });
});

test('a pause of the mails delays no revalidation, and a pause of revalidations delays no mail', async () => {
  limit('/emails', { 'retry-after': '600' });
  await enqueueMail(project.database);
  await enqueueRevalidation(project.database);
  expect(await dispatch()).toMatchObject({ delivered: 1, retried: 1 });
  await enqueueRevalidation(project.database);
  expect(await dispatch()).toMatchObject({ delivered: 1, retried: 0, next_attempt_at: after(600) });

  await emptyOutbox(project.database);
  limit('/api/revalidate', { 'retry-after': '600' });
  await enqueueRevalidation(project.database);
  await enqueueMail(project.database);
  expect(await dispatch()).toMatchObject({ delivered: 1, retried: 1 });
  await enqueueMail(project.database);
  expect(await dispatch()).toMatchObject({ delivered: 1, retried: 0, next_attempt_at: after(600) });
});
