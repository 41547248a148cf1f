import Razorpay from 'razorpay';
import { validatePaymentVerification } from 'razorpay/dist/utils/razorpay-utils.js';
import { expect, test } from 'vitest';
import { KEY_SECRET, NOW, simulator, useSimulator } from './gateway-simulator-rig.ts';
import { quiet, simulate } from './simulate.ts';

useSimulator();

/** The gateway's official SDK, which calls the simulator instead. */
function createSdk() {
  const sdk = new Razorpay({ key_id: 'key_local', key_secret: KEY_SECRET });
  Object.assign(Reflect.get(Reflect.get(sdk, 'api'), 'rq').defaults, { baseURL: simulator.url, timeout: 5_000 });
  return sdk;
}
const refusal = (description: string | RegExp, statusCode = 400) =>
  expect.objectContaining({
    statusCode,
    error: expect.objectContaining({ code: 'BAD_REQUEST_ERROR', description: expect.stringMatching(description) }),
  });
const DAY = 24 * 3600;
const monthly = (amount: number) => ({
  period: 'monthly' as const,
  interval: 1,
  item: { name: 'Monthly', amount, currency: 'INR' },
});

test('orders and payments are created, listed, fetched and edited', async () => {
  const sdk = createSdk();
  const order = await sdk.orders.create({ amount: 50000, currency: 'INR', receipt: 'r1', notes: { a: '1' } });
  expect(order).toMatchObject({ entity: 'order', amount: 50000, amount_due: 50000, status: 'created', receipt: 'r1' });
  const other = await sdk.orders.create({ amount: 60000, currency: 'INR' });
  const paid = await simulate('pay', { order_id: order.id, outcome: 'captured', ...quiet });
  const ids = async (query?: Parameters<typeof sdk.orders.all>[0]) =>
    (await sdk.orders.all(query)).items.map(({ id }) => id);
  expect(await ids()).toEqual([other.id, order.id]);
  expect([await ids({ authorized: 1 }), await ids({ authorized: 0 })]).toEqual([[order.id], [other.id]]);
  expect([await ids({ receipt: 'r1' }), await ids({ from: NOW + 1 }), await ids({ count: 1, skip: 1 })]).toEqual([
    [order.id],
    [],
    [order.id],
  ]);
  expect(await sdk.orders.edit(order.id, { notes: { b: '2' } })).toMatchObject({ id: order.id, notes: { b: '2' } });
  expect(await sdk.orders.fetch(order.id)).toMatchObject({ status: 'paid', attempts: 1, notes: { b: '2' } });
  expect((await sdk.orders.fetchPayments(order.id)).items).toMatchObject([{ id: paid.gateway_payment_id }]);
  await expect(sdk.orders.fetch('order_unknown')).rejects.toEqual(refusal('The id provided does not exist'));
  await expect(sdk.orders.edit('order_unknown', { notes: {} })).rejects.toEqual(refusal('does not exist'));

  const payment = paid.gateway_payment_id;
  expect(validatePaymentVerification({ order_id: order.id, payment_id: payment }, paid.gateway_signature, KEY_SECRET))
    .toBe(true);
  expect(await sdk.payments.fetch(payment)).toMatchObject({ status: 'captured', amount: 50000 });
  expect((await sdk.payments.all({ from: NOW - DAY, to: NOW })).count).toBe(1);
  expect(await sdk.payments.edit(payment, { notes: { x: 'y' } })).toMatchObject({ id: payment, notes: { x: 'y' } });
});

