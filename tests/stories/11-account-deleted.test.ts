import { test } from 'vitest';
import { useLife } from './life.ts';

const { begin } = useLife();

test('a customer deletes the account: the gateway is told at once, and charges nothing more', async () => {
  const asha = await begin('2027-03-05');
  await asha.subscribes('basic');
  await asha.on('2027-03-20');
  await asha.deletesAccount();
  await asha.on('2027-05-10');
  await asha.paid('5 March 49.00');
});
