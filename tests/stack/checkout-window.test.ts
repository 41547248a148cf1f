import { beforeEach, expect, test } from 'vitest';
import { signHex } from '../../scripts/stack/gateway/delivery.ts';
import { focusedName, textOf } from '../helpers/browser/in-page.js';
import { useBrowser } from '../helpers/browser/use-browser.ts';
import { openApp, press, says, windowOf } from './checkout-rig.ts';
import {
  call,
  createOrder,
  events,
  KEY_SECRET,
  simulate,
  simulator,
  until,
  useSimulator,
} from './gateway-simulator-rig.ts';

useSimulator();
const browser = useBrowser();

beforeEach(() => simulate('checkout', {}));

const readOrder = async (id: string) => (await call('GET', `/v1/orders/${id}`)).body;
const isPaid = (id: string) => until(async () => (await readOrder(id)).status === 'paid');

/** An app, an order, and the open window of its checkout. */
async function start(options: Record<string, unknown> = {}) {
  const app = await openApp(browser);
  const order = await createOrder();
  await app.open({ order_id: order.id, amount: order.amount, currency: order.currency, ...options });
  return { ...app, order, frame: await windowOf(app.page) };
}

test('a payment calls handler with the three fields, closes the window, and violates no policy', async () => {
  const { frame, isOpen, order, page, problems, untilCalled } = await start({
    description: 'Pro plan',
    prefill: { name: 'Asha', email: 'asha@example.com' },
  });
  const text = await frame.evaluate(textOf, '#checkout');
  for (const part of ['Acme', 'Pro plan', '₹499.00', order.id, 'Asha, asha@example.com']) expect(text).toContain(part);
  await press(frame, 'Pay ₹499.00');
  const calls = await untilCalled('handler');
  const { payments: [payment] } = (await call('GET', '/simulate/state')).body;
  const razorpay_signature = await signHex(KEY_SECRET, `${order.id}|${payment.id}`);
  const fields = { razorpay_payment_id: payment.id, razorpay_order_id: order.id, razorpay_signature };
  expect(calls).toEqual([['handler', fields]]);
  expect(await isOpen()).toBe(false);
  expect(await page.evaluate(focusedName)).toBe('Buy');
  expect(problems).toEqual([]);
});

test('a failed attempt calls payment.failed, and the window offers another one', async () => {
  const { frame, order, untilCalled } = await start();
  await press(frame, 'Fail this attempt');
  await says(frame, 'The bank declined the payment.');
  await press(frame, 'Try again');
  await press(frame, 'Pay ₹499.00');
  const calls = await untilCalled('handler');
  expect(calls).toEqual([
    ['payment.failed', {
      error: {
        code: 'BAD_REQUEST_ERROR',
        description: 'The bank declined the payment.',
        source: 'customer',
        step: 'payment_authentication',
        reason: 'payment_failed',
        metadata: { order_id: order.id, payment_id: expect.stringMatching(/^pay_/) },
      },
    }],
    ['handler', expect.objectContaining({ razorpay_order_id: order.id })],
  ]);
  expect((await readOrder(order.id)).attempts).toBe(2);
});

test('with retry.enabled false a failure offers no other attempt, and ondismiss gets it', async () => {
  const { frame, untilCalled } = await start({ retry: { enabled: false } });
  await press(frame, 'Fail this attempt');
  await says(frame, 'The bank declined the payment.');
  await press(frame, 'Close');
  const [failed, dismissed] = await untilCalled('ondismiss');
  expect(failed?.[0]).toBe('payment.failed');
  expect(dismissed).toEqual(['ondismiss', failed?.[1]]);
});

test('a QR code that is paid while the window is open calls handler', async () => {
  await simulate('checkout', { qr_delay_ms: 100 });
  const { frame, order, untilCalled } = await start();
  await press(frame, 'Pay by QR code on another device');
  await frame.waitForSelector('::-p-aria([name="Simulated QR code"][role="image"])');
  expect(await untilCalled('handler')).toEqual([
    ['handler', expect.objectContaining({ razorpay_order_id: order.id })],
  ]);
});

test('a QR code whose window is closed is paid then: ondismiss is called, and only webhooks report the payment', async () => {
  const { called, frame, order, page, untilCalled } = await start();
  await press(frame, 'Pay by QR code on another device');
  await says(frame, 'Waiting for the payment on the other device');
  await page.keyboard.press('Escape');
  expect(await untilCalled('ondismiss')).toEqual([['ondismiss']]);
  await isPaid(order.id);
  await until(() => events().includes('order.paid'));
  expect(await called()).toHaveLength(1);
});

test('a QR code is paid also after the tab was closed', async () => {
  await simulate('checkout', { qr_delay_ms: 1500 });
  const { frame, order, page } = await start();
  await press(frame, 'Pay by QR code on another device');
  await says(frame, 'Waiting for the payment on the other device');
  await page.close();
  expect((await readOrder(order.id)).status).toBe('attempted');
  await isPaid(order.id);
});

test.each([
  ['the button', {}, 'button'],
  ['Escape', {}, 'Escape'],
  ['a click beside it with backdropclose', { backdropclose: true }, 'beside'],
])('the window is dismissed by %s', async (_, modal, by) => {
  const { frame, isOpen, order, page, untilCalled } = await start({ modal });
  if (by === 'button') await press(frame, 'Close the checkout');
  else if (by === 'Escape') await page.keyboard.press('Escape');
  else await page.mouse.click(20, 20);
  expect(await untilCalled('ondismiss')).toEqual([['ondismiss']]);
  expect(await isOpen()).toBe(false);
  expect((await readOrder(order.id)).attempts).toBe(0);
});

