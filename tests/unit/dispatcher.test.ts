import { expect, test, vi } from 'vitest';
import { createDispatcher } from '../../supabase/functions/api/outbox/dispatcher.ts';
import type { Delivery, OutboxRow, Sender } from '../../supabase/functions/api/outbox/outbox.ts';
import { scriptedDatabase } from '../helpers/outbox/scripted-database.ts';

const row = (id: number): OutboxRow => ({ id, key: `key/${id}`, kind: 'kind', payload: null });
const delivered: Delivery = { status: 'delivered' };

/** A sender with one attempt, which returns this delivery. */
const sends = (deliver: (rows: readonly OutboxRow[]) => Delivery | Promise<Delivery>): Sender => (rows) => [
  { rows, deliver: () => Promise.resolve(deliver(rows)) },
];

test('claims and delivers until no row is due, and returns the time of the next row', async () => {
  const { database, calls, claimed } = scriptedDatabase({
    claims: { email: [[row(1), row(2)], [row(3)]] },
    nextAttemptAt: '2026-01-01T00:00:05.000Z',
  });
  expect(await createDispatcher(database, { email: sends(() => delivered) }).dispatch())
    .toEqual({ delivered: 3, retried: 0, parked: 0, next_attempt_at: '2026-01-01T00:00:05.000Z' });
  expect(claimed).toEqual(['email', 'email', 'email']);
  expect(calls).toEqual([
    { name: 'completeOutbox', token: 'email-1', ids: [1, 2] },
    { name: 'completeOutbox', token: 'email-2', ids: [3] },
  ]);
});

test('a batch in which all rows were parked does not end the run', async () => {
  const { database } = scriptedDatabase({ claims: { email: [{ parked: 20 }, { rows: [row(1)], parked: 19 }] } });
  expect(await createDispatcher(database, { email: sends(() => delivered) }).dispatch())
    .toMatchObject({ delivered: 1, parked: 39 });
});

test('destinations that are not configured are not claimed', async () => {
  const { database, claimed } = scriptedDatabase({ claims: { email: [[row(1)]] } });
  await createDispatcher(database, { revalidation: sends(() => delivered) }).dispatch();
  expect(claimed).toEqual(['revalidation']);
  expect(await createDispatcher(database, {}).dispatch())
    .toEqual({ delivered: 0, retried: 0, parked: 0, next_attempt_at: null });
  expect(claimed).toEqual(['revalidation']);
});

test('a destination that hangs does not delay the others, also in later calls', async () => {
  const { database, calls } = scriptedDatabase({
    claims: { email: [[row(1)]], revalidation: [[row(2)], [], [row(3)]] },
  });
  const hanging = Promise.withResolvers<Delivery>();
  const dispatcher = createDispatcher(database, {
    email: sends(() => hanging.promise),
    revalidation: sends(() => delivered),
  });
  const first = dispatcher.dispatch();
  await vi.waitFor(() => expect(calls.map(({ ids }) => ids)).toEqual([[2]]));
  const second = dispatcher.dispatch();
  await vi.waitFor(() => expect(calls.map(({ ids }) => ids)).toEqual([[2], [3]]));
  hanging.resolve(delivered);
  await Promise.all([first, second]);
  expect(calls.map(({ ids }) => ids)).toEqual([[2], [3], [1]]);
});

test('a failing claim of one destination does not stop the others; the call fails, and the next one succeeds', async () => {
  const { database, calls } = scriptedDatabase({
    claims: { email: [new Error('away'), [row(1)]], revalidation: [[row(2)]] },
  });
  const sender = sends(() => delivered);
  const dispatcher = createDispatcher(database, { email: sender, revalidation: sender });
  await expect(dispatcher.dispatch()).rejects.toThrow('away');
  await vi.waitFor(() => expect(calls.map(({ ids }) => ids)).toEqual([[2]]));
  expect(await dispatcher.dispatch()).toMatchObject({ delivered: 1 });
  expect(calls.map(({ ids }) => ids)).toEqual([[2], [1]]);
});

test('after 25 s no row is claimed', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  try {
    const { database, claimed } = scriptedDatabase({ claims: { email: [1, 2, 3, 4, 5].map((id) => [row(id)]) } });
    const slow = sends(() => new Promise((resolve) => void setTimeout(resolve, 9_000, delivered)));
    const report = createDispatcher(database, { email: slow }).dispatch();
    await vi.advanceTimersByTimeAsync(60_000);
    expect(await report).toMatchObject({ delivered: 3 });
    expect(claimed).toHaveLength(3);
  } finally {
    vi.useRealTimers();
  }
});
