import { beforeEach, describe, expect, test } from 'vitest';
import { useDatabase } from '../helpers/database/use-database.ts';
import { type Claim, claim, complete, type Destination, enqueue, fail, readRow } from '../helpers/outbox/claims.ts';
import { emptyOutbox } from '../helpers/outbox/side-effects.ts';

const database = useDatabase();
beforeEach(async () => {
  await emptyOutbox(database);
  await at(0);
});

const daySeconds = 24 * 3600;
const start = Date.UTC(2026, 0, 1, 12);
const time = (seconds: number) => new Date(start + seconds * 1000).toISOString();
const at = (seconds: number) => database.at(time(seconds));
const add = (destination: Destination = 'email') => enqueue(database, destination);
const take = (destination: Destination = 'email') => claim(database.service, destination);
const done = ({ token }: Pick<Claim, 'token'>, ...ids: number[]) => complete(database.service, token, ids);
type Failure = Parameters<typeof fail>[3];
const failed = ({ token }: Pick<Claim, 'token'>, ids: readonly number[], how?: Failure) =>
  fail(database.service, token, ids, how);
const row = (id: number) => readRow(database, id);
const requeue = async (id: number) => (await database.one('select billing.requeue($1) as requeued', [id])).requeued;
const [refused, retried, parked] = [{ retried: 0, parked: 0 }, { retried: 1, parked: 0 }, { retried: 0, parked: 1 }];
const tooLate = 'not delivered within 24 hours';

/** Rows due one second apart. The first id is due last. */
async function addBackwards(destination: Destination, count: number): Promise<number[]> {
  const rows = await database.query(
    `insert into billing.outbox (key, destination, kind, payload, next_attempt_at)
     select gen_random_uuid(), $1, 'kind', '{}', billing.clock() - make_interval(secs => n)
     from generate_series(1, $2) n returning id::int`,
    [destination, count],
  );
  return rows.map(({ id }) => Number(id));
}

describe('a claim', () => {
  test('returns the rows of its destination as they were written, with a token', async () => {
    await database.query(`select billing.enqueue('payment-success/1', 'email', 'payment-success', '{"to": "a@b.c"}')`);
    const { id } = await database.one('select id::int from billing.outbox');
    const row = {
      ...{ id, destination: 'email', key: 'payment-success/1', kind: 'payment-success', payload: { to: 'a@b.c' } },
    };
    expect(await database.rpc('claim_outbox', 'revalidation')).toMatchObject({ rows: [], parked: 0 });
    expect(await database.rpc('claim_outbox', 'email'))
      .toEqual({
        ...{ token: expect.stringMatching(/^[0-9a-f-]{36}$/), rows: [row], parked: 0, more: [], next_attempt_at: null },
      });
  });

  test('of several destinations takes the rows of each, names those that may have more, and says when the next is due', async () => {
    await addBackwards('gateway', 25);
    const [mail] = [await add()];
    await at(-30);
    const later = await add('revalidation');
    await database.query(
      `update billing.outbox set next_attempt_at = billing.clock() + interval '90 seconds' where id = $1`,
      [later],
    );
    await at(0);
    const claimed = Object(await database.rpc('claim_outbox', 'email,gateway,revalidation'));
    expect(claimed).toMatchObject({ parked: 0, more: ['gateway'], next_attempt_at: time(60) });
    expect(claimed.rows.filter((each: { id: number }) => each.id === mail)).toMatchObject([{ destination: 'email' }]);
    expect(claimed.rows).toHaveLength(21);
    // Those in hand are due again when their lease ends.
    expect(await database.rpc('claim_outbox', 'email')).toMatchObject({ rows: [], next_attempt_at: time(60) });
  });

  test('of a destination that asked for a pause takes nothing, and names its end', async () => {
    const [paused, due] = [await add('gateway'), await add()];
    await failed(await take('gateway'), [paused], { pauseSeconds: 120 });
    await database.query('update billing.outbox set next_attempt_at = billing.clock() where id = $1', [paused]);
    expect(await database.rpc('claim_outbox', 'email,gateway'))
      .toMatchObject({ rows: [{ id: due }], more: [], next_attempt_at: time(120) });
    expect(await database.rpc('claim_outbox', 'gateway')).toMatchObject({ rows: [], next_attempt_at: time(120) });
  });

  test('takes at most 20 rows, the earliest due first, however long the backlog of another destination', async () => {
    await addBackwards('gateway', 500);
    const ids = await addBackwards('email', 30);
    const [first, second] = [await take(), await take()];
    expect([first.ids, second.ids, (await take()).ids]).toEqual([ids.slice(10), ids.slice(0, 10), []]);
    expect(second.token).not.toBe(first.token);
  });

  test('takes a row when it is due, and again 60 seconds later, if it was not delivered', async () => {
    const id = await add();
    for (const [seconds, ids] of [[-0.001, []], [0, [id]], [59.999, []], [60, [id]]] as const) {
      await at(seconds);
      expect((await take()).ids, String(seconds)).toEqual(ids);
    }
    expect(await row(id)).toMatchObject({ attempts: 2, next_attempt_at: time(120) });
  });

  test('takes newer rows while others keep failing', async () => {
    await addBackwards('email', 20);
    const id = await add();
    const failing = await take();
    expect(failing.ids).not.toContain(id);
    await failed(failing, failing.ids);
    expect((await take()).ids).toEqual([id]);
    await at(5);
    const newer = await add();
    expect([...(await take()).ids, ...(await take()).ids]).toContain(newer);
  });
});

