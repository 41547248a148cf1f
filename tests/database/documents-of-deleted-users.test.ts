import { beforeEach, expect, test } from 'vitest';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import { actAsOwner } from '../helpers/records/support-actions.ts';

const database = useDatabase({ isEmptied: true, findings: { document_waiting: 'any', state_missing: 'any' } });
const customer = useCustomer(database);

const buyer = {
  name: 'Konkan Traders',
  gstin: '27AAPFU0939F1ZV',
  address: '7 Marine Drive',
  state: '27',
  country: 'IN',
};

beforeEach(() =>
  database.set(
    `seller_name = 'Example Software LLP', seller_gstin = '29AAAAA0000A1ZY', sac = '998315', tax_rate = 1800,
     receipts_from = '2026-01-01'`,
  )
);

const store = (details: Record<string, string | null>) =>
  database.rpc('put_billing_details', customer.id, JSON.stringify(details));
const deleteUser = () => database.query('delete from auth.users where id = $1', [customer.id]);
async function buy(at: string) {
  const order = await customer.order('pro', { at });
  await order.verify();
  await order.capture();
  return order;
}
/** The documents of a payment, the newest last. */
const documents = (payment: string) =>
  database.query(
    `select r.kind, r.category, r.place_of_supply, r.buyer, r.totals #>> '{taxes,0,name}' as tax
     from public.receipts r where r.payment_id = $1 order by r.issued_at, r.kind desc`,
    [payment],
  );
const invoice = { kind: 'receipt', category: 'b2b', place_of_supply: '27', tax: 'IGST', buyer };

test('a receipt that is issued after its user was deleted has the buyer who paid', async () => {
  await store(buyer);
  const order = await buy('2026-11-04');
  await deleteUser();
  await database.sweep();
  expect(await documents(order.id)).toEqual([invoice]);
});

test('a receipt that is issued after its user was deleted has the details that came after the payment', async () => {
  const order = await buy('2026-11-04');
  await store(buyer);
  await deleteUser();
  await database.sweep();
  expect(await documents(order.id)).toEqual([invoice]);
});

test('what only the buyer could answer is asked for until the user is deleted, and remains a doubt of the books', async () => {
  await buy('2026-11-04');
  await database.sweep();
  const asked = async () =>
    (await Promise.all(
      ['finding from billing.book_findings', 'problem from billing.book_problems'].map((what) =>
        database.query(`select ${what}`)
      ),
    )).map((rows) => rows.flatMap(Object.values));
  expect(await asked()).toEqual([['state_missing'], ['state_missing']]);
  await deleteUser();
  expect(await asked()).toEqual([[], ['state_missing']]);
});

test('a reissue after the user was deleted keeps the buyer', async () => {
  await store(buyer);
  const order = await buy('2026-11-04');
  await database.sweep();
  await deleteUser();
  await database.at('2026-11-05');
  const { document_number: reference } = await database.one(
    'select document_number from public.receipts where payment_id = $1',
    [
      order.id,
    ],
  );
  await actAsOwner(database, { action: 'reissue', reference: String(reference) });
  expect(await documents(order.id)).toEqual([invoice, invoice, { ...invoice, kind: 'credit_note' }]);
});
