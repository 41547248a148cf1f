import { expect, test } from 'vitest';
import { createRateLimit, limitRate } from '../../supabase/functions/api/gateway/rate-limit.ts';

test.each<[string, callAt: number[], startedAt: number[]]>([
  ['the first call starts at once, the next ones each a tenth of a second later', [0, 0, 0, 0], [0, 100, 200, 300]],
  ['a pause is not made up for: no burst follows', [0, 60_000, 60_000], [0, 60_000, 60_100]],
  ['a call that comes later than its turn does not delay the turns after it', [0, 100, 150], [0, 100, 200]],
])('%s', async (_, callAt, startedAt) => {
  let time = 0;
  const wait = createRateLimit(10, {
    now: () => time,
    async sleep(milliseconds) {
      const end = time + milliseconds;
      await Promise.resolve();
      time = Math.max(time, end);
    },
  });
  const started: number[] = [];
  for (const at of callAt) {
    time = Math.max(time, at);
    await wait();
    started.push(time);
  }
  expect(started).toEqual(startedAt);
});

test('calls that wait at the same time start one after the other', async () => {
  const slept: number[] = [];
  const sleep = (milliseconds: number) => (slept.push(milliseconds), Promise.resolve());
  const wait = createRateLimit(10, { now: () => 0, sleep });
  await Promise.all(Array.from({ length: 5 }, wait));
  expect(slept).toEqual([100, 200, 300, 400]);
});

test('every read of a payment waits, those of its refunds too', async () => {
  let waits = 0;
  const found = { status: 'unknown' } as const;
  const asked: unknown[] = [];
  const answer = (...id: unknown[]) => (asked.push([waits, ...id]), Promise.resolve(found));
  const gateway = limitRate(
    {
      hasModeOf: (keyId) => keyId === 'key',
      now: () => 7,
      listOrderPayments: answer,
      listRefunds: answer,
      listInvoices: answer,
      listCreated: answer,
      listSettlementLines: answer,
      readInvoice: answer,
      readOrder: answer,
      readPayment: answer,
      readSubscription: answer,
    },
    () => (waits += 1, Promise.resolve()),
  );
  const { hasModeOf, now, listCreated, listSettlementLines, ...reads } = gateway;
  expect([hasModeOf('key'), hasModeOf('other'), now()]).toEqual([true, false, 7]);
  for (const read of Object.values(reads)) expect(await read('id')).toBe(found);
  const page = { list: 'payments', from: 1, to: 2, skip: 0 } as const;
  expect(await listCreated(page)).toBe(found);
  const linesPage = { day: '2026-11-12', skip: 0 };
  expect(await listSettlementLines(linesPage)).toBe(found);
  const ids = [[1, 'id'], [2, 'id'], [3, 'id'], [4, 'id'], [5, 'id'], [6, 'id'], [7, 'id']];
  expect(asked).toEqual([...ids, [8, page], [9, linesPage]]);
});
