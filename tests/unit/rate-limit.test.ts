import { expect, test } from 'vitest';
import { createRateLimit, limitRate, type Timer } from '../../supabase/functions/api/gateway/rate-limit.ts';

/** A clock that moves only when something sleeps, or when a test sets it. */
function fakeTimer(): Timer & { time: number } {
  return {
    time: 0,
    now() {
      return this.time;
    },
    async sleep(milliseconds) {
      const end = this.time + milliseconds;
      await Promise.resolve();
      this.time = Math.max(this.time, end);
    },
  };
}

test('the first call starts at once, the next ones each a tenth of a second later', async () => {
  const timer = fakeTimer();
  const wait = createRateLimit(10, timer);
  const starts: number[] = [];
  for (let call = 0; call < 4; call += 1) {
    await wait();
    starts.push(timer.time);
  }
  expect(starts).toEqual([0, 100, 200, 300]);
});

test('calls that wait at the same time start one after the other', async () => {
  const slept: number[] = [];
  const sleep = (milliseconds: number) => (slept.push(milliseconds), Promise.resolve());
  const wait = createRateLimit(10, { now: () => 0, sleep });
  await Promise.all(Array.from({ length: 5 }, wait));
  expect(slept).toEqual([100, 200, 300, 400]);
});

test('a pause is not made up for: no burst follows', async () => {
  const timer = fakeTimer();
  const wait = createRateLimit(10, timer);
  await wait();
  timer.time = 60_000;
  await wait();
  expect(timer.time).toBe(60_000);
  await wait();
  expect(timer.time).toBe(60_100);
});

test('a call that comes later than its turn does not delay the turns after it', async () => {
  const timer = fakeTimer();
  const wait = createRateLimit(10, timer);
  await wait();
  timer.time = 100;
  await wait();
  timer.time = 150;
  await wait();
  expect(timer.time).toBe(200);
});

test('every read of a payment waits, those of its refunds too', async () => {
  let waits = 0;
  const found = { status: 'unknown' } as const;
  const asked: unknown[] = [];
  const answer = (...id: unknown[]) => (asked.push([waits, ...id]), Promise.resolve(found));
  const gateway = limitRate(
    { listOrderPayments: answer, listRefunds: answer, listInvoices: answer, readSubscription: answer },
    () => (waits += 1, Promise.resolve()),
  );
  for (const read of [gateway.listOrderPayments, gateway.listRefunds, gateway.listInvoices, gateway.readSubscription]) {
    expect(await read('id')).toBe(found);
  }
  expect(asked).toEqual([[1, 'id'], [2, 'id'], [3, 'id'], [4, 'id']]);
});
