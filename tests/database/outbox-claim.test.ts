import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
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

/** Rows due one second apart. The first id is due last. */
async function enqueueBackwards(destination: 'email' | 'gateway', count: number): Promise<number[]> {
  const rows = await database.query(
    `insert into billing.outbox (key, destination, kind, payload, next_attempt_at)
     select gen_random_uuid(), $1, 'kind', '{}', billing.clock() - make_interval(secs => n)
     from generate_series(1, $2) n
     returning id::int`,
    [destination, count],
  );
  return rows.map((row) => Number(row.id));
}

test('a claim returns the rows as they were written, with a token', async () => {
  await database.query(`select billing.enqueue('payment-success/1', 'email', 'payment-success', '{"to": "a@b.c"}')`);
  const { id } = await database.one('select id::int from billing.outbox');
  expect(await callRpc(service, 'claim_outbox', 'email')).toEqual({
    token: expect.stringMatching(/^[0-9a-f-]{36}$/),
    rows: [{ id, key: 'payment-success/1', kind: 'payment-success', payload: { to: 'a@b.c' } }],
    parked: 0,
  });
});

test('a claim takes at most 20 rows, the earliest due first', async () => {
  const ids = await enqueueBackwards('email', 30);
  const first = await claim(service, 'email');
  expect(first.ids).toEqual(ids.slice(10));
  const second = await claim(service, 'email');
  expect(second.ids).toEqual(ids.slice(0, 10));
  expect(second.token).not.toBe(first.token);
  expect((await claim(service, 'email')).ids).toEqual([]);
});

test('a claim takes only rows of its destination', async () => {
  const id = await enqueue(database, 'email');
  expect((await claim(service, 'revalidation')).ids).toEqual([]);
  expect((await claim(service, 'email')).ids).toEqual([id]);
});

test('a claim takes no row before it is due', async () => {
  const id = await enqueue(database, 'email');
  await setClock(database, '2026-01-01T11:59:59.999Z');
  expect((await claim(service, 'email')).ids).toEqual([]);
  await setClock(database, '2026-01-01T12:00:00Z');
  expect((await claim(service, 'email')).ids).toEqual([id]);
});

test('a claim of an unknown destination takes nothing', async () => {
  await enqueue(database, 'email');
  expect(await callRpc(service, 'claim_outbox', 'fax')).toMatchObject({ rows: [], parked: 0 });
});

test('a claimed row is in no other claim for 60 seconds and is claimed again afterwards', async () => {
  const id = await enqueue(database, 'email');
  const first = await claim(service, 'email');
  expect(await readRow(database, id)).toMatchObject({ attempts: 1, next_attempt_at: '2026-01-01T12:01:00.000Z' });
  await setClock(database, '2026-01-01T12:00:59.999Z');
  expect((await claim(service, 'email')).ids).toEqual([]);
  await setClock(database, '2026-01-01T12:01:00Z');
  const second = await claim(service, 'email');
  expect(second.ids).toEqual([id]);
  expect(second.token).not.toBe(first.token);
  expect(await readRow(database, id)).toMatchObject({ attempts: 2 });
});

test('delivered and parked rows are never claimed again', async () => {
  await enqueue(database, 'email');
  const delivered = await claim(service, 'email');
  await complete(service, delivered.token, delivered.ids);
  await enqueue(database, 'email');
  const refused = await claim(service, 'email');
  await fail(service, refused.token, refused.ids, { final: true });
  await setClock(database, '2026-02-01T00:00:00Z');
  expect(await claim(service, 'email')).toMatchObject({ ids: [], parked: 0 });
});

test('a destination with a long backlog takes no place in the claim of another', async () => {
  await enqueueBackwards('gateway', 500);
  const id = await enqueue(database, 'email');
  expect((await claim(service, 'email')).ids).toEqual([id]);
});

test('rows that keep failing do not block newer rows of their destination', async () => {
  await enqueueBackwards('email', 20);
  const id = await enqueue(database, 'email');
  const failing = await claim(service, 'email');
  expect(failing.ids).not.toContain(id);
  await fail(service, failing.token, failing.ids);
  expect((await claim(service, 'email')).ids).toEqual([id]);
  for (const at of ['12:00:05', '12:00:35', '12:02:35']) {
    await setClock(database, `2026-01-01T${at}Z`);
    const again = await claim(service, 'email');
    const newer = await enqueue(database, 'email');
    expect((await claim(service, 'email')).ids).toContain(newer);
    await fail(service, again.token, again.ids);
  }
});

test('a row that is paused again and again does not grow', async () => {
  const id = await enqueue(database, 'email');
  for (let second = 0; second < 50; second += 1) {
    await setClock(database, new Date(Date.UTC(2026, 0, 1, 12, 0, second)).toISOString());
    const { token, ids } = await claim(service, 'email');
    expect(ids).toEqual([id]);
    await fail(service, token, ids, { pauseSeconds: 1 });
  }
  const { tokens } = await database.one('select cardinality(claims) as tokens from billing.outbox');
  expect(tokens).toBeLessThanOrEqual(21);
});
