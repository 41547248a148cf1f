import { test } from 'vitest';
import { useLife } from './life.ts';

const { begin } = useLife();

test('support gives premium for some weeks: basic is billed below it, and gives access again after the days of grace; cancelled below the grant, it is charged no more', async () => {
  const asha = await begin('2027-03-05');
  await asha.subscribes('basic');
  await asha.on('2027-03-20');
  await asha.support.grants('premium', '2027-04-20T12:00:00Z');
  await asha.sees('premium until 20 April; 49.00 on 5 April');
  await asha.on('2027-04-24');
  await asha.sees('basic until 5 May; 49.00 on 5 May');

  await asha.support.grants('premium', '2027-06-20T12:00:00Z');
  await asha.cancels('period_end');
  await asha.on('2027-06-01');
  await asha.paid('5 March 49.00', '5 April 49.00');
  await asha.needs();
});
