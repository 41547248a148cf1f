import { describe, expect, test, vi } from 'vitest';
import { accept, type Answering, providerError, startReceiver } from '../helpers/outbox/receiver.ts';
import { countRows, enqueueMails } from '../helpers/outbox/side-effects.ts';
import { useOutbox } from '../helpers/outbox/use-outbox.ts';

// Some tests leave rows that wait for a retry, so the findings are checked as of this time, before them.
const outbox = useOutbox({ at: '2026-01-01T00:00:00Z' });
const { receiver, mail, revalidation, at, dispatch, state, keys } = outbox;
const [minute, hour, day] = [60, 3600, 86400];
const refused = (status: number, headers: Record<string, string> = {}) => () =>
  providerError(status, `error_${status}`, headers);
const status = (code: number, body: string | null = null) => () => new Response(body, { status: code });

describe('a mail provider', () => {
  // One mail gets each answer.
  test('→ by its answer a mail is retried after 5 s under the same key, parked until an admin requeues it, or delivered', async () => {
    const page = '<!doctype html><title>Bad gateway</title>';
    const answers: [answer: Answering, state: string][] = [
      [refused(500), 'pending 1/1 500 error_500'],
      [refused(503), 'pending 1/1 503 error_503'],
      [refused(408), 'pending 1/1 408 error_408'],
      // The same key in another attempt.
      [() => providerError(409, 'concurrent_idempotent_requests'), 'pending 1/1 409 concurrent_idempotent_requests'],
      [status(502, page), 'pending 1/1 502 application_error'],
      [() => Response.json(null, { status: 500 }), 'pending 1/1 no id in the answer'],
      [() => new Response(page), 'pending 1/1 no answer application_error'],
      [() => new Response(null), 'pending 1/1 no answer application_error'],
      [() => Response.json(null), 'pending 1/1 no id in the answer'],
      [() => Response.json({ status: 'ok' }), 'pending 1/1 no id in the answer'],
      [status(204), 'pending 1/1 no answer application_error'],
      [status(304), 'pending 1/1 304 application_error'],
      [refused(400), 'parked 1/1 400 error_400'],
      [refused(401), 'parked 1/1 401 error_401'],
      [refused(403), 'parked 1/1 403 error_403'],
      [refused(404), 'parked 1/1 404 error_404'],
      [refused(422), 'parked 1/1 422 error_422'],
      // An earlier text was accepted under this key.
      [() => providerError(409, 'invalid_idempotent_request'), 'delivered 1/1'],
    ];
    const all: string[] = [];
    for (const _ of answers) all.push(await mail());
    receiver.answer = (arrival) =>
      answers[all.indexOf(arrival.headers.get('idempotency-key') ?? '')]?.[0](arrival) ?? expect.fail();
    expect(await dispatch()).toBe('1 delivered, 12 retried, 5 parked, next at 5');
    expect(await Promise.all(all.map(state))).toEqual(answers.map(([, state]) => state));

    const first = receiver.arrivals.splice(0);
    receiver.answer = accept;
    await at(4.999);
    expect(await dispatch()).toBe('nothing, next at 5');
    await at(5);
    expect(await dispatch()).toBe('12 delivered');
    expect(keys().sort()).toEqual(all.slice(0, 12).sort());
    const sent = (arrivals: typeof first) =>
      new Map(arrivals.map(({ headers, body }) => [headers.get('idempotency-key'), body]));
    for (const [key, body] of sent(receiver.arrivals)) expect(body).toEqual(sent(first).get(key));
    await outbox.project.database.query('select billing.requeue(id) from billing.outbox where parked_at is not null');
    expect(await dispatch()).toBe('5 delivered');
  });

  test('that redirects → the mail is not delivered, whatever the target answers', async () => {
    receiver.answer = ({ path }) =>
      path === '/emails' ? new Response(null, { status: 302, headers: { location: '/login' } }) : Response.json({});
    const key = await mail();
    expect(await dispatch()).toBe('1 retried, next at 5');
    expect(await state(key)).toMatch(/^pending 1\/1/);
  });

  test('that keeps failing is called after 5 s, 30 s, 2 min, 10 min, then hourly; the mail is parked after 24 h', async () => {
    receiver.answer = refused(500);
    const key = await mail();
    const called = [0];
    for (let next = await dispatch(); next.includes('next'); next = await dispatch()) {
      called.push(Number(/next at (\d+)$/.exec(next)?.[1]));
      await at(called.at(-1) ?? 0);
    }
    const waits = called.slice(1).map((time, index) => time - (called[index] ?? 0));
    expect(waits).toEqual([5, 30, 2 * minute, 10 * minute, ...Array(waits.length - 4).fill(hour)]);
    expect(Math.floor(called.at(-1)! / hour)).toBe(24);
    expect(await state(key)).toMatch(/^parked .* 500 error_500$/);
  });

  test('gets no mail that cannot be rendered: it is parked at once with the reason; the others are sent', async () => {
    const [bad, good] = [await mail({ amount: 'much' }), await mail()];
    expect(await dispatch()).toBe('1 delivered, 1 parked');
    expect([await state(bad), await state(good)]).toEqual(['parked 1/1 not rendered: ZodError', 'delivered 1/1']);
  });

  test('with an API key that is not valid in a header → retried', async () => {
    const key = await mail();
    expect(await dispatch({ RESEND_API_KEY: 're_\nx' })).toBe('1 retried, next at 5');
    expect(await state(key)).toBe('pending 1/1 TypeError');
  });
});

