import { expect, test } from 'vitest';
import { signHex } from '../../scripts/stack/gateway/delivery.ts';
import { useBrowser } from '../helpers/browser/use-browser.ts';
import { openApp, press, says, windowOf } from './checkout-rig.ts';
import { createOrder, KEY_SECRET, useSimulator } from './gateway-simulator-rig.ts';

useSimulator();
const browser = useBrowser();

test('a paid order calls handler with the three fields, and the window closes', async () => {
  const app = await openApp(browser);
  const order = await createOrder();
  await app.open({ order_id: order.id, amount: order.amount, currency: 'INR' });
  const frame = await windowOf(app.page);
  await app.page.screenshot({ path: '/tmp/shot-light.png' });
  await press(frame, 'Pay ₹499.00');
  await app.untilCalled('handler');
  const [[name, fields]] = await app.called() as any;
  expect(name).toBe('handler');
  expect(fields).toEqual({
    razorpay_payment_id: expect.stringMatching(/^pay_/),
    razorpay_order_id: order.id,
    razorpay_signature: await signHex(KEY_SECRET, `${order.id}|${fields.razorpay_payment_id}`),
  });
  expect(app.problems).toEqual([]);
});
