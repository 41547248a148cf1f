import { beforeEach, describe, expect, test } from 'vitest';
import { readFindings } from '../helpers/database/findings.ts';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import { sha256 } from '../helpers/gateway/deliver.ts';
import { orderPaid, paymentCaptured, paymentFailed } from '../helpers/gateway/events.ts';
import { alertsAbout, applyOrderPayments, listed } from '../helpers/gateway/reconciliation.ts';
import type { CustomerOrder } from '../helpers/records/customer.ts';
import { extraPayments, placeOrder } from '../helpers/records/purchases.ts';
import { readLedger, readPayment } from '../helpers/records/read-records.ts';
import { createPayment, uniqueId } from '../helpers/records/records.ts';

// Two captures are not of the order's amount and currency.
const database = useDatabase({ isEmptied: true, findings: { failed_events: 2 } });
const customer = useCustomer(database);
let order: CustomerOrder;
beforeEach(async () => {
  order = await customer.order('pro', { at: '01-01' });
});

const at = (time: string) => database.at(`2026-01-${time}:00Z`);
const claim = () => database.rpc('claim_payments_to_reconcile');
const claimed = async () => Object(await claim()).payments.map((payment: { id: string }) => payment.id);
const apply = (...payments: Record<string, unknown>[]) =>
  applyOrderPayments(database.service, order, listed(order, ...payments));
const dueAt = async (of = order) => (await of.row()).next_reconcile_at;
const alerts = () => alertsAbout(database, order.orderId);

describe('a payment is reconciled', () => {
  test('15 minutes and an hour after its order, and then not again: the statement finds what is paid later', async () => {
    for (const time of ['01T00:15', '01T01:00']) {
      expect(await dueAt()).toEqual(new Date(`2026-01-${time}:00Z`));
      await at(time);
      expect(await claimed()).toEqual([order.id]);
      await apply();
    }
    expect(await order.row()).toMatchObject({ next_reconcile_at: null, status: 'created' });
    expect(await customer.tier()).toBe('free');
  });

  test('once, and again after its lease of five minutes expired', async () => {
    for (const [time, ids] of [['00:14', []], ['00:15', [order.id]], ['00:19', []], ['00:20', [order.id]]] as const) {
      await at(`01T${time}`);
      expect(await claimed(), time).toEqual(ids);
    }
  });

  test('not before it has an order id, and then from its next step on', async () => {
    await database.query('update public.payments set gateway_order_id = null');
    await at('01T03:00');
    expect(await claimed()).toEqual([]);
    await database.query('update public.payments set gateway_order_id = $1', [order.orderId]);
    expect(await claimed()).toEqual([order.id]);
  });

  test('not after the gateway confirmed the capture of a fulfilled payment', async () => {
    await order.capture();
    await at('01T00:15');
    expect(await claim()).toEqual({ settled: 1, payments: [] });
    expect(await claim()).toEqual({ settled: 0, payments: [] });
    expect(await dueAt()).toBeNull();
  });

  test('that was verified and not confirmed also after 120 hours, and then not again', async () => {
    await order.verify();
    for (const time of ['01T00:15', '01T01:00', '06T00:00']) {
      expect(await dueAt()).toEqual(new Date(`2026-01-${time}:00Z`));
      await at(time);
      expect(await claimed()).toEqual([order.id]);
      await apply({ status: 'authorized' });
    }
    expect(await dueAt()).toBeNull();
  });

  test('relative to its verification if the customer verifies it after the last step of its order', async () => {
    await at('06T00:00');
    await apply();
    await at('20T00:00');
    await order.verify();
    expect(await dueAt()).toEqual(new Date('2026-01-20T00:15:00Z'));
    await at('20T00:15');
    expect(await claimed()).toEqual([order.id]);
    await apply({ status: 'authorized' });
    expect(await dueAt()).toEqual(new Date('2026-01-20T01:00:00Z'));
  });

  test('20 at a time, the earliest due first', async () => {
    const ids = [order.id];
    for (let n = 1; n < 25; n += 1) ids.push((await createPayment(database, { userId: customer.id })).id);
    await database.query(
      `update public.payments set next_reconcile_at = billing.clock() + make_interval(secs => i - 1)
       from unnest($1::uuid[]) with ordinality n (of, i) where id = of`,
      [ids],
    );
    await at('01T01:00');
    expect(new Set(await claimed())).toEqual(new Set(ids.slice(0, 20)));
    expect(new Set(await claimed())).toEqual(new Set(ids.slice(20)));
  });
});