test('with escape false and without backdropclose neither Escape nor a click beside the window closes it', async () => {
  const { called, frame, isOpen, page } = await start({ modal: { escape: false } });
  await page.keyboard.press('Escape');
  await page.mouse.click(20, 20);
  await press(frame, 'Fail this attempt');
  await says(frame, 'The bank declined the payment.');
  expect(await isOpen()).toBe(true);
  expect((await called()).map(([name]) => name)).toEqual(['payment.failed']);
});

test('confirm_close asks before it closes', async () => {
  const { called, frame, page, untilCalled } = await start({ modal: { confirm_close: true } });
  await page.keyboard.press('Escape');
  await says(frame, 'Do you want to leave without paying?');
  await press(frame, 'Stay');
  await press(frame, 'Fail this attempt');
  await says(frame, 'The bank declined the payment.');
  await press(frame, 'Close the checkout');
  await press(frame, 'Stay');
  await says(frame, 'The bank declined the payment.');
  expect((await called()).map(([name]) => name)).toEqual(['payment.failed']);
  await press(frame, 'Close the checkout');
  await press(frame, 'Leave');
  await untilCalled('ondismiss');
});

test('when the network is lost after paying, handler is never called, and closing calls ondismiss', async () => {
  const { frame, order, untilCalled } = await start();
  await press(frame, 'Pay, then lose the network');
  await says(frame, 'The connection was lost.');
  expect((await readOrder(order.id)).status).toBe('paid');
  await press(frame, 'Close');
  expect(await untilCalled('ondismiss')).toEqual([['ondismiss']]);
});

test('a window without a network says that the result is unknown', async () => {
  const { frame, page, untilCalled } = await start();
  await page.setOfflineMode(true);
  await press(frame, 'Pay ₹499.00');
  await says(frame, 'The connection was lost.');
  await press(frame, 'Close');
  await untilCalled('ondismiss');
});

test('a tab that is closed right after the payment leaves the report to the webhooks', async () => {
  const { frame, order, page } = await start();
  await press(frame, 'Pay ₹499.00');
  await isPaid(order.id);
  await page.close();
  await until(() => events().includes('order.paid'));
});

test('after its timeout the window closes, and ondismiss gets the reason', async () => {
  const { untilCalled } = await start({ timeout: 1 });
  expect(await untilCalled('ondismiss')).toEqual([['ondismiss', 'timeout']]);
});

test('a second open changes nothing, and close() calls nothing', async () => {
  const { called, isOpen, page } = await start();
  await page.evaluate('checkout.open()');
  expect(await page.$$('iframe')).toHaveLength(1);
  await page.evaluate('checkout.close()');
  expect([await isOpen(), await called()]).toEqual([false, []]);
  expect(await page.evaluate('document.documentElement.style.overflow')).toBe('');
  await page.evaluate('checkout.open()');
  await windowOf(page);
});

test('a window of an order with another amount says so, and only closes', async () => {
  const { frame, untilCalled } = await start({ amount: 100 });
  await says(frame, 'Your payment amount is different from your order amount.');
  await press(frame, 'Close');
  await untilCalled('ondismiss');
});

test('a message that does not come from the window is ignored', async () => {
  const { called, isOpen, page } = await start();
  await page.evaluate(`postMessage({ event: 'paid', fields: {} }, '*')`);
  await page.evaluate(`frames[0].postMessage({ event: 'open', options: { name: 'Forged' } }, '*')`);
  expect([await isOpen(), await called()]).toEqual([true, []]);
  expect(await (await windowOf(page)).evaluate(textOf, '#merchant')).toBe('Acme');
});

test('a subscription is refused, then authorised', async () => {
  const { body: { id } } = await call('POST', '/v1/subscriptions', { plan_id: 'plan_Pro00000000001', total_count: 12 });
  const { frame, untilCalled } = await start({ order_id: undefined, subscription_id: id });
  expect(await frame.evaluate(textOf, '#period')).toBe('each month');
  await press(frame, 'Refuse the mandate');
  await says(frame, 'The customer refused the mandate.');
  await press(frame, 'Try again');
  await press(frame, 'Authorise ₹999.00');
  const calls = await untilCalled('handler');
  expect(calls.map(([name]) => name)).toEqual(['payment.failed', 'handler']);
  expect(calls[1]?.[1]).toMatchObject({ razorpay_subscription_id: id });
  expect((await call('GET', `/v1/subscriptions/${id}`)).body.status).toBe('active');
});

test('a checkout without a key throws', async () => {
  const { page } = await openApp(browser);
  await expect(page.evaluate('new Razorpay({ order_id: "order_1" })')).rejects.toThrow('No key passed');
});

test('without the simulator the window can still be left', async () => {
  const { open, page, untilCalled } = await openApp(browser);
  await page.setRequestInterception(true);
  page.on(
    'request',
    (request) => void (request.url().startsWith(simulator.url) ? request.abort() : request.continue()),
  );
  await open({ order_id: 'order_1' });
  await page.keyboard.press('Escape');
  expect(await untilCalled('ondismiss')).toEqual([['ondismiss']]);
});
