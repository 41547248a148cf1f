import { expect, test } from 'vitest';
import { signHex } from '../../scripts/stack/gateway/delivery.ts';
import { useBrowser } from '../helpers/browser/use-browser.ts';
import { accessibilityProblems, openApp, press, says, windowOf } from '../stack/checkout-rig.ts';
import { call, createOrder, KEY_SECRET, simulator, until, useSimulator } from '../stack/gateway-simulator-rig.ts';

useSimulator();
const browser = useBrowser();

/** An app that opened the checkout in redirect mode, on the page of the simulator. */
async function redirect() {
  const app = await openApp(browser);
  const order = await createOrder();
  await app.open({ order_id: order.id, amount: order.amount, callback_url: '/paid?cart=7', redirect: true });
  const { page } = app;
  await until(() => page.url().startsWith(`${simulator.url}/checkout/redirect#`));
  await page.waitForSelector('[data-panel="pay"]:not([hidden])');
  return { ...app, order, frame: page.mainFrame() };
}

test('redirect mode pays on a page of the gateway, which posts the three fields to the callback address', async () => {
  const { frame, order, page, posted, url } = await redirect();
  await press(frame, 'Pay ₹499.00');
  await until(() => posted.length === 1);
  const { payments: [payment] } = (await call('GET', '/simulate/state')).body;
  expect(posted).toEqual([{
    origin: simulator.url,
    razorpay_payment_id: payment.id,
    razorpay_order_id: order.id,
    razorpay_signature: await signHex(KEY_SECRET, `${order.id}|${payment.id}`),
  }]);
  await until(() => page.url() === `${url}/paid?cart=7`);
});

test('redirect mode posts the error of a failed attempt', async () => {
  const { frame, order, posted } = await redirect();
  await press(frame, 'Fail this attempt');
  await until(() => posted.length === 1);
  const { payments: [payment] } = (await call('GET', '/simulate/state')).body;
  expect(posted).toEqual([{
    origin: simulator.url,
    'error[code]': 'BAD_REQUEST_ERROR',
    'error[description]': 'The bank declined the payment.',
    'error[source]': 'customer',
    'error[step]': 'payment_authentication',
    'error[reason]': 'payment_failed',
    'error[metadata]': JSON.stringify({ order_id: order.id, payment_id: payment.id }),
  }]);
});

test('redirect mode is accessible, returns to the app when the person closes it, and posts nothing', async () => {
  const { frame, page, posted, url } = await redirect();
  await press(frame, 'Pay by QR code on another device');
  await says(frame, 'Waiting for the payment on the other device');
  expect(await accessibilityProblems(frame)).toEqual([]);
  await press(frame, 'Close the checkout');
  await until(() => page.url() === `${url}/`);
  expect(posted).toEqual([]);
});

test('a callback_url without redirect and without handler gets the three fields from the app’s page', async () => {
  const { open, page, posted, url } = await openApp(browser);
  const order = await createOrder();
  await open({ order_id: order.id, handler: null, callback_url: `${url}/paid` });
  await press(await windowOf(page), 'Pay ₹499.00');
  await until(() => posted.length === 1);
  expect(posted[0]).toMatchObject({ origin: url, razorpay_order_id: order.id });
});
