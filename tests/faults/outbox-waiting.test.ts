import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { accept, startReceiver } from '../helpers/outbox/receiver.ts';
import { emptyOutbox, enqueueMail, enqueueRevalidation, readSideEffect } from '../helpers/outbox/side-effects.ts';
import { createTestDispatcher, receiverEnvironment } from '../helpers/outbox/test-dispatcher.ts';
import { useProject } from '../helpers/project/use-project.ts';

// The last test leaves rows that wait for a retry, so the findings are checked as of this time, before them.
const project = useProject({ at: '2026-01-01T00:00:00Z' });
const receiver = startReceiver();
const released = Promise.withResolvers<void>();
afterAll(async () => {
  released.resolve();
  await receiver.stop();
});

const start = Date.parse('2026-01-01T00:00:00Z');
const hours = (count: number) => new Date(start + count * 3_600_000).toISOString();
const state = async (key: string) => (await readSideEffect(project.database, key)).state;

function createDispatcher(environment: Record<string, string> = {}) {
  return createTestDispatcher(project.apiUrl, { ...receiverEnvironment(receiver.url), ...environment });
}

beforeEach(async () => {
  await setClock(project.database, hours(0));
  await emptyOutbox(project.database);
  receiver.arrivals.length = 0;
  receiver.answer = accept;
});
afterEach(() => setClock(project.database, null));

test.each(['RESEND_API_KEY', 'EMAIL_FROM', 'APP_URL'])(
  'without %s mails stay unclaimed, and are sent when it is set within a day',
  async (name) => {
    const key = await enqueueMail(project.database);
    const without = createDispatcher({ [name]: '' });
    for (const hour of [0, 1, 23.9]) {
      await setClock(project.database, hours(hour));
      expect(await without.dispatch()).toEqual({ delivered: 0, retried: 0, parked: 0, next_attempt_at: null });
    }
    expect(await readSideEffect(project.database, key)).toMatchObject({ state: 'pending', attempts: 0, claims: 0 });
    expect(await createDispatcher().dispatch()).toMatchObject({ delivered: 1, parked: 0 });
    expect(receiver.arrivals.map(({ headers }) => headers.get('authorization'))).toEqual(['Bearer re_test']);
  },
);

test('mails that waited a day for a key are parked unsent when it is set, newer ones are sent', async () => {
  const old = await enqueueMail(project.database);
  await setClock(project.database, hours(0.1));
  const young = await enqueueMail(project.database);
  await setClock(project.database, hours(24));
  expect(await createDispatcher({ RESEND_API_KEY: '' }).dispatch()).toMatchObject({ delivered: 0, parked: 0 });
  expect(await state(old)).toBe('pending');
  expect(await createDispatcher().dispatch()).toEqual({ delivered: 1, retried: 0, parked: 1, next_attempt_at: null });
  expect([await state(old), await state(young)]).toEqual(['parked', 'delivered']);
  expect(receiver.arrivals.map(({ headers }) => headers.get('idempotency-key'))).toEqual([young]);
});

test('without a configured receiver a dispatch does nothing', async () => {
  const keys = [await enqueueMail(project.database), await enqueueRevalidation(project.database)];
  const none = createDispatcher({ RESEND_API_KEY: '', REVALIDATE_SECRET: '' });
  expect(await none.dispatch()).toEqual({ delivered: 0, retried: 0, parked: 0, next_attempt_at: null });
  for (const key of keys) {
    expect(await readSideEffect(project.database, key)).toMatchObject({ state: 'pending', claims: 0 });
  }
});

// The only test that waits for the real timeout. Both receivers hang at the same time.
test('receivers that hang time out after 10 s and delay no other receiver meanwhile', async () => {
  const hanging = startReceiver();
  hanging.answer = async (arrival) => {
    await released.promise;
    return accept(arrival);
  };
  try {
    const started = performance.now();
    const page = await enqueueRevalidation(project.database);
    const hook = createDispatcher({ REVALIDATE_URL: hanging.url, RESEND_API_KEY: '' }).dispatch();
    await vi.waitFor(() => expect(hanging.arrivals).toHaveLength(1));

    const mail = await enqueueMail(project.database);
    const dispatcher = createDispatcher({ RESEND_BASE_URL: hanging.url });
    const first = dispatcher.dispatch();
    await vi.waitFor(() => expect(hanging.arrivals).toHaveLength(2));
    const next = await enqueueRevalidation(project.database);
    const second = dispatcher.dispatch();
    await vi.waitFor(async () => expect(await state(next)).toBe('delivered'), { timeout: 5000 });
    // Neither call has timed out: the mail is still in flight.
    expect(await readSideEffect(project.database, mail)).toMatchObject({ state: 'pending', last_error: null });

    expect(await hook).toMatchObject({ delivered: 0, retried: 1 });
    await Promise.all([first, second]);
    expect(performance.now() - started).toBeGreaterThan(9900);
    expect(await readSideEffect(project.database, page)).toMatchObject({
      state: 'pending',
      last_error: 'TimeoutError',
    });
    expect(await readSideEffect(project.database, mail)).toMatchObject({ last_error: 'no answer application_error' });
  } finally {
    released.resolve();
    await hanging.stop();
  }
});