describe('a row that fails', () => {
  test('is retried after 5 s, 30 s, 2 min, 10 min, 1 h, then hourly, and parked after 24 h', async () => {
    const id = await add('revalidation');
    const waits: number[] = [];
    for (let seconds = 0;;) {
      await at(seconds);
      const claimed = await take('revalidation');
      if (claimed.parked === 1) break;
      expect(await failed(claimed, [id], { error: `HTTP 50${waits.length % 10}` })).toEqual(retried);
      const next = (Date.parse(String((await row(id)).next_attempt_at)) - start) / 1000;
      waits.push(next - seconds);
      seconds = next;
    }
    expect(waits).toEqual([5, 30, 120, 600, ...Array(24).fill(3600)]);
    expect(await row(id)).toMatchObject({ parked_at: time(daySeconds + 755), last_error: 'HTTP 507' });
  });

  test('after 24 h, or finally, is parked with that error', async () => {
    const old = await add('revalidation');
    await at(daySeconds - 1);
    const claimed = await take('revalidation');
    await at(daySeconds);
    expect(await failed(claimed, [old], { error: 'HTTP 503' })).toEqual(parked);
    expect(await row(old)).toMatchObject({ parked_at: time(daySeconds), last_error: 'HTTP 503' });
    const fresh = await add();
    expect(await failed(await take(), [fresh], { error: 'HTTP 422', final: true })).toEqual(parked);
    expect(await row(fresh)).toMatchObject({ parked_at: time(daySeconds), last_error: 'HTTP 422' });
  });

  test.each(['email', 'revalidation'] as const)('for %s, as its dispatcher dies, is parked in 24 h', async (what) => {
    const id = await add(what);
    for (let seconds = 0; seconds < daySeconds; seconds += 6 * 3600) {
      await at(seconds);
      expect((await take(what)).ids).toEqual([id]);
    }
    await at(daySeconds);
    expect(await take(what)).toMatchObject({ ids: [], parked: 1 });
    expect(await row(id)).toMatchObject({ parked_at: time(daySeconds), last_error: tooLate });
  });

  test('that tells the gateway to stop is tried until the gateway has it, and is a finding after 48 h', async () => {
    const id = await add('gateway');
    await database.query(`update billing.outbox set kind = 'cancel-subscription' where id = $1`, [id]);
    const stuck = () =>
      database.query(
        'select state, billing.iso_time(since) as since, last_error from billing.outbox_stuck where id = $1',
        [id],
      );
    await at(daySeconds);
    expect(await failed(await take('gateway'), [id], { error: 'no answer' })).toEqual(retried);
    await at(2 * daySeconds - 1);
    const dying = await take('gateway');
    expect(dying).toMatchObject({ ids: [id], parked: 0 });
    expect(await failed(dying, [id], { error: 'no answer' })).toEqual(retried);
    expect(await stuck()).toEqual([]);
    await at(2 * daySeconds + 30);
    expect(await take('gateway')).toMatchObject({ ids: [id], parked: 0 });
    expect(await stuck()).toEqual([{ state: 'due', since: time(0), last_error: 'no answer' }]);
    await at(30 * daySeconds);
    const last = await take('gateway');
    expect(await failed(last, [id], { error: 'no answer' })).toEqual(retried);
    expect(await stuck()).toHaveLength(1);
  });
});