describe('an answer of the gateway about an order', () => {
  test.each(['created', 'failed'])('with a capture fulfils a %s payment, with mail and alert', async (status) => {
    if (status === 'failed') await database.send(paymentFailed({ id: 'pay_A', order_id: order.orderId }));
    await at('01T00:15');
    expect(await apply({ status: 'captured' })).toEqual({ applied: 1, ended: false });
    expect(await customer.state()).toBe('pro: pro active to 2027-01-01T00:15:00.000Z');
    expect(await customer.mails()).toContain(`payment-success/${order.id}`);
    expect([await alerts(), await dueAt()]).toEqual([['missed_webhook'], null]);
    await database.send(paymentCaptured({ id: uniqueId('pay') }));
  });

  test('is in the ledger without a delivery, and changes nothing the second time, nor does a later webhook', async () => {
    await apply({ status: 'captured' });
    const key = `reconcile:${order.paymentId}:captured`;
    const row = { event: 'payment.captured', event_id: key, deliveries: 0, attempts: 1, outcome: 'applied' };
    expect(await readLedger(database, sha256(key))).toMatchObject(row);
    const before = await customer.state();
    expect(await apply({ status: 'captured' })).toEqual({ applied: 0, ended: false });
    expect(await order.capture()).toBe('already');
    expect([await customer.state(), await customer.mails()]).toEqual([before, [`payment-success/${order.id}`]]);
  });

  test('with failed attempts around two captures fulfils once, without a failure mail', async () => {
    const answer = ['failed', 'captured', 'captured', 'failed'].map((status, index) => ({
      id: `pay_${index}`,
      status,
    }));
    await apply(...answer);
    expect(await order.row()).toMatchObject({ status: 'captured', gateway_payment_id: 'pay_1' });
    expect(await customer.mails()).toEqual([`payment-success/${order.id}`]);
    expect(await extraPayments(database, order)).toEqual(['pay_2']);
  });

  test('with a failed attempt marks the payment, enqueues one mail, and the payment stays due', async () => {
    await at('01T00:15');
    for (let i = 0; i < 2; i++) await apply({ status: 'failed', error_description: 'Declined' });
    const next = new Date('2026-01-01T01:00:00Z');
    expect(await order.row()).toMatchObject({ status: 'failed', next_reconcile_at: next });
    expect(await customer.mails()).toEqual([`payment-failed/${order.paymentId}`]);
  });

  test.each([{ amount: 100 }, { currency: 'USD' }])('with a capture of %j fulfils nothing', async (field) => {
    await apply({ status: 'captured', ...field });
    expect(await order.row()).toMatchObject({ fulfilled_at: null });
    expect(await customer.tier()).toBe('free');
  });

  test('counts for the order that was read, whatever order the payment names', async () => {
    const other = await database.customer();
    const { orderId } = await other.order('pro');
    await apply({ status: 'captured', order_id: orderId });
    expect([await customer.tier(), await other.tier()]).toEqual(['pro', 'free']);
  });

  test('without a plan is applied by the sweep when the plan exists, and the payment is not read again', async () => {
    const gold = await placeOrder(database, { user: customer, tier: 'gold' });
    await applyOrderPayments(database.service, gold, listed(gold, { status: 'captured' }));
    const read = () => readPayment(database, gold.id);
    expect(await read()).toMatchObject({ status: 'captured', fulfilled_at: null, next_reconcile_at: null });
    await database.query("insert into public.plans (tier, name, price) values ('gold', 'Gold', 99900)");
    await database.sweep();
    expect(await read()).toMatchObject({ fulfilled_at: expect.any(Date), next_reconcile_at: null });
    expect(await customer.tier()).toBe('gold');
  });
});

describe('an answer about a verified payment', () => {
  beforeEach(async () => {
    await order.verify();
    await at('01T00:15');
  });
  const refund = (amount: number, status: string) => ({ id: uniqueId('rfnd'), entity: 'refund', amount, status });

  test('with the capture confirms it, which ends its reconciliation and raises an alert', async () => {
    await apply({ status: 'captured' });
    const times = { confirmed_at: new Date('2026-01-01T00:15:00Z'), fulfilled_at: new Date('2026-01-01T00:00:00Z') };
    expect(await order.row()).toMatchObject({ ...times, next_reconcile_at: null });
    expect(await alerts()).toEqual(['missed_webhook']);
    await database.send(paymentCaptured({ id: uniqueId('pay') }));
  });

  test('raises no alert if a webhook arrived that could not be applied', async () => {
    const paid = { id: order.paymentId, amount: 1, status: 'created' };
    await database.send(orderPaid(paid, { id: order.orderId }));
    await database.query('update public.payments set confirmed_at = null');
    await apply({ status: 'captured' });
    expect(await alerts()).toEqual([]);
  });

  test('with refunds of the whole amount ends access at once; gives it again if a processed refund fails', async () => {
    const refunds = [refund(60000, 'processed'), refund(39900, 'processed')];
    const answer = await apply({ status: 'refunded', amount_refunded: 99900, refunds });
    expect(answer).toEqual({ applied: 2, ended: false });
    expect(await customer.state()).toMatch(/^free: pro cancelled/);
    expect(await dueAt()).toBeNull();
    await apply({ status: 'captured', refunds: [{ ...refunds[1], status: 'failed' }] });
    expect(await customer.tier()).toBe('pro');
    expect(await order.row()).toMatchObject({ refunded_amount: '60000', ended_at: null });
  });

  test.each<[string, Record<string, unknown>, string]>([
    ['amount_refunded, which counts pending refunds', { status: 'captured', amount_refunded: 99900 }, '0'],
    ['the status alone', { status: 'refunded', amount_refunded: null }, '0'],
    ['a pending refund', { status: 'refunded', refunds: [refund(99899, 'processed'), refund(1, 'pending')] }, '99899'],
    ['a failed refund', { status: 'captured', refunds: [refund(99899, 'processed'), refund(1, 'failed')] }, '99899'],
    ['a part', { status: 'captured', amount_refunded: 100, refunds: [refund(100, 'processed')] }, '100'],
  ])('keeps access where only %s shows a refund', async (_, field, refunded_amount) => {
    await apply(field);
    expect(await order.row()).toMatchObject({ refunded_amount, status: 'captured' });
    expect(await customer.state()).toMatch(/^pro: pro active/);
  });

  test('keeps access if another payment on the order was captured, which then counts', async () => {
    await at('06T00:00');
    expect(await apply({ id: 'pay_other', status: 'captured' })).toMatchObject({ ended: false });
    expect(await customer.tier()).toBe('pro');
    expect(await order.row()).toMatchObject({ gateway_payment_id: 'pay_other', next_reconcile_at: null });
    expect(await extraPayments(database, order)).toEqual([order.paymentId]);
  });
});

