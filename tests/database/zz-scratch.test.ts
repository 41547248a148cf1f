import { expect, test } from 'vitest';
import { setClock } from '../helpers/clock.ts';
import { deliver, subscriptionEvent } from '../helpers/gateway-events.ts';
import { refunded } from '../helpers/money-events.ts';
import { placeOrder, verifyPurchase } from '../helpers/purchases.ts';
import { uniqueId } from '../helpers/records.ts';
import { openSession } from '../helpers/session.ts';
import { readSubscription, readTier } from '../helpers/state.ts';
import { createTestDatabase } from '../helpers/test-database.ts';

test('x', async () => {
  const database = await createTestDatabase({ findings: 'compared elsewhere' });
  const service = await openSession(database, { role: 'service_role' });
  for (const steps of [['activated', 'refund'], ['refund', 'activated']]) {
    await setClock(database, '2126-01-01T00:00:00Z');
    const order = await placeOrder(database);
    await verifyPurchase(service, order);
    await setClock(database, '2126-06-01T00:00:00Z');
    const id = uniqueId('sub');
    for (const step of steps) {
      if (step === 'refund') await deliver(service, refunded({ id: order.paymentId, order_id: order.orderId }, 99900));
      else await deliver(service, subscriptionEvent({ name: 'activated', userId: order.user.id, id }));
    }
    console.log(steps, await readSubscription(database, order.user.id), await readTier(database, order.user.id));
  }
  await database.close();
  expect(1).toBe(1);
});
