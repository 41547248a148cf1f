import { expect, onTestFinished, test } from 'vitest';
import { freeBasePort, npmStart } from '../stack/running-stack.ts';
import { shiftClock, subscribe } from '../stack/subscriber.ts';

const paid = 'Payment received: your Basic plan is active';
const renewed = 'Your Basic plan has been renewed';
const unpaid = 'Your Basic plan could not be renewed yet';
const halted = 'Your Basic plan could not be renewed';
const ended = 'Your Basic plan has ended';

test('npm run clock: approved, renewed, unpaid, halted, paid again, and cancelled', async () => {
  const port = freeBasePort();
  const clock = (shift: string) => shiftClock(port, shift);
  const stack = npmStart(['--port', String(port), '--ephemeral']);
  onTestFinished(async () => void await stack.end());
  const customer = await subscribe(await stack.ready, 'basic');
  expect(customer.verified).toMatchObject({ tier: 'basic', startsAt: null });
  const first = (await customer.atGateway()).current_end;
  expect(Date.parse(customer.verified.validUntil) / 1000).toBe(first);
  await customer.sees({ currentTier: 'basic', billing: { status: 'active', payment_attention: false } });
  await customer.hasMails(paid);

  await clock('1 month');
  const { current_end: second, paid_count } = await customer.atGateway();
  expect([second > first, paid_count]).toEqual([true, 2]);
  await customer.hasMails(paid, renewed);
  const { subscription } = await customer.request('subscriptions');
  expect(Date.parse(subscription.current_period_end) / 1000).toBe(second);

  await customer.simulate('subscription-fault', { charges: 'fail' });
  await clock('1 month');
  await customer.sees({ currentTier: 'basic', billing: { status: 'pending', payment_attention: true } });
  await customer.hasMails(paid, renewed, unpaid);
  await clock('2 days');
  await customer.sees({ currentTier: 'basic', billing: { status: 'pending' } });
  await clock('1 day');
  await customer.sees({
    currentTier: 'free',
    subscription: { status: 'cancelled', ended_reason: 'lapsed' },
    billing: { status: 'halted', payment_attention: true, next_charge_at: null },
  });
  await customer.hasMails(paid, renewed, unpaid, halted, ended);

  // The new method is active without a charge. The next cycle is charged.
  await customer.simulate('update-method');
  await customer.sees({ currentTier: 'free', billing: { status: 'active', payment_attention: false } });
  await clock('28 days');
  await customer.sees({ currentTier: 'basic', subscription: { status: 'active', ended_reason: null } });

  await customer.request('subscriptions/cancel', { at_period_end: true });
  // The cycle ends in 28 to 31 days. The gateway is told 48 hours before that.
  for (const shift of ['27 days', '2 days', '3 days']) await clock(shift);
  await customer.sees({ currentTier: 'free', billing: null, subscription: { ended_reason: 'cancelled' } });
  expect(await customer.atGateway()).toMatchObject({ status: 'cancelled', paid_count: 3 });
});
