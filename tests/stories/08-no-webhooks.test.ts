import { test } from 'vitest';
import { useLife } from './life.ts';

const { begin } = useLife();

test('no webhook about a subscription arrives for three months: renewals, a refund by hand and the cancellation are known all the same', async () => {
  const asha = await begin('2027-03-05');
  await asha.subscribes('basic');
  await asha.losesWebhooks();
  await asha.on('2027-04-06');
  await asha.sees('basic until 5 May; 49.00 on 5 May');
  await asha.on('2027-05-06');
  await asha.sees('basic until 5 June; 49.00 on 5 June');

  await asha.cancels('period_end');
  await asha.on('2027-06-10');
  await asha.sees('free; no charge');
  await asha.paid('5 March 49.00', '5 April 49.00', '5 May 49.00');
  await asha.needs();
});
