import type pg from 'pg';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { countDeadlocks, openRacers } from '../helpers/database/racers.ts';
import { callRpc, openSession, waitUntilBlocked } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { claim, complete, enqueue, fail, readRow } from '../helpers/outbox/claims.ts';
import { emptyOutbox } from '../helpers/outbox/side-effects.ts';
import { countRevalidations, readTier } from '../helpers/records/read-records.ts';
import { createPayment, createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
beforeAll(async () => {
  // The test at the end sets tiers by hand.
  database = await createTestDatabase({ findings: { entitled_not_paid: 2 } });
});
beforeEach(() => emptyOutbox(database));
afterAll(() => database.close());

const service = () => openSession(database, { role: 'service_role' });

/** Ends every lease, except those of locked rows: it does not wait for a lock. */
const endLeases = () =>
  database.query(
    `with free as materialized (select id from billing.outbox where delivered_at is null for update skip locked)
     update billing.outbox o set next_attempt_at = now() from free where o.id = free.id`,
  );

/** Ends leases one by one: a statement that locks several rows, also with skip locked, can be part of a deadlock itself. */
const endSomeLeases = () =>
  database.query(`
    do $$
    declare
      v_id bigint;
    begin
      for v_id in
        select o.id from billing.outbox o where o.delivered_at is null and o.next_attempt_at > now() limit 100
      loop
        update billing.outbox o set next_attempt_at = now() where o.id = v_id;
        commit;
      end loop;
    end
    $$`);

describe('a claim', () => {
  test('skips rows that another claim holds, without waiting', async () => {
    const id = await enqueue(database, 'email');
    const [first, second] = [await service(), await service()];
    await first.query('begin');
    const held = await claim(first, 'email');
    expect((await claim(second, 'email')).ids).toEqual([]);
    await first.query('commit');
    expect(held.ids).toEqual([id]);
    expect((await claim(second, 'email')).ids).toEqual([]);
  });

  test('of a dispatcher that dies before its commit leaves the rows to the next claim', async () => {
    const id = await enqueue(database, 'email');
    const [first, second] = [await service(), await service()];
    await first.query('begin');
    await claim(first, 'email');
    await first.query('rollback');
    expect((await claim(second, 'email')).ids).toEqual([id]);
    expect(await readRow(database, id)).toMatchObject({ attempts: 1 });
  });

  test('does not wait for a fail, a complete or a requeue in progress', async () => {
    const settling = await service();
    const admin = await database.connect();
    const claiming = await service();
    const steps: ((token: string, id: number) => Promise<unknown>)[] = [
      (token, id) => complete(settling, token, [id]),
      (token, id) => fail(settling, token, [id]),
      (_, id) => admin.query('select billing.requeue($1)', [id]),
    ];
    for (const step of steps) {
      await emptyOutbox(database);
      const id = await enqueue(database, 'email');
      const { token } = await claim(settling, 'email');
      await settling.query('begin');
      await admin.query('begin');
      await step(token, id);
      expect((await claim(claiming, 'email')).ids).toEqual([]);
      await settling.query('commit');
      await admin.query('commit');
    }
  });
});

describe('a complete', () => {
  test('that waits for a later claim counts', async () => {
    const id = await enqueue(database, 'email');
    const [late, next] = [await service(), await service()];
    const first = await claim(late, 'email');
    await endLeases();
    await next.query('begin');
    const second = await claim(next, 'email');
    expect(second.ids).toEqual([id]);
    const completed = complete(late, first.token, [id]);
    await waitUntilBlocked(database, late);
    await next.query('commit');
    expect(await completed).toBe(1);
    expect(await fail(next, second.token, [id], { final: true })).toEqual({ retried: 0, parked: 0 });
  });

  test('that waits for an admin’s requeue counts: the row is not delivered again', async () => {
    const id = await enqueue(database, 'email');
    const [admin, dispatching] = [await database.connect(), await service()];
    const { token } = await claim(dispatching, 'email');
    await admin.query('begin');
    await admin.query('select billing.requeue($1)', [id]);
    const completed = complete(dispatching, token, [id]);
    await waitUntilBlocked(database, dispatching);
    await admin.query('commit');
    expect(await completed).toBe(1);
    expect((await claim(dispatching, 'email')).ids).toEqual([]);
  });
});

describe('a fail', () => {
  test('that waits for an admin’s requeue is refused: the row is due at once', async () => {
    const id = await enqueue(database, 'email');
    const [admin, dispatching] = [await database.connect(), await service()];
    const { token } = await claim(dispatching, 'email');
    await dispatching.query('begin'); // the start of this transaction is earlier than the requeue
    await dispatching.query('select');
    await admin.query('begin');
    await admin.query('select billing.requeue($1)', [id]);
    const failed = fail(dispatching, token, [id], { final: true });
    await waitUntilBlocked(database, dispatching);
    await admin.query('commit');
    expect(await failed).toEqual({ retried: 0, parked: 0 });
    await dispatching.query('commit');
    expect((await claim(dispatching, 'email')).ids).toEqual([id]);
  });
});

test.each(['complete', 'fail'] as const)('a %s locks its rows in the order of their ids', async (name) => {
  const [low, high] = [await enqueue(database, 'email'), await enqueue(database, 'email')];
  const [settling, other] = [await service(), await database.connect()];
  const { token } = await claim(settling, 'email');
  await database.query('update billing.outbox set key = key where id = $1', [low]); // the row is now stored behind the other one

  await other.query('begin');
  await other.query('select from billing.outbox where id = $1 for update', [low]);
  const settled = name === 'complete' ? complete(settling, token, [high, low]) : fail(settling, token, [high, low]);
  await waitUntilBlocked(database, settling);
  await expect(database.query('select from billing.outbox where id = $1 for update nowait', [high])).resolves
    .toHaveLength(1);
  await other.query('commit');
  expect(await settled).toEqual(name === 'complete' ? 2 : { retried: 2, parked: 0 });
});

test('dispatchers that fail, complete late and lose their leases lose no row and never deadlock', async () => {
  const sessions = await openRacers(database, 4);
  const ids = await Promise.all(Array.from({ length: 1000 }, () => enqueue(database, 'revalidation')));
  const work = async (session: pg.Client) => {
    let earlier = await claim(session, 'revalidation');
    for (let turn = 0; turn < 50; turn += 1) {
      const admin = Promise.all([endSomeLeases(), database.query('select billing.requeue($1)', [ids[turn]])]);
      const { token, ids: claimed } = await claim(session, 'revalidation');
      // Rows of an earlier claim, which another dispatcher has claimed since, in another order than the
      // claim's.
      await complete(session, earlier.token, [...earlier.ids].reverse().slice(0, 5));
      await fail(session, token, claimed);
      earlier = { token, ids: claimed, parked: 0 };
      await admin;
    }
  };
  await Promise.all(sessions.map(work));
  await endLeases();
  for (const session of sessions) {
    for (let turn = 0; turn < 50; turn += 1) {
      const { token, ids } = await claim(session, 'revalidation');
      await complete(session, token, ids);
    }
  }
  expect(
    await database.one(
      `select count(*)::int, count(delivered_at)::int as delivered, count(parked_at)::int as parked,
         max(attempts) > 2 as tried_often
       from billing.outbox`,
    ),
  ).toEqual({ count: 1000, delivered: 1000, parked: 0, tried_often: true });
  expect(await countDeadlocks(database, sessions)).toBe(0);
});

test('the second writer of a tier does not wait for the first one’s commit', async () => {
  const [one, other] = [await createUser(database), await createUser(database)];
  const before = await countRevalidations(database);
  const [first, second, third] = [await database.connect(), await database.connect(), await service()];
  const edit = "update public.profiles set subscription_tier = 'pro' where user_id = $1";
  await first.query('begin');
  await first.query(edit, [one.id]);
  await second.query('begin');
  await second.query(edit, [other.id]);

  const buyer = await createUser(database);
  const { orderId } = await createPayment(database, { userId: buyer.id });
  expect(await callRpc(third, 'verify_payment', buyer.id, orderId, uniqueId('pay'), 'signature')).toMatchObject({
    outcome: 'applied',
  });

  await second.query('commit');
  expect(await readTier(database, other.id)).toBe('pro');
  await first.query('commit');
  expect(await countRevalidations(database)).toBe(before + 4); // the buyer's sign-up and purchase, and the two edits
});
