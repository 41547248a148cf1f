import { test } from 'vitest';
import { useLife } from './life.ts';

const { begin } = useLife();

test('a month bought with a closed browser is given by the webhook; a refund in part keeps it, one of the rest ends it', async () => {
  const asha = await begin('2027-03-05');
  await asha.buysWithClosedBrowser('pro');
  await asha.sees('pro until 5 April; no charge');
  await asha.mailed('payment-success');

  await asha.on('2027-03-10');
  await asha.gateway('refund', { amount: 900 });
  await asha.sees('pro until 5 April; no charge');
  await asha.mailed('payment-refunded');

  await asha.on('2027-03-12');
  await asha.gateway('refund');
  await asha.sees('free; no charge');
  await asha.mailed('subscription-ended');
  await asha.paid('5 March 999.00, 999.00 back');
  await asha.needs();
});
