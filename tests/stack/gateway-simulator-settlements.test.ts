import { expect, test } from 'vitest';
import { removeJournal } from '../../scripts/stack/gateway/journal.ts';
import { NOW, simulator, startSimulator, useSimulator } from './gateway-simulator-rig.ts';
import { createOrder, type Entity, paid, pay, quiet, read, simulate, webhooks } from './simulate.ts';

useSimulator();

const day = 24 * 60 * 60;
/** The lines of a day in India; the clock of the tests stands at 05:30 on 10 January there. */
const linesOf = async (date: string, page = 'count=1000'): Promise<Entity[]> => {
  const [year, month, dayOfMonth] = date.split('-').map(Number);
  return (await read(`settlements/recon/combined?year=${year}&month=${month}&day=${dayOfMonth}&${page}`)).items;
};
const settle = (fields: Entity = {}) => simulate('settle', { ...quiet, ...fields });

test('a settlement has what was captured, refunded and lost since the one before, and is announced once', async () => {
  const [first, second] = [await paid(), await paid()];
  await paid('authorized');
  const { refund } = await simulate('refund', { payment_id: first, amount: 20000, ...quiet });
  await simulate('refund', { payment_id: first, amount: 100, event: 'created', ...quiet });
  const { settlement, lines } = await simulate('settle', { utr: 'UTR1' });
  // 2.36 % of 499.00, and 18/118 of that.
  expect(settlement).toEqual({
    ...{
      id: expect.stringMatching(/^setl_[A-Za-z0-9]{14}$/),
      entity: 'settlement',
      amount: 2 * (49900 - 1178) - 20000,
    },
    ...{ status: 'processed', fees: 0, tax: 0, utr: 'UTR1', created_at: NOW },
  });
  expect((await webhooks()).map(({ event, contains, payload }) => [event, contains, payload.settlement.entity]))
    .toEqual([
      ['settlement.processed', ['settlement'], settlement],
    ]);
  expect(await read(`settlements/${settlement.id}`)).toEqual(settlement);
  expect((await read(`settlements?from=${NOW}&to=${NOW}`)).items).toEqual([settlement]);
  expect((await read(`settlements?from=${NOW + 1}`)).items).toEqual([]);
  const { order_id } = await read(`payments/${second}`);
  const shared = {
    ...{ currency: 'INR', on_hold: false, settled: true, created_at: NOW, settled_at: NOW, posted_at: null },
    ...{ settlement_id: settlement.id, settlement_utr: 'UTR1', credit_type: 'default', description: null },
    ...{ order_receipt: null, card_network: null, card_issuer: null, card_type: null, dispute_id: null },
  };
  expect(await linesOf('2026-01-10')).toEqual(lines.toReversed());
  expect(lines).toHaveLength(3);
  expect(lines).toContainEqual({
    ...{ ...shared, entity_id: second, type: 'payment', debit: 0, credit: 48722, amount: 49900, fee: 1178, tax: 180 },
    ...{ payment_id: null, order_id, method: 'upi', notes: [] },
  });
  expect(lines).toContainEqual(expect.objectContaining({
    ...{ entity_id: refund.id, type: 'refund', debit: 20000, credit: 0, amount: 20000, fee: 0, payment_id: first },
  }));
  expect((await settle()).error.field).toBe('until');

  await paid();
  await simulate('dispute', { payment_id: second, event: 'created', ...quiet });
  const { dispute } = await simulate('dispute', { payment_id: second, event: 'lost', amount_deducted: 1000, ...quiet });
  const lost = (await settle()).lines.filter(({ type }: Entity) => type === 'adjustment');
  expect(lost).toMatchObject([{ debit: 1000, dispute_id: dispute.id, payment_id: second, settlement_utr: null }]);
  // It is reversed.
  await simulate('dispute', { payment_id: second, event: 'won', amount_deducted: 0, ...quiet });
  expect((await settle()).lines).toMatchObject([{ credit: 1000, dispute_id: dispute.id }]);
});

test('a partial settlement leaves payments for the next; fee credits, an adjustment and a later UTR are shown', async () => {
  const [first, second] = [await paid(), await paid()];
  const { settlement, lines } = await settle({
    partial: [second],
    utr: null,
    adjustment: -1012,
    fees_from_credits: true,
  });
  expect(lines).toMatchObject([
    { entity_id: first, credit: 49900, fee: 1178, settlement_utr: null },
    { type: 'adjustment', amount: 1012, debit: 1012, settlement_utr: null },
  ]);
  expect(settlement).toMatchObject({ amount: 49900 - 1012, utr: null });
  const named = await settle({ settlement_id: settlement.id, utr: 'UTR2' });
  expect(named.settlement).toEqual({ ...settlement, utr: 'UTR2' });
  expect((await settle({ fees: 118, tax: 18 })).settlement).toMatchObject({ amount: 48722 - 118, fees: 118, tax: 18 });
});

test('the lines of a day are shown by pages, and held ones a day late', async () => {
  for (let made = 0; made < 12; made += 1) await paid();
  await settle({ hold_lines: true });
  expect(await linesOf('2026-01-10')).toEqual([]);
  await simulate('clock', { shift_seconds: day, ...quiet });
  expect(await linesOf('2026-01-09')).toEqual([]);
  const all = await linesOf('2026-01-10');
  expect(all).toHaveLength(12);
  expect(await linesOf('2026-01-10', 'count=5&skip=10')).toEqual(all.slice(10));
  expect(await linesOf('2026-01-10', '')).toEqual(all.slice(0, 10));
  expect((await read('settlements/recon/combined?year=2026&month=1&count=12')).items).toEqual(all);
  expect((await read('settlements/recon/combined?year=2026&month=2')).items).toEqual([]);
  expect((await read('settlements/recon/combined?year=2026&month=13&day=1')).error.code).toBe('BAD_REQUEST_ERROR');
});

test('a payment in another currency is booked and settled in rupees', async () => {
  await simulate('account', { rates: { USD: 84.3542105263 } });
  const { gateway_payment_id: id } = await pay(await createOrder({ amount: 1900, currency: 'USD' }), quiet);
  const booked = { base_amount: 160273, base_currency: 'INR', international: true, fee: 5674, tax: 866 };
  expect(await read(`payments/${id}`)).toMatchObject({ amount: 1900, currency: 'USD', ...booked });
  await simulate('refund', { payment_id: id, amount: 950, ...quiet });
  const { lines } = await settle();
  expect(lines.map(({ amount, credit, debit, currency }: Entity) => [amount, credit, debit, currency]))
    .toEqual([[160273, 154599, 0, 'INR'], [80137, 0, 80137, 'INR']]);
});

test('a restart keeps settlements and lines', async () => {
  const journal = await Deno.makeTempFile();
  await startSimulator({ journal });
  await paid();
  const { settlement, lines } = await settle();
  await startSimulator({ journal });
  expect(await read(`settlements/${settlement.id}`)).toEqual(settlement);
  expect(await linesOf('2026-01-10')).toEqual(lines);
  expect((await settle()).error.field).toBe('until');
  await simulator.stop();
  removeJournal(journal);
});
