import { afterAll, beforeAll, expect, test } from 'vitest';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver, sha256 } from '../helpers/gateway/deliver.ts';
import { paymentFailed, subscriptionEvent } from '../helpers/gateway/events.ts';
import { readPayment } from '../helpers/records/read-records.ts';
import { createPayment, createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

test('a call that waits for a lock fails after three seconds and writes nothing', async () => {
  const service = () => openSession(database, { role: 'service_role' });
  const order = async () => {
    const { id: userId } = await createUser(database);
    return { userId, ...await createPayment(database, { userId }) };
  };
  const holder = await database.connect();
  await holder.query('begin');
  const lock = (table: string, key: string, id: string) =>
    holder.query(`select from ${table} where ${key} = $1 for update`, [id]);

  const [byUser, byPayment, byProfile, failing, cancelling] = [
    await order(),
    await order(),
    await order(),
    await order(),
    await order(),
  ];
  const failed = paymentFailed({ id: uniqueId('pay'), order_id: failing.orderId });
  await deliver(await service(), failed);
  const [repeat, cancelled] = [
    paymentFailed({ id: uniqueId('pay'), order_id: failing.orderId }),
    subscriptionEvent({ name: 'cancelled', userId: cancelling.userId }),
  ];
  await lock('auth.users', 'id', byUser.userId);
  await lock('public.payments', 'id', byPayment.id);
  await lock('public.profiles', 'user_id', byProfile.userId);
  await lock('public.payments', 'id', failing.id);
  await lock('billing.gateway_events', "encode(body_sha256, 'hex')", sha256(failed));
  await lock('auth.users', 'id', cancelling.userId);

  const verify = async ({ userId, orderId }: { userId: string; orderId: string }) =>
    await callRpc(await service(), 'verify_payment', userId, orderId, uniqueId('pay'), 'signature');
  const started = performance.now();
  const results = await Promise.allSettled([
    verify(byUser),
    verify(byPayment),
    verify(byProfile),
    deliver(await service(), repeat),
    deliver(await service(), failed),
    deliver(await service(), cancelled),
  ]);
  const seconds = (performance.now() - started) / 1000;
  await holder.query('rollback');

  expect(results).toMatchObject(Array(6).fill({ status: 'rejected', reason: { code: '55P03' } }));
  expect(seconds).toBeGreaterThan(2.9);
  expect(seconds).toBeLessThan(5);
  for (const { id } of [byUser, byPayment, byProfile]) {
    expect(await readPayment(database, id)).toMatchObject({ status: 'created' });
  }
  expect(await verify(byProfile)).toMatchObject({ outcome: 'applied' });
});
