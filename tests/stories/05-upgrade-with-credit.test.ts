import { test } from 'vitest';
import { useLife } from './life.ts';

const { begin } = useLife();

test('an upgrade in the middle of a month costs the price without the unused days, begins at once, and is billed from its own day on', async () => {
  const asha = await begin('2027-03-05');
  await asha.subscribes('basic');
  await asha.on('2027-03-20');
  await asha.changes('pro', 'now');
  await asha.sees('pro until 20 April; 999.00 on 20 April');
  await asha.mailed('payment-success', 'payment-success', 'plan-changed');

  await asha.on('2027-04-21');
  await asha.sees('pro until 20 May; 999.00 on 20 May');
  // 16 of 31 days of 49.00 are 25.29.
  await asha.paid('5 March 49.00', '20 March 973.71', '20 April 999.00');
  await asha.needs();
});
