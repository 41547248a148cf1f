import { beforeAll, describe, expect, test } from 'vitest';
import { setClock } from '../helpers/database/clock.ts';
import { useDatabase } from '../helpers/database/use-database.ts';
import { changeEnvelope, disputeEvent, orderPaid, paymentCaptured, paymentFailed } from '../helpers/gateway/events.ts';
import { type PaymentFields, refundEvent, type RefundFields, subscriptionEvent } from '../helpers/gateway/events.ts';
import { seededRandom, shuffle } from '../helpers/orderings/permutations.ts';
import { paymentOf, placeOrder, type Purchase, verifyPurchase } from '../helpers/records/purchases.ts';
import { readRowsBesidesLedger } from '../helpers/records/read-records.ts';
import { createUser, uniqueId } from '../helpers/records/records.ts';
import { months } from '../helpers/records/time.ts';

const minute = 60_000;
const day = 86_400_000;
const start = Date.parse('2026-01-01T00:00:00Z');
const [ledgerDays, outboxDays] = [90, 30];

describe('a year of events that is delivered again after a purge with the shortest days', () => {
  const database = useDatabase({ findings: 'compared elsewhere' });
  /** The bodies in the order of their first delivery. */
  const bodies: string[] = [];
  let before: unknown;

  beforeAll(async () => {
    await orderAndRefund();
    await billYear();
    await cancelAtOnce();
    await replaceByPurchase();

    await setTime(start + (370 + ledgerDays) * day);
    await database.sweep();
    await database.query('update billing.outbox set delivered_at = billing.clock() where delivered_at is null');
    await setTime(start + (370 + ledgerDays + 91) * day);
    await database.sweep();
    while ((await database.rpc('purge_records', ledgerDays, outboxDays, 1100)).purged !== 0);
    before = await state();
  });

  const setTime = (at: number) => setClock(database, new Date(at).toISOString());
  const state = async () => ({
    rows: await readRowsBesidesLedger(database),
    findings: await database.query('select finding, subject, user_id, since from billing.findings order by 1, 2, 3'),
  });

  /** Delivers an event two seconds after its time. */
  async function deliverAt(at: number, body: string): Promise<unknown> {
    await setTime(at + 2000);
    bodies.push(changeEnvelope(body, { created_at: at / 1000 }));
    return await database.send(bodies.at(-1) ?? '');
  }
  const another = (of: Purchase) => ({ ...paymentOf(of), id: uniqueId('pay') });
  const fail = (at: number, of: Purchase, error_description: string) =>
    deliverAt(at, paymentFailed({ ...another(of), error_description }));
  const capture = (at: number, of: PaymentFields) => deliverAt(at, paymentCaptured(of));
  const refund = (at: number, of: PaymentFields, amount: number, which?: RefundFields) =>
    deliverAt(at, refundEvent(of, amount, which));
  const dispute = (at: number, of: PaymentFields, name: string, status = name) =>
    deliverAt(at, disputeEvent(name, status, of));
  /** An event about a cycle of a gateway subscription of pro, `month` months after the start. */
  const bill = (
    at: number,
    name: 'activated' | 'charged' | 'cancelled',
    [userId, id, month]: [string, string, number],
    payment?: PaymentFields,
  ) => {
    const of = { userId, id, planId: 'plan_pro', ...months(month + 1), createdAt: new Date(at).toISOString() };
    return deliverAt(at, subscriptionEvent({ name, ...of, ...(payment && { payment }) }));
  };
  const order = async (at: number, user?: Purchase['user'], tier = 'pro') => {
    await setTime(at);
    return await placeOrder(database, { ...(user && { user }), tier });
  };

  /** Failed attempts; a purchase with partial refunds and a dispute; one refunded in full; one paid twice. */
  async function orderAndRefund(): Promise<void> {
    const bought = await order(start);
    const paid = paymentOf(bought);
    await fail(start + minute, bought, 'Declined');
    await fail(start + 2 * minute, bought, 'Out of funds');
    await capture(start + 3 * minute, paid);
    await deliverAt(start + 3 * minute, orderPaid(paid, { id: bought.orderId }));
    await verifyPurchase(database.service, bought);
    const part = uniqueId('rfnd');
    await refund(start + 5 * day, paid, 100, { id: part, status: 'pending' });
    await refund(start + 6 * day, paid, 100, { id: part });
    await refund(start + 7 * day, paid, 200, { status: 'failed' });
    await dispute(start + 8 * day, paid, 'created', 'open');
    await dispute(start + 9 * day, paid, 'under_review');

    const unpaid = await order(start + 10 * day);
    for (const n of [1, 2, 3]) await fail(start + 10 * day + n * minute, unpaid, `Declined ${n}`);
    const returned = await order(start + 11 * day);
    await verifyPurchase(database.service, returned);
    await capture(start + 11 * day, paymentOf(returned));
    await refund(start + 12 * day, paymentOf(returned), 99900);
    await dispute(start + 13 * day, paymentOf(returned), 'created', 'open');
    await dispute(start + 14 * day, paymentOf(returned), 'lost');

    const twice = await order(start + 15 * day);
    await capture(start + 15 * day, paymentOf(twice));
    await capture(start + 15 * day + minute, another(twice));
    await refund(start + 16 * day, paymentOf(twice), 99900);
    await database.sweep();
  }

  /** Twelve cycles, one of which is refunded and one disputed. The gateway cancels the subscription at the end. */
  async function billYear(): Promise<void> {
    await setTime(start);
    const [{ id: userId }, id] = [await createUser(database), uniqueId('sub')];
    await bill(start, 'activated', [userId, id, 0]);
    for (let month = 0; month < 12; month += 1) {
      const at = Date.UTC(2026, month, 1);
      const of = { id: uniqueId('pay'), order_id: uniqueId('order') };
      await capture(at + minute, of);
      await bill(at + 2 * minute, 'charged', [userId, id, month], of);
      if (month === 3) await refund(at + day, of, 99900);
      if (month === 5) await dispute(at + day, of, 'created', 'open');
      if (month === 5) await dispute(at + 2 * day, of, 'action_required');
      await database.sweep();
    }
    await bill(Date.UTC(2026, 11, 20), 'cancelled', [userId, id, 11]);
  }

  /** Two subscriptions that their users cancel at once. The gateway confirms only one cancellation. */
  async function cancelAtOnce(): Promise<void> {
    for (const isConfirmed of [true, false]) {
      const at = start + 40 * day;
      await setTime(at);
      const [{ id: userId }, id] = [await createUser(database), uniqueId('sub')];
      await bill(at, 'activated', [userId, id, 1]);
      await bill(at + minute, 'charged', [userId, id, 1], { id: uniqueId('pay') });
      await setTime(at + day);
      await database.rpc('cancel_subscription', userId, false);
      await database.query('update billing.outbox set delivered_at = billing.clock() where delivered_at is null');
      if (isConfirmed) await bill(at + day + minute, 'cancelled', [userId, id, 1]);
    }
  }

  /** A subscription that a purchase replaces. */
  async function replaceByPurchase(): Promise<void> {
    const at = start + 60 * day;
    await setTime(at);
    const [user, id] = [await createUser(database), uniqueId('sub')];
    await bill(at, 'activated', [user.id, id, 2]);
    await bill(at + minute, 'charged', [user.id, id, 2]);
    const bought = await order(at + day, user, 'premium');
    await verifyPurchase(database.service, bought);
    await capture(at + day, paymentOf(bought));
    await bill(at + 30 * day, 'cancelled', [user.id, id, 2]);
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
    ['shuffled', () => shuffle(bodies, seededRandom(1))],
  ])('changes nothing: %s', async (_order, inOrder) => {
    await setTime(start + (370 + ledgerDays + 91) * day);
    await database.query('truncate billing.gateway_events cascade');
    for (const body of inOrder()) await database.send(body);
    expect(await database.query('select from billing.gateway_events')).toHaveLength(bodies.length);
    expect(await state()).toEqual(before);
    await database.sweep();
    expect(await state()).toEqual(before);
  });
});
