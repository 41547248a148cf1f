import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { setEarlyRenewal } from '../helpers/database/early-renewal.ts';
import { openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { orderPaid, refundEvent, type SubscriptionEvent, subscriptionEvent } from '../helpers/gateway/events.ts';
import { paymentOf, placeOrder, type Purchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { readPayment, readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  // The period of one payment lapsed in 2127. As of 2126 it still runs.
  database = await createTestDatabase({ at: '2126-01-02T00:00:00Z', findings: { paid_not_entitled: 1 } });
  service = await openSession(database, { role: 'service_role' });
  await setEarlyRenewal(database, 'extend');
});
afterEach(() => setClock(database, null));
afterAll(() => database.close());

const refund = (order: Purchase) => deliver(service, refundEvent(paymentOf(order), 99900));

/** A purchase of twelve months on a day, added to the running period. */
async function buy(user: Purchase['user'], at: string): Promise<Purchase> {
  const order = await placeOrder(database, { user });
  await setClock(database, at);
  await verifyPurchase(service, order);
  return order;
}

const periodOf = async ({ user }: Purchase) => {
  const { start, end } = await readSubscription(database, user.id) ?? {};
  return [start, end].map((time) => String(time).slice(0, 10));
};

describe('of purchases that extend each other', () => {
  test('a refund of the first starts the second at its purchase', async () => {
    const user = await createUser(database);
    const first = await buy(user, '2126-01-01T00:00:00Z');
    const second = await buy(user, '2126-03-01T00:00:00Z');
    expect(await periodOf(second)).toEqual(['2126-01-01', '2128-01-01']);
    await setClock(database, '2126-06-01T00:00:00Z');
    await refund(first);
    expect(await periodOf(second)).toEqual(['2126-03-01', '2127-03-01']);
    expect(await readTier(database, user.id)).toBe('pro');
    expect(await verifyPurchase(service, second)).toMatchObject({
      outcome: 'already_applied',
      valid_until: '2127-03-01T00:00:00.000Z',
    });
    await refund(second);
    expect(await readTier(database, user.id)).toBe('free');
  });

  test('a refund of the middle one moves the later ones up', async () => {
    const user = await createUser(database);
    const first = await buy(user, '2126-01-01T00:00:00Z');
    const [second, third] = [await buy(user, '2126-02-01T00:00:00Z'), await buy(user, '2126-03-01T00:00:00Z')];
    expect(await periodOf(third)).toEqual(['2126-01-01', '2129-01-01']);
    await refund(second);
    expect(await periodOf(third)).toEqual(['2126-01-01', '2128-01-01']);
    await refund(first);
    expect(await periodOf(third)).toEqual(['2126-03-01', '2127-03-01']);
  });

  test('a refund of the first ends access if the period of the second is over', async () => {
    const user = await createUser(database);
    const first = await buy(user, '2126-01-01T00:00:00Z');
    await buy(user, '2126-03-01T00:00:00Z');
    await setClock(database, '2127-06-01T00:00:00Z');
    await refund(first);
    expect(await readSubscription(database, user.id)).toMatchObject({ status: 'cancelled' });
    expect(await readTier(database, user.id)).toBe('free');
  });
});

describe('a refund of a purchase with a gateway subscription that was not charged yet', () => {
  const event = (event: SubscriptionEvent) => deliver(service, subscriptionEvent(event));
  const month = { start: '2126-06-01T00:00:00Z', end: '2126-07-01T00:00:00Z' };

  test.each([['before', ['activated', 'refund']], ['after', ['refund', 'activated']]])(
    'activated %s: no access until it is charged',
    async (_, steps) => {
      const order = await buy(await createUser(database), '2126-01-01T00:00:00Z');
      const of = { userId: order.user.id, id: uniqueId('sub') };
      await setClock(database, '2126-06-01T00:00:00Z');
      for (const step of steps) {
        expect(await (step === 'refund' ? refund(order) : event({ name: 'activated', ...of }))).toBe('applied');
      }
      expect(await readSubscription(database, of.userId)).toMatchObject({
        status: 'active',
        gateway_subscription_id: of.id,
        end: '2126-06-01T00:00:00.000Z',
      });
      expect(await readTier(database, of.userId)).toBe('free');
      await event({ name: 'charged', ...of, ...month });
      expect(await readTier(database, of.userId)).toBe('pro');
    },
  );

  test('activated after a cancellation: no access', async () => {
    const order = await buy(await createUser(database), '2126-01-01T00:00:00Z');
    const of = { userId: order.user.id, id: uniqueId('sub') };
    await event({ name: 'cancelled', ...of });
    await refund(order);
    await event({ name: 'activated', ...of });
    expect(await readTier(database, of.userId)).toBe('free');
  });
});

test('a refund that is unmatched until order.paid matches the order leaves nothing to fulfil', async () => {
  const order = await placeOrder(database);
  await database.query('update public.payments set gateway_order_id = null where id = $1', [order.id]);
  expect(await refund(order)).toBe('unmatched');
  const receipt = order.id.replaceAll('-', '');
  expect(await deliver(service, orderPaid({ id: order.paymentId }, { id: order.orderId, receipt }))).toBe('applied');
  expect(await readPayment(database, order.id)).toMatchObject({ status: 'captured', fulfilled_at: null });
  expect(await readSubscription(database, order.user.id)).toBeNull();
  expect(await readTier(database, order.user.id)).toBe('free');
});
