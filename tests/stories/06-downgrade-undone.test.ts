import { test } from 'vitest';
import { useLife } from './life.ts';

const { begin } = useLife();

test('a change to basic for the end of the month is undone in time, and asked for again the month after: basic begins on 5 May', async () => {
  const asha = await begin('2027-03-05');
  await asha.subscribes('pro');
  await asha.mailed('payment-success');
  await asha.on('2027-03-20');
  await asha.changes('basic', 'period_end');
  await asha.sees('pro until 5 April; 49.00 on 5 April; then basic from 5 April');
  await asha.mailed('change-scheduled');

  await asha.on('2027-03-25');
  await asha.undoes('pro');
  await asha.sees('pro until 5 April; 999.00 on 5 April');
  await asha.mailed('change-undone');
  await asha.on('2027-04-06');
  await asha.sees('pro until 5 May; 999.00 on 5 May');

  await asha.changes('basic', 'period_end');
  await asha.on('2027-05-06');
  await asha.sees('basic until 5 June; 49.00 on 5 June');
  await asha.paid('5 March 999.00', '5 April 999.00', '5 May 49.00');
  await asha.needs();
});
