import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
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
  await setClock(database, '2026-01-01T12:00:00Z');
});
afterAll(() => database.close());

const refused = { retried: 0, parked: 0 };

/** A row that was claimed again after the lease of its first claim expired. */
async function claimedTwice() {
  const id = await enqueue(database, 'email');
  const first = await claim(service, 'email');
  await setClock(database, '2026-01-01T12:01:00Z');
  const second = await claim(service, 'email');
  expect([first.ids, second.ids]).toEqual([[id], [id]]);
  return { id, first, second };
}

test('a complete marks its rows as delivered, each once', async () => {
  const ids = [await enqueue(database, 'email'), await enqueue(database, 'email')];
  const { token } = await claim(service, 'email');
  await setClock(database, '2026-01-01T12:00:03Z');
  expect(await complete(service, token, ids)).toBe(2);
  await setClock(database, '2026-01-01T12:00:04Z');
  expect(await complete(service, token, ids)).toBe(0);
  for (const id of ids) {
    expect(await readRow(database, id)).toMatchObject({ delivered_at: '2026-01-01T12:00:03.000Z', last_error: null });
  }
});

test('a complete marks only the rows that it names', async () => {
  const [named, other] = [await enqueue(database, 'email'), await enqueue(database, 'email')];
  const { token } = await claim(service, 'email');
  expect(await complete(service, token, [named])).toBe(1);
  expect(await readRow(database, other)).toMatchObject({ delivered_at: null });
});

test('a complete and a fail without rows change nothing', async () => {
  const id = await enqueue(database, 'email');
  const { token } = await claim(service, 'email');
  expect(await complete(service, token, [])).toBe(0);
  expect(await fail(service, token, [])).toEqual(refused);
  expect(await readRow(database, id)).toMatchObject({ delivered_at: null, last_error: null });
});

test('a complete and a fail with the token of another claim are refused', async () => {
  const id = await enqueue(database, 'email');
  await claim(service, 'email');
  await enqueue(database, 'revalidation');
  const other = await claim(service, 'revalidation');
  for (const token of [other.token, crypto.randomUUID()]) {
    expect(await complete(service, token, [id])).toBe(0);
    expect(await fail(service, token, [id], { final: true })).toEqual(refused);
  }
  expect(await readRow(database, id)).toMatchObject({ delivered_at: null, parked_at: null, last_error: null });
});

test('a complete and a fail of a row that was never claimed are refused', async () => {
  const id = await enqueue(database, 'email');
  expect(await complete(service, crypto.randomUUID(), [id])).toBe(0);
  expect(await fail(service, crypto.randomUUID(), [id])).toEqual(refused);
  expect(await readRow(database, id)).toMatchObject({ attempts: 0, delivered_at: null, last_error: null });
});

test('a complete after the lease is accepted', async () => {
  const id = await enqueue(database, 'email');
  const { token } = await claim(service, 'email');
  await setClock(database, '2026-01-01T13:00:00Z');
  expect(await complete(service, token, [id])).toBe(1);
  expect((await claim(service, 'email')).ids).toEqual([]);
});

test('a complete after another claim is accepted, and that claim’s fail is refused', async () => {
  const { id, first, second } = await claimedTwice();
  expect(await complete(service, first.token, [id])).toBe(1);
  expect(await fail(service, second.token, [id], { final: true })).toEqual(refused);
  expect(await readRow(database, id)).toMatchObject({ parked_at: null, delivered_at: '2026-01-01T12:01:00.000Z' });
});

test('a complete after the row was parked is accepted and unparks it', async () => {
  const { id, first, second } = await claimedTwice();
  expect(await fail(service, second.token, [id], { final: true })).toEqual({ retried: 0, parked: 1 });
  expect(await complete(service, first.token, [id])).toBe(1);
  expect(await readRow(database, id)).toMatchObject({ parked_at: null, delivered_at: '2026-01-01T12:01:00.000Z' });
});

test('a fail at the end of the lease is refused', async () => {
  const id = await enqueue(database, 'email');
  const { token } = await claim(service, 'email');
  await setClock(database, '2026-01-01T12:01:00Z');
  expect(await fail(service, token, [id], { final: true })).toEqual(refused);
  expect(await readRow(database, id)).toMatchObject({ parked_at: null, last_error: null });
});

test('a fail after another claim is refused, the fail of that claim is accepted', async () => {
  const { id, first, second } = await claimedTwice();
  expect(await fail(service, first.token, [id], { final: true })).toEqual(refused);
  expect(await fail(service, second.token, [id])).toEqual({ retried: 1, parked: 0 });
});

test('a fail is accepted once: a repeated one neither delays the row nor counts', async () => {
  const id = await enqueue(database, 'email');
  const { token } = await claim(service, 'email');
  expect(await fail(service, token, [id], { pauseSeconds: 30 })).toEqual({ retried: 1, parked: 0 });
  await setClock(database, '2026-01-01T12:00:02Z');
  expect(await fail(service, token, [id], { pauseSeconds: 30 })).toEqual(refused);
  expect(await readRow(database, id)).toMatchObject({ attempts: 0, next_attempt_at: '2026-01-01T12:00:30.000Z' });
});

test('a complete with a note stores the note; one without keeps the last error', async () => {
  const { id, second } = await claimedTwice();
  await fail(service, second.token, [id], { error: 'HTTP 503' });
  await complete(service, second.token, [id]);
  expect(await readRow(database, id)).toMatchObject({ delivered_at: expect.any(String), last_error: 'HTTP 503' });

  const other = await enqueue(database, 'email');
  const { token } = await claim(service, 'email');
  await service.query('select public.complete_outbox($1, $2, $3)', [token, String(other), 'not sent: switched off']);
  expect(await readRow(database, other)).toMatchObject({
    delivered_at: expect.any(String),
    last_error: 'not sent: switched off',
  });
});
