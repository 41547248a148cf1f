import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  createDispatcher,
  deliverRows,
  oneAtATime,
  type Outcome,
  settleRows,
} from '../../supabase/functions/api/outbox/dispatcher.ts';
import type { Attempt, Delivered, Delivery, OutboxRow, Sender } from '../../supabase/functions/api/ports.ts';
import { scriptedDatabase } from '../helpers/outbox/scripted-database.ts';

const row = (id: number): OutboxRow => ({ id, key: `key/${id}`, kind: 'kind', payload: null });
const rowsOf = (...ids: number[]) => ids.map(row);
const delivered: Delivery = { status: 'delivered' };
const failed = (error: string): Delivery => ({ status: 'failed', error });
const paused = (seconds: number): Delivery => ({ status: 'paused', error: '429', seconds });
const after = (milliseconds: number, delivery: Delivery = delivered) =>
  new Promise<Delivery>((resolve) => void setTimeout(resolve, milliseconds, delivery));

/** Time that advances only when a test advances it. Leases are measured with `performance.now()`. */
const stopTime = () => vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
afterEach(() => {
  vi.useRealTimers();
});

describe('a dispatch', () => {
  /** A sender with one attempt, which returns this delivery. */
  const sends = (deliver: () => Delivery | Promise<Delivery>): Sender => (rows) => [
    { rows, deliver: () => Promise.resolve(deliver()) },
  ];
  const sender = sends(() => delivered);

  test('claims and delivers until no row is due, and returns the time of the next row', async () => {
    const nextAttemptAt = '2026-01-01T00:00:05.000Z';
    const claims = { email: [rowsOf(1, 2), rowsOf(3)] };
    const { database, calls, claimed } = scriptedDatabase({ claims, nextAttemptAt });
    expect(await createDispatcher(database, { email: sender }).dispatch())
      .toEqual({ delivered: 3, retried: 0, parked: 0, next_attempt_at: nextAttemptAt });
    expect(claimed).toEqual(['email', 'email']);
    expect(calls).toEqual([
      { name: 'completeOutbox', token: 'claim-1', ids: [1, 2] },
      { name: 'completeOutbox', token: 'claim-2', ids: [3] },
    ]);
  });

  test('is one claim and one completion of all destinations, and asks for no time', async () => {
    const { database, calls, claimed } = scriptedDatabase({
      claims: { email: [rowsOf(1)], revalidation: [rowsOf(2)] },
    });
    const asked = vi.spyOn(database, 'nextOutboxAttempt');
    const slow = sends(() => after(50));
    const dispatcher = createDispatcher(database, { email: slow, notice: sender, revalidation: sender });
    expect(await dispatcher.dispatch()).toMatchObject({ delivered: 2, next_attempt_at: null });
    expect([claimed, calls]).toEqual([['email,notice,revalidation'], [
      { name: 'completeOutbox', token: 'claim-1', ids: [2, 1] },
    ]]);
    expect(asked).not.toHaveBeenCalled();
  });

  test('asks when the next row is due where one failed', async () => {
    const nextAttemptAt = '2026-01-01T00:00:05.000Z';
    const { database } = scriptedDatabase({ claims: { email: [rowsOf(1)], revalidation: [rowsOf(2)] } });
    database.nextOutboxAttempt = () => Promise.resolve({ next_attempt_at: nextAttemptAt });
    const senders = { email: sends(() => failed('500')), revalidation: sender };
    expect(await createDispatcher(database, senders).dispatch())
      .toEqual({ delivered: 1, retried: 1, parked: 0, next_attempt_at: nextAttemptAt });
  });

  test('goes on after a batch in which all rows were parked', async () => {
    const { database } = scriptedDatabase({ claims: { email: [{ parked: 20 }, { rows: rowsOf(1), parked: 19 }] } });
    expect(await createDispatcher(database, { email: sender }).dispatch()).toMatchObject({ delivered: 1, parked: 39 });
  });

  test('claims no destination that is not configured', async () => {
    const { database, claimed } = scriptedDatabase({ claims: { email: [rowsOf(1)] } });
    await createDispatcher(database, { revalidation: sender }).dispatch();
    expect(claimed).toEqual(['revalidation']);
  });

  test('does not let a destination that hangs delay the others, also in later calls', async () => {
    const claims = { email: [rowsOf(1)], revalidation: [rowsOf(2)] };
    const { database, calls } = scriptedDatabase({ claims });
    const hanging = Promise.withResolvers<Delivery>();
    const dispatcher = createDispatcher(database, { email: sends(() => hanging.promise), revalidation: sender });
    const settled = (...ids: number[]) =>
      vi.waitFor(() => expect(calls.flatMap(({ ids }) => ids)).toEqual(ids), 30_000);
    const dispatches = [dispatcher.dispatch()];
    await settled(2);
    claims.revalidation.push(rowsOf(3));
    dispatches.push(dispatcher.dispatch());
    await settled(2, 3);
    hanging.resolve(delivered);
    await Promise.all(dispatches);
    await settled(2, 3, 1);
  });

  test('whose claim fails fails; the next one succeeds', async () => {
    const { database } = scriptedDatabase({
      claims: { email: [new Error('away'), rowsOf(1)], revalidation: [rowsOf(2)] },
    });
    const dispatcher = createDispatcher(database, { email: sender, revalidation: sender });
    await expect(dispatcher.dispatch()).rejects.toThrow('away');
    expect(await dispatcher.dispatch()).toMatchObject({ delivered: 2 });
  });

  test('whose common completion fails fails without another rejection; the next one delivers what is claimed again', async () => {
    const { database, calls } = scriptedDatabase({
      claims: { email: [rowsOf(1), rowsOf(1)], revalidation: [rowsOf(2), rowsOf(2)] },
    });
    vi.spyOn(database, 'completeOutbox').mockRejectedValueOnce(new Error('away'));
    const dispatcher = createDispatcher(database, { email: sends(() => after(20)), revalidation: sender });
    await expect(dispatcher.dispatch()).rejects.toThrow('away');
    expect(calls).toEqual([]);
    expect(await dispatcher.dispatch()).toMatchObject({ delivered: 2 });
    expect(calls).toEqual([{ name: 'completeOutbox', token: 'claim-2', ids: [2, 1] }]);
  });

  test('claims no row after 25 s', async () => {
    stopTime();
    const { database, claimed } = scriptedDatabase({ claims: { email: [1, 2, 3, 4, 5].map((id) => rowsOf(id)) } });
    const report = createDispatcher(database, { email: sends(() => after(9_000)) }).dispatch();
    await vi.advanceTimersByTimeAsync(60_000);
    expect([(await report).delivered, claimed.length]).toEqual([3, 3]);
  });
});

