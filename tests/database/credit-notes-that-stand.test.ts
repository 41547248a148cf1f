import { beforeEach, expect, test } from 'vitest';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import { disputeEvent } from '../helpers/gateway/events.ts';
import { actAsOwner } from '../helpers/records/support-actions.ts';

const database = useDatabase({ isEmptied: true, findings: { dispute_lost: 'any', refund_failed: 'any' } });
const customer = useCustomer(database);

beforeEach(async () => {
  await database.set(
    `seller_name = 'Example Software LLP', seller_gstin = '29AAAAA0000A1ZY', sac = '998315', tax_rate = 1800,
     receipts_from = '2026-01-01'`,
  );
  await database.query('alter table public.receipts disable trigger user');
  await database.query('truncate public.receipts, billing.documents_due, billing.book_months');
  await database.query('alter table public.receipts enable trigger user');
  await database.rpc('put_billing_details', customer.id, JSON.stringify({ name: 'Asha Rao', state: '29' }));
});

async function buy(at = '2026-11-04') {
  const order = await customer.order('pro', { at });
  await order.verify();
  await order.capture();
  await database.sweep();
  return order;
}
type Order = Awaited<ReturnType<typeof buy>>;
/** A refund at a time, with its end, and the documents that it causes. */
async function refund(
  order: Order,
  at: string,
  amount: number,
  id: string,
  status: 'processed' | 'failed' = 'processed',
) {
  await database.at(at);
  await order.refund(amount, { id, status });
  await database.sweep();
}
const notes = async () =>
  (await database.query(
    "select (totals ->> 'total')::integer as total from public.receipts where kind = 'credit_note' order by number",
  ))
    .map(({ total }) => total);
const problems = async () =>
  (await database.query('select problem, document_number, month::text from billing.book_problems order by 1, 2'))
    .map(({ problem, document_number, month }) => `${problem} ${document_number} ${month}`);
const excesses = async () =>
  (await database.query('select document_number, excess from billing.notes_above order by 1'))
    .map(({ document_number, excess }) => [document_number, Number(excess)]);
async function findings() {
  await database.query("select billing.run_pass('books', '1 minute')");
  return (await database.query(
    'select finding, subject, remedy from billing.findings where finding in (select problem from billing.book_problems)',
  )).map(({ finding, subject }) => `${finding} ${subject}`);
}

test('a refund that fails months after its note is a problem of the month in which it failed, and a finding', async () => {
  const order = await buy();
  await refund(order, '2026-11-10', 30000, 'rfnd_1');
  await refund(order, '2027-02-28T18:30:00Z', 30000, 'rfnd_1', 'failed');
  expect(await problems()).toEqual(['note_of_failed_refund CN2627/000001 2027-03-01']);
  expect(await findings()).toEqual(['note_of_failed_refund CN2627/000001']);
});

test('a refund that repeats a failed one has the note that stands, and its problem is gone', async () => {
  const order = await buy();
  await refund(order, '2026-11-10', 30000, 'rfnd_1');
  await refund(order, '2026-11-12', 30000, 'rfnd_1', 'failed');
  await refund(order, '2026-11-13', 40000, 'rfnd_2');
  expect(await notes()).toEqual([30000, 10000]);
  expect(await problems()).toEqual([]);
  await refund(order, '2026-11-14', 20000, 'rfnd_3');
  expect(await notes()).toEqual([30000, 10000, 20000]);
});

test('a note above what the dispute took in the end is a problem, and the next refund is counted against it', async () => {
  const order = await buy();
  const payment = { id: String((await order.row()).gateway_payment_id), amount: order.amount };
  const lose = async (amount_deducted: number, createdAt: string) => {
    await database.at(createdAt);
    await database.send(disputeEvent('lost', 'lost', payment, { amount_deducted }, { createdAt }));
    await database.sweep();
  };
  await lose(60000, '2026-11-20T00:00:00Z');
  expect(await problems()).toEqual([]);
  await lose(40000, '2027-01-31T18:30:00Z');
  expect(await notes()).toEqual([60000]);
  expect(await problems()).toEqual(['note_above_dispute CN2627/000001 2027-02-01']);
  expect(await findings()).toEqual(['note_above_dispute CN2627/000001']);
  await refund(order, '2027-02-03', 30000, 'rfnd_1');
  expect(await notes()).toEqual([60000, 10000]);
  expect(await problems()).toEqual([]);
});

test('a dispute that takes more later gets a note of the rest, and each is counted once', async () => {
  const order = await buy();
  const payment = { id: String((await order.row()).gateway_payment_id), amount: order.amount };
  const lose = async (amount_deducted: number, createdAt: string, status: 'lost' | 'won' = 'lost') => {
    await database.at(createdAt);
    await database.send(disputeEvent(status, status, payment, { amount_deducted }, { createdAt }));
    await database.sweep();
  };
  await lose(40000, '2026-11-20T00:00:00Z');
  await lose(60000, '2026-12-20T00:00:00Z');
  await lose(60000, '2026-12-21T00:00:00Z');
  expect(await notes()).toEqual([40000, 20000]);
  expect(await problems()).toEqual([]);
  await lose(30000, '2026-12-22T00:00:00Z');
  expect(await notes()).toEqual([40000, 20000]);
  expect(await excesses()).toEqual([
    ...[['CN2627/000001', 10000], ['CN2627/000002', 20000]],
  ]);
  await lose(70000, '2026-12-23T00:00:00Z');
  expect(await notes()).toEqual([40000, 20000, 10000]);
  expect(await problems()).toEqual([]);
  await lose(0, '2026-12-24T00:00:00Z', 'won');
  expect((await excesses()).map(([, excess]) => excess)).toEqual([40000, 20000, 10000]);
});

test('a problem of a document ends with a note about it, also of a deleted user', async () => {
  await database.query('delete from public.billing_details');
  await buy();
  await database.query('delete from auth.users where id = $1', [customer.id]);
  expect(await problems()).toEqual(['state_missing 2627/000001 2026-11-01']);
  await actAsOwner(database, { action: 'note', reference: '2627/000001', reason: 'the accountant knows it' });
  expect(await problems()).toEqual([]);
  expect(await findings()).toEqual([]);
});

test('a refund after support noted that the failed one is settled has a note of its own', async () => {
  const order = await buy();
  await refund(order, '2026-11-10', 30000, 'rfnd_1');
  await refund(order, '2026-11-12', 30000, 'rfnd_1', 'failed');
  await actAsOwner(database, { action: 'note', reference: 'CN2627/000001', reason: 'debit note 7 of the accountant' });
  expect(await problems()).toEqual([]);
  await refund(order, '2026-11-13', 40000, 'rfnd_2');
  expect(await notes()).toEqual([30000, 40000]);
});
