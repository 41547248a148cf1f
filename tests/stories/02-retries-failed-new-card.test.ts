import { test } from 'vitest';
import { useLife } from './life.ts';

const { begin } = useLife();

test('the renewal of 5 April fails until the gateway gives up: access ends after the days of grace; a new card on 20 April goes on from the next cycle', async () => {
  const asha = await begin('2027-03-05');
  await asha.subscribes('basic');
  await asha.mailed('payment-success');
  await asha.bank('fail');

  await asha.on('2027-04-06');
  await asha.sees('basic until 5 April; 49.00 on 7 April; payment failed');
  await asha.mailed('payment-pending');

  await asha.on('2027-04-12');
  await asha.sees('free; no charge; payment failed');
  await asha.mailed('subscription-ended', 'subscription-halted');

  // What was not charged is not charged later: the new card pays from 5 May on.
  await asha.on('2027-04-20');
  await asha.bank('succeed');
  await asha.paysWithNewCard();
  await asha.sees('free; 49.00 on 5 May');
  await asha.on('2027-05-06');
  await asha.sees('basic until 5 June; 49.00 on 5 June');
  await asha.paid('5 March 49.00', '5 May 49.00');
  await asha.needs();
});