describe('a run of the reconciliation', () => {
  const [first, second] = [crypto.randomUUID(), crypto.randomUUID()];
  const begin = async (run: string) => (await database.rpc('begin_reconciliation', run)).began;
  const end = (run: string, isDone: boolean) => database.rpc('end_reconciliation', run, isDone);
  const where = "where name = 'reconciliation'";
  const readJob = () => database.one(`select done_at, run_id, run_until from billing.scheduled_jobs ${where}`);

  beforeEach(() => database.query('update billing.scheduled_jobs set run_id = null, run_until = null, done_at = null'));

  test('starts only after the one before it ended', async () => {
    expect([await begin(first), await begin(second), await begin(first)]).toEqual([true, false, false]);
    await end(first, true);
    expect(await begin(second)).toBe(true);
  });

  test('that crashed stops the others until its lease of 75 seconds expires; its late end does not end the next', async () => {
    await begin(first);
    const lease = "run_until between now() + interval '60 seconds' and now() + interval '75 seconds' as is_right";
    expect(await database.one(`select ${lease} from billing.scheduled_jobs ${where}`)).toEqual({ is_right: true });
    await database.query(`update billing.scheduled_jobs set run_until = now() ${where}`);
    expect(await begin(second)).toBe(true);
    await end(first, true);
    expect(await readJob()).toMatchObject({ done_at: null, run_id: second });
    expect(await begin(first)).toBe(false);
  });

  test('stores its end if it is complete, and keeps that of the last complete one if not', async () => {
    const ended = { run_id: null, run_until: null };
    const run = async (isDone: boolean) => {
      await begin(first);
      await end(first, isDone);
      return await readJob();
    };
    expect(await run(false)).toEqual({ ...ended, done_at: null });
    const complete = await run(true);
    expect(complete).toEqual({ ...ended, done_at: expect.any(Date) });
    expect(await run(false)).toEqual(complete);
  });

  test('leaves a backlog where something is due for two hours although the runs get answers', async () => {
    const backlog = async () =>
      (await readFindings(database)).flatMap(([finding, subject]) =>
        finding === 'reconciliation_backlog' ? [subject] : []
      );
    /** Makes both due for so many minutes, and ends the last run. */
    const set = async (payments: number, subscriptions: number, run: number) => {
      const ago = (minutes: number) => `now() - interval '${minutes} minutes'`;
      await database.query(`
        update public.payments set next_reconcile_at = ${ago(payments)};
        update billing.gateway_subscriptions set next_check_at = ${ago(subscriptions)};
        update billing.scheduled_jobs set done_at = ${ago(run)} ${where}`);
      return await backlog();
    };
    await database.at(null);
    const insert = 'insert into billing.gateway_subscriptions (user_id, gateway_subscription_id, arrived_at)';
    await database.query(`${insert} values ($1, 'sub', now())`, [customer.id]);
    expect(await set(119, 119, 0)).toEqual([]);
    expect(await set(119, 121, 0)).toEqual(['gateway_subscriptions']);
    expect(await set(121, 121, 16)).toEqual([]);
    expect(await set(121, 121, 0)).toEqual(['gateway_subscriptions', 'payments']);
    for (const what of ['payments', 'subscriptions']) await database.rpc(`claim_${what}_to_reconcile`);
    expect(await backlog()).toEqual([]);
  });
});
