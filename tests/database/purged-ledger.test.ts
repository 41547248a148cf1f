import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { sweep } from '../../scripts/stack/postgres/sweep.ts';
import { setClock } from '../helpers/database/clock.ts';
import { callRpc, openSession } from '../helpers/database/session.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { deliver } from '../helpers/gateway/deliver.ts';
import { type EntityFields, type Fields, gatewayEvent } from '../helpers/gateway/events.ts';
import { seededRandom, shuffle } from '../helpers/orderings/permutations.ts';
import { placeOrder, type Purchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { readRowsBesidesLedger } from '../helpers/records/read-records.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';

// The events of a year, each delivered once more after the ledger was purged.

const minute = 60_000;
const day = 86_400_000;
const start = Date.parse('2026-01-01T00:00:00Z');

describe.each([
  ['the default days', 400, 30],
  ['the shortest days', 90, 30],
])('a year of events that is delivered again after a purge with %s', (_name, ledgerDays, outboxDays) => {
  let database: TestDatabase;
  let service: pg.Client;
  /** The bodies in the order of their first delivery. */
  const bodies: string[] = [];
  let before: unknown;

  beforeAll(async () => {
    database = await createTestDatabase({ findings: 'compared elsewhere' });
    service = await openSession(database, { role: 'service_role' });
    await database.query("update public.plans set gateway_plan_id = 'plan_pro' where tier = 'pro'");
    await runYear();
    await setTime(start + (370 + ledgerDays) * day);
    await database.query(sweep);
    await database.query('update billing.outbox set delivered_at = billing.clock() where delivered_at is null');
    await setTime(start + (370 + ledgerDays + 91) * day);
    await database.query(sweep);
    for (let batch = 0; batch < 20; batch += 1) {
      await callRpc(service, 'purge_records', ledgerDays, outboxDays, 1100);
    }
    before = await state();
  });
  afterAll(() => database.close());

  const setTime = (at: number) => setClock(database, new Date(at).toISOString());
  const state = async () => ({
    rows: await readRowsBesidesLedger(database),
    findings: await database.query('select finding, subject, user_id, since from billing.findings order by 1, 2, 3'),
  });

  /** Delivers an event two seconds after its time. */
  async function deliverAt(at: number, event: string, entities: EntityFields): Promise<unknown> {
    await setTime(at + 2000);
    const body = gatewayEvent(event, entities, { createdAt: new Date(at).toISOString() });
    bodies.push(body);
    return await deliver(service, body);
  }

  const payment = ({ orderId, paymentId }: Purchase, fields: Fields = {}) => ({
    id: paymentId,
    order_id: orderId,
    ...fields,
  });
  const attempt = (order: Purchase, error_description: string) =>
    payment(order, { id: uniqueId('pay'), status: 'failed', error_code: 'BAD_REQUEST_ERROR', error_description });
  const refund = (of: Fields, amount: number, status: string, id = uniqueId('rfnd')) => ({
    payment: of,
    refund: { id, payment_id: of.id, amount, status },
  });
  const dispute = (of: Fields, status: string) => ({ payment: of, dispute: { id: 'disp', payment_id: of.id, status } });

  /** A cycle of a gateway subscription, `month` months after the start. */
  const cycle = (userId: string, id: string, month: number) => ({
    id,
    plan_id: 'plan_pro',
    status: 'active',
    current_start: Date.UTC(2026, month, 1) / 1000,
    current_end: Date.UTC(2026, month + 1, 1) / 1000,
    notes: { user_id: userId },
  });
  const order = async (at: number, user?: Purchase['user'], tier = 'pro') => {
    await setTime(at);
    return await placeOrder(database, { ...(user && { user }), tier });
  };

  async function runYear(): Promise<void> {
    await orderAndRefund();
    await billYear();
    await cancelAtOnce();
    await replaceByPurchase();
    await failAtTheEnd();
  }

  /** Failed attempts; a purchase with partial refunds and a dispute; one refunded in full; one paid twice. */
  async function orderAndRefund(): Promise<void> {
    const bought = await order(start);
    const paid = payment(bought);
    await deliverAt(start + minute, 'payment.failed', { payment: attempt(bought, 'Declined') });
    await deliverAt(start + 2 * minute, 'payment.failed', { payment: attempt(bought, 'Out of funds') });
    await deliverAt(start + 3 * minute, 'payment.captured', { payment: paid });
    await deliverAt(start + 3 * minute, 'order.paid', { payment: paid, order: { id: bought.orderId } });
    await verifyPurchase(service, bought);
    const part = uniqueId('rfnd');
    await deliverAt(start + 5 * day, 'refund.created', refund(paid, 100, 'pending', part));
    await deliverAt(start + 6 * day, 'refund.processed', refund(paid, 100, 'processed', part));
    await deliverAt(start + 7 * day, 'refund.failed', refund(paid, 200, 'failed'));
    await deliverAt(start + 8 * day, 'payment.dispute.created', dispute(paid, 'open'));
    await deliverAt(start + 9 * day, 'payment.dispute.under_review', dispute(paid, 'under_review'));

    const unpaid = await order(start + 10 * day);
    for (const description of ['Declined', 'Out of funds', 'Timed out']) {
      await deliverAt(start + 10 * day + bodies.length * minute, 'payment.failed', {
        payment: attempt(unpaid, description),
      });
    }
    const returned = await order(start + 11 * day);
    await verifyPurchase(service, returned);
    await deliverAt(start + 11 * day, 'payment.captured', { payment: payment(returned) });
    await deliverAt(start + 12 * day, 'refund.processed', refund(payment(returned), 99900, 'processed'));
    await deliverAt(start + 13 * day, 'payment.dispute.created', dispute(payment(returned), 'open'));
    await deliverAt(start + 14 * day, 'payment.dispute.lost', dispute(payment(returned), 'lost'));

    const twice = await order(start + 15 * day);
    const extra = payment(twice, { id: uniqueId('pay') });
    await deliverAt(start + 15 * day, 'payment.captured', { payment: payment(twice) });
    await deliverAt(start + 15 * day + minute, 'payment.captured', { payment: extra });
    await deliverAt(start + 16 * day, 'refund.processed', refund(payment(twice), 99900, 'processed'));
    await database.query(sweep);
  }

  /** Twelve cycles, one of which is refunded and one disputed. The gateway cancels the subscription at the end. */
  async function billYear(): Promise<void> {
    await setTime(start);
    const { id: userId } = await createUser(database);
    const id = uniqueId('sub');
    await deliverAt(start, 'subscription.activated', { subscription: cycle(userId, id, 0) });
    for (let month = 0; month < 12; month += 1) {
      const at = Date.UTC(2026, month, 1);
      const of = { id: uniqueId('pay'), order_id: uniqueId('order') };
      await deliverAt(at + minute, 'payment.captured', { payment: of });
      await deliverAt(at + 2 * minute, 'subscription.charged', { subscription: cycle(userId, id, month), payment: of });
      if (month === 3) await deliverAt(at + day, 'refund.processed', refund(of, 99900, 'processed'));
      if (month === 5) {
        await deliverAt(at + day, 'payment.dispute.created', dispute(of, 'open'));
        await deliverAt(at + 2 * day, 'payment.dispute.action_required', dispute(of, 'action_required'));
      }
      await database.query(sweep);
    }
    const last = Date.UTC(2026, 11, 20);
    await deliverAt(last, 'subscription.cancelled', {
      subscription: { ...cycle(userId, id, 11), status: 'cancelled' },
    });
  }

  /** Two subscriptions that their users cancel at once. The gateway confirms only one cancellation. */
  async function cancelAtOnce(): Promise<void> {
    for (const isConfirmed of [true, false]) {
      const at = start + 40 * day;
      await setTime(at);
      const { id: userId } = await createUser(database);
      const id = uniqueId('sub');
      await deliverAt(at, 'subscription.activated', { subscription: cycle(userId, id, 1) });
      const of = { id: uniqueId('pay') };
      await deliverAt(at + minute, 'subscription.charged', { subscription: cycle(userId, id, 1), payment: of });
      await setTime(at + day);
      await callRpc(service, 'cancel_subscription', userId, false);
      await database.query('update billing.outbox set delivered_at = billing.clock() where delivered_at is null');
      if (isConfirmed) {
        await deliverAt(at + day + minute, 'subscription.cancelled', { subscription: cycle(userId, id, 1) });
      }
    }
  }

  /** A subscription that a purchase replaces. */
  async function replaceByPurchase(): Promise<void> {
    const at = start + 60 * day;
    await setTime(at);
    const user = await createUser(database);
    const id = uniqueId('sub');
    await deliverAt(at, 'subscription.activated', { subscription: cycle(user.id, id, 2) });
    await deliverAt(at + minute, 'subscription.charged', { subscription: cycle(user.id, id, 2) });
    const bought = await order(at + day, user, 'premium');
    await verifyPurchase(service, bought);
    await deliverAt(at + day, 'payment.captured', { payment: payment(bought) });
    await deliverAt(at + 30 * day, 'subscription.cancelled', { subscription: cycle(user.id, id, 2) });
  }

  /** The newest order of the year has only failed attempts. */
  async function failAtTheEnd(): Promise<void> {
    const late = await order(start + 369 * day);
    await deliverAt(start + 369 * day + minute, 'payment.failed', { payment: attempt(late, 'Declined') });
    await deliverAt(start + 369 * day + 2 * minute, 'payment.failed', { payment: attempt(late, 'Timed out') });
  }

  test('leaves an empty ledger, and in the outbox only the cancellation of a subscription that may still be billed', async () => {
    expect(bodies.length).toBeGreaterThan(50);
    expect(await database.query('select event, outcome from billing.gateway_events')).toEqual([]);
    const left = await database.query('select kind, delivered_at is not null as is_delivered from billing.outbox');
    expect(left).toEqual([{ kind: 'cancel-subscription', is_delivered: true }]);
  });

  test.each([
    ['in the first order', () => bodies],
    ['reversed', () => bodies.toReversed()],
    ...[1, 2, 3, 4, 5].map((seed): [string, () => string[]] => [
      `shuffled, seed ${seed}`,
      () => shuffle(bodies, seededRandom(seed)),
    ]),
  ])('changes nothing: %s', async (_order, inOrder) => {
    await database.query('truncate billing.gateway_events cascade');
    for (const body of inOrder()) await deliver(service, body);
    expect(await database.query('select from billing.gateway_events')).toHaveLength(bodies.length);
    expect(await state()).toEqual(before);
    await database.query(sweep);
    expect(await state()).toEqual(before);
  });

  test('does not stop an event that was never delivered before: it is applied', async () => {
    await database.query('truncate billing.gateway_events cascade');
    const late = await order(start + 800 * day);
    expect(await deliverAt(start + 800 * day, 'payment.captured', { payment: payment(late) })).toBe('applied');
    expect(await database.query("select from billing.outbox where kind = 'payment-success'")).toHaveLength(1);
  });
});