describe('of the attempts of a claim', () => {
  /** Attempts of one row each, and the ids of the started ones. */
  function attempts(count: number, deliver: (id: number) => Promise<Delivery>) {
    const started: number[] = [];
    const list = Array.from({ length: count }, (_, index): Attempt => ({
      rows: rowsOf(index + 1),
      deliver: () => (started.push(index + 1), deliver(index + 1)),
    }));
    return { list, started };
  }
  const numbers = (count: number) => Array.from({ length: count }, (_, index) => index + 1);
  const idsOf = (outcomes: Outcome[]) => outcomes.flatMap(({ rows }) => rows.map(({ id }) => id));

  test('each runs once, and its outcome names its rows', async () => {
    const ends = (id: number) => id % 2 === 0 ? delivered : failed('no');
    const { list, started } = attempts(20, (id) => Promise.resolve(ends(id)));
    const outcomes = await deliverRows(list, performance.now());
    expect(started.toSorted((a, b) => a - b)).toEqual(numbers(20));
    expect(idsOf(outcomes).toSorted((a, b) => a - b)).toEqual(numbers(20));
    for (const { rows: [one], delivery } of outcomes) expect(delivery).toEqual(ends(one?.id ?? 0));
  });

  test('five run at once, and the next starts as soon as one ends', async () => {
    stopTime();
    const { list, started } = attempts(8, (id) => after(id === 1 ? 1000 : 3000));
    const outcomes = deliverRows(list, performance.now());
    expect(started).toEqual(numbers(5));
    await vi.advanceTimersByTimeAsync(1000);
    expect(started).toEqual(numbers(6));
    await vi.advanceTimersByTimeAsync(5000);
    expect(await outcomes).toHaveLength(8);
  });

  test('none starts with less than 15 s of the lease left; the outcomes contain only started ones', async () => {
    stopTime();
    const { list, started } = attempts(15, () => after(22_500));
    const outcomes = deliverRows(list, performance.now());
    await vi.advanceTimersByTimeAsync(45_000);
    expect(idsOf(await outcomes)).toEqual(numbers(10));
    expect(started).toEqual(numbers(10));
    const late = attempts(3, () => Promise.resolve(delivered));
    expect(await deliverRows(late.list, performance.now() - 45_000)).toEqual([]);
    expect(late.started).toEqual([]);
    expect(await deliverRows(late.list, performance.now() - 44_999)).toHaveLength(3);
  });

  test('after a pause none starts, and the remaining ones have the outcome paused', async () => {
    stopTime();
    const { list, started } = attempts(20, (id) => id === 3 ? after(100, paused(30)) : after(1000));
    const outcomes = deliverRows(list, performance.now());
    await vi.advanceTimersByTimeAsync(1000);
    const statuses = (await outcomes).map(({ delivery }) => delivery.status).toSorted();
    expect(statuses).toEqual([...Array(4).fill('delivered'), ...Array(16).fill('paused')]);
    expect(started).toEqual(numbers(5));
  });
});

