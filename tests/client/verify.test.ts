import { expect, test } from 'vitest';
import { openPage, ordered, ORDERS, paid, pass, pay, pending, refusal, verified, VERIFY } from './fake-page.ts';

test('after a lost network verify is repeated as soon as it is back', async () => {
  const page = openPage();
  page.answers(VERIFY, 'lost');
  const { result, window } = await page.open();
  window.pay();
  await pass(20);
  const before = page.to(VERIFY).length;
  page.answers(VERIFY, verified);
  globalThis.dispatchEvent(new Event('online'));
  await pass(0);
  expect([await result, page.to(VERIFY).length]).toEqual([paid, before + 1]);
});

test('a session that ends during the checkout leaves it pending; current() finishes it after the next sign-in', async () => {
  const page = openPage();
  page.answers(VERIFY, refusal(401, 'Unauthorized'), verified);
  expect(await page.buy(pay)).toEqual(pending);
  const { userId } = page;
  page.userId = null;
  await page.subscriptions.current();
  expect(page.to(VERIFY)).toHaveLength(1);
  page.userId = userId;
  await page.subscriptions.current();
  expect([page.to(VERIFY).length, page.storage.size]).toEqual([2, 0]);
});

test.each(
  [
    ['409 with retry-after', refusal(409, 'Order is being created', 1)],
    ['502', refusal(502, 'Payment gateway unavailable')],
    ['no answer', 'lost'],
  ] as const,
)('an order that gets %s is asked for again', async (_, answer) => {
  const page = openPage();
  page.answers(ORDERS, answer, { status: 201, body: ordered });
  const result = page.subscriptions.checkout('pro');
  await pass(1);
  page.windows[0]?.pay();
  expect(await result).toEqual(paid);
});

test.each(
  [
    ['502', refusal(502, 'Payment gateway unavailable'), 3, { code: 'http', message: 'Payment gateway unavailable' }],
    ['no answer', 'lost', 3, { code: 'network', status: 0 }],
    ['429 for an hour', refusal(429, 'Too many orders', 3600), 1, { status: 429, retryAfter: 3600 }],
    ['404', refusal(404, 'Plan not found'), 1, { status: 404, message: 'Plan not found' }],
    ['409 without retry-after', refusal(409, 'Used for another order'), 1, { status: 409, retryAfter: null }],
  ] as const,
)('an order that always gets %s fails without a window', async (_, answer, requests, error) => {
  const page = openPage();
  page.answers(ORDERS, answer);
  const result = page.subscriptions.checkout('pro');
  await pass(10);
  expect(await result).toMatchObject({ outcome: 'failed', id: null, error });
  expect([page.to(ORDERS).length, page.windows.length]).toEqual([requests, 0]);
});

test('without a session the checkout fails with 401, and nothing is requested', async () => {
  const page = openPage();
  page.userId = null;
  expect(await page.subscriptions.checkout('pro')).toMatchObject({ outcome: 'failed', error: { status: 401 } });
  expect(page.requests).toEqual([]);
});

test('an abort before the window opens rejects with its reason', async () => {
  const page = openPage();
  const controller = new AbortController();
  page.answers(ORDERS, { status: 502 });
  const result = page.subscriptions.checkout('pro', { signal: controller.signal });
  const rejected = expect(result).rejects.toThrow('left the page');
  await pass(0.5);
  controller.abort(new Error('left the page'));
  await pass(0);
  await rejected;
  expect(page.windows).toEqual([]);
});

test('an abort while a payment is verified is pending and remembered', async () => {
  const page = openPage();
  const controller = new AbortController();
  page.answers(VERIFY, { status: 500 });
  const { result, window } = await page.open({ signal: controller.signal });
  window.pay();
  await pass(10);
  controller.abort();
  expect([await result, page.storage.size]).toEqual([pending, 1]);
});
