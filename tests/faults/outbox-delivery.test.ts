import { describe, expect, test, vi } from 'vitest';
import { expectSentOnce } from '../helpers/outbox/many-dispatchers.ts';
import { accept, type Answering, providerError, startReceiver } from '../helpers/outbox/receiver.ts';
import { countRows, enqueueMails } from '../helpers/outbox/side-effects.ts';
import { useOutbox } from '../helpers/outbox/use-outbox.ts';

// Some tests leave rows that wait for a retry, so the findings are checked as of this time, before them.
const outbox = useOutbox({ at: '2026-01-01T00:00:00Z' });
const { receiver, mail, revalidation, at, dispatch, state, keys } = outbox;
const day = 86400;
const refused = (status: number, headers: Record<string, string> = {}) => () =>
  providerError(status, `error_${status}`, headers);

describe('a mail provider', () => {
  // One mail gets each answer. Every status: tests/unit/outbox.test.ts.
  test('→ by its answer a mail is retried after 5 s under the same key, parked until an admin requeues it, or delivered', async () => {
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

  test('that redirects → the mail is not delivered, whatever the target answers', async () => {
    receiver.answer = ({ path }) =>
      path === '/emails' ? new Response(null, { status: 302, headers: { location: '/login' } }) : Response.json({});
    const key = await mail();
    expect(await dispatch()).toBe('1 retried, next at 5');
    expect(await state(key)).toMatch(/^pending 1\/1/);
  });

  test('gets no mail that cannot be rendered: it is parked at once with the reason; the others are sent', async () => {
    const [bad, good] = [await mail({ amount: 'much' }), await mail()];
    expect(await dispatch()).toBe('1 delivered, 1 parked');
    expect([await state(bad), await state(good)]).toEqual(['parked 1/1 not rendered: ZodError', 'delivered 1/1']);
  });
});

describe('the app that refreshes pages', () => {
  test('gets 25 pending ones as two calls, of 20 and of 5, each path once in a call', async () => {
    const pages = Array.from({ length: 25 }, (_, index) => `/page-${index}`);
    for (const page of pages) await revalidation(['/subscription', page]);
    expect(await dispatch()).toBe('25 delivered');
    expect(receiver.arrivals.map(({ body }) => body)).toEqual([
      { paths: ['/subscription', ...pages.slice(0, 20)] },
      { paths: ['/subscription', ...pages.slice(20)] },
    ]);
  });

  test('answers 500 → the revalidation is sent again after 5 s; 404 → it is parked', async () => {
    receiver.answer = () => new Response(null, { status: 500 });
    const key = await revalidation();
    expect(await dispatch()).toBe('1 retried, next at 5');
    expect(await state(key)).toBe('pending 1/1 HTTP 500');
    await at(5);
    receiver.answer = () => new Response('no', { status: 404 });
    expect(await dispatch()).toBe('1 parked');
    expect(await state(key)).toBe('parked 2/2 HTTP 404');
  });
});

describe('429', () => {
  /** Answers 429 to mails, and accepts the rest. */
  const limit = (seconds: string) => {
    const answer = refused(429, { 'retry-after': seconds });
    receiver.answer = (arrival) => arrival.path === '/emails' ? answer() : accept(arrival);
  };

  test('with retry-after in seconds → no mail is sent until then, no attempt is counted, and revalidations go on', async () => {
    limit('120');
    const key = await mail();
    await revalidation();
    expect(await dispatch()).toBe('1 delivered, 1 retried, next at 120');
    expect(await state(key)).toBe('pending 0/1 429 error_429');
    receiver.answer = accept;
    const later = await mail();
    await at(119.999);
    expect(await dispatch()).toBe('nothing, next at 120');
    expect(await state(later)).toBe('pending 0/0');
    expect(receiver.arrivals).toHaveLength(2);
    await at(120);
    expect(await dispatch()).toBe('2 delivered');
  });

  test('to the first of forty mails → only requests in flight are still sent', async () => {
    limit('1');
    await enqueueMails(outbox.project.database, 40);
    expect(await dispatch()).toBe('20 retried, next at 1');
    expect(receiver.arrivals.length).toBeLessThanOrEqual(5);
    receiver.answer = accept;
    await at(1);
    expect(await dispatch()).toBe('40 delivered');
    expect(await countRows(outbox.project.database)).toEqual({ pending: 0, delivered: 40, parked: 0 });
  });
});

// tests/long sends thousands of mails.
test('four dispatchers at once on 200 mails → each mail is sent exactly once', () =>
  expectSentOnce(outbox.project, 4, 200));

describe('without a receiver', () => {
  test('that accepts connections mails and revalidations are retried, and sent when it answers again', async () => {
    const stopped = startReceiver();
    await stopped.stop();
    const all = [await mail(), await revalidation()];
    const gone = { RESEND_BASE_URL: stopped.url, REVALIDATE_URL: stopped.url };
    expect(await dispatch(gone)).toBe('2 retried, next at 5');
    expect(await Promise.all(all.map(state)))
      .toEqual(['pending 1/1 no answer application_error', 'pending 1/1 TypeError']);
    await at(5);
    expect(await dispatch()).toBe('2 delivered');
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

  // The only test that waits for the real timeout. Both receivers hang at the same time.
  test('that answers, it times out after 10 s and delays no other receiver meanwhile', async () => {
    const hanging = startReceiver();
    const released = Promise.withResolvers<void>();
    hanging.answer = async (arrival) => {
      await released.promise;
      return accept(arrival);
    };
    try {
      const started = performance.now();
      const page = await revalidation();
      const hook = dispatch({ REVALIDATE_URL: hanging.url, RESEND_API_KEY: '' });
      await vi.waitFor(() => expect(hanging.arrivals).toHaveLength(1));
      const late = await mail();
      const sending = dispatch({ RESEND_BASE_URL: hanging.url });
      await vi.waitFor(() => expect(hanging.arrivals).toHaveLength(2));
      const next = await revalidation();
      const second = dispatch({ RESEND_API_KEY: '' });
      await vi.waitFor(async () => expect(await state(next)).toBe('delivered 1/1'), { timeout: 5000 });
      // Neither call has timed out: the mail is still in flight.
      expect(await state(late)).toMatch(/^pending \d\/1$/);
      expect(await hook).toMatch(/^1 retried/);
      await Promise.all([sending, second]);
      expect(performance.now() - started).toBeGreaterThan(9900);
      expect(await state(page)).toBe('pending 1/1 TimeoutError');
      expect(await state(late)).toBe('pending 1/1 no answer application_error');
    } finally {
      released.resolve();
      await hanging.stop();
    }
  });
});
