import type pg from 'pg';
import { expect, test } from 'vitest';
import { countDeadlocks, openRacers } from '../helpers/database/racers.ts';
import { callRpc, waitUntilBlocked } from '../helpers/database/session.ts';
import { createTestDatabase } from '../helpers/database/test-database.ts';
import { useDatabase } from '../helpers/database/use-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { paymentCaptured, paymentFailed, subscriptionEvent } from '../helpers/gateway/events.ts';
import { seededRandom } from '../helpers/orderings/permutations.ts';
import { readOutbox, readTier } from '../helpers/records/read-records.ts';
import { createPayment, createUser, uniqueId } from '../helpers/records/records.ts';

// They depend on the order of execution: a capture before or after the deletion of its user (the test checks their reasons),
// a charge before or after the cancellation or purchase that ends its subscription, which of two orders is captured first, and
// whether a webhook follows a reconciliation.
const database = useDatabase({
  findings: {
    captured_not_fulfilled: 'any',
    charged_after_cancellation: 'any',
    charged_after_replacement: 'any',
    paid_twice: 'any',
    missed_webhook: 'any',
  },
});

type Racer = (session: pg.Client) => Promise<unknown>;

/** Fifty operations on one user, in random proportions. */
async function racersOf(userId: string, isDeleted: boolean, random: () => number): Promise<Racer[]> {
  const orders = await Promise.all(['pro', 'basic'].map(async (tier) => {
    const entity = { id: uniqueId('pay'), amount: undefined };
    // Each may be delivered several times.
    const captures = [paymentCaptured(entity), paymentCaptured(entity)];
    return { ...await createPayment(database, { userId, meta: { tier } }), paymentId: entity.id, captures };
  }));
  const ids = [uniqueId('sub'), uniqueId('sub')];
  const pick = <T>(items: readonly T[]): T => {
    const item = items[Math.floor(random() * items.length)];
    if (item === undefined) throw new Error('nothing to pick from');
    return item;
  };
  const verify: Racer = (session) => {
    const { orderId, paymentId } = pick(orders);
    return callRpc(session, 'verify_payment', userId, orderId, paymentId, 'signature');
  };
  const captured: Racer = (session) => deliver(session, pick(pick(orders).captures));
  const failed: Racer = (session) =>
    deliver(session, paymentFailed({ id: uniqueId('pay'), order_id: pick(orders).orderId }));
  const reconciled: Racer = (session) => {
    const { id, orderId, paymentId } = pick(orders);
    const attempt = { order_id: orderId, amount: 99900, currency: 'INR' };
    const attempts = [
      { ...attempt, id: `${paymentId}_0`, status: 'failed' },
      { ...attempt, id: paymentId, status: pick(['authorized', 'captured']) },
    ];
    return callRpc(session, 'apply_order_payments', id, JSON.stringify(attempts));
  };
  const claimed: Racer = (session) => callRpc(session, 'claim_payments_to_reconcile');
  const subscription = (name: 'activated' | 'charged' | 'cancelled'): Racer => (session) => {
    const cycle = { start: '2126-01-01T00:00:00Z', end: '2126-02-01T00:00:00Z' };
    const createdAt = `2026-01-0${pick([1, 2, 3, 4])}T00:00:00Z`;
    return deliver(
      session,
      subscriptionEvent({ name, userId, id: pick(ids), planId: 'plan_pro', ...cycle, createdAt }),
    );
  };
  const rename: Racer = (session) =>
    session.query("update public.profiles set display_name = 'X' where user_id = $1", [userId]);
  const kinds = [
    ...[verify, verify, verify, captured, failed, reconciled, reconciled, claimed, rename],
    ...[subscription('activated'), subscription('charged'), subscription('cancelled')],
  ];
  const racers = Array.from({ length: 50 }, () => pick(kinds));
  if (isDeleted) {
    racers[25] = async (session) => {
      await session.query('reset role');
      await session.query('delete from auth.users where id = $1', [userId]);
      await session.query('set role service_role');
    };
  }
  return racers;
}

test('fifty operations on one user at once: no deadlock, no error, and no partial effect', async () => {
  const random = seededRandom(50);
  const sessions = await openRacers(database, 50);
  for (const isDeleted of [false, true, false, true, true]) {
    const user = await createUser(database);
    const racers = await racersOf(user.id, isDeleted, random);
    const results = await Promise.allSettled(sessions.map((session, index) => racers[index]?.(session)));
    expect(results.filter((result) => result.status === 'rejected')).toEqual([]);

    const partial = await database.query(
      `select id from public.payments
       -- A payment without a user fulfils nothing.
       where (status = 'captured') is distinct from (fulfilled_at is not null) and user_id is not null
         or (fulfilled_at is not null) is distinct from (period_end is not null)`,
    );
    expect(partial).toEqual([]);
    const unclear = "select from billing.captured_not_fulfilled where reason <> 'paid, user gone'";
    expect(await database.query(unclear)).toEqual([]);
    const mails = (await readOutbox(database, 'email', user.email)).map(({ key }) => String(key));
    const fulfilled = await database.query(
      `select 'payment-success/' || id as key from public.payments
       where fulfilled_at is not null and 'payment-success/' || id = any ($1)`,
      [mails],
    );
    expect(mails.filter((key) => key.startsWith('payment-success/')).sort()).toEqual(
      fulfilled.map(({ key }) => key).sort(),
    );
    const rows = await database.query('select tier, status from public.subscriptions where user_id = $1', [user.id]);
    expect(rows.length).toBeLessThanOrEqual(isDeleted ? 0 : 1);
    expect(await readTier(database, user.id))
      .toBe(isDeleted ? undefined : rows[0]?.status === 'active' ? rows[0].tier : 'free');
  }
  expect(await countDeadlocks(database, sessions)).toBe(0);
});

test('countDeadlocks counts a real deadlock', async () => {
  const other = await createTestDatabase();
  try {
    const [first, second] = [await other.connect(), await other.connect()];
    const update = (session: pg.Client, tier: string) =>
      session.query('update public.plans set price = price + 1 where tier = $1', [tier]);
    for (const session of [first, second]) await session.query("set deadlock_timeout = '20ms'; begin");
    await update(first, 'pro');
    await update(second, 'basic');
    const waiting = update(first, 'basic');
    await waitUntilBlocked(other, first);
    const results = await Promise.allSettled([waiting, update(second, 'pro')]);
    expect(results.filter((result) => result.status === 'rejected')).toMatchObject([{ reason: { code: '40P01' } }]);
    expect(await countDeadlocks(other, [first, second])).toBe(1);
  } finally {
    await other.close();
  }
});
