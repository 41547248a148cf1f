import { describe, expect, test } from 'vitest';
import { type Act, countDeadlocks, overlap, race, untilBlocked } from '../helpers/database/racers.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { useDatabase } from '../helpers/database/use-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { orderPaid, paymentCaptured } from '../helpers/gateway/events.ts';
import { placeOrder } from '../helpers/records/purchases.ts';
import { readTier } from '../helpers/records/read-records.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';

const database = useDatabase();

type Answer = Record<string, unknown>;
const rpc = (name: string, ...parameters: unknown[]): Act<Answer> => (session) => callRpc(session, name, ...parameters);
const paymentsOf = (userId: string) => database.query('select id from public.payments where user_id = $1', [userId]);

/** Runs the calls at once. @returns how many answers have each outcome: `1 created, 19 in_flight` */
async function outcomesOf(calls: Act<Answer>[]): Promise<string> {
  const outcomes = Map.groupBy(await race(database, calls), ({ outcome }) => String(outcome));
  return [...outcomes].map(([outcome, answers]) => `${answers.length} ${outcome}`).sort().join(', ');
}

describe('orders of one user at once', () => {
  const create = (userId: string, tier: string, key: string | null) => rpc('create_order', userId, tier, key);
  test.each<[string, (userId: string, index: number) => Act<Answer>, string, number]>([
    ['twenty tabs get one order', (id) => create(id, 'pro', null), '1 created, 19 in_flight', 1],
    [
      'with one idempotency key create one; those for another tier are conflicts',
      (id, index) => create(id, index % 2 ? 'pro' : 'premium', 'key'),
      '1 created, 10 key_conflict, 9 in_flight',
      1,
    ],
    [
      'with different keys and tiers stay within ten an hour',
      (id, index) => create(id, `team${index}`, `key ${index}`),
      '10 created, 10 rate_limited',
      10,
    ],
  ])('%s', async (_, call, outcomes, count) => {
    await database.query(
      `insert into public.plans (tier, name, price) select 'team' || n, 'Team', 100 from generate_series(0, 19) n
       on conflict do nothing`,
    );
    const { id } = await createUser(database);
    expect(await outcomesOf(Array.from({ length: 20 }, (_, index) => call(id, index)))).toBe(outcomes);
    expect(await paymentsOf(id)).toHaveLength(count);
  });
});

test('twenty pages that ask for an order at once: one reads it, also at the next time', async () => {
  const { user, orderId } = await placeOrder(database);
  for (let time = 0; time < 3; time += 1) {
    expect(await outcomesOf(Array(20).fill(rpc('get_order', user.id, orderId, true)))).toBe('1 read, 19 known');
    await database.query("update public.payments set read_at = read_at - interval '5 seconds'");
  }
});

test.each([['commit', 'in_flight', 'known'], ['rollback', 'created', 'read']] as const)(
  'a second tab and a second page wait for the first, and after its %s find the order %s and %s',
  async (end, created, read) => {
    const { user, orderId } = await placeOrder(database);
    const { id } = await createUser(database);
    const create = rpc('create_order', id, 'pro', 'key');
    const get = rpc('get_order', user.id, orderId, true);
    expect((await overlap(database, create, create, end))[1]).toMatchObject({ outcome: created });
    expect(await paymentsOf(id)).toHaveLength(1);
    expect((await overlap(database, get, get, end))[1]).toMatchObject({ outcome: read });
  },
);

/** An order that is not stored yet, and the events that will pay it. */
async function created() {
  const { id: userId } = await createUser(database);
  const { payment_id: id } = await database.rpc('create_order', userId, 'pro');
  const money = { id: uniqueId('pay'), order_id: uniqueId('order') };
  const receipt = String(id).replaceAll('-', '');
  return { userId, id, money, paid: orderPaid(money, { id: money.order_id, receipt }) };
}

test('an order that is discarded while its payment is fulfilled stays', async () => {
  const { userId, id, paid } = await created();
  await overlap(database, (session) => deliver(session, paid), rpc('discard_order', id));
  expect(await paymentsOf(userId)).toHaveLength(1);
  expect(await readTier(database, userId)).toBe('pro');
});

test('an order with unmatched events is stored under the lock on its user: no deadlock with order.paid', async () => {
  const { userId, id, money, paid } = await created();
  expect(await database.send(paymentCaptured(money))).toBe('unmatched');
  const holder = await database.connect();
  const storing = await openSession(database, { role: 'service_role' });
  const paying = await openSession(database, { role: 'service_role' });
  await holder.query('begin');
  await holder.query('select from auth.users where id = $1 for no key update', [userId]);
  // Both calls lock the user first. If store_order locked the payment before the user, order.paid would wait for the payment
  // while it holds the user.
  const stored = callRpc(storing, 'store_order', id, money.order_id);
  await untilBlocked(database, storing, stored);
  await database.query('select from public.payments where id = $1 for update nowait', [id]);
  const applied = deliver(paying, paid);
  await untilBlocked(database, paying, applied);
  await holder.query('commit');
  expect(await stored).toEqual({ outcome: 'stored' });
  expect(await applied).toMatch(/^(applied|already)$/);
  expect(await readTier(database, userId)).toBe('pro');
  expect(await countDeadlocks(database, [storing, paying])).toBe(0);
});
