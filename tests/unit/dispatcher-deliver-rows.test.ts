import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { deliverRows } from '../../supabase/functions/api/outbox/dispatcher.ts';
import type { Attempt, Delivery, OutboxRow } from '../../supabase/functions/api/outbox/outbox.ts';

// Leases are measured with `performance.now()`, which advances only when a test advances it.
beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const delivered: Delivery = { status: 'delivered' };
const row = (id: number): OutboxRow => ({ id, key: `key/${id}`, kind: 'kind', payload: null });

/** Attempts of one row each, and the ids of the started ones. */
function attempts(count: number, deliver: (id: number) => Promise<Delivery>) {
  const started: number[] = [];
  const list = Array.from({ length: count }, (_, index): Attempt => ({
    rows: [row(index + 1)],
    deliver() {
      started.push(index + 1);
      return deliver(index + 1);
    },
  }));
  return { list, started };
}

const after = (milliseconds: number, delivery: Delivery = delivered) => () =>
  new Promise<Delivery>((resolve) => void setTimeout(resolve, milliseconds, delivery));

test('each attempt runs once, and its outcome names its rows', async () => {
  const failed: Delivery = { status: 'failed', error: 'no' };
  const { list, started } = attempts(20, (id) => Promise.resolve(id % 2 === 0 ? delivered : failed));
  const outcomes = await deliverRows(list, performance.now());
  expect(started.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, index) => index + 1));
  expect(outcomes).toHaveLength(20);
  for (const { rows, delivery } of outcomes) {
    expect(delivery).toEqual(Number(rows[0]?.id) % 2 === 0 ? delivered : failed);
  }
});

test('no attempts → no outcomes', async () => {
  expect(await deliverRows([], performance.now())).toEqual([]);
});

test('five attempts run at once, and the next starts as soon as one ends', async () => {
  const { list, started } = attempts(8, (id) => after(id === 1 ? 1000 : 3000)());
  const outcomes = deliverRows(list, performance.now());
  expect(started).toEqual([1, 2, 3, 4, 5]);
  await vi.advanceTimersByTimeAsync(1000);
  expect(started).toEqual([1, 2, 3, 4, 5, 6]);
  await vi.advanceTimersByTimeAsync(2000);
  expect(started).toHaveLength(8);
  await vi.advanceTimersByTimeAsync(3000);
  expect(await outcomes).toHaveLength(8);
});

test('twenty attempts of 10 s each all end within the lease of 60 s', async () => {
  const claimedAt = performance.now();
  const { list } = attempts(20, after(10_000));
  const outcomes = deliverRows(list, claimedAt);
  await vi.advanceTimersByTimeAsync(40_000);
  expect(await outcomes).toHaveLength(20);
  expect(performance.now() - claimedAt).toBeLessThan(60_000);
});

test('no attempt starts with less than 15 s of the lease left; the outcomes contain only started ones', async () => {
  const { list, started } = attempts(15, after(22_500));
  const outcomes = deliverRows(list, performance.now());
  await vi.advanceTimersByTimeAsync(45_000);
  expect((await outcomes).flatMap(({ rows }) => rows.map(({ id }) => id))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9, 10]);
  expect(started).toHaveLength(10);
});

test('no attempt starts 45 s after the claim', async () => {
  const { list, started } = attempts(3, () => Promise.resolve(delivered));
  expect(await deliverRows(list, performance.now() - 45_000)).toEqual([]);
  expect(started).toEqual([]);
  expect(await deliverRows(list, performance.now() - 44_999)).toHaveLength(3);
});

test('after a pause no attempt starts, and the remaining ones have the outcome paused', async () => {
  const paused: Delivery = { status: 'paused', error: '429', seconds: 30 };
  const { list, started } = attempts(20, (id) => id === 3 ? after(100, paused)() : after(1000)());
  const outcomes = deliverRows(list, performance.now());
  await vi.advanceTimersByTimeAsync(1000);
  const deliveries = (await outcomes).map(({ delivery }) => delivery.status);
  expect(started).toEqual([1, 2, 3, 4, 5]);
  expect(deliveries.filter((status) => status === 'delivered')).toHaveLength(4);
  expect(deliveries.filter((status) => status === 'paused')).toHaveLength(16);
});
