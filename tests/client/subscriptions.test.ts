import { expect, test } from 'vitest';
import { SubscriptionsError } from '../../supabase/client/subscriptions.ts';
import {
  CHANGE,
  CURRENT,
  fields,
  openPage,
  ordered,
  ORDERS,
  paid,
  pass,
  plan,
  SUBSCRIBE,
  VERIFY,
} from './fake-page.ts';

const subscription = { id: 'sub_1', status: 'created', short_url: 'https://pay.example.com/s/sub_1' };
const subscribed = { subscription, key_id: 'key_1', plan, running: null };
const change = { amount_due: 100, credit: 0, currency: 'INR', starts_at: 'a', ends_at: 'b', from: 'basic', to: 'pro' };

test('subscribe opens the window with the subscription, and verifies its fields', async () => {
  const page = openPage();
  page.answers(SUBSCRIBE, { status: 201, body: subscribed });
  const result = page.subscriptions.subscribe('pro');
  await pass(0);
  expect(page.windows[0]?.options).toMatchObject({ subscription_id: 'sub_1', key: 'key_1' });
  expect(page.windows[0]?.options).not.toHaveProperty('order_id');
  page.windows[0]?.pay();
  expect(await result).toMatchObject({ outcome: 'paid', id: 'sub_1' });
  expect(page.to(VERIFY)[0]?.body).toEqual({ gateway_subscription_id: 'sub_1', ...fields });
});

test.each([
  [{ gateway_subscription_id: 'sub_1' }, { ...paid, id: 'sub_1', validUntil: 'z' }],
  [{ gateway_subscription_id: 'sub_0' }, { outcome: 'dismissed', id: 'sub_1' }],
  [null, { outcome: 'dismissed', id: 'sub_1' }],
])('a dismissed subscription is looked for in the billing: %j → %j', async (billing, expected) => {
  const page = openPage();
  page.answers(SUBSCRIBE, { status: 201, body: subscribed });
  const subscription = { gateway_subscription_id: 'sub_1', current_period_end: 'z' };
  page.answers(CURRENT, { body: { subscription, billing } });
  const result = page.subscriptions.subscribe('pro', { checkSeconds: 5 });
  await pass(0);
  page.windows[0]?.dismiss();
  await pass(5);
  expect(await result).toEqual(expected);
});

test("subscribe with redirect goes to the gateway's page", async () => {
  const page = openPage();
  page.answers(SUBSCRIBE, { status: 201, body: subscribed });
  void page.subscriptions.subscribe('pro', { redirect: true });
  await pass(0);
  expect(page.location.assign).toHaveBeenCalledExactlyOnceWith(subscription.short_url);
  expect([page.windows.length, page.storage.size]).toEqual([0, 1]);
});

test('a change with an order and a subscription opens one window after the other', async () => {
  const page = openPage();
  page.answers(CHANGE, { status: 201, body: { ...ordered, change, subscription } });
  const result = page.subscriptions.change('pro', 'now');
  await pass(0);
  page.windows[0]?.pay();
  await pass(0);
  page.windows[1]?.pay();
  expect(await result).toEqual({ ...paid, renewal: { ...paid, id: 'sub_1' } });
  expect(page.windows.map(({ options }) => options.order_id ?? options.subscription_id)).toEqual(['order_1', 'sub_1']);
  expect(page.to(CHANGE)[0]?.body).toEqual({ tier: 'pro', when: 'now' });
});

test('a change whose order is dismissed ends, one that needs no payment is undone, and one with a subscription alone opens its window', async () => {
  const page = openPage();
  page.answers(CHANGE, { status: 201, body: { ...ordered, change, subscription } });
  const dismissed = page.subscriptions.change('pro', 'now', { checkSeconds: 0 });
  await pass(0);
  page.windows[0]?.dismiss();
  expect(await dismissed).toEqual({ outcome: 'dismissed', id: 'order_1' });

  const nothing = { change, order: null, payment_id: null, subscription: null };
  page.answers(CHANGE, { body: nothing }, { status: 201, body: { ...nothing, ...subscribed } });
  expect(await page.subscriptions.change('pro', 'now')).toEqual({ outcome: 'undone' });
  const result = page.subscriptions.change('pro', 'period_end');
  await pass(0);
  expect(page.windows).toHaveLength(2);
  page.windows[1]?.pay();
  expect(await result).toMatchObject({ outcome: 'paid', id: 'sub_1' });
});

