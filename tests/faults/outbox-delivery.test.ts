import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest';
import { accept, type Answering, providerError, startReceiver } from '../helpers/outbox/receiver.ts';
import { useOutbox } from '../helpers/outbox/use-outbox.ts';
import { repeatUntil } from '../helpers/project/repeat-until.ts';

// Some tests leave rows that wait for a retry, so the findings are checked as of this time, before them.
const outbox = useOutbox({ at: '2026-01-01T00:00:00Z' });
const { receiver, mail, revalidation, at, dispatch, state, keys } = outbox;
const day = 86400;
/** Long enough for a slow machine. */
const patience = { timeout: 30_000 };
const refused = (status: number, headers: Record<string, string> = {}) => () =>
  providerError(status, `error_${status}`, headers);

/** What ends the calls with a timeout of so many milliseconds. */
const deadlines = new Map<number, AbortSignal>();
const { timeout } = AbortSignal;
beforeAll(() => {
  // A call of the database may take longer on a slow machine than the function allows.
  const timeoutOf = (milliseconds: number) => milliseconds === 4_000 ? 60_000 : milliseconds;
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((milliseconds) =>
    deadlines.get(milliseconds) ?? timeout.call(AbortSignal, timeoutOf(milliseconds))
  );
});
afterAll(() => void vi.restoreAllMocks());

// One mail gets each answer. Every status, redirects, and mails that cannot be rendered: unit/outbox, unit/mailer, unit/redirects.
test('by the answer of its provider a mail is retried after 5 s under the same key, parked until an admin requeues it, or delivered', async () => {
  const answers: [answer: Answering, state: string][] = [
    [refused(500), 'pending 1/1 500 error_500'],
    // The same key in another attempt.
    [() => providerError(409, 'concurrent_idempotent_requests'), 'pending 1/1 409 concurrent_idempotent_requests'],
    [() => new Response('<!doctype html>'), 'pending 1/1 no answer application_error'],
    [() => Response.json(null), 'pending 1/1 no id in the answer'],
    [refused(400), 'parked 1/1 400 error_400'],
    // An earlier text was accepted under this key.
    [() => providerError(409, 'invalid_idempotent_request'), 'delivered 1/1'],
  ];
  const all: string[] = [];
  for (const _ of answers) all.push(await mail());
  receiver.answer = (arrival) =>
    answers[all.indexOf(arrival.headers.get('idempotency-key') ?? '')]?.[0](arrival) ?? expect.fail();
  expect(await dispatch()).toBe('1 delivered, 4 retried, 1 parked, next at 5');
  expect(await Promise.all(all.map(state))).toEqual(answers.map(([, state]) => state));

  const first = receiver.arrivals.splice(0);
  receiver.answer = accept;
  await at(4.999);
  expect(await dispatch()).toBe('nothing, next at 5');
  await at(5);
  expect(await dispatch()).toBe('4 delivered');
  expect(keys().sort()).toEqual(all.slice(0, 4).sort());
  const sent = (arrivals: typeof first) =>
    new Map(arrivals.map(({ headers, body }) => [headers.get('idempotency-key'), body]));
  for (const [key, body] of sent(receiver.arrivals)) expect(body).toEqual(sent(first).get(key));
  await outbox.project.database.query('select billing.requeue(id) from billing.outbox where parked_at is not null');
  expect(await dispatch()).toBe('1 delivered');
});

test('an event whose receiver is down for a day is parked, and sent with the same id when an admin asks for it', async () => {
  const { database } = outbox.project;
  const key = 'evt_test_1';
  const payload = { type: 'payment.captured', timestamp: '2026-01-01T00:00:00.000Z', data: {} };
  await database.query("select billing.enqueue($1, 'event', 'payment.captured', $2)", [key, payload]);
  const events = { EVENTS_URL: `${receiver.url}/events`, EVENTS_SECRET: `whsec_${btoa('s'.repeat(24))}` };
  receiver.answer = () => new Response('', { status: 502 });
  let seconds = 0;
  await repeatUntil('the event is parked', 200, async () => {
    await at(seconds);
    const next = /next at ([\d.]+)/.exec(await dispatch(events))?.[1];
    seconds = Number(next ?? seconds);
    return (await state(key)).startsWith('parked');
  });
  expect(seconds).toBeGreaterThanOrEqual(day);
  expect(await state(key)).toMatch(/ HTTP 502$/);
  receiver.answer = () => new Response(null, { status: 204 });
  await database.query('select billing.requeue(id) from billing.outbox where key = $1', [key]);
  expect(await dispatch(events)).toBe('1 delivered');
  expect(new Set(receiver.arrivals.map(({ headers }) => headers.get('webhook-id')))).toEqual(new Set([key]));
});

// What else may be lacking: tests/unit/config.test.ts.
test.each([
  ['RESEND_API_KEY', mail, day - 360],
  ['REVALIDATE_SECRET', revalidation, 7 * day],
])('for lack of %s a side effect stays unclaimed, and is sent when it is set', async (name, enqueue, until) => {
  const key = await enqueue();
  for (const seconds of [0, until]) {
    await at(seconds);
    expect(await dispatch({ [name]: '' })).toBe('nothing');
  }
  expect(await state(key)).toBe('pending 0/0');
  expect(await dispatch()).toBe('1 delivered');
  const authorization = enqueue === mail ? 'Bearer re_test' : null;
  expect(receiver.arrivals.map(({ headers }) => headers.get('authorization'))).toEqual([authorization]);
});

test('a call without an answer times out after 10 s and delays no other receiver meanwhile', async () => {
  const over = new AbortController();
  deadlines.set(10_000, over.signal);
  const hanging = startReceiver();
  const released = Promise.withResolvers<Response>();
  hanging.answer = () => released.promise;
  onTestFinished(async () => {
    deadlines.clear();
    released.resolve(new Response());
    await hanging.stop();
  });
  const page = await revalidation();
  const hook = dispatch({ REVALIDATE_URL: hanging.url, RESEND_API_KEY: '' });
  await vi.waitFor(() => expect(hanging.arrivals).toHaveLength(1), patience);
  const late = await mail();
  const sending = dispatch({ RESEND_BASE_URL: hanging.url });
  await vi.waitFor(() => expect(hanging.arrivals).toHaveLength(2), patience);
  const next = await revalidation();
  const second = dispatch({ RESEND_API_KEY: '' });
  await vi.waitFor(async () => expect(await state(next)).toBe('delivered 1/1'), patience);
  expect(await state(late)).toMatch(/^pending \d\/1$/);
  over.abort(new DOMException('', 'TimeoutError'));
  expect(await hook).toMatch(/^1 retried/);
  await Promise.all([sending, second]);
  expect(await state(page)).toBe('pending 1/1 TimeoutError');
  expect(await state(late)).toBe('pending 1/1 no answer application_error');
});
