import { expect, test } from 'vitest';
import { openPage, ordered, orderIs, ORDERS, paid, pass, READ, verified, VERIFY } from './fake-page.ts';

test('verify is repeated after one and two seconds while it answers 500', async () => {
  const page = openPage();
  page.answers(VERIFY, { status: 500 }, { status: 500 }, verified);
  const { result, window } = await page.open();
  window.pay();
  await pass(2.9);
  expect(page.to(VERIFY)).toHaveLength(2);
  await pass(0.1);
  expect(await result).toEqual(paid);
});

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
  expect(await result).toEqual(paid);
  expect(page.to(VERIFY)).toHaveLength(before + 1);
});

test('verify without an answer for two minutes is pending, remembered with its fields, and never rejects', async () => {
  const page = openPage();
  page.answers(VERIFY, 'lost');
  const { result, window } = await page.open();
  window.pay();
  await pass(120);
  expect(await result).toEqual({ outcome: 'pending', id: 'order_1' });
  expect([...page.storage.values()].join()).toContain('"gateway_signature":"f00d"');
});

test.each([
  ['open', { outcome: 'pending', id: 'order_1' }, 1],
  ['failed', { outcome: 'failed', id: 'order_1', error: { code: 'declined' } }, 0],
])(
  'a refused payment is not verified again; with an order that is %s it is %j',
  async (status, expected, remembered) => {
    const page = openPage();
    page.answers(VERIFY, { status: 400, body: { error: 'Payment verification failed' } });
    page.answers(READ, orderIs(status));
    const { result, window } = await page.open();
    window.pay();
    expect(await result).toMatchObject(expected);
    expect([page.to(VERIFY).length, page.storage.size]).toEqual([1, remembered]);
  },
);

test('a session that ends during the checkout leaves it pending; current() finishes it after the next sign-in', async () => {
  const page = openPage();
  page.answers(VERIFY, { status: 401, body: { error: 'Unauthorized' } }, verified);
  const { result, window } = await page.open();
  window.pay();
  expect(await result).toEqual({ outcome: 'pending', id: 'order_1' });
  page.userId = null;
  await page.subscriptions.current();
  expect(page.to(VERIFY)).toHaveLength(1);
  page.userId = '11111111-1111-4111-8111-111111111111';
  await page.subscriptions.current();
  expect([page.to(VERIFY).length, page.storage.size]).toEqual([2, 0]);
});

test.each(
  [
    ['409 with retry-after', { status: 409, retryAfter: 1, body: { error: 'Order is being created' } }, 1],
    ['502', { status: 502, body: { error: 'Payment gateway unavailable' } }, 1],
    ['no answer', 'lost', 1],
  ] as const,
)('an order that gets %s is asked for again', async (_, answer, seconds) => {
  const page = openPage();
  page.answers(ORDERS, answer, { status: 201, body: ordered });
  const result = page.subscriptions.checkout('pro');
  await pass(seconds);
  page.windows[0]?.pay();
  expect(await result).toEqual(paid);
});

test.each(
  [
    ['502 three times', { status: 502, body: { error: 'Payment gateway unavailable' } }, 3, {
      code: 'http',
      status: 502,
      message: 'Payment gateway unavailable',
    }],
    ['no answer three times', 'lost', 3, { code: 'network', status: 0 }],
    ['429 for an hour', { status: 429, retryAfter: 3600, body: { error: 'Too many orders' } }, 1, {
      status: 429,
      retryAfter: 3600,
    }],
    ['404', { status: 404, body: { error: 'Plan not found' } }, 1, { status: 404, message: 'Plan not found' }],
    ['409 for another tier', { status: 409, body: { error: 'Idempotency key was used for another order' } }, 1, {
      status: 409,
      retryAfter: null,
    }],
  ] as const,
)('an order that gets %s fails without a window', async (_, answer, requests, error) => {
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

test('an abort closes the open window, and the checkout is pending and remembered', async () => {
  const page = openPage();
  const controller = new AbortController();
  const { result, window } = await page.open({ signal: controller.signal });
  controller.abort();
  expect(await result).toEqual({ outcome: 'pending', id: 'order_1' });
  expect([window.isClosed, page.storage.size]).toEqual([true, 1]);
});

test('an abort while a payment is verified is pending and remembered', async () => {
  const page = openPage();
  const controller = new AbortController();
  page.answers(VERIFY, { status: 500 });
  const { result, window } = await page.open({ signal: controller.signal });
  window.pay();
  await pass(10);
  controller.abort();
  expect(await result).toEqual({ outcome: 'pending', id: 'order_1' });
  expect(page.storage.size).toBe(1);
});
