import { test } from 'vitest';
import { useLife } from './life.ts';

const { begin } = useLife();

test('a customer disputes a month at the bank: won first, lost in the second phase; support is asked, and the access stays until it acts', async () => {
  const asha = await begin('2027-03-05');
  await asha.buysWithClosedBrowser('pro');
  await asha.on('2027-03-10');
  await asha.gateway('dispute', { event: 'created' });
  await asha.needs();
  await asha.on('2027-03-12');
  await asha.gateway('dispute', { event: 'won' });
  await asha.needs();
  await asha.on('2027-03-14');
  await asha.gateway('dispute', { event: 'created', phase: 'pre_arbitration' });
  await asha.on('2027-03-16');
  await asha.gateway('dispute', { event: 'lost' });
  await asha.sees('pro until 5 April; no charge');
  await asha.needs('dispute_lost');
});