describe('the outcomes', () => {
  const outcome = (delivery: Delivery, ...ids: number[]): Outcome => ({ rows: rowsOf(...ids), delivery });
  const token = 'token';
  const complete = (ids: number[], note?: string) => ({ name: 'completeOutbox', token, ids, ...(note && { note }) });
  const fail = (failure: Delivery, ...ids: number[]) => ({ name: 'failOutbox', token, ids, failure });
  const noted: Delivery = { status: 'delivered', note: 'not sent' };
  const refused: Delivery = { status: 'refused', error: '422' };

  test.each<[string, Outcome[], counts: [delivered: number, retried: number, parked: number], calls: unknown[]]>([
    ['all delivered rows are one call', [outcome(delivered, 3, 1), outcome(delivered, 2)], [3, 0, 0], [
      complete([3, 1, 2]),
    ]],
    [
      'rows that are delivered with a note are a separate call with that note',
      [outcome(noted, 1), outcome(delivered, 2), outcome(noted, 3)],
      [3, 0, 0],
      [complete([1, 3], 'not sent'), complete([2])],
    ],
    [
      'each kind of failure is one call',
      [
        ...[outcome(failed('500'), 1), outcome(delivered, 2), outcome(failed('500'), 3), outcome(failed('503'), 4)],
        ...[outcome(refused, 5, 6), outcome(paused(1), 7), outcome(paused(2), 8), outcome(paused(1), 9)],
      ],
      [1, 6, 2],
      [
        ...[fail(failed('500'), 1, 3), complete([2]), fail(failed('503'), 4)],
        ...[fail(refused, 5, 6), fail(paused(1), 7, 9), fail(paused(2), 8)],
      ],
    ],
  ])('%s', async (_, outcomes, [delivered, retried, parked], expected) => {
    const { database, calls } = scriptedDatabase({
      failOutbox: ({ ids: { length }, failure: { status } }) =>
        status === 'refused' ? { retried: 0, parked: length } : { retried: length, parked: 0 },
    });
    expect(await settleRows(database, 'token', outcomes)).toEqual({ delivered, retried, parked });
    expect(calls).toEqual(expected);
  });

  test('are all stored where one cannot be, such as a refund that a trigger of the app refuses', async () => {
    const { database, calls } = scriptedDatabase({});
    const refusing = {
      ...database,
      completeOutbox: (token: string, ids: readonly number[], delivery?: Delivered) =>
        delivery?.refund ? Promise.reject(new Error('refused')) : database.completeOutbox(token, ids, delivery),
    };
    const refund: Delivery = { status: 'delivered', refund: { id: 'rfnd_1' } };
    const outcomes = [outcome(refund, 1), outcome(failed('500'), 2), outcome(delivered, 3)];
    await expect(settleRows(refusing, 'token', outcomes)).rejects.toThrow('refused');
    expect(calls.map(({ name, ids }) => [name, ids])).toEqual([['failOutbox', [2]], ['completeOutbox', [3]]]);
  });

  test('count failures as the database returns them: rows with an expired lease do not count', async () => {
    const { database } = scriptedDatabase({ failOutbox: () => ({ retried: 1, parked: 1 }) });
    expect(await settleRows(database, 'token', [outcome(failed('500'), 1, 2, 3)]))
      .toEqual({ delivered: 0, retried: 1, parked: 1 });
  });
});

describe('one run at a time:', () => {
  /** Work whose runs end when the test settles them. */
  function controlled() {
    const runs: PromiseWithResolvers<number>[] = [];
    const call = oneAtATime(() => {
      const run = Promise.withResolvers<number>();
      runs.push(run);
      return run.promise;
    });
    /** Ends the n-th run with its number, and waits for all settled promises. */
    const end = async (run: number) => {
      runs[run - 1]?.resolve(run);
      await new Promise((resolve) => setTimeout(resolve));
      return runs.length;
    };
    return { call, runs, end };
  }

  test('a call right after a result runs the work at once', async () => {
    const { call, runs, end } = controlled();
    const chained = call().then(() => call());
    expect([runs.length, await end(1), await end(2)]).toEqual([1, 2, 2]);
    expect(await chained).toBe(2);
  });

  test('calls during a run share one second run after it; one during the second starts a third', async () => {
    const { call, runs, end } = controlled();
    const results = [call(), call(), call(), call()];
    expect([runs.length, await end(1)]).toEqual([1, 2]);
    const last = call();
    expect([runs.length, await end(2), await end(3)]).toEqual([2, 3, 3]);
    expect(await Promise.all([...results, last])).toEqual([1, 2, 2, 2, 3]);
  });

  test('a failed run rejects the call that waited for it, and the next call starts a new run', async () => {
    const { call, runs, end } = controlled();
    const waiting = Promise.allSettled([call(), call()]);
    runs[0]?.reject(new Error('broken'));
    expect([await end(1), await end(2)]).toEqual([2, 2]);
    expect(await waiting).toMatchObject([{ status: 'rejected' }, { status: 'fulfilled', value: 2 }]);
  });
});
