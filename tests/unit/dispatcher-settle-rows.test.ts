import { expect, test } from 'vitest';
import { addCounts, noCounts, type Outcome, settleRows } from '../../supabase/functions/api/outbox/dispatcher.ts';
import type { Delivery, OutboxRow } from '../../supabase/functions/api/outbox/outbox.ts';
import { type Call, scriptedDatabase } from '../helpers/outbox/scripted-database.ts';

const row = (id: number): OutboxRow => ({ id, key: `key/${id}`, kind: 'kind', payload: null });
const outcome = (delivery: Delivery, ...ids: number[]): Outcome => ({ rows: ids.map(row), delivery });
const delivered: Delivery = { status: 'delivered' };

async function settle(outcomes: Outcome[]): Promise<{ counts: unknown; calls: Call[] }> {
  const { database, calls } = scriptedDatabase({
    failOutbox: ({ ids, failure }) =>
      failure.status === 'refused' ? { retried: 0, parked: ids.length } : { retried: ids.length, parked: 0 },
  });
  return { counts: await settleRows(database, 'token', outcomes), calls };
}

test('no outcomes → no call', async () => {
  expect(await settle([])).toEqual({ counts: noCounts, calls: [] });
});

test('all delivered rows are one call', async () => {
  const { counts, calls } = await settle([outcome(delivered, 3, 1), outcome(delivered, 2)]);
  expect(counts).toEqual({ delivered: 3, retried: 0, parked: 0 });
  expect(calls).toEqual([{ name: 'completeOutbox', token: 'token', ids: [3, 1, 2] }]);
});

test('rows that are delivered with a note are a separate call with that note', async () => {
  const { counts, calls } = await settle([
    outcome({ status: 'delivered', note: 'not sent' }, 1),
    outcome(delivered, 2),
    outcome({ status: 'delivered', note: 'not sent' }, 3),
  ]);
  expect(counts).toEqual({ delivered: 3, retried: 0, parked: 0 });
  expect(calls).toEqual([
    { name: 'completeOutbox', token: 'token', ids: [1, 3], note: 'not sent' },
    { name: 'completeOutbox', token: 'token', ids: [2] },
  ]);
});

test('each kind of failure is one call', async () => {
  const failed = (error: string): Delivery => ({ status: 'failed', error });
  const paused = (seconds: number): Delivery => ({ status: 'paused', error: '429', seconds });
  const { counts, calls } = await settle([
    outcome(failed('500'), 1),
    outcome(delivered, 2),
    outcome(failed('500'), 3),
    outcome(failed('503'), 4),
    outcome({ status: 'refused', error: '422' }, 5, 6),
    outcome(paused(1), 7),
    outcome(paused(2), 8),
    outcome(paused(1), 9),
  ]);
  expect(counts).toEqual({ delivered: 1, retried: 6, parked: 2 });
  expect(calls).toEqual([
    { name: 'failOutbox', token: 'token', ids: [1, 3], failure: failed('500') },
    { name: 'completeOutbox', token: 'token', ids: [2] },
    { name: 'failOutbox', token: 'token', ids: [4], failure: failed('503') },
    { name: 'failOutbox', token: 'token', ids: [5, 6], failure: { status: 'refused', error: '422' } },
    { name: 'failOutbox', token: 'token', ids: [7, 9], failure: paused(1) },
    { name: 'failOutbox', token: 'token', ids: [8], failure: paused(2) },
  ]);
});

test('failures are counted as the database returns them: rows with an expired lease do not count', async () => {
  const { database } = scriptedDatabase({ failOutbox: () => ({ retried: 1, parked: 1 }) });
  expect(await settleRows(database, 'token', [outcome({ status: 'failed', error: '500' }, 1, 2, 3)]))
    .toEqual({ delivered: 0, retried: 1, parked: 1 });
});

test('counts add up field by field', () => {
  expect(addCounts({ delivered: 1, retried: 2, parked: 3 }, { delivered: 10, retried: 20, parked: 30 }))
    .toEqual({ delivered: 11, retried: 22, parked: 33 });
});