test('a mail that waited for 24 h is parked, 20 with each claim, and a newer one is sent; a revalidation is delivered', async () => {
  const [[old], revalidation] = [await addBackwards('email', 25), await add('revalidation')];
  await at(1);
  const younger = await add();
  await at(daySeconds);
  const claims = [await take(), await take()];
  expect([claims.map((each) => each.parked), claims.flatMap(({ ids }) => ids)]).toEqual([[20, 5], [younger]]);
  expect(await row(Number(old))).toMatchObject({ parked_at: time(daySeconds), last_error: tooLate });
  expect(await done(await take('revalidation'), revalidation)).toBe(1);
});

describe('requeue', () => {
  test('restarts the 24 h and the delays, and keeps the last error for the admin', async () => {
    const id = await add();
    await failed(await take(), [id], { final: true });
    await at(10 * daySeconds);
    expect(await requeue(id)).toBe(true);
    expect(await row(id)).toMatchObject({ parked_at: null, last_error: 'HTTP 500' });
    await failed(await take(), [id]);
    expect(await row(id)).toMatchObject({ attempts: 1, next_attempt_at: time(10 * daySeconds + 5) });
    await at(11 * daySeconds - 1);
    expect((await take()).ids).toEqual([id]);
    await at(11 * daySeconds + 59);
    expect(await take()).toMatchObject({ ids: [], parked: 1 });
  });

  test('of a delivered or unknown row returns false and changes nothing', async () => {
    const id = await add();
    await done(await take(), id);
    expect([await requeue(id), await requeue(-1)]).toEqual([false, false]);
    expect(await row(id)).toMatchObject({ delivered_at: time(0) });
  });
});

describe('a complete and a fail', () => {
  /** A row that was claimed again after the lease of its first claim expired. */
  async function claimedTwice() {
    const id = await add();
    const first = await take();
    await at(60);
    return { id, first, second: await take() };
  }

  test('a complete marks the rows that it names as delivered, each once', async () => {
    const [one, two, other] = [await add(), await add(), await add()];
    const claimed = await take();
    await at(3);
    expect(await done(claimed, one, two)).toBe(2);
    await at(4);
    expect([await done(claimed, one, two), await done(claimed)]).toEqual([0, 0]);
    expect(await failed(claimed, [])).toEqual(refused);
    for (const id of [one, two]) expect(await row(id)).toMatchObject({ delivered_at: time(3), last_error: null });
    expect(await row(other)).toMatchObject({ delivered_at: null, last_error: null });
  });

  test.each(['claimed', 'never claimed'])('with the token of another claim are refused for a row %s', async (when) => {
    const id = await add();
    if (when === 'claimed') await take();
    await add('revalidation');
    for (const other of [await take('revalidation'), { token: crypto.randomUUID() }]) {
      expect(await done(other, id)).toBe(0);
      expect(await failed(other, [id], { final: true, pauseSeconds: 30 })).toEqual(refused);
    }
    expect(await row(id)).toMatchObject({ delivered_at: null, parked_at: null, last_error: null });
    await at(60);
    expect((await take()).ids, 'no pause').toEqual([id]);
  });

  test('at the end of the lease a fail is refused, and a complete is accepted', async () => {
    const id = await add();
    const claimed = await take();
    await at(60);
    expect(await failed(claimed, [id], { final: true })).toEqual(refused);
    expect(await row(id)).toMatchObject({ parked_at: null, last_error: null });
    expect([await done(claimed, id), (await take()).ids]).toEqual([1, []]);
  });

  test('after another claim a fail is refused; a complete is accepted, and then that claim’s fail is refused', async () => {
    const { id, first, second } = await claimedTwice();
    expect(await failed(first, [id], { final: true })).toEqual(refused);
    expect(await done(first, id)).toBe(1);
    expect(await failed(second, [id], { final: true })).toEqual(refused);
    expect(await row(id)).toMatchObject({ parked_at: null, delivered_at: time(60) });
  });

  test('after the row was parked a complete is accepted, unparks it and keeps the error, or stores its note', async () => {
    const { id, first, second } = await claimedTwice();
    expect(await failed(second, [id], { final: true })).toEqual(parked);
    expect(await done(first, id)).toBe(1);
    expect(await row(id)).toMatchObject({ parked_at: null, delivered_at: time(60), last_error: 'HTTP 500' });
    const other = await add();
    await database.rpc('complete_outbox', (await take()).token, String(other), 'not sent: switched off');
    expect(await row(other)).toMatchObject({ delivered_at: time(60), last_error: 'not sent: switched off' });
    const { state, text } = await database.one(
      `select m.state, billing.outbox_text(o) as text
       from billing.messages m join billing.outbox o using (id) where m.id = $1`,
      [other],
    );
    expect({ state, text }).toEqual({ state: 'not sent', text: 'not sent. switched off.' });
  });
});