test('refunds are made, listed and fetched, and refused where nothing is left', async () => {
  const sdk = createSdk();
  const order = await sdk.orders.create({ amount: 50000, currency: 'INR' });
  const { gateway_payment_id: id } = await simulate('pay', { order_id: order.id, outcome: 'captured', ...quiet });
  const part = await sdk.payments.refund(id, { amount: 100, notes: { why: 'x' }, receipt: 'rf1' });
  expect(part).toMatchObject({ entity: 'refund', amount: 100, payment_id: id, receipt: 'rf1', notes: { why: 'x' } });
  const rest = await sdk.payments.refund(id, {});
  expect(rest).toMatchObject({ amount: 49900 });
  await expect(sdk.payments.refund(id, {})).rejects.toEqual(refusal('fully refunded already'));
  expect(await sdk.refunds.fetch(part.id)).toMatchObject({ id: part.id, amount: 100 });
  expect(await sdk.refunds.edit(part.id, { notes: { b: '2' } })).toMatchObject({ id: part.id, notes: { b: '2' } });
  expect((await sdk.refunds.all()).items.map((one) => one.id)).toEqual([rest.id, part.id]);
  expect((await sdk.payments.fetchMultipleRefund(id, {})).count).toBe(2);
  await expect(sdk.refunds.fetch('rfnd_unknown')).rejects.toEqual(refusal('does not exist'));
});

test('a subscription is changed now and at the end of its cycle, and a scheduled change is shown and cancelled', async () => {
  const sdk = createSdk();
  const [small, large] = [await sdk.plans.create(monthly(10000)), await sdk.plans.create(monthly(20000))];
  expect((await sdk.plans.all()).items.map(({ id }) => id)).toEqual([large.id, small.id]);
  expect(await sdk.plans.fetch(small.id)).toMatchObject({ item: { amount: 10000 } });
  const { id } = await sdk.subscriptions.create({ plan_id: small.id, total_count: 12, customer_notify: false });
  expect((await sdk.subscriptions.all({ plan_id: small.id })).items).toMatchObject([{ id, status: 'created' }]);
  await expect(sdk.subscriptions.update(id, { plan_id: large.id })).rejects.toEqual(refusal('in created status'));
  await simulate('authorise', { subscription_id: id, outcome: 'approved', method: 'card', ...quiet });
  await expect(sdk.subscriptions.pendingUpdate(id)).rejects.toEqual(refusal('no scheduled changes'));

  const change = { plan_id: large.id, quantity: 2, remaining_count: 5, schedule_change_at: 'cycle_end' as const };
  const shown = { has_scheduled_changes: true, change_scheduled_at: Date.parse('2026-02-10') / 1000 };
  expect(await sdk.subscriptions.update(id, change)).toMatchObject({
    plan_id: small.id,
    remaining_count: 11,
    ...shown,
  });
  expect(await sdk.subscriptions.pendingUpdate(id)).toMatchObject({
    ...{ id, plan_id: large.id, quantity: 2, remaining_count: 5, ...shown },
  });
  expect(await sdk.subscriptions.cancelScheduledChanges(id)).toMatchObject({
    ...{ plan_id: small.id, has_scheduled_changes: false, change_scheduled_at: null },
  });
  await expect(sdk.subscriptions.cancelScheduledChanges(id)).rejects.toEqual(refusal('no scheduled changes'));

  await sdk.subscriptions.update(id, change);
  await simulate('clock', { shift_seconds: 32 * DAY, ...quiet });
  expect(await sdk.subscriptions.fetch(id)).toMatchObject({
    ...{
      plan_id: large.id,
      quantity: 2,
      paid_count: 2,
      total_count: 6,
      remaining_count: 4,
      has_scheduled_changes: false,
    },
  });
  expect((await sdk.payments.all()).items[0]).toMatchObject({ amount: 40000 });
  expect(await sdk.subscriptions.update(id, { remaining_count: 1, schedule_change_at: 'now' })).toMatchObject({
    ...{ plan_id: large.id, total_count: 3, remaining_count: 1 },
  });
  await simulate('clock', { shift_seconds: 100 * DAY, ...quiet });
  expect(await sdk.subscriptions.fetch(id)).toMatchObject({ status: 'completed', paid_count: 3 });
});