describe('the app that refreshes pages', () => {
  test('gets one POST with the secret and the paths', async () => {
    await revalidation();
    expect(await dispatch()).toBe('1 delivered');
    const [{ headers, ...arrival } = expect.fail()] = receiver.arrivals;
    const paths = ['/subscription', '/pricing', '/analytics', '/dashboard'];
    expect(arrival).toEqual({ method: 'POST', path: '/api/revalidate', body: { paths } });
    expect(headers.get('x-revalidate-secret')).toBe('revalidate-me');
    expect(headers.get('content-type')).toBe('application/json');
  });

  test('gets 25 pending ones as two calls, of 20 and of 5, each path once in a call', async () => {
    const pages = Array.from({ length: 25 }, (_, index) => `/page-${index}`);
    for (const page of pages) await revalidation(['/subscription', page]);
    expect(await dispatch()).toBe('25 delivered');
    expect(receiver.arrivals.map(({ body }) => body)).toEqual([
      { paths: ['/subscription', ...pages.slice(0, 20)] },
      { paths: ['/subscription', ...pages.slice(20)] },
    ]);
  });

  const redirect: Answering = ({ path }) =>
    path === '/login' ? new Response('log in') : new Response(null, { status: 302, headers: { location: '/login' } });
  const page = '<!doctype html>done';
  test.each<[name: string, answer: Answering, result: string]>([
    ['500', status(500), 'pending'],
    ['503 with a page', status(503, page), 'pending'],
    ['408', status(408), 'pending'],
    ['409', status(409), 'pending'],
    ['302 to a page that says 200', redirect, 'pending'],
    ['304', status(304), 'pending'],
    ['400', status(400, 'no'), 'parked'],
    ['401', status(401, 'no'), 'parked'],
    ['403', status(403, 'no'), 'parked'],
    ['404', status(404, 'no'), 'parked'],
    ['405', status(405, 'no'), 'parked'],
    ['422', status(422, 'no'), 'parked'],
    ['204', status(204), 'delivered'],
    ['200 with a page', status(200, page), 'delivered'],
  ])('answers %s → the revalidation is %s; pending ones are sent again after 5 s', async (name, answer, result) => {
    receiver.answer = answer;
    const key = await revalidation();
    const counted = { pending: '1 retried, next at 5', parked: '1 parked', delivered: '1 delivered' };
    expect({ [result]: await dispatch() }).toEqual({ [result]: Reflect.get(counted, result) });
    expect(await state(key)).toBe(`${result} 1/1${result === 'delivered' ? '' : ` HTTP ${name.slice(0, 3)}`}`);
    expect(receiver.arrivals).toHaveLength(1);
    if (result !== 'pending') return;
    receiver.answer = accept;
    await at(5);
    expect(await dispatch()).toBe('1 delivered');
  });

  test.each(['', '/', '/shop/'])('is called at {APP_URL}/api/revalidate where APP_URL ends in "%s"', async (end) => {
    await revalidation();
    const { url } = receiver;
    expect(await dispatch({ APP_URL: url + end, REVALIDATE_URL: 'unset' })).toBe('1 delivered');
    expect(receiver.arrivals.map(({ path }) => path)).toEqual([`${end.replace(/\/$/, '')}/api/revalidate`]);
  });

  test('is not called with REVALIDATE_URL empty: the revalidation is settled', async () => {
    const key = await revalidation();
    expect(await dispatch({ REVALIDATE_URL: '' })).toBe('1 delivered');
    expect(await state(key)).toBe('delivered 1/1');
    expect(receiver.arrivals).toEqual([]);
  });
});

