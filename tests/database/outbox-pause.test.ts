import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { claim, complete, type Destination, enqueue, fail, readRow } from '../helpers/outbox/claims.ts';
import { emptyOutbox } from '../helpers/outbox/side-effects.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await openSession(database, { role: 'service_role' });
});
beforeEach(async () => {
  await emptyOutbox(database);
  await setClock(database, '2026-01-01T12:00:00Z');
});
afterAll(() => database.close());

/** Enqueues a mail whose attempt fails with a pause for its destination. */
async function pausedMail(pauseSeconds: number): Promise<number> {
  const id = await enqueue(database, 'email');
  const { token } = await claim(service, 'email');
  expect(await fail(service, token, [id], { error: 'HTTP 429', pauseSeconds })).toEqual({ retried: 1, parked: 0 });
  return id;
}

/** The next time at which a row of these destinations is due: ISO 8601 in UTC, or null. */
async function nextAttempt(...destinations: Destination[]): Promise<unknown> {
  const { next_attempt_at } = await callRpc(service, 'next_outbox_attempt', destinations.join(','));
  return next_attempt_at;
}

describe('a pause', () => {
  test('counts no attempt for the row', async () => {
    const id = await pausedMail(30);
    expect(await readRow(database, id)).toMatchObject({
      attempts: 0,
      last_error: 'HTTP 429',
      next_attempt_at: '2026-01-01T12:00:30.000Z',
    });
  });

  test('stops the claims of its destination until it is over, and of no other', async () => {
    const id = await pausedMail(30);
    const [waiting, other] = [await enqueue(database, 'email'), await enqueue(database, 'revalidation')];
    await setClock(database, '2026-01-01T12:00:29.999Z');
    expect(await claim(service, 'email')).toMatchObject({ ids: [], parked: 0 });
    expect((await claim(service, 'revalidation')).ids).toEqual([other]);
    await setClock(database, '2026-01-01T12:00:30Z');
    expect((await claim(service, 'email')).ids).toEqual([id, waiting]);
  });

  test('is not shortened by a shorter one', async () => {
    await enqueue(database, 'email');
    await enqueue(database, 'email');
    const { token, ids } = await claim(service, 'email');
    await fail(service, token, ids.slice(0, 1), { pauseSeconds: 30 });
    await fail(service, token, ids.slice(1), { pauseSeconds: 1 });
    await setClock(database, '2026-01-01T12:00:29Z');
    expect((await claim(service, 'email')).ids).toEqual([]);
  });

  test('is longer when the next is longer', async () => {
    await pausedMail(30);
    await setClock(database, '2026-01-01T12:00:30Z');
    const { token, ids } = await claim(service, 'email');
    await fail(service, token, ids, { pauseSeconds: 60 });
    await setClock(database, '2026-01-01T12:01:29Z');
    expect((await claim(service, 'email')).ids).toEqual([]);
    await setClock(database, '2026-01-01T12:01:30Z');
    expect((await claim(service, 'email')).ids).toEqual(ids);
  });

  test('from a refused fail does not start', async () => {
    const id = await enqueue(database, 'email');
    expect(await fail(service, crypto.randomUUID(), [id], { pauseSeconds: 30 })).toEqual({ retried: 0, parked: 0 });
    expect((await claim(service, 'email')).ids).toEqual([id]);
  });

  test('does not keep a row for more than 24 h', async () => {
    const id = await enqueue(database, 'revalidation');
    await setClock(database, '2026-01-02T12:00:00Z');
    const { token } = await claim(service, 'revalidation');
    expect(await fail(service, token, [id], { pauseSeconds: 30 })).toEqual({ retried: 0, parked: 1 });
  });
});

describe('next_outbox_attempt', () => {
  test('is null when nothing is pending', async () => {
    expect(await nextAttempt('email', 'revalidation')).toBeNull();
    const delivered = await enqueue(database, 'email');
    const parked = await enqueue(database, 'email');
    const { token } = await claim(service, 'email');
    await complete(service, token, [delivered]);
    await fail(service, token, [parked], { final: true });
    expect(await nextAttempt('email', 'revalidation')).toBeNull();
  });

  test('is the earliest time of the given destinations', async () => {
    await enqueue(database, 'gateway');
    await setClock(database, '2026-01-01T12:00:01Z');
    await enqueue(database, 'revalidation');
    await setClock(database, '2026-01-01T12:00:02Z');
    await enqueue(database, 'email');
    expect(await nextAttempt('email')).toBe('2026-01-01T12:00:02.000Z');
    expect(await nextAttempt('email', 'revalidation')).toBe('2026-01-01T12:00:01.000Z');
    expect(await nextAttempt('gateway')).toBe('2026-01-01T12:00:00.000Z');
  });

  test('is the end of the lease while the row is claimed, and the time of the retry after a failure', async () => {
    const id = await enqueue(database, 'email');
    const { token } = await claim(service, 'email');
    expect(await nextAttempt('email')).toBe('2026-01-01T12:01:00.000Z');
    await fail(service, token, [id]);
    expect(await nextAttempt('email')).toBe('2026-01-01T12:00:05.000Z');
  });

  test('is the end of the pause for a paused destination, and the due time for another destination', async () => {
    await pausedMail(30);
    await enqueue(database, 'email');
    expect(await nextAttempt('email')).toBe('2026-01-01T12:00:30.000Z');
    await enqueue(database, 'revalidation');
    expect(await nextAttempt('email', 'revalidation')).toBe('2026-01-01T12:00:00.000Z');
  });
});
