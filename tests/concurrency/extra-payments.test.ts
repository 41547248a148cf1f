import { afterAll, beforeAll, expect, test } from 'vitest';
import { openSession, waitUntilBlocked } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { paymentCaptured, refundEvent } from '../helpers/gateway/events.ts';
import { placeOrder, verifyPurchase } from '../helpers/records/purchases.ts';
import { uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
beforeAll(async () => {
  database = await createTestDatabase();
});
afterAll(() => database.close());

test.each([['the refund', 0], ['the payment', 1]])(
  'a second payment on an order and its refund at once, %s first: the refund is stored with the payment',
  async (_, first) => {
    const sessions = await Promise.all(
      [0, 1].map(() => openSession(database, { role: 'service_role' })),
    );
    const [leader, follower] = sessions;
    if (!leader || !follower) throw new Error('no sessions');
    const order = await placeOrder(database);
    await verifyPurchase(leader, order);
    const extra = { id: uniqueId('pay'), order_id: order.orderId };
    const bodies = [refundEvent(extra, 99900), paymentCaptured(extra)];

    await leader.query('begin');
    await deliver(leader, bodies[first] ?? '');
    const waiting = deliver(follower, bodies[1 - first] ?? '');
    await waitUntilBlocked(database, follower);
    await leader.query('commit');
    await waiting;
    expect(
      await database.query(
        'select gateway_payment_id, refunded_amount::int as refunded from public.payments where extra_of = $1',
        [order.id],
      ),
    ).toEqual([{ gateway_payment_id: extra.id, refunded: 99900 }]);
  },
);
