import { afterAll, beforeAll, expect, test } from 'vitest';
import { createPayment, createUser, uniqueId } from '../helpers/records/records.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase({ findings: { unmailed_payment: 1 } });
});
afterAll(() => database.close());

async function buy(user: { id: string }): Promise<string> {
  const { id, orderId } = await createPayment(database, { userId: user.id });
  await database.query('select public.verify_payment($1, $2, $3, $4)', [
    user.id,
    orderId,
    uniqueId('pay'),
    'signature',
  ]);
  return id;
}

const unmailed = async () =>
  (await database.query('select payment_id from billing.unmailed_payments')).map((row) => row.payment_id);

test('lists only a fulfilled payment without a mail whose user has an address', async () => {
  await buy(await createUser(database));
  await buy(await createUser(database, { email: null }));
  await createPayment(database, { userId: (await createUser(database)).id });
  expect(await unmailed()).toEqual([]);

  const user = await createUser(database);
  await database.query('delete from public.profiles where user_id = $1', [user.id]);
  const payment = await buy(user);
  expect(await unmailed()).toEqual([payment]);
});
