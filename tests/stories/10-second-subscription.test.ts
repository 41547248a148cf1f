import { test } from 'vitest';
import { useLife } from './life.ts';

const { begin } = useLife();

test('a customer who subscribes to pro beside basic pays basic no more: the newer one replaces the older at the end of its paid month', async () => {
  const asha = await begin('2027-03-05');
  await asha.subscribes('basic');
  await asha.on('2027-03-15');
  await asha.subscribes('pro');
  await asha.sees('pro until 15 April; 999.00 on 15 April');
  await asha.on('2027-04-16');
  await asha.paid('5 March 49.00', '15 March 999.00', '15 April 999.00');
  await asha.sees('pro until 15 May; 999.00 on 15 May');
  await asha.needs();
});
