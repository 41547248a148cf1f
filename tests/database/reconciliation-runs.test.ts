import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await openSession(database, { role: 'service_role' });
});
beforeEach(() => database.query('update private.scheduled_jobs set run_id = null, run_until = null, done_at = null'));
afterAll(() => database.close());

const [first, second] = [crypto.randomUUID(), crypto.randomUUID()];
const begin = async (run: string) => (await callRpc(service, 'begin_reconciliation', run)).began;
const end = (run: string, isDone: boolean) => callRpc(service, 'end_reconciliation', run, isDone);
const readJob = () =>
  database.one("select done_at, run_id, run_until from private.scheduled_jobs where name = 'reconciliation'");

test('a second reconciliation starts only after the first one ended', async () => {
  expect(await begin(first)).toBe(true);
  expect(await begin(second)).toBe(false);
  expect(await begin(first)).toBe(false);
  await end(first, true);
  expect(await begin(second)).toBe(true);
});

test('of eight that start at once, one begins', async () => {
  const sessions = await Promise.all(
    Array.from({ length: 8 }, () => openSession(database, { role: 'service_role' })),
  );
  const results = await Promise.all(
    sessions.map((session) => callRpc(session, 'begin_reconciliation', crypto.randomUUID())),
  );
  expect(results.filter(({ began }) => began)).toHaveLength(1);
});

test('one that crashed stops the others until its lease of 75 seconds expires', async () => {
  await begin(first);
  const { seconds } = await database.one(
    `select round(extract(epoch from run_until - now()))::int as seconds
     from private.scheduled_jobs
     where name = 'reconciliation'`,
  );
  expect(seconds).toBeGreaterThan(60);
  expect(seconds).toBeLessThanOrEqual(75);
  await database.query("update private.scheduled_jobs set run_until = now() where name = 'reconciliation'");
  expect(await begin(second)).toBe(true);
});

test('the end of one whose lease expired does not end the next one', async () => {
  await begin(first);
  await database.query("update private.scheduled_jobs set run_until = now() where name = 'reconciliation'");
  await begin(second);
  await end(first, true);
  expect(await readJob()).toMatchObject({ done_at: null, run_id: second });
  expect(await begin(first)).toBe(false);
});

test('the end of a complete one is stored, and that of an incomplete one is not', async () => {
  await begin(first);
  await end(first, false);
  expect(await readJob()).toEqual({ done_at: null, run_id: null, run_until: null });
  await begin(second);
  await end(second, true);
  const stored = await readJob();
  expect(stored).toEqual({ done_at: expect.any(Date), run_id: null, run_until: null });
  await begin(first);
  await end(first, false);
  expect(await readJob()).toEqual(stored);
});

test('finish_reconciliation, which an older function calls, stores an end', async () => {
  await callRpc(service, 'finish_reconciliation');
  expect(await readJob()).toMatchObject({ done_at: expect.any(Date) });
});
