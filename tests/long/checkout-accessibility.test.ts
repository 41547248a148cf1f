import { expect, test } from 'vitest';
import { buttonHeights, focusedName, scrollsSideways, styleOf, textOf } from '../helpers/browser/in-page.js';
import { useBrowser, type Viewing } from '../helpers/browser/use-browser.ts';
import { accessibilityProblems, openApp, press, says, windowOf } from '../stack/checkout-rig.ts';
import { call, createOrder, type Entity, useSimulator } from '../stack/gateway-simulator-rig.ts';

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
  const found: Record<string, string[]> = {};
  found.pay = await accessibilityProblems(frame);
  await press(frame, 'Fail this attempt');
  await says(frame, 'The bank declined');
  found.failed = await accessibilityProblems(frame);
  await press(frame, 'Close the checkout');
  await says(frame, 'Do you want to leave');
  found.confirm = await accessibilityProblems(frame);
  await press(frame, 'Stay');
  await press(frame, 'Try again');
  await press(frame, 'Pay by QR code on another device');
  await says(frame, 'Waiting');
  found.qr = await accessibilityProblems(frame);
  found.app = await accessibilityProblems(page.mainFrame());
  expect(found).toEqual({ pay: [], failed: [], confirm: [], qr: [], app: [] });
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
  expect(order).toEqual([
    'Pay ₹499.00',
    'Pay by QR code on another device',
    'Fail this attempt',
    'Pay, then lose the network',
    'Close the checkout',
    'Pay ₹499.00',
  ]);
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

test('a failure is announced, and the focus moves to the next attempt', async () => {
  const { frame, page } = await start();
  await press(frame, 'Fail this attempt');
  await says(frame, 'The bank declined');
  expect(await frame.evaluate(textOf, '[role="status"]')).toBe(
    'The payment failed. The bank declined the payment.',
  );
  expect(await frame.evaluate(focusedName)).toBe('Try again');
  // Behind a modal dialog the app's page is inert.
  expect(await page.$('::-p-aria([name="Buy"][role="button"])')).toBeNull();
  expect(await frame.$('::-p-aria([name="Acme"][role="dialog"])')).not.toBeNull();
});

test('on a phone of 360 px nothing is cut off, and buttons are large enough for a finger', async () => {
  const { frame } = await start(PHONE);
  expect(await frame.evaluate(scrollsSideways)).toBe(false);
  expect(Math.min(...await frame.evaluate(buttonHeights))).toBeGreaterThanOrEqual(44);
});

test.each([['reduce', 'none'], ['no-preference', 'rise']] as const)(
  'the window that opens under prefers-reduced-motion: %s has the animation %s',
  async (motion, animation) => {
    const { frame } = await start({ motion });
    expect(await frame.evaluate(styleOf, '#checkout', 'animation-name')).toBe(animation);
  },
);
