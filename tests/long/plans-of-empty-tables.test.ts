import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { sha256 } from '../helpers/gateway/deliver.ts';
import { orderPaid, paymentCaptured, refundEvent, subscriptionEvent } from '../helpers/gateway/events.ts';
import { createPayment, createUser, uniqueId } from '../helpers/records/records.ts';
import { day } from '../helpers/records/time.ts';

const rounds = 2500;

let database: TestDatabase;
beforeAll(async () => {
  // Each user has a purchase and a newer subscription of the same plan.
  database = await createTestDatabase({ findings: { paid_twice: 0 } });
});
afterAll(() => database.close());

/** A user buys a plan, gets a part back, and starts a subscription of it. @returns the six events */
async function events(): Promise<string[]> {
  const { id: userId } = await createUser(database);
  const { orderId } = await createPayment(database, { userId });
  const [money, id] = [{ id: uniqueId('pay'), order_id: orderId }, uniqueId('sub')];
  const subscription = (name: 'activated' | 'charged', month: string) =>
    subscriptionEvent({
      ...{ name, userId, id, planId: 'plan_pro', createdAt: day(`${month}-01`) },
      ...{ start: `2126-${month}-01T00:00:00Z`, end: `2126-${month}-28T00:00:00Z` },
    });
  return [
    ...[paymentCaptured(money), orderPaid(money, { id: orderId }), refundEvent(money, 100)],
    ...[subscription('activated', '01'), subscription('charged', '02'), subscription('charged', '03')],
  ];
}

/** Plays so many rounds in a session. @returns the blocks that a round reads */
async function blocksOf(session: pg.Client, count: number): Promise<number> {
  let blocks = 0;
  for (let round = 0; round < count; round += 1) {
    for (const body of await events()) {
      const call = `select public.apply_gateway_event('${sha256(body)}', null, $1)`;
      const { rows } = await session.query(`explain (analyze, buffers, timing off, format json) ${call}`, [body]);
      const { Plan: plan } = rows[0]['QUERY PLAN'][0];
      blocks += plan['Shared Hit Blocks'] + plan['Shared Read Blocks'];
    }
  }
  return blocks / count;
}

test(
  `${
    6 * rounds
  } events on tables that were analyzed empty read at the end less than 1.5 times the blocks per round of the start`,
  async () => {
    await database.query("update public.plans set gateway_plan_id = 'plan_pro' where tier = 'pro'");
    // The tables get statistics of empty tables, which nothing updates.
    const tables = await database.query(`
    select format('alter table %1$s set (autovacuum_enabled = false); analyze %1$s', c.oid::regclass) as analyze
    from pg_class c
    where c.relnamespace in ('public'::regnamespace, 'billing'::regnamespace) and c.relkind = 'r'`);
    for (const { analyze } of tables) await database.query(String(analyze));
    // One session, as one of a pool: its plans are made in the first rounds.
    const session = await database.connect();
    await blocksOf(session, 20);
    const atStart = await blocksOf(session, 100);
    await blocksOf(session, rounds - 220);
    const atEnd = await blocksOf(session, 100);
    const applied =
      "select count(*)::int as events from billing.gateway_events where outcome in ('applied', 'already')";
    expect(await database.one(applied)).toEqual({ events: 6 * rounds });
    // An index of more rows is a page or two deeper: 1.3 times as many blocks. With sequential scans it is 18 times.
    expect(atEnd).toBeLessThan(1.5 * atStart);
  },
  900_000,
);
