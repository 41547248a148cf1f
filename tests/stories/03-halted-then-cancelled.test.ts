import { test } from 'vitest';
import { useLife } from './life.ts';

const { begin } = useLife();

test('a customer whose card failed for good cancels while nothing runs, and is never charged again, also after a new card', async () => {
  const asha = await begin('2027-03-05');
  await asha.subscribes('basic');
  await asha.bank('fail');
  await asha.on('2027-04-12');
  await asha.sees('free; no charge; payment failed');

  await asha.cancels('period_end');
  await asha.on('2027-04-14');
  await asha.sees('free; no charge');
  await asha.on('2027-07-01');
  await asha.paid('5 March 49.00');
  await asha.needs();
});
