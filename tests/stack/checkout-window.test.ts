import { expect, test } from 'vitest';
import { signHex } from '../../scripts/stack/gateway/delivery.ts';
import { focusedName, textOf } from '../helpers/browser/in-page.js';
import { useBrowser } from '../helpers/browser/use-browser.ts';
import { openApp, press, says, windowOf } from './checkout-rig.ts';
import { KEY_SECRET, received, until, useSimulator } from './gateway-simulator-rig.ts';
import { createOrder, type Entity, look, read, simulate } from './simulate.ts';

useSimulator();
const browser = useBrowser();

const DISMISSED = [['ondismiss']];
const attempts = async (id: string): Promise<number> => (await read(`orders/${id}`)).attempts;
const untilPaid = (id: string) => until(async () => (await read(`orders/${id}`)).status === 'paid');

/** An app, an order, and the open window of its checkout. */
async function start(options: Entity = {}) {
  const app = await openApp(browser);
  const order = await createOrder();
  await app.open({ order_id: order.id, amount: order.amount, currency: order.currency, ...options });
  return { ...app, order, frame: await windowOf(app.page) };
}

test('a payment calls handler with the three fields, closes the window, and violates no policy', async () => {
  const prefill = { name: 'Asha', email: 'asha@example.com' };
  const { frame, isOpen, order, page, problems, untilCalled } = await start({ description: 'Pro plan', prefill });
  const text = await frame.evaluate(textOf, '#checkout');
  for (const part of ['Acme', 'Pro plan', '₹499.00', order.id, 'Asha, asha@example.com']) expect(text).toContain(part);
  await press(frame, 'Pay ₹499.00');
  const calls = await untilCalled('handler');
  const { payments: [payment] } = await look('state');
  const razorpay_signature = await signHex(KEY_SECRET, `${order.id}|${payment.id}`);
  const fields = { razorpay_payment_id: payment.id, razorpay_order_id: order.id, razorpay_signature };
  expect(calls).toEqual([['handler', fields]]);
  expect([await isOpen(), await page.evaluate(focusedName), problems]).toEqual([false, 'Buy', []]);
});

test.each(['open', 'closed', 'in a closed tab'])(
  'a QR code is paid while its window is %s',
  async (state) => {
    if (state !== 'closed') await simulate('checkout', { qr_delay_ms: 1500 });
    const { called, frame, order, page, untilCalled } = await start();
    await press(frame, 'Pay by QR code on another device');
    if (state === 'open') {
      await frame.waitForSelector('::-p-aria([name="Simulated QR code"][role="image"])');
      const [[name, fields] = expect.fail()] = await untilCalled('handler');
      return expect([name, fields]).toEqual(['handler', expect.objectContaining({ razorpay_order_id: order.id })]);
    }
    await says(frame, 'Waiting for the payment on the other device');
    if (state === 'in a closed tab') await page.close();
    else {
      await page.keyboard.press('Escape');
      expect(await untilCalled('ondismiss')).toEqual(DISMISSED);
    }
    await untilPaid(order.id);
    await until(() => received.some(({ event }) => event === 'order.paid'));
    if (state === 'closed') expect(await called()).toEqual(DISMISSED);
  },
);

test('the window is dismissed by its button, by Escape, or by a click beside it with backdropclose', async () => {
  const { called, frame, isOpen, open, order, page, untilCalled } = await start();
  const options = { order_id: order.id, modal: { backdropclose: true } };
  await press(frame, 'Close the checkout');
  for (const way of [() => page.keyboard.press('Escape'), () => page.mouse.click(20, 20)]) {
    expect(await untilCalled('ondismiss')).toEqual(DISMISSED);
    expect(await isOpen()).toBe(false);
    await open(options);
    await windowOf(page);
    await way();
  }
  await untilCalled('ondismiss');
  expect([await called(), await attempts(order.id)]).toEqual([DISMISSED, 0]);
});

test('when the network is lost after paying, closing calls only ondismiss', async () => {
  const { frame, order, untilCalled } = await start();
  await press(frame, 'Pay, then lose the network');
  await says(frame, 'The connection was lost.');
  expect(await attempts(order.id)).toBe(1);
  await press(frame, 'Close');
  expect(await untilCalled('ondismiss')).toEqual(DISMISSED);
});

test('a second open and a message of the page change nothing, and close() calls nothing', async () => {
  const { called, isOpen, page } = await start();
  await page.evaluate('checkout.open()');
  await page.evaluate(`postMessage({ event: 'paid', fields: {} }, '*')`);
  await page.evaluate(`frames[0].postMessage({ event: 'open', options: { name: 'Forged' } }, '*')`);
  expect([await isOpen(), (await page.$$('iframe')).length, await called()]).toEqual([true, 1, []]);
  expect(await (await windowOf(page)).evaluate(textOf, '#merchant')).toBe('Acme');
  await page.evaluate('checkout.close()');
  expect([await isOpen(), await called()]).toEqual([false, []]);
  expect(await page.evaluate('document.documentElement.style.overflow')).toBe('');
  await page.evaluate('checkout.open()');
  await windowOf(page);
});

test(
  'a window of an order with another amount says so and only closes; without a key none opens',
  async () => {
    const { frame, page, untilCalled } = await start({ amount: 100 });
    await says(frame, 'Your payment amount is different from your order amount.');
    await press(frame, 'Close');
    await untilCalled('ondismiss');
    await expect(page.evaluate('new Razorpay({ order_id: "order_1" })')).rejects.toThrow('No key passed');
  },
);

test('the window shows what is paid: the price, the offer and the fee', async () => {
  await simulate('account', { fee_bearer: 'customer', offer: { percent: 10 } });
  const { frame, untilCalled } = await start();
  const text = await frame.evaluate(textOf, '#checkout');
  for (const part of ['₹459.70', '₹499.00', '− ₹49.90', '+ ₹10.60']) expect(text).toContain(part);
  await press(frame, 'Pay ₹459.70');
  await untilCalled('handler');
});
