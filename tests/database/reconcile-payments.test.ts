import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { paymentCaptured } from '../helpers/gateway/events.ts';
import { applyOrderPayments, listed, orderedAt } from '../helpers/gateway/reconciliation.ts';
import { paymentOf, type Purchase, readPurchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { readPayment } from '../helpers/records/read-records.ts';
import { createPayment, createUser, uniqueId } from '../helpers/records/records.ts';

let database: TestDatabase;
let service: pg.Client;
beforeAll(async () => {
  database = await createTestDatabase();
  service = await openSession(database, { role: 'service_role' });
});
afterEach(async () => {
  await setClock(database, null);
  await database.query('update public.payments set next_reconcile_at = null');
});
afterAll(() => database.close());

const ordered = () => orderedAt(database, '2026-01-01T00:00:00Z');
const claim = () => callRpc(service, 'claim_payments_to_reconcile');
const claimed = async () => Object(await claim()).payments.map((payment: { id: string }) => payment.id);
const apply = (order: Purchase, answer: unknown[] | null) => applyOrderPayments(service, order, answer);
const dueAt = async ({ id }: Purchase) => (await readPayment(database, id)).next_reconcile_at;

describe('a payment is reconciled', () => {
  test('15 minutes, 1, 6, 24, 72 and 120 hours after its order, and then not again', async () => {
    const order = await ordered();
    for (const time of ['01T00:15', '01T01:00', '01T06:00', '02T00:00', '04T00:00', '06T00:00']) {
      expect(await dueAt(order)).toEqual(new Date(`2026-01-${time}:00Z`));
      await setClock(database, `2026-01-${time}:00Z`);
      expect(await claimed()).toEqual([order.id]);
      await apply(order, []);
    }
    expect(await dueAt(order)).toBeNull();
    expect(await readPurchase(database, order)).toMatchObject({ status: 'created', tier: 'free' });
  });

  test('once, and again after its lease of five minutes expired', async () => {
    const order = await ordered();
    await setClock(database, '2026-01-01T00:14:59Z');
    expect(await claimed()).toEqual([]);
    await setClock(database, '2026-01-01T00:15:00Z');
    expect(await claimed()).toEqual([order.id]);
    expect(await claimed()).toEqual([]);
    await setClock(database, '2026-01-01T00:20:00Z');
    expect(await claimed()).toEqual([order.id]);
  });

  test('not before it has an order id, and then from its next step on', async () => {
    await setClock(database, '2026-01-01T00:00:00Z');
    const { id: userId } = await createUser(database);
    const { id } = await database.one(
      'insert into public.payments (user_id, amount) values ($1, 99900) returning id',
      [userId],
    );
    await setClock(database, '2026-01-01T03:00:00Z');
    expect(await claimed()).toEqual([]);
    await database.query('update public.payments set gateway_order_id = $2 where id = $1', [id, uniqueId('order')]);
    expect(await claimed()).toEqual([id]);
  });

  test('not after the gateway confirmed the capture of a fulfilled payment', async () => {
    const order = await ordered();
    await deliver(service, paymentCaptured(paymentOf(order)));
    await setClock(database, '2026-01-01T00:15:00Z');
    expect(await claim()).toEqual({ settled: 1, payments: [] });
    expect(await claim()).toEqual({ settled: 0, payments: [] });
    expect(await dueAt(order)).toBeNull();
  });

  test('relative to its verification if the customer verifies it after the last step of its order', async () => {
    const order = await ordered();
    await setClock(database, '2026-01-06T00:00:00Z');
    await apply(order, []);
    await setClock(database, '2026-01-20T00:00:00Z');
    await verifyPurchase(service, order);
    expect(await dueAt(order)).toEqual(new Date('2026-01-20T00:15:00Z'));
    await setClock(database, '2026-01-20T00:15:00Z');
    expect(await claimed()).toEqual([order.id]);
    await apply(order, listed(order, { status: 'authorized' }));
    expect(await dueAt(order)).toEqual(new Date('2026-01-20T01:00:00Z'));
  });

  test('20 at a time, the earliest due first', async () => {
    const { id: userId } = await createUser(database);
    const ids: string[] = [];
    for (let second = 0; second < 25; second += 1) {
      await setClock(database, new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString());
      ids.push((await createPayment(database, { userId })).id);
    }
    await setClock(database, '2026-01-01T01:00:00Z');
    expect(new Set(await claimed())).toEqual(new Set(ids.slice(0, 20)));
    expect(new Set(await claimed())).toEqual(new Set(ids.slice(20)));
  });
});
