import { test } from 'vitest';
import { useLife } from './life.ts';

const { begin } = useLife();

test('bought on 5 March, renewed on 5 April, cancelled on 20 April for the end of the month: access ends on 5 May, and nothing more is charged', async () => {
  const asha = await begin('2027-03-05');
  await asha.subscribes('basic');
  await asha.sees('basic until 5 April; 49.00 on 5 April');
  await asha.mailed('payment-success');

  await asha.on('2027-04-06');
  await asha.sees('basic until 5 May; 49.00 on 5 May');
  await asha.mailed('subscription-renewed');

  await asha.on('2027-04-20');
  await asha.cancels('period_end');
  await asha.sees('basic until 5 May; no charge');
  await asha.mailed('subscription-cancelled');

  await asha.on('2027-05-06');
  await asha.sees('free; no charge');
  await asha.on('2027-06-10');
  await asha.paid('5 March 49.00', '5 April 49.00');
  await asha.needs();
});