test('preview, cancel and resume send their bodies and return what the answer contains', async () => {
  const page = openPage();
  page.answers(`${CHANGE}/preview`, { body: change });
  page.answers(`${SUBSCRIBE}/cancel`, { body: { subscription: { tier: 'pro' } } });
  page.answers(`${SUBSCRIBE}/resume`, { body: { subscription: { tier: 'pro' } } });
  expect(await page.subscriptions.previewChange('pro', 'period_end')).toEqual(change);
  expect(await page.subscriptions.cancel()).toEqual({ tier: 'pro' });
  await page.subscriptions.cancel({ atPeriodEnd: false });
  expect(await page.subscriptions.resume()).toEqual({ tier: 'pro' });
  expect(page.requests.map(({ body }) => body))
    .toEqual([{ tier: 'pro', when: 'period_end' }, { at_period_end: true }, { at_period_end: false }, null]);
});

test('each request names the tier, or the price by its lookup key', async () => {
  const page = openPage();
  page.answers(`${CHANGE}/preview`, { body: change });
  const { checkout, subscribe, previewChange, change: changeTo } = page.subscriptions;
  const price = { price: 'pro_monthly' };
  for (const offer of ['pro', price, { ...price, amount: 1 }]) {
    await Promise.all([subscribe(offer), changeTo(offer, 'now'), previewChange(offer, 'now')]);
  }
  void checkout(price, { start: 'now' });
  await pass(0);
  const bodies = (endpoint: string) => page.to(endpoint).map(({ body }) => body);
  const sent = [{ tier: 'pro' }, price, price];
  expect(bodies(SUBSCRIBE)).toEqual(sent);
  const changes = sent.map((body) => ({ ...body, when: 'now' }));
  expect([bodies(CHANGE), bodies(`${CHANGE}/preview`)]).toEqual([changes, changes]);
  expect(bodies(ORDERS)).toEqual([{ ...price, start: 'now' }]);
});

test('can and limit tell what the newest answer of current allows: nothing before it, and nothing without a user', async () => {
  const page = openPage();
  const { can, current, limit } = page.subscriptions;
  const told = () =>
    ['on', 'off', 'ten', 'none', 'unlimited', 'missing', 'toString'].map((name) => [can(name), limit(name)]);
  const nothing = Array.from({ length: 7 }, () => [false, 0]);
  expect(told()).toEqual(nothing);
  const body = { currentTier: 'pro', entitlements: { on: true, off: false, ten: 10, none: 0, unlimited: null } };
  page.answers(CURRENT, { body }, 'lost', { status: 401, body: { error: 'Unauthorized' } });
  await current();
  const allowed = [[true, null], [false, 0], [true, 10], [false, 0], [true, null], [false, 0], [false, 0]];
  expect(told()).toEqual(allowed);
  await expect(current()).rejects.toMatchObject({ code: 'network' });
  expect(told()).toEqual(allowed);
  await expect(current()).rejects.toMatchObject({ status: 401 });
  expect(told()).toEqual(nothing);
});

test('an error answer is thrown with its text, status and retry-after', async () => {
  const page = openPage();
  page.answers(`${SUBSCRIBE}/resume`, { status: 409, body: { error: 'Cannot be resumed' } });
  page.answers(CURRENT, { status: 500, retryAfter: 7, body: { error: 'Failed to get subscription' } }, 'lost');
  await expect(page.subscriptions.resume()).rejects.toThrow(new SubscriptionsError('Cannot be resumed', 'http', 409));
  await expect(page.subscriptions.current()).rejects.toMatchObject({ status: 500, retryAfter: 7 });
  await expect(page.subscriptions.current()).rejects.toMatchObject({ code: 'network', status: 0 });
});

test('a read that is aborted rejects with the reason', async () => {
  const page = openPage();
  const signal = AbortSignal.abort(new Error('left the page'));
  await expect(page.subscriptions.current({ signal })).rejects.toThrow('left the page');
});