describe('a pause', () => {
  test('stops the claims of its destination until it is over, and of no other; it counts no attempt', async () => {
    const id = await add();
    const claimed = await take();
    expect(await failed(claimed, [id], { error: 'HTTP 429', pauseSeconds: 30 })).toEqual(retried);
    expect(await row(id)).toMatchObject({ attempts: 0, last_error: 'HTTP 429', next_attempt_at: time(30) });
    await at(2);
    expect(await failed(claimed, [id], { pauseSeconds: 30 }), 'a repeated fail').toEqual(refused);
    expect(await row(id)).toMatchObject({ attempts: 0, next_attempt_at: time(30) });
    const [waiting, other] = [await add(), await add('revalidation')];
    await at(29.999);
    expect(await take()).toMatchObject({ ids: [], parked: 0 });
    expect((await take('revalidation')).ids).toEqual([other]);
    await at(30);
    expect((await take()).ids).toEqual([id, waiting]);
  });

  test('is not shortened by a shorter one, and is longer when the next is longer', async () => {
    const ids = [await add(), await add()];
    const claimed = await take();
    await failed(claimed, ids.slice(0, 1), { pauseSeconds: 30 });
    await failed(claimed, ids.slice(1), { pauseSeconds: 1 });
    await at(29);
    expect((await take()).ids).toEqual([]);
    await at(30);
    await failed(await take(), ids, { pauseSeconds: 60 });
    await at(89);
    expect((await take()).ids).toEqual([]);
    await at(90);
    expect((await take()).ids).toEqual(ids);
  });

  test('does not keep a row for more than 24 h, and a row paused again and again does not grow', async () => {
    const id = await add('revalidation');
    for (let second = 0; second < 25; second += 1) {
      await at(second);
      await failed(await take('revalidation'), [id], { pauseSeconds: 1 });
    }
    expect((await database.one('select cardinality(claims) as tokens from billing.outbox')).tokens)
      .toBeLessThanOrEqual(21);
    await at(daySeconds);
    expect(await failed(await take('revalidation'), [id], { pauseSeconds: 30 })).toEqual(parked);
  });

  test('next_outbox_attempt is the earliest of the destinations: due time, lease, retry or end of the pause', async () => {
    const next = async (...destinations: Destination[]) =>
      (await database.rpc('next_outbox_attempt', destinations.join(','))).next_attempt_at;
    expect(await next('email', 'revalidation')).toBeNull();
    const id = await add();
    const claimed = await take();
    expect(await next('email'), 'lease').toBe(time(60));
    await failed(claimed, [id]);
    expect(await next('email'), 'retry').toBe(time(5));
    await done(claimed, id);
    expect(await next('email'), 'delivered').toBeNull();
    await add('gateway');
    await at(1);
    await add('revalidation');
    await at(2);
    const paused = await add();
    expect([await next('email'), await next('email', 'revalidation')]).toEqual([time(2), time(1)]);
    await failed(await take(), [paused], { pauseSeconds: 30 });
    await add();
    expect([await next('email'), await next('email', 'revalidation')]).toEqual([time(32), time(1)]);
  });
});