test('a subscription is paused, resumed and cancelled; its invoices are listed with and without a filter', async () => {
  const sdk = createSdk();
  const plan = await sdk.plans.create(monthly(10000));
  const create = async () => {
    const { id } = await sdk.subscriptions.create({
      plan_id: plan.id,
      total_count: 12,
      customer_notify: 1,
      quantity: 1,
    });
    await simulate('authorise', { subscription_id: id, outcome: 'approved', ...quiet });
    return id;
  };
  const [one, two] = [await create(), await create()];
  expect(await sdk.subscriptions.pause(one, { pause_at: 'now' })).toMatchObject({ status: 'paused' });
  expect(await sdk.subscriptions.resume(one, { resume_at: 'now' })).toMatchObject({ status: 'active' });
  expect((await sdk.invoices.all({ subscription_id: one })).items).toMatchObject([{
    subscription_id: one,
    amount: 10000,
  }]);
  const { items, count } = await sdk.invoices.all();
  expect([count, items.map((one) => Reflect.get(one, 'subscription_id'))]).toEqual([2, [two, one]]);
  expect(await sdk.invoices.fetch(String(items[0]?.id))).toMatchObject({ subscription_id: two, status: 'paid' });
  expect(await sdk.subscriptions.cancel(one, true)).toMatchObject({ status: 'active' });
  expect(await sdk.subscriptions.cancel(one)).toMatchObject({ status: 'cancelled' });
  await expect(sdk.subscriptions.cancel(one)).rejects.toEqual(refusal('not cancellable in cancelled status'));
});

test('an add-on is paid once, with the next charge and its retries', async () => {
  const sdk = createSdk();
  const plan = await sdk.plans.create(monthly(10000));
  const { id } = await sdk.subscriptions.create({ plan_id: plan.id, total_count: 12, customer_notify: true });
  await simulate('authorise', { subscription_id: id, outcome: 'approved', ...quiet });
  const item = { name: 'Extra', amount: 300, currency: 'INR' };
  const addon = await sdk.subscriptions.createAddon(id, { item, quantity: 2 });
  expect(addon).toMatchObject({ entity: 'addon', subscription_id: id, invoice_id: null, quantity: 2, item });
  const dropped = await sdk.subscriptions.createAddon(id, { item });
  expect((await sdk.addons.all()).count).toBe(2);
  await sdk.addons.delete(dropped.id);
  await expect(sdk.addons.fetch(dropped.id)).rejects.toEqual(refusal('does not exist'));

  await simulate('subscription-fault', { subscription_id: id, charges: 'fail', times: 1 });
  await simulate('clock', { shift_seconds: 33 * DAY, ...quiet });
  const invoices = await sdk.invoices.all({ subscription_id: id });
  expect(invoices.items).toMatchObject([{ amount: 10600, status: 'paid' }, { amount: 10000 }]);
  expect(await sdk.addons.fetch(addon.id)).toMatchObject({ invoice_id: invoices.items[0]?.id });
  await expect(sdk.addons.delete(addon.id)).rejects.toEqual(refusal('on an invoice'));
  expect((await sdk.payments.all()).items.map(({ amount, status }) => [amount, status])).toEqual([
    [10600, 'captured'],
    [10600, 'failed'],
    [10000, 'captured'],
  ]);
  await simulate('clock', { shift_seconds: 62 * DAY, ...quiet });
  expect((await sdk.payments.all()).items[0]).toMatchObject({ amount: 10000, status: 'captured' });
});

test('customers are created once, listed, fetched and edited; settlements and disputes are empty lists', async () => {
  const sdk = createSdk();
  const details = { name: 'Asha', email: 'asha@example.com', contact: '+919876543210' };
  const { id } = await sdk.customers.create({ ...details, fail_existing: 0 });
  expect(await sdk.customers.create({ ...details, fail_existing: 0 })).toMatchObject({ id, entity: 'customer' });
  await expect(sdk.customers.create(details)).rejects.toEqual(refusal('already exists'));
  expect(await sdk.customers.edit(id, { name: 'Asha Rao' })).toMatchObject({ id, ...details, name: 'Asha Rao' });
  expect(await sdk.customers.fetch(id)).toMatchObject({ name: 'Asha Rao', created_at: NOW });
  expect(await sdk.customers.all()).toMatchObject({ count: 1, items: [{ id }] });
  const empty = { entity: 'collection', count: 0, items: [] };
  expect(await sdk.settlements.all()).toEqual(empty);
  expect(await sdk.settlements.reports({ year: 2026, month: 11 })).toEqual(empty);
  await expect(sdk.settlements.fetch('setl_unknown')).rejects.toEqual(refusal('does not exist'));
  expect(await sdk.disputes.all()).toEqual(empty);
});
