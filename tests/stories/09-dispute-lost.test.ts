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

test('an upgrade with credit is lost, and basic goes on; it is won after all, then lost again: each time a mail names the next charge', async () => {
  const asha = await begin('2027-06-05');
  await asha.subscribes('basic');
  await asha.on('2027-06-20');
  await asha.changes('pro', 'now');
  await asha.mailed('payment-success', 'payment-success', 'plan-changed');
  await asha.gateway('dispute', { event: 'created' });
  await asha.on('2027-06-22');
  await asha.gateway('dispute', { event: 'lost' });
  await asha.sees('pro until 20 July; 49.00 on 5 July');
  await asha.mailed('change-undone');
  await asha.on('2027-06-24');
  await asha.gateway('dispute', { event: 'won' });
  await asha.sees('pro until 20 July; no charge');
  await asha.mailed('change-undone');
  await asha.on('2027-06-26');
  await asha.gateway('dispute', { event: 'created', phase: 'pre_arbitration' });
  await asha.on('2027-06-28');
  await asha.gateway('dispute', { event: 'lost' });
  await asha.sees('pro until 20 July; 49.00 on 5 July');
  await asha.mailed('change-undone');
  await asha.needs('dispute_lost');
  await asha.on('2027-07-06');
  await asha.paid('5 June 49.00', '20 June 974.50', '5 July 49.00');
});
