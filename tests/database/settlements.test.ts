import { beforeEach, expect, test } from 'vitest';
import { inMonthOf, queryOf } from '../../scripts/console/exports.ts';
import { useDatabase } from '../helpers/database/use-database.ts';
import { type BookLine, clearBooks, exampleBooks, writeBooks } from '../helpers/records/books.ts';

const database = useDatabase({
  findings: { captured_not_fulfilled: 'any', settlement_difference: 'any', settlement_incomplete: 'any' },
});
beforeEach(async () => {
  await clearBooks(database);
  await database.at('2026-12-05');
});

const createdAt = Date.parse('2026-11-12T20:00:00Z') / 1000;
type Settlement = { id?: string; status?: string; amount?: number; fees?: number; utr?: string | null };
const apply = (settlement: Settlement, lines?: Partial<BookLine & { settlement_id: string }>[]) =>
  database.rpc(
    'apply_settlement',
    JSON.stringify({ id: 'setl_1', status: 'processed', amount: 0, created_at: createdAt, ...settlement }),
    lines && JSON.stringify(lines.map((line) => ({ settlement_id: 'setl_1', ...line }))),
  );
const stored = () => database.one("select * from billing.bank_lines where settlement_id = 'setl_1'");

test('the bank lines of the worked example are those of its file', async () => {
  await writeBooks(database, exampleBooks);
  const lines = await database.query(
    `select settled_on::text, amount::integer, payments::integer, fees::integer, gst_on_fees::integer, refunds::integer,
       adjustments::integer, difference::integer, lines::integer from billing.bank_lines order by settled_on`,
  );
  expect(lines.map((line) => Object.values(line))).toEqual([
    ['2026-11-06', 173483, 177677, 3554, 640, 0, 0, 0, 2],
    ['2026-11-13', 153812, 193606, 5475, 986, 33333, 0, 0, 3],
    ['2026-11-23', 9720569, 10000001, 200000, 36000, 44444, 1012, 0, 3],
  ]);
});

test('a settlement is complete once its lines add up, in whatever order and however often they come', async () => {
  const payment = { type: 'payment', entity_id: 'pay_1', amount: 99900, fee: 2358, tax: 360, credit: 97542 };
  const refund = { type: 'refund', entity_id: 'rfnd_1', payment_id: 'pay_0', amount: 5000, debit: 5000 };
  const settlement = { amount: 92542 };
  expect(await apply(settlement)).toEqual({ outcome: 'stored', lines: 0, is_complete: false });
  expect(await stored()).toMatchObject({ difference: '92542', utr: null });
  expect(await apply(settlement, [payment])).toEqual({ outcome: 'stored', lines: 1, is_complete: false });
  expect(await apply(settlement, [refund, payment])).toEqual({ outcome: 'stored', lines: 2, is_complete: true });
  const { lines_complete_at } = await stored();
  await database.at('2026-12-06');
  expect(await apply(settlement, [payment, refund, refund])).toEqual({
    outcome: 'stored',
    lines: 2,
    is_complete: true,
  });
  expect((await stored()).lines_complete_at).toEqual(lines_complete_at);
  // A late line that does not fit.
  expect(await apply(settlement, [{ type: 'adjustment', entity_id: 'adj_1', amount: 1, credit: 1 }])).toMatchObject({
    is_complete: false,
  });
});

test('an older answer takes back neither the status nor the UTR', async () => {
  await apply({ status: 'created', utr: null });
  await apply({ status: 'processed', utr: 'UTR1' });
  await apply({ status: 'created', utr: '' });
  expect(await stored()).toMatchObject({ status: 'processed', utr: 'UTR1', settled_on: new Date('2026-11-13') });
});

test('lines belong to their settlement by its id alone, not by the UTR', async () => {
  const line = { type: 'payment', entity_id: 'pay_2', amount: 100, credit: 100 };
  expect(await apply({ utr: 'UTR1' }, [{ ...line, settlement_id: 'setl_2' }])).toMatchObject({ lines: 0 });
});

