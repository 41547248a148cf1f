import type pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { refundEvent, subscriptionEvent } from '../helpers/gateway/events.ts';
import { paymentOf, placeOrder, type Purchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let asha: Purchase['user'];
let order: Purchase;
beforeAll(async () => {
  database = await createTestDatabase({ findings: 'compared elsewhere' });
  const service = await openSession(database, { role: 'service_role' });
  asha = await createUser(database, { email: 'asha.rao@shop.example.com' });
  await database.query("update public.profiles set display_name = 'Asha 100%_Rao' where user_id = $1", [asha.id]);
  await createUser(database, { email: 'ashok@example.com' });
  await database.query(
    `insert into auth.users (id, email)
     select gen_random_uuid(), 'many' || n || '@example.com' from generate_series(1, 30) n`,
  );
  order = await placeOrder(database, { user: asha });
  await verifyPurchase(service, order);
  await prepare(service);
});
afterAll(() => database.close());

let refundId: string;
const subscriptionId = uniqueId('sub');
const chargeId = uniqueId('pay');
async function prepare(service: pg.Client): Promise<void> {
  const refund = refundEvent(paymentOf(order), 100);
  refundId = JSON.parse(refund).payload.refund.entity.id;
  await deliver(service, refund);
  const cycle = { start: '2126-01-01T00:00:00Z', end: '2126-02-01T00:00:00Z', payment: { id: chargeId, amount: 100 } };
  await deliver(service, subscriptionEvent({ name: 'charged', userId: asha.id, id: subscriptionId, ...cycle }));
}

const search = async (text: string) =>
  (await database.query('select email, found_by from billing.search_customers($1)', [text]))
    .map(({ email, found_by }) => [email, found_by]);

test('finds a customer by the ids of the user and of what was paid', async () => {
  const email = 'asha.rao@shop.example.com';
  const ids: [string, string][] = [
    [asha.id, 'user'],
    [order.id, 'payment'],
    [order.orderId, 'orders'],
    [order.paymentId, 'payments'],
    [refundId, 'refund'],
    [subscriptionId, 'subscriptions'],
    [chargeId, 'payments'],
  ];
  for (const [id, way] of ids) expect(await search(` ${id} `), id).toEqual([[email, way]]);
  expect(await search(crypto.randomUUID())).toEqual([]);
});

test.each<[string, string[]]>([
  ['asha.rao@shop.example.com', ['asha.rao@shop.example.com']],
  ['ASH', ['asha.rao@shop.example.com', 'ashok@example.com']],
  ['as', ['asha.rao@shop.example.com', 'ashok@example.com']],
  ['rao', ['asha.rao@shop.example.com']],
  ['100%_r', ['asha.rao@shop.example.com']],
  ['shop.example', ['asha.rao@shop.example.com']],
  ['a%a', []],
  ['', []],
  ['  ', []],
  ["'; drop table public.payments", []],
])('finds by "%s" the customers %j', async (text, emails) => {
  expect((await search(text)).map(([email]) => email)).toEqual(emails);
});

test('returns at most 20 customers, the exact address first', async () => {
  expect(await search('many')).toHaveLength(20);
  expect((await search('many3@example.com'))[0]).toEqual(['many3@example.com', 'email']);
});

test('works without the extension pg_trgm', async () => {
  await database.query('drop extension pg_trgm cascade');
  expect((await search('rao')).map(([email]) => email)).toEqual(['asha.rao@shop.example.com']);
});
