import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { deliver, paymentEvent, subscriptionEvent } from '../helpers/gateway-events.ts';
import { seededRandom } from '../helpers/permutations.ts';
import { countDeadlocks, openRacers } from '../helpers/racers.ts';
import { createPayment, createUser, uniqueId } from '../helpers/records.ts';
import { callRpc, waitUntilBlocked } from '../helpers/session.ts';
import { readOutbox, readTier } from '../helpers/state.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/test-database.ts';

let database: TestDatabase;
beforeAll(async () => {
  // Chance decides whether the money is told of before its user is gone; the test looks which ones are there.
  database = await createTestDatabase({ findings: { captured_not_fulfilled: 'any' } });
  await database.query("update public.plans set gateway_plan_id = 'plan_pro' where tier = 'pro'");
});
afterAll(() => database.close());

type Racer = (session: pg.Client) => Promise<unknown>;

/** Fifty things that can happen to one user at once, in random proportions. */
async function racersOf(userId: string, deleted: boolean, random: () => number): Promise<Racer[]> {
  const orders = await Promise.all(['pro', 'basic'].map(async (tier) => ({
    ...await createPayment(database, { userId, meta: { tier } }),
    paymentId: uniqueId('pay'),
  })));
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
  const captured: Racer = (session) =>
    deliver(session, paymentEvent('captured', { id: pick(orders).paymentId }, pick([1, 2])));
  const failed: Racer = (session) => {
    const { orderId } = pick(orders);
    return deliver(session, paymentEvent('failed', { id: uniqueId('pay'), order_id: orderId }));
  };
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
  const subscription = (name: 'activated' | 'charged' | 'cancelled'): Racer => (session) =>
    deliver(
      session,
      subscriptionEvent({
        name,
        userId,
        id: pick(ids),
        planId: 'plan_pro',
        start: '2126-01-01T00:00:00Z',
        end: '2126-02-01T00:00:00Z',
        createdAt: `2026-01-0${pick([1, 2, 3, 4])}T00:00:00Z`,
      }),
    );
  const rename: Racer = (session) =>
    session.query("update public.profiles set display_name = 'X' where user_id = $1", [userId]);
  const kinds = [
    ...[verify, verify, verify, captured, failed, reconciled, reconciled, claimed, rename],
    ...[subscription('activated'), subscription('charged'), subscription('cancelled')],
  ];
  const racers = Array.from({ length: 50 }, () => pick(kinds));
  if (deleted) {
    racers[25] = async (session) => {
      await session.query('reset role');
      await session.query('delete from auth.users where id = $1', [userId]);
      await session.query('set role service_role');
    };
  }
  return racers;
}


test('debug', async () => {
  const random = seededRandom(Date.now() % 100000);
  const sessions = await openRacers(database, 50);
  for (const session of sessions) { await session.query('reset role'); await session.query("set deadlock_timeout = '2500ms'"); await session.query('set role service_role'); }
  const watcher = await database.connect();
  let stop = false;
  const seen = new Set<string>();
  const names = new Map<unknown, string>();
  const watching = (async () => {
    while (!stop) {
      const { rows } = await watcher.query("select pid, pg_blocking_pids(pid) as b from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'");
      const graph = new Map(rows.map((r) => [r.pid, r.b]));
      let cycle: number[] | null = null;
      const find = (path: number[], visited: Set<number>): void => {
        if (cycle) return;
        for (const n of graph.get(path.at(-1)) ?? []) {
          if (path.includes(n)) { cycle = path.slice(path.indexOf(n)); return; }
          if (!visited.has(n)) { visited.add(n); find([...path, n], visited); }
        }
      };
      for (const pid of graph.keys()) find([pid], new Set());
      if (cycle !== null && seen.size < 3) {
        seen.add(JSON.stringify(cycle));
        const { rows: act } = await watcher.query('select a.pid, pg_blocking_pids(a.pid) blocked_by, wait_event, a.query from pg_stat_activity a where a.pid = any ($1)', [cycle]);
        const { rows: locks } = await watcher.query("select pid, locktype, relation::regclass::text rel, page, tuple, transactionid, mode, granted from pg_locks where pid = any ($1) and (locktype in ('tuple','transactionid') ) order by pid", [cycle]);
        console.log('CYCLE', JSON.stringify(act.map((x) => ({...x, what: names.get(x.pid)})), null, 1), JSON.stringify(locks));
        await new Promise((r) => setTimeout(r, 2500));
      }
      await new Promise((r) => setTimeout(r, 100));
    }
  })();
  for (let round = 0; round < 40; round++) for (const deleted of [false, true]) {
     const sessions = await openRacers(database, 50);
    for (const session of sessions) { await session.query('reset role'); await session.query("set deadlock_timeout = '2000ms'"); await session.query('set role service_role'); }
   const user = await createUser(database);
    const racers = await racersOf(user.id, deleted, random);
    const results = await Promise.allSettled(sessions.map(async (session, index) => { names.set(Reflect.get(session, 'processID'), String(racers[index]?.name || racers[index])); return await racers[index]?.(session); }));
    const bad = results.filter((result) => result.status === 'rejected');
    await Promise.all(sessions.map((x) => x.end()));
    if (bad.length) console.log('BAD', deleted, bad.length, JSON.stringify(bad.map((b) => b.status === 'rejected' && [b.reason.code, b.reason.message, b.reason.detail, b.reason.where])));
  }
  stop = true; await watching;
}, 240000);
