import { beforeEach, describe, expect, test } from 'vitest';
import { useDatabase } from '../helpers/database/use-database.ts';
import { orderPaid, paymentCaptured, paymentFailed } from '../helpers/gateway/events.ts';
import { alertsAbout, applyOrderPayments, listed } from '../helpers/gateway/reconciliation.ts';
import type { Customer, CustomerOrder } from '../helpers/records/customer.ts';
import { extraPayments, paymentOf, placeOrder, type Purchase } from '../helpers/records/purchases.ts';
import { createPayment, uniqueId } from '../helpers/records/records.ts';

// Two captures are not of the order's amount and currency.
const database = useDatabase({ isEmptied: true, findings: { failed_events: 2 } });
let customer: Customer;
let order: CustomerOrder;
beforeEach(async () => {
  customer = await database.customer();
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
  test('15 minutes, 1, 6, 24, 72 and 120 hours after its order, and then not again', async () => {
    for (const time of ['01T00:15', '01T01:00', '01T06:00', '02T00:00', '04T00:00', '06T00:00']) {
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
    const inserted = 'insert into public.payments (user_id, amount) values ($1, 99900) returning id';
    const { id } = await database.one(inserted, [customer.id]);
    await database.query('delete from public.payments where id = $1', [order.id]);
    await at('01T03:00');
    expect(await claimed()).toEqual([]);
    await database.query('update public.payments set gateway_order_id = $1', [order.orderId]);
    expect(await claimed()).toEqual([id]);
  });

  test('not after the gateway confirmed the capture of a fulfilled payment', async () => {
    await order.capture();
    await at('01T00:15');
    expect(await claim()).toEqual({ settled: 1, payments: [] });
    expect(await claim()).toEqual({ settled: 0, payments: [] });
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

  test('is in the ledger as reconcile:<payment id>:<status>, with no delivery', async () => {
    await apply({ status: 'captured' });
    const key = `reconcile:${order.paymentId}:captured`;
    expect(
      await database.one(
        `select event, event_id, deliveries, attempts, outcome from billing.gateway_events
         where body_sha256 = sha256(convert_to($1, 'UTF8'))`,
        [key],
      ),
    ).toEqual({ event: 'payment.captured', event_id: key, deliveries: 0, attempts: 1, outcome: 'applied' });
  });

  test('changes nothing the second time, nor does a webhook that arrives later', async () => {
    await apply({ status: 'captured' });
    const state = async () => [await customer.state(), await customer.mails()];
    const before = await state();
    expect(await apply({ status: 'captured' })).toEqual({ applied: 0, ended: false });
    expect(await order.capture()).toBe('already');
    expect(await database.send(orderPaid(paymentOf(order), { id: order.orderId }))).toBe('already');
    expect(await state()).toEqual(before);
    expect(before[1]).toEqual([`payment-success/${order.id}`]);
  });

  test('with failed attempts around a successful one enqueues no failure mail', async () => {
    await apply({ id: 'pay_A', status: 'failed' }, { status: 'captured' }, { id: 'pay_C', status: 'failed' });
    expect(await order.row()).toMatchObject({ status: 'captured', gateway_payment_id: order.paymentId });
    expect(await customer.mails()).toEqual([`payment-success/${order.id}`]);
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

  test('without a plan keeps the payment due until the plan exists and it is fulfilled', async () => {
    const gold: Purchase = await placeOrder(database, { user: customer, tier: 'gold' });
    const answer = listed(gold, { status: 'captured' });
    const read = () =>
      database.one('select status, fulfilled_at, next_reconcile_at from public.payments where id = $1', [gold.id]);
    await applyOrderPayments(database.service, gold, answer);
    expect(await read()).toEqual({ status: 'captured', fulfilled_at: null, next_reconcile_at: expect.any(Date) });
    await database.query("insert into public.plans (tier, name, price) values ('gold', 'Gold', 99900)");
    await applyOrderPayments(database.service, gold, answer);
    expect(await read()).toEqual({ status: 'captured', fulfilled_at: expect.any(Date), next_reconcile_at: null });
    expect(await customer.tier()).toBe('gold');
  });

  test('with two captures fulfils once and leaves one extra payment', async () => {
    await apply({ id: 'pay_1', status: 'captured' }, { id: 'pay_2', status: 'captured' });
    expect(await order.row()).toMatchObject({ gateway_payment_id: 'pay_1' });
    expect([await customer.tier(), await extraPayments(database, order)]).toEqual(['pro', ['pay_2']]);
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

  test('with refunds of the whole amount ends access at once', async () => {
    const refunds = [refund(60000, 'processed'), refund(39900, 'processed')];
    const answer = await apply({ status: 'refunded', amount_refunded: 99900, refunds });
    expect(answer).toEqual({ applied: 2, ended: false });
    expect(await customer.state()).toMatch(/^free: pro cancelled/);
    expect(await dueAt()).toBeNull();
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

  test('gives access again if its processed refund fails', async () => {
    const processed = refund(99900, 'processed');
    await apply({ status: 'refunded', refunds: [processed] });
    expect(await customer.tier()).toBe('free');
    await apply({ status: 'captured', refunds: [{ ...processed, status: 'failed' }] });
    expect(await customer.tier()).toBe('pro');
    expect(await order.row()).toMatchObject({ refunded_amount: '0', ended_at: null });
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
  const expire = () => database.query(`update billing.scheduled_jobs set run_until = now() ${where}`);
  beforeEach(() => database.query('update billing.scheduled_jobs set run_id = null, run_until = null, done_at = null'));

  test('starts only after the one before it ended', async () => {
    expect([await begin(first), await begin(second), await begin(first)]).toEqual([true, false, false]);
    await end(first, true);
    expect(await begin(second)).toBe(true);
  });

  test('that crashed stops the others until its lease of 75 seconds expires; its late end does not end the next', async () => {
    await begin(first);
    const { seconds } = await database.one(
      `select round(extract(epoch from run_until - now()))::int as seconds from billing.scheduled_jobs ${where}`,
    );
    expect(seconds).toBeGreaterThan(60);
    expect(seconds).toBeLessThanOrEqual(75);
    await expire();
    expect(await begin(second)).toBe(true);
    await end(first, true);
    expect(await readJob()).toMatchObject({ done_at: null, run_id: second });
    expect(await begin(first)).toBe(false);
  });

  test('stores its end if it is complete, and keeps that of the last complete one if not', async () => {
    const ended = { run_id: null, run_until: null };
    await begin(first);
    await end(first, false);
    expect(await readJob()).toEqual({ ...ended, done_at: null });
    await begin(second);
    await end(second, true);
    const stored = await readJob();
    expect(stored).toEqual({ ...ended, done_at: expect.any(Date) });
    await begin(first);
    await end(first, false);
    expect(await readJob()).toEqual(stored);
  });

  test('leaves a backlog where something is due for two hours although the runs get answers', async () => {
    const backlog = async () =>
      (await database.query(
        `select subject || ' ' || (detail ->> 'due') as text from billing.findings
         where finding = 'reconciliation_backlog' order by 1`,
      )).map(({ text }) => text);
    const setDue = (table: string, column: string) => (ago: string) =>
      database.query(`update ${table} set ${column} = now() - interval '${ago}'`);
    const paymentsDue = setDue('public.payments', 'next_reconcile_at');
    const subscriptionsDue = setDue('billing.gateway_subscriptions', 'next_check_at');
    const doneAt = (ago: string) =>
      database.query(`update billing.scheduled_jobs set done_at = now() - interval '${ago}' ${where}`);
    await database.at(null);
    const insert = 'insert into billing.gateway_subscriptions (user_id, gateway_subscription_id, arrived_at)';
    await database.query(`${insert} values ($1, 'sub', now())`, [customer.id]);
    for (const set of [paymentsDue, subscriptionsDue]) await set('119 minutes');
    await doneAt('0 minutes');
    expect(await backlog()).toEqual([]);
    await subscriptionsDue('121 minutes');
    expect(await backlog()).toEqual(['gateway_subscriptions 1']);
    await paymentsDue('1 day');
    expect(await backlog()).toEqual(['gateway_subscriptions 1', 'payments 1']);
    for (const what of ['payments', 'subscriptions']) await database.rpc(`claim_${what}_to_reconcile`);
    expect(await backlog()).toEqual([]);
    await paymentsDue('1 day');
    await doneAt('16 minutes');
    expect(await backlog()).toEqual([]);
  });
});
