import { expect, test } from 'vitest';
import { fields, openPage, ordered, orderIs, ORDERS, paid, paidOrder, pass, READ, VERIFY } from './fake-page.ts';

test('a payment is verified with the three fields, and the window had the order and what is known of the user', async () => {
  const page = openPage();
  const states: unknown[] = [];
  const { result, window } = await page.open({
    window: { name: 'Acme', theme: { color: '#123456' }, prefill: { contact: '+919999999999' } },
    onState: (...state) => states.push(state),
  });
  expect(window.options).toMatchObject({
    key: 'key_1',
    order_id: 'order_1',
    amount: 99900,
    currency: 'INR',
    name: 'Acme',
    theme: { color: '#123456' },
    prefill: { email: 'asha@example.com', name: 'Asha', contact: '+919999999999' },
    redirect: false,
  });
  expect(page.storage.size).toBe(1);
  window.pay();
  expect(await result).toEqual(paid);
  expect(page.requests).toEqual([
    { endpoint: ORDERS, body: { tier: 'pro' } },
    { endpoint: VERIFY, body: { gateway_order_id: 'order_1', ...fields } },
  ]);
  expect(states.flat()).toEqual(['open', undefined, 'verifying', undefined]);
  expect(page.storage.size).toBe(0);
});

test('start is sent with the order', async () => {
  const page = openPage();
  const result = page.subscriptions.checkout('pro', { start: 'after_current' });
  await pass(0);
  page.windows[0]?.pay();
  await result;
  expect(page.to(ORDERS)[0]?.body).toEqual({ tier: 'pro', start: 'after_current' });
});

test('the script is loaded once for several checkouts, also at the same time', async () => {
  const page = openPage();
  const both = [page.subscriptions.checkout('pro'), page.reload().checkout('pro')];
  await pass(0);
  expect(page.windows).toHaveLength(2);
  page.windows.forEach((window) => window.dismiss());
  await pass(60);
  await Promise.all(both);
  await page.open();
  expect(page.scripts).toEqual(['https://checkout.example.com/v1/checkout.js']);
});

test.each(
  [
    ['is forbidden', "is blocked by the page's content security policy: add it to script-src"],
    ['fails', 'could not be loaded: an ad blocker or the network blocks it'],
    ['sets nothing', 'does not set Gateway'],
  ] as const,
)('a script that %s fails with a clear message, and is loaded again the next time', async (fate, message) => {
  const page = openPage();
  page.scriptFate = fate;
  const result = page.subscriptions.checkout('pro');
  await pass(1);
  expect(await result).toMatchObject({
    outcome: 'failed',
    error: { code: 'script', message: `The checkout https://checkout.example.com/v1/checkout.js ${message}` },
  });
  page.scriptFate = 'loads';
  expect(page.storage.size).toBe(0);
  await page.open();
  expect(page.scripts).toHaveLength(2);
});

test('a window that can not be opened fails, and nothing is remembered', async () => {
  const page = openPage();
  page.scriptFate = 'throws';
  expect(await page.subscriptions.checkout('pro')).toMatchObject({
    outcome: 'failed',
    error: { code: 'script', message: 'Error: No key passed' },
  });
  expect(page.storage.size).toBe(0);
});

test('without a page the checkout fails, and plans are read', async () => {
  const page = openPage({ document: undefined, localStorage: undefined });
  page.answers('GET /api/subscriptions/plans', { body: { plans: [ordered.plan] } });
  expect(await page.subscriptions.plans()).toEqual([ordered.plan]);
  expect(await page.subscriptions.checkout('pro')).toMatchObject({ error: { code: 'script' } });
});

test('a failed attempt is told, and does not end the checkout', async () => {
  const page = openPage();
  const states: unknown[] = [];
  const { result, window } = await page.open({ onState: (...state) => states.push(state) });
  window.fail('The bank declined the payment.');
  await pass(60);
  expect(page.to(READ)).toEqual([]);
  window.pay();
  expect(await result).toEqual(paid);
  expect(states).toContainEqual(['attempt_failed', 'The bank declined the payment.']);
});

test.each([
  ['open', null, 'The bank declined the payment.'],
  ['failed', 'Out of funds.', 'Out of funds.'],
])(
  'a dismissal after a failed attempt fails with its reason when the order is %s',
  async (status, last_error, message) => {
    const page = openPage();
    page.answers(READ, orderIs(status, { last_error }));
    const { result, window } = await page.open();
    window.fail('The bank declined the payment.');
    window.dismiss();
    await pass(30);
    expect(await result).toMatchObject({ outcome: 'failed', id: 'order_1', error: { code: 'declined', message } });
  },
);

test('a dismissed order is read every five seconds for thirty before it counts as dismissed', async () => {
  const page = openPage();
  const { result, window } = await page.open();
  window.dismiss();
  await pass(29);
  expect(page.to(READ)).toHaveLength(6);
  await pass(1);
  expect(await result).toEqual({ outcome: 'dismissed', id: 'order_1' });
  expect(page.to(READ)).toHaveLength(7);
});

test('a dismissed order that is paid meanwhile is paid', async () => {
  const page = openPage();
  page.answers(READ, orderIs('open'), orderIs('open'), paidOrder);
  const { result, window } = await page.open();
  window.dismiss();
  await pass(10);
  expect(await result).toEqual(paid);
  expect(page.storage.size).toBe(0);
});

test.each(
  [
    ['without an answer', 'lost'],
    ['that is paid without a tier', orderIs('paid')],
  ] as const,
)('a dismissed order %s is pending, and remembered', async (_, answer) => {
  const page = openPage();
  page.answers(READ, answer);
  const { result, window } = await page.open({ checkSeconds: 5 });
  window.dismiss();
  await pass(5);
  expect(await result).toEqual({ outcome: 'pending', id: 'order_1' });
  expect(page.storage.size).toBe(1);
});

test('an answer that comes after the dismissal is verified', async () => {
  const page = openPage();
  const { result, window } = await page.open();
  window.dismiss();
  await pass(1);
  window.pay();
  await pass(5);
  expect(await result).toEqual(paid);
  expect(page.to(VERIFY)).toHaveLength(1);
});

test('a second click while the window is open gets the result of the first', async () => {
  const page = openPage();
  const { result, window } = await page.open();
  const second = page.subscriptions.checkout('pro');
  await pass(1);
  expect(page.windows).toHaveLength(1);
  window.pay();
  expect([await result, await second]).toEqual([paid, paid]);
});

test('a checkout of another order while a window is open fails, and the open one goes on', async () => {
  const page = openPage();
  const { result, window } = await page.open();
  page.answers(ORDERS, { status: 201, body: { ...ordered, order: { ...ordered.order, id: 'order_2' } } });
  expect(await page.subscriptions.checkout('basic')).toMatchObject({ outcome: 'failed', error: { code: 'busy' } });
  window.pay();
  expect(await result).toEqual(paid);
});

test('while a closed window is checked, another click opens it again', async () => {
  const page = openPage();
  const first = await page.open();
  first.window.dismiss();
  await pass(1);
  const second = await page.open();
  second.window.pay();
  page.answers(READ, paidOrder);
  await pass(5);
  expect([await first.result, await second.result]).toEqual([paid, paid]);
});

test('an abort after the end of a checkout closes nothing', async () => {
  const page = openPage();
  const controller = new AbortController();
  const { result, window } = await page.open({ signal: controller.signal });
  window.pay();
  await result;
  controller.abort();
  expect(window.isClosed).toBe(false);
});
