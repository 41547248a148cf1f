import type pg from 'pg';
import { beforeEach, describe, expect, test } from 'vitest';
import { type Act, asOwner, countDeadlocks, openRacers, overlap, untilBlocked } from '../helpers/database/racers.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { useDatabase } from '../helpers/database/use-database.ts';
import { claim, complete, enqueue, fail, readRow } from '../helpers/outbox/claims.ts';
import { emptyOutbox, enqueueMails } from '../helpers/outbox/side-effects.ts';
import { customerOf } from '../helpers/records/customer.ts';
import { placeOrder, verifyPurchase } from '../helpers/records/purchases.ts';
import { countRevalidations, readTier } from '../helpers/records/read-records.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';
import { months } from '../helpers/records/time.ts';
import { repeatUntil } from '../helpers/project/repeat-until.ts';

// The last test sets tiers by hand, and the time of a subscription is over.
const database = useDatabase({ findings: { entitled_not_paid: 3 } });
beforeEach(() => emptyOutbox(database));

const service = () => openSession(database, { role: 'service_role' });
const requeue = (id: number) => asOwner('select billing.requeue($1)', [id]);
/** Claims and settles nothing else. @returns the ids */
const claimed = async (session: pg.Client) => (await claim(session, 'email')).ids;

describe('a claim', () => {
  test.each([['commit', 0, 1], ['rollback', 1, 1]] as const)(
    'skips rows that another claim holds, without waiting; after its %s the next claim gets %i',
    async (end, count, attempts) => {
      const id = await enqueue(database, 'email');
      const [first, second] = [await service(), await service()];
      await first.query('begin');
      expect(await claimed(first)).toEqual([id]);
      expect(await claimed(second)).toEqual([]);
      await first.query(end);
      expect(await claimed(second)).toHaveLength(count);
      expect(await readRow(database, id)).toMatchObject({ attempts });
    },
  );
});

describe('a settlement that waits', () => {
  test.each<[string, (id: number) => Act]>([
    ['a later claim', () => (session) => claim(session, 'email')],
    ['an admin’s requeue', requeue],
  ])('for %s: the complete counts, and the row is not delivered again', async (_, act) => {
    const id = await enqueue(database, 'email');
    const { token } = await claim(database.service, 'email');
    await database.query('update billing.outbox set next_attempt_at = now()');
    const [, completed] = await overlap(database, act(id), (session) => complete(session, token, [id]));
    expect(completed).toBe(1);
    await database.query('update billing.outbox set next_attempt_at = now()');
    expect(await claimed(database.service)).toEqual([]);
  });

  test('for an admin’s requeue: the fail is refused, and the row is due at once', async () => {
    const id = await enqueue(database, 'email');
    const [admin, dispatching] = [await database.connect(), await service()];
    const { token } = await claim(dispatching, 'email');
    await dispatching.query('begin; select'); // the start of this transaction is earlier than the requeue
    await admin.query('begin');
    await admin.query('select billing.requeue($1)', [id]);
    const failed = fail(dispatching, token, [id], { final: true });
    await untilBlocked(database, dispatching, failed);
    await admin.query('commit');
    expect(await failed).toEqual({ retried: 0, parked: 0 });
    await dispatching.query('commit');
    expect(await claimed(dispatching)).toEqual([id]);
  });

  test.each([['complete', 2], ['fail', { retried: 2, parked: 0 }]])(
    'for a row: the %s locks its rows in the order of their keys',
    async (name, result) => {
      const [low, high] = [
        await enqueue(database, 'email', uniqueId('a')),
        await enqueue(database, 'email', uniqueId('b')),
      ];
      const { token } = await claim(database.service, 'email');
      await database.query('update billing.outbox set key = key where id = $1', [low]); // now stored behind the other one
      const other = await database.connect();
      await other.query('begin');
      await other.query('select from billing.outbox where id = $1 for update', [low]);
      const settled = (name === 'complete' ? complete : fail)(database.service, token, [high, low]);
      await untilBlocked(database, database.service, settled);
      await database.one('select from billing.outbox where id = $1 for update nowait', [high]);
      await other.query('commit');
      expect(await settled).toEqual(result);
    },
  );
});

test('a resumption beside the failed attempts of two stops, enqueued against the order of their keys, causes no deadlock', async () => {
  await database.at('2026-06-01T00:00:00Z');
  const customer = await database.customer();
  const stops: unknown[] = [];
  for (const letter of ['z', 'a']) {
    const billed = customerOf(database, customer, uniqueId(`sub_${letter}`));
    await billed.event('activated', '06-01', { planId: 'plan_pro', ...months(6) });
    await customer.cancel('at the end');
    const key = `cancel-subscription/${billed.gatewayId}`;
    stops.push((await database.one('select id from billing.outbox where key = $1', [key])).id);
  }
  await database.at('2026-06-29T00:00:10Z');
  const { token, rows } = Object(await database.rpc('claim_outbox', 'gateway'));
  expect(rows).toHaveLength(2);
  const [z, a, resuming, failing] = await openRacers(database, 4);
  for (const [index, session] of [z!, a!].entries()) {
    await session.query('begin');
    await session.query('select from billing.outbox where id = $1 for update', [stops[index]]);
  }
  const resumed = callRpc(resuming!, 'resume_subscription', customer.id);
  await untilBlocked(database, resuming!, resumed);
  const failed = callRpc(failing!, 'fail_outbox', token, stops.join(','), 'not read: no answer');
  await untilBlocked(database, failing!, failed);
  for (const session of [z!, a!]) await session.query('rollback');
  await Promise.all([resumed, failed]);
  await database.at(null);
});

test('many dispatchers that complete what they claim get each row exactly once', async () => {
  const count = 2000;
  await enqueueMails(database, count);
  const sessions = await openRacers(database, 8);
  const drained = await Promise.all(sessions.map(async (session) => {
    const all: number[] = [];
    await repeatUntil('nothing is left to claim', count, async () => {
      const { token, ids } = await claim(session, 'email');
      all.push(...ids);
      if (ids.length > 0) expect(await complete(session, token, ids)).toBe(ids.length);
      return ids.length === 0;
    });
    return all;
  }));
  expect([drained.flat().length, new Set(drained.flat()).size]).toEqual([count, count]);
  const left = 'select count(delivered_at)::int as delivered, max(attempts) as attempts from billing.outbox';
  expect(await database.one(left)).toEqual({ delivered: count, attempts: 1 });
  expect(await countDeadlocks(database, sessions)).toBe(0);
});

test('the second writer of a tier does not wait for the first one’s commit', async () => {
  const [one, other] = [await createUser(database), await createUser(database)];
  const before = await countRevalidations(database);
  const [first, second] = [await database.connect(), await database.connect()];
  const edit = "update public.profiles set subscription_tier = 'pro' where user_id = $1";
  await first.query('begin');
  await first.query(edit, [one.id]);
  await second.query('begin');
  await second.query(edit, [other.id]);
  const bought = await verifyPurchase(database.service, await placeOrder(database));
  expect(bought).toMatchObject({ outcome: 'applied' });
  await second.query('commit');
  expect(await readTier(database, other.id)).toBe('pro');
  await first.query('commit');
  expect(await countRevalidations(database)).toBe(before + 4); // the buyer's sign-up and purchase, and the two edits
});
