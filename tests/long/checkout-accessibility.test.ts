import { expect, test } from 'vitest';
import { buttonHeights, focusedName, scrollsSideways, styleOf, textOf } from '../helpers/browser/in-page.js';
import { useBrowser, type Viewing } from '../helpers/browser/use-browser.ts';
import { accessibilityProblems, openApp, press, says, windowOf } from '../stack/checkout-rig.ts';
import { simulator, until, useSimulator } from '../stack/gateway-simulator-rig.ts';
import { call, createOrder, type Entity } from '../stack/simulate.ts';

useSimulator();
const browser = useBrowser();

async function start(viewing: Viewing = {}, options: Entity = {}) {
  const app = await openApp(browser, viewing);
  const { id } = await createOrder();
  await app.open({ order_id: id, description: 'Pro plan, one year', modal: { confirm_close: true }, ...options });
  return { ...app, frame: await windowOf(app.page) };
}

const PHONE = { width: 360, height: 640 };

test.each<[string, Viewing, Entity]>([
  ['light', {}, {}],
  ['dark on a phone, in a dark colour of the app', { ...PHONE, colours: 'dark' }, { theme: { color: '#1a237e' } }],
])('axe finds nothing in any state of the window: %s', async (_, viewing, options) => {
  const { frame, page } = await start(viewing, options);
  const found = [await accessibilityProblems(frame)];
  for (
    const [steps, text] of [
      [['Fail this attempt'], 'The bank declined'],
      [['Close the checkout'], 'Do you want to leave'],
      [['Stay', 'Try again', 'Pay by QR code on another device'], 'Waiting'],
    ] as const
  ) {
    for (const step of steps) await press(frame, step);
    await says(frame, text);
    found.push(await accessibilityProblems(frame));
  }
  found.push(await accessibilityProblems(page.mainFrame()));
  expect(found).toEqual([[], [], [], [], []]);
});

test('axe finds nothing in the window of a subscription in a light colour of the app, nor after a lost connection', async () => {
  const { body } = await call('POST', '/v1/subscriptions', { plan_id: 'plan_Pro00000000001', total_count: 12 });
  const options = { order_id: undefined, subscription_id: body.id, theme: { color: '#ffd54f' } };
  const { frame } = await start({}, options);
  expect(await accessibilityProblems(frame)).toEqual([]);
  await press(frame, 'Authorise, then lose the network');
  await says(frame, 'The connection was lost.');
  expect(await accessibilityProblems(frame)).toEqual([]);
});

test('the keyboard alone pays: the focus starts at the first way to pay, and stays in the window', async () => {
  const { frame, page, untilCalled } = await start();
  const order = [];
  for (let i = 0; i < 6; i += 1) {
    order.push(await frame.evaluate(focusedName));
    await page.keyboard.press('Tab');
  }
  const ways = ['Pay ₹499.00', 'Pay by QR code on another device', 'Fail this attempt', 'Pay, then lose the network'];
  expect(order).toEqual([...ways, 'Close the checkout', 'Pay ₹499.00']);
  await page.keyboard.down('Shift');
  for (let i = 0; i < 2; i += 1) await page.keyboard.press('Tab');
  await page.keyboard.up('Shift');
  expect(await frame.evaluate(focusedName)).toBe('Close the checkout');
  await page.keyboard.press('Tab');
  expect(await frame.evaluate(styleOf, ':focus', 'outline-style')).toBe('solid');
  await page.keyboard.press('Enter');
  await untilCalled('handler');
  expect(await page.evaluate(focusedName)).toBe('Buy');
});

test('the window opens with an animation; a failure is announced, and the focus moves to the next attempt', async () => {
  const { frame, page } = await start({ motion: 'no-preference' });
  expect(await frame.evaluate(styleOf, '#checkout', 'animation-name')).toBe('rise');
  await press(frame, 'Fail this attempt');
  await says(frame, 'The bank declined');
  const status = await frame.evaluate(textOf, '[role="status"]');
  expect(status).toBe('The payment failed. The bank declined the payment.');
  expect(await frame.evaluate(focusedName)).toBe('Try again');
  // Behind a modal dialog the app's page is inert.
  expect(await page.$('::-p-aria([name="Buy"][role="button"])')).toBeNull();
  expect(await frame.$('::-p-aria([name="Acme"][role="dialog"])')).not.toBeNull();
});

test('on a phone of 360 px nothing is cut off, buttons are large enough for a finger, and reduced motion is obeyed', async () => {
  const { frame } = await start({ ...PHONE, motion: 'reduce' });
  expect(await frame.evaluate(scrollsSideways)).toBe(false);
  expect(Math.min(...await frame.evaluate(buttonHeights))).toBeGreaterThanOrEqual(44);
  expect(await frame.evaluate(styleOf, '#checkout', 'animation-name')).toBe('none');
});

/** An app that opened the checkout in redirect mode, on the page of the simulator. */
async function redirect() {
  const app = await openApp(browser);
  const order = await createOrder();
  await app.open({ order_id: order.id, amount: order.amount, callback_url: '/paid?cart=7', redirect: true });
  const { page } = app;
  await until(() => page.url().startsWith(`${simulator.url}/checkout/redirect#`));
  await page.waitForSelector('[data-panel="pay"]:not([hidden])');
  const payment = async () => (await call('GET', '/simulate/state')).body.payments[0];
  return { ...app, order, frame: page.mainFrame(), payment };
}

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