describe('429', () => {
  /** Answers 429 to requests of a path, and accepts the rest. */
  const limit = (path: string, headers: Record<string, string>) => {
    receiver.answer = (arrival) => arrival.path === path ? refused(429, headers)() : accept(arrival);
  };

  test('with retry-after in seconds → nothing is sent until then, and no attempt is counted', async () => {
    limit('/emails', { 'retry-after': '120' });
    const key = await mail();
    expect(await dispatch()).toBe('1 retried, next at 120');
    expect(await state(key)).toBe('pending 0/1 429 error_429');
    receiver.answer = accept;
    const later = await mail();
    await at(119.999);
    expect(await dispatch()).toBe('nothing, next at 120');
    expect(await state(later)).toBe('pending 0/0');
    expect(receiver.arrivals).toHaveLength(1);
    await at(120);
    expect(await dispatch()).toBe('2 delivered');
  });

  test('with retry-after as a date → nothing is sent until then', async () => {
    // The date is relative to the clock of the machine, the pause to the clock of the database.
    limit('/emails', { 'retry-after': new Date(Date.now() + 90_000).toUTCString() });
    await mail();
    const seconds = Number(/^1 retried, next at ([\d.]+)$/.exec(await dispatch())?.[1]);
    expect(seconds).toBeGreaterThan(60);
    expect(seconds).toBeLessThanOrEqual(90);
  });

  test.each<[string, Answering, number]>([
    ['no retry-after', refused(429), 60],
    ['a retry-after that is no time', refused(429, { 'retry-after': 'soon' }), 60],
    ['a retry-after of a day', refused(429, { 'retry-after': `${day}` }), 3600],
    ['a page', () => new Response('slow down', { status: 429, headers: { 'retry-after': '7' } }), 7],
  ])('with %s → a pause of a minute unless retry-after gives another, an hour at most', async (_, answer, seconds) => {
    receiver.answer = answer;
    const key = await mail();
    expect(await dispatch()).toBe(`1 retried, next at ${seconds}`);
    expect(await state(key)).toMatch(/^pending 0\/1/);
  });

  test('to the first of forty mails → only requests in flight are still sent', async () => {
    limit('/emails', { 'retry-after': '1' });
    await enqueueMails(outbox.project.database, 40);
    expect(await dispatch()).toBe('20 retried, next at 1');
    expect(receiver.arrivals.length).toBeLessThanOrEqual(5);
    receiver.answer = accept;
    await at(1);
    expect(await dispatch()).toBe('40 delivered');
    expect(await countRows(outbox.project.database)).toEqual({ pending: 0, delivered: 40, parked: 0 });
  });

  test('for 25 hours → parked after 24, as after any other failure', async () => {
    limit('/emails', { 'retry-after': '3600' });
    const key = await mail();
    for (const passed of [0, 12, 23]) {
      await at(passed * hour);
      expect(await dispatch()).toBe(`1 retried, next at ${(passed + 1) * hour}`);
    }
    await at(day);
    expect(await dispatch()).toBe('1 parked');
    expect(await state(key)).toMatch(/^parked .* 429 error_429$/);
  });

  test.each([['/emails', mail, revalidation], ['/api/revalidate', revalidation, mail]])(
    'of %s delays nothing else',
    async (path, limited, other) => {
      limit(path, { 'retry-after': '600' });
      await limited();
      await other();
      expect(await dispatch()).toBe('1 delivered, 1 retried, next at 600');
      await other();
      expect(await dispatch()).toBe('1 delivered, next at 600');
    },
  );

  test('to a revalidation → no call until then, and no attempt is counted', async () => {
    limit('/api/revalidate', { 'retry-after': '30' });
    const key = await revalidation();
    expect(await dispatch()).toBe('1 retried, next at 30');
    expect(await state(key)).toBe('pending 0/1 HTTP 429');
    receiver.answer = accept;
    expect(await dispatch()).toBe('nothing, next at 30');
    await at(30);
    expect(await dispatch()).toBe('1 delivered');
  });
});

describe('without a receiver', () => {
  test.each<[string, () => Promise<string>, (url: string) => Record<string, string>, string]>([
    ['mail', mail, (url) => ({ RESEND_BASE_URL: url }), 'no answer application_error'],
    ['revalidation', revalidation, (url) => ({ REVALIDATE_URL: url }), 'TypeError'],
  ])('that accepts connections a %s is retried, and sent when it answers again', async (_, enqueue, gone, error) => {
    const stopped = startReceiver();
    await stopped.stop();
    const key = await enqueue();
    expect(await dispatch(gone(stopped.url))).toBe('1 retried, next at 5');
    expect(await state(key)).toBe(`pending 1/1 ${error}`);
    await at(5);
    expect(await dispatch()).toBe('1 delivered');
  });

  test.each([
    ['RESEND_API_KEY', mail, 23.9 * hour],
    ['EMAIL_FROM', mail, 23.9 * hour],
    ['APP_URL', mail, 23.9 * hour],
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

  test('mails that waited a day are parked unsent when there is one, newer ones are sent', async () => {
    const old = await mail();
    await at(0.1 * hour);
    const young = await mail();
    await at(day);
    expect(await dispatch({ RESEND_API_KEY: '' })).toBe('nothing');
    expect(await state(old)).toBe('pending 0/0');
    expect(await dispatch()).toBe('1 delivered, 1 parked');
    expect([await state(old), await state(young)]).toEqual([
      expect.stringMatching(/^parked/),
      expect.stringMatching(/^delivered/),
    ]);
    expect(keys()).toEqual([young]);
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
