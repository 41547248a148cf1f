import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { claim, complete, enqueue, fail, readRow } from '../helpers/outbox/claims.ts';
import { emptyOutbox } from '../helpers/outbox/side-effects.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await openSession(database, { role: 'service_role' });
});
beforeEach(async () => {
  await emptyOutbox(database);
  await setSeconds(0);
});
afterAll(() => database.close());

const day = 24 * 3600;
const start = Date.UTC(2026, 0, 1, 12);

/** Sets the clock to a number of seconds after the rows of a test were written. */
function setSeconds(seconds: number): Promise<void> {
  return setClock(database, at(seconds));
}

function at(seconds: number): string {
  return new Date(start + seconds * 1000).toISOString();
}

async function requeue(id: number): Promise<unknown> {
  return (await database.one('select billing.requeue($1) as requeued', [id])).requeued;
}

test('a row that fails is retried after 5 s, 30 s, 2 min, 10 min, 1 h, then hourly, and parked after 24 h', async () => {
  const id = await enqueue(database, 'revalidation');
  const waits: number[] = [];
  for (let seconds = 0;;) {
    await setSeconds(seconds);
    const { token, ids, parked } = await claim(service, 'revalidation');
    if (parked === 1) break;
    expect(ids).toEqual([id]);
    expect(await fail(service, token, ids, { error: `HTTP 50${waits.length % 10}` })).toEqual({
      retried: 1,
      parked: 0,
    });
    const { next_attempt_at } = await readRow(database, id);
    const next = (Date.parse(String(next_attempt_at)) - start) / 1000;
    waits.push(next - seconds);
    seconds = next;
  }
  expect(waits).toEqual([5, 30, 120, 600, ...Array(24).fill(3600)]);
  expect(await readRow(database, id)).toMatchObject({ parked_at: at(day + 755), last_error: 'HTTP 507' });
});

test('a failure after 24 h parks the row with that error', async () => {
  const id = await enqueue(database, 'revalidation');
  await setSeconds(day - 1);
  const { token } = await claim(service, 'revalidation');
  await setSeconds(day);
  expect(await fail(service, token, [id], { error: 'HTTP 503' })).toEqual({ retried: 0, parked: 1 });
  expect(await readRow(database, id)).toMatchObject({ parked_at: at(day), last_error: 'HTTP 503' });
});

test('a final failure parks the row at once with the reason', async () => {
  const id = await enqueue(database, 'email');
  const { token } = await claim(service, 'email');
  expect(await fail(service, token, [id], { error: 'HTTP 422', final: true })).toEqual({ retried: 0, parked: 1 });
  expect(await readRow(database, id)).toMatchObject({ parked_at: at(0), last_error: 'HTTP 422', delivered_at: null });
});

test.each(['email', 'revalidation'] as const)(
  'a row for %s whose dispatcher dies every time is parked after 24 h with a reason',
  async (destination) => {
    const id = await enqueue(database, destination);
    for (let seconds = 0; seconds < day; seconds += 6 * 3600) {
      await setSeconds(seconds);
      expect((await claim(service, destination)).ids).toEqual([id]);
    }
    await setSeconds(day);
    expect(await claim(service, destination)).toMatchObject({ ids: [], parked: 1 });
    expect(await readRow(database, id)).toMatchObject({
      parked_at: at(day),
      last_error: 'not delivered within 24 hours',
    });
  },
);

test('a mail that waited for 24 h is parked instead of sent, a newer one is sent', async () => {
  const old = await enqueue(database, 'email');
  await setSeconds(1);
  const younger = await enqueue(database, 'email');
  await setSeconds(day);
  expect(await claim(service, 'email')).toMatchObject({ ids: [younger], parked: 1 });
  expect(await readRow(database, old)).toMatchObject({
    parked_at: at(day),
    last_error: 'not delivered within 24 hours',
  });
});

test('a revalidation that waited for a week is still delivered', async () => {
  const id = await enqueue(database, 'revalidation');
  await setSeconds(7 * day);
  const { token, ids } = await claim(service, 'revalidation');
  expect(ids).toEqual([id]);
  expect(await complete(service, token, ids)).toBe(1);
});

test('each claim parks at most 20 rows', async () => {
  for (let count = 0; count < 25; count += 1) await enqueue(database, 'email');
  await setSeconds(day);
  expect(await claim(service, 'email')).toMatchObject({ ids: [], parked: 20 });
  expect(await claim(service, 'email')).toMatchObject({ ids: [], parked: 5 });
  expect(await claim(service, 'email')).toMatchObject({ ids: [], parked: 0 });
});

describe('requeue', () => {
  async function parkedMail(): Promise<number> {
    const id = await enqueue(database, 'email');
    const { token } = await claim(service, 'email');
    await fail(service, token, [id], { final: true });
    return id;
  }

  test('restarts the 24 h and the delays', async () => {
    const id = await parkedMail();
    await setSeconds(10 * day);
    expect(await requeue(id)).toBe(true);
    const first = await claim(service, 'email');
    expect(first.ids).toEqual([id]);
    await fail(service, first.token, [id]);
    expect(await readRow(database, id)).toMatchObject({ attempts: 1, next_attempt_at: at(10 * day + 5) });
    await setSeconds(11 * day - 1);
    expect((await claim(service, 'email')).ids).toEqual([id]);
    await setSeconds(11 * day + 59);
    expect(await claim(service, 'email')).toMatchObject({ ids: [], parked: 1 });
  });

  test('keeps the last error for the admin', async () => {
    const id = await parkedMail();
    await requeue(id);
    expect(await readRow(database, id)).toMatchObject({ parked_at: null, last_error: 'HTTP 500' });
  });

  test('returns false for a delivered row, and leaves it unchanged', async () => {
    const id = await enqueue(database, 'email');
    const { token } = await claim(service, 'email');
    await complete(service, token, [id]);
    expect(await requeue(id)).toBe(false);
    expect(await readRow(database, id)).toMatchObject({ delivered_at: at(0) });
    expect((await claim(service, 'email')).ids).toEqual([]);
  });

  test('returns false for an unknown row', async () => {
    expect(await requeue(-1)).toBe(false);
  });

  test('of a row in delivery: its complete counts, its fail does not', async () => {
    const id = await enqueue(database, 'email');
    const { token } = await claim(service, 'email');
    await setSeconds(1);
    expect(await requeue(id)).toBe(true);
    await setSeconds(0); // a fail whose transaction started before the requeue
    expect(await fail(service, token, [id], { final: true })).toEqual({ retried: 0, parked: 0 });
    expect(await complete(service, token, [id])).toBe(1);
  });

  test('is closed to the API’s roles', async () => {
    await expect(service.query('select billing.requeue(1)')).rejects.toMatchObject({ code: '42501' });
  });
});