test.each<[string, Settlement, Partial<BookLine>, Record<string, string>]>([
  [
    'a fee that credits paid',
    { amount: 99900 },
    { type: 'payment', amount: 99900, fee: 2358, tax: 360, credit: 99900 },
    { payments: '99900', fees: '0', gst_on_fees: '0', fees_from_credits: '2358' },
  ],
  [
    'the fee of an instant refund',
    { amount: -5590 },
    { type: 'refund', amount: 5000, fee: 590, tax: 90, debit: 5590 },
    { refunds: '5000', fees: '500', gst_on_fees: '90' },
  ],
  ['a transfer', { amount: -700 }, { type: 'transfer', amount: 700, debit: 700 }, { transfers: '700' }],
  ['a loss', { amount: -700 }, { type: 'adjustment', amount: 700, debit: 700 }, { adjustments: '-700' }],
  ['what is new', { amount: 700 }, { type: 'cashback', amount: 700, credit: 700 }, { other: '700' }],
  [
    'an instant settlement',
    { amount: 97000, fees: 542 },
    { type: 'payment', amount: 99900, fee: 2358, tax: 360, credit: 97542 },
    { payments: '99900', fees: '1998', gst_on_fees: '360', settlement_fees: '542' },
  ],
])('the bank line shows %s', async (_, settlement, line, expected) => {
  expect(await apply(settlement, [{ entity_id: 'entity_1', ...line }])).toMatchObject({ is_complete: true });
  const zeros = Object.fromEntries(
    ['payments', 'fees', 'gst_on_fees', 'refunds', 'adjustments', 'transfers', 'other', 'settlement_fees', 'difference']
      .map((name) => [name, '0']),
  );
  expect(await stored()).toMatchObject({ ...zeros, fees_from_credits: '0', ...expected });
});

test('payments and refunds are settled with their documents, or wait', async () => {
  await writeBooks(database, { ...exampleBooks, settlements: exampleBooks.settlements.slice(0, 2) });
  await database.query("update billing.settlements set status = 'created' where settlement_id like '%2'");
  await database.query(
    `insert into billing.refunds (refund_id, gateway_payment_id, amount, status, created_at)
     values ('rfnd_Example0000011', 'pay_Example0000102', 33333, 'processed', '2026-11-12')`,
  );
  const rows = await database.query(
    `select document_number, fee::integer, gst_on_fee::integer, utr, state from billing.settled_payments order by at, kind`,
  );
  expect(rows.map((row) => Object.values(row))).toEqual([
    ['2627/000101', 1998, 360, 'AXISCN0000000001', 'settled'],
    ['2627/000102', 1556, 280, 'AXISCN0000000001', 'settled'],
    ['2627/000103', 667, 120, 'AXISCN0000000002', 'waiting'],
    ['2627/000104', 4808, 866, 'AXISCN0000000002', 'waiting'],
    ['2627/000105', null, null, null, 'waiting'],
    ['CN2627/000011', 0, 0, 'AXISCN0000000002', 'waiting'],
  ]);
  await database.query('delete from billing.refunds');
});

test('of a payment that came again after a settlement that failed, the line of the later one counts', async () => {
  await writeBooks(database, exampleBooks);
  const failed = await database.one(
    "select * from billing.settlement_lines where entity_id = 'pay_Example0000105'",
  );
  await apply({ status: 'failed' }, [{ ...failed, settlement_id: 'setl_1' }]);
  const states = () =>
    database.query(
      "select settlement_id, state from billing.settled_payments where entity_id = 'pay_Example0000105'",
    );
  expect(await states()).toEqual([{ settlement_id: 'setl_Example0000003', state: 'settled' }]);
  const rows = await database.query(`select x.payment_id, x.fee_inr from (
    ${inMonthOf(queryOf('payments'), '2026-11')}) x where x.payment_id = 'pay_Example0000105'`);
  expect(rows).toHaveLength(1);
  // Until then it waits, and is a problem after ten days.
  await database.query("delete from billing.settlement_lines where settlement_id like '%3'");
  expect(await states()).toEqual([{ settlement_id: 'setl_1', state: 'waiting' }]);
  const unsettled = await database.query(
    "select detail from billing.book_problems where problem = 'payment_unsettled'",
  );
  expect(unsettled).toEqual([{ detail: 'pay_Example0000105' }]);
});

test.each(['id', 'status', 'amount', 'created_at'])('a settlement without its %s is not stored', async (field) => {
  expect(await apply({ [field]: null })).toEqual({ outcome: 'invalid' });
  expect(await database.query('select from billing.settlements')).toEqual([]);
});
