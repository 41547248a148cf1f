import type pg from 'pg';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { setEarlyRenewal } from '../helpers/database/early-renewal.ts';
import { openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { paymentCaptured, refundEvent, type RefundFields } from '../helpers/gateway/events.ts';
import { applyOrderPayments } from '../helpers/gateway/reconciliation.ts';
import { paymentOf, placeOrder, type Purchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { readPayment, readSubscription, readTier } from '../helpers/records/read-records.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';
import { endAccess } from '../helpers/records/support-actions.ts';

let database: TestDatabase;
let service: pg.Client;
let user: Purchase['user'];
beforeAll(async () => {
  database = await createTestDatabase();
  service = await openSession(database, { role: 'service_role' });
  await setEarlyRenewal(database, 'extend');
});
beforeEach(async () => {
  user = await createUser(database);
});
afterEach(async () => {
  await setClock(database, null);
  await database.query('truncate auth.users, public.payments, billing.outbox, billing.gateway_events cascade');
});
afterAll(() => database.close());

/** 10:00 on a day. */
const at = (day: string) => `${day}T10:00:00.000Z`;

/** Buys a month of basic, which extends a running one. */
async function buy(day: string, by: 'verify' | 'webhook' = 'verify'): Promise<Purchase> {
  await setClock(database, at(day));
  const order = await placeOrder(database, { user, tier: 'basic' });
  if (by === 'verify') {
    expect(await verifyPurchase(service, order)).toMatchObject({ outcome: 'applied' });
  } else {
    await deliver(service, paymentCaptured(paymentOf(order)));
  }
  return order;
}

const refund = (order: Purchase, which?: RefundFields) => deliver(service, refundEvent(paymentOf(order), 99900, which));

/** The periods of payments, as dates. */
const periods = (...orders: Purchase[]) =>
  Promise.all(orders.map(async ({ id }) => {
    const { period_start, period_end } = await readPayment(database, id);
    return [period_start, period_end].map((time) => time instanceof Date ? time.toISOString().slice(0, 10) : time);
  }));

/** The start and the end of the subscription, as dates. */
const shown = async () => {
  const { start, end } = await readSubscription(database, user.id) ?? {};
  return [start, end].map((time) => String(time).slice(0, 10));
};

test.each(['verify', 'webhook'] as const)(
  'a chain of early renewals by %s from 31 January ends on 28 February, 31 March, 30 April and 31 May',
  async (by) => {
    const ends: unknown[] = [];
    for (const day of ['2026-01-31', '2026-02-10', '2026-02-20', '2026-04-29']) {
      await buy(day, by);
      ends.push((await shown())[1]);
    }
    expect(ends).toEqual(['2026-02-28', '2026-03-31', '2026-04-30', '2026-05-31']);
    expect(await shown()).toEqual(['2026-01-31', '2026-05-31']);
  },
);

test('a chain through a leap year ends on 29 February', async () => {
  await buy('2028-01-30');
  await buy('2028-02-01');
  expect(await shown()).toEqual(['2028-01-30', '2028-03-30']);
  await buy('2028-02-02');
  expect(await shown()).toEqual(['2028-01-30', '2028-04-30']);
});

test('renewals in the days of grace and after the end start a new chain', async () => {
  await buy('2026-01-31');
  await buy('2026-03-01');
  expect(await shown()).toEqual(['2026-03-01', '2026-04-01']);
  await buy('2026-03-30');
  expect(await shown()).toEqual(['2026-03-01', '2026-05-01']);
});

test('a refund in the middle moves the later periods up and counts them from the first start', async () => {
  const orders = [await buy('2026-01-31'), await buy('2026-02-10'), await buy('2026-02-20'), await buy('2026-02-21')];
  const [first, second, third, fourth] = orders;
  if (!first || !second || !third || !fourth) throw new Error('no orders');
  const which = { id: uniqueId('rfnd') };
  await refund(second, which);
  expect(await periods(first, third, fourth)).toEqual([
    ['2026-01-31', '2026-02-28'],
    ['2026-02-28', '2026-03-31'],
    ['2026-03-31', '2026-04-30'],
  ]);
  expect(await shown()).toEqual(['2026-01-31', '2026-04-30']);

  await refund(second, { ...which, status: 'failed' });
  expect(await periods(...orders)).toEqual([
    ['2026-01-31', '2026-02-28'],
    ['2026-02-28', '2026-03-31'],
    ['2026-03-31', '2026-04-30'],
    ['2026-04-30', '2026-05-31'],
  ]);
  expect(await shown()).toEqual(['2026-01-31', '2026-05-31']);
});

test('a renewal that was never captured moves the later periods up', async () => {
  const first = await buy('2026-01-31');
  const second = await buy('2026-02-10');
  const third = await buy('2026-02-11');
  await setClock(database, at('2026-02-15'));
  expect(await applyOrderPayments(service, second, null)).toMatchObject({ ended: true });
  expect(await periods(first, third)).toEqual([['2026-01-31', '2026-02-28'], ['2026-02-28', '2026-03-31']]);
  expect(await shown()).toEqual(['2026-01-31', '2026-03-31']);
});

test('a payment whose access an admin ends moves the later periods up', async () => {
  const first = await buy('2026-01-31');
  const second = await buy('2026-02-10');
  await setClock(database, at('2026-02-15'));
  await endAccess(database, first.id);
  expect(await periods(second)).toEqual([['2026-02-10', '2026-03-10']]);
  expect(await shown()).toEqual(['2026-02-10', '2026-03-10']);
  expect(await readTier(database, user.id)).toBe('basic');
});

test('a refund of the last renewal ends the chain with the previous one', async () => {
  const first = await buy('2026-01-31');
  const second = await buy('2026-02-10');
  const third = await buy('2026-02-11');
  await refund(third);
  expect(await shown()).toEqual(['2026-01-31', '2026-03-31']);
  await refund(second);
  expect(await shown()).toEqual(['2026-01-31', '2026-02-28']);
  await refund(first);
  expect(await readSubscription(database, user.id)).toMatchObject({ status: 'cancelled' });
  expect(await readTier(database, user.id)).toBe('free');
});
