import { beforeEach, describe, expect, test } from 'vitest';
import { waitUntilBlocked } from '../helpers/database/session.ts';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import { disputeEvent } from '../helpers/gateway/events.ts';
import { isLong } from '../helpers/project/suite.ts';
import { uniqueId } from '../helpers/records/records.ts';
import { actAsOwner } from '../helpers/records/support-actions.ts';

const database = useDatabase({
  isEmptied: true,
  findings: {
    state_missing: 'any',
    dispute_lost: 'any',
    note_of_failed_refund: 'any',
    note_of_won_dispute: 'any',
    document_waiting: 'any',
  },
});
const customer = useCustomer(database);

const seller = `seller_name = 'Example Software LLP', seller_address = '12 Sample Road, Bengaluru 560001',
  seller_gstin = '29AAAAA0000A1ZY', sac = '998315', tax_rate = 1800`;
/** Switches receipts on, and lists what was paid before. */
async function sell(settings = seller): Promise<void> {
  await database.set(`${settings}, receipts_from = '2026-04-01'`);
  await database.query('select billing.issue_documents()');
}
beforeEach(async () => {
  await database.query('alter table public.receipts disable trigger user');
  await database.query('truncate public.receipts, billing.documents_due, billing.book_months');
  await database.query('alter table public.receipts enable trigger user');
  await database.query(
    `update billing.settings set receipts_from = null, seller_name = null, seller_address = null, seller_gstin = null,
     seller_state = null, sac = null, tax_rate = null, export_lut = null, tax_name = 'Tax', over_5_crore = false,
     dispute_notes = true, receipt_prefix = ''`,
  );
});

const details = (values: Record<string, string | null>) =>
  database.rpc('put_billing_details', customer.id, JSON.stringify(values));
const issue = () => database.sweep();
type Document = {
  document_number: string;
  title: string;
  category: string;
  place_of_supply: string | null;
  buyer: Record<string, string | null>;
  lines: { description: string; amount: number }[];
  rupees: { total: number; rate: string } | null;
  totals: { taxable: number; taxes: { name: string; rate: number; amount: number }[]; total: number };
};
/** Claims a page of the gateway's list of payments. @returns the end of its window, and where it begins */
async function pageOfPayments(): Promise<[number, number]> {
  await database.query(
    `update billing.statement_windows set next_read_at = billing.clock() where (list, pass) = ('payments', 'again')`,
  );
  const { pages } = await database.rpc('claim_statement_pages');
  const page = (pages as { list: string; pass: string; to: number; skip: number }[]).find(
    ({ list, pass }) => list === 'payments' && pass === 'again',
  );
  if (page === undefined) throw new Error('the list of payments is not due');
  return [page.to, page.skip];
}
const documents = async () =>
  (await database.query('select * from public.receipts order by issued_at, number')) as unknown as Document[];

/** Buys pro, for another amount where one is named, and confirms the payment. */
async function buy(at: string, amount = 99900, fields: Record<string, unknown> = {}) {
  await database.setPlan('pro', `price = ${amount}`);
  const order = await customer.order('pro', { at });
  await order.verify();
  await order.capture(fields);
  return order;
}
const short = ({ document_number, title, category, totals }: Document) => [
  `${document_number} ${title} ${category}`,
  totals.taxable,
  ...totals.taxes.map(({ name, amount }) => `${name} ${amount}`),
  totals.total,
];

describe('of a seller with a GSTIN', () => {
  beforeEach(() => sell());

  test('the place of supply decides the taxes and the category', async () => {
    const buyers: [Record<string, string | null>, number][] = [
      [{ name: 'Mysuru Mills', gstin: '29BBBBB1111B1ZJ' }, 99900],
      [{ name: 'Konkan Traders', gstin: '27AAPFU0939F1ZV', address: '7 Marine Drive' }, 77777],
      [{ name: 'Asha Rao', state: '29' }, 33333],
      [{ name: 'Ravi Shah', state: '08' }, 10000001],
      [{ name: 'Lisboa Lda', state: '96', country: 'PT' }, 1900],
    ];
    for (const [index, [buyer, amount]] of buyers.entries()) {
      expect(await details(buyer)).toMatchObject({ outcome: 'stored' });
      await buy(`2026-11-0${index + 3}T06:00:00Z`, amount);
      await issue();
    }
    expect((await documents()).map(short)).toEqual([
      ['2627/000001 Tax invoice b2b', 84662, 'CGST 7619', 'SGST 7619', 99900],
      ['2627/000002 Tax invoice b2b', 65913, 'IGST 11864', 77777],
      ['2627/000003 Tax invoice b2cs', 28249, 'CGST 2542', 'SGST 2542', 33333],
      ['2627/000004 Tax invoice b2cl', 8474577, 'IGST 1525424', 10000001],
      ['2627/000005 Tax invoice expwp', 1610, 'IGST 290', 1900],
    ]);
    const [first] = await documents();
    expect(first?.lines[0]).toEqual({
      ...{ description: 'Pro, 3 Nov 2026 – 3 Nov 2027', item: 'Pro', sac: '998315', quantity: 1, amount: 99900 },
    });
    expect(first?.buyer).toEqual({
      ...{ name: 'Mysuru Mills', gstin: '29BBBBB1111B1ZJ', address: null, state: '29', country: 'IN' },
    });
  });

  test('an export under a letter of undertaking has no tax, and its rupees are what the gateway booked', async () => {
    await database.set("export_lut = 'AD290326000123X'");
    await details({ name: 'Lisboa Lda', state: '96', country: 'PT' });
    await database.setPlan('pro', "currency = 'USD'");
    await buy('2026-11-06', 1900, { currency: 'USD', base_amount: 160273, base_currency: 'INR' });
    await issue();
    const [document] = await documents();
    expect(document && short(document)).toEqual(['2627/000001 Tax invoice expwop', 1900, 1900]);
    expect(document?.rupees).toEqual({
      ...{ rate: '84.3542105263', source: 'gateway', taxable: 160273, taxes: [], total: 160273 },
    });
    await database.setPlan('pro', "currency = 'INR'");
  });

  test('an amount in another currency waits three days for its rupees', async () => {
    await database.setPlan('pro', "currency = 'USD'");
    await buy('2026-11-06', 1900, { currency: 'USD', base_amount: null });
    await database.sweep('2026-11-08');
    expect(await documents()).toEqual([]);
    await database.sweep('2026-11-09T00:01:00Z');
    expect((await documents()).map(({ rupees }) => rupees)).toEqual([null]);
    await database.setPlan('pro', "currency = 'INR'");
  });

  test('the rupees that the gateway books later are read from its list, and their receipt is made at once', async () => {
    await database.setPlan('pro', "currency = 'USD'");
    const { paymentId } = await buy('2026-11-06', 1900, { currency: 'USD', base_amount: null });
    await issue();
    const listed = [{ id: paymentId, currency: 'USD', amount: 1900, base_amount: 160273, status: 'captured' }];
    await database.rpc(
      'apply_statement_page',
      'payments',
      'again',
      ...await pageOfPayments(),
      JSON.stringify(listed),
      0,
    );
    await issue();
    expect((await documents()).map(({ rupees }) => rupees?.total)).toEqual([160273]);
  });

  test('of two payments on an order in another currency each keeps its rupees, whichever counts', async () => {
    await database.setPlan('pro', "currency = 'USD', price = 1900");
    const one = await customer.order('pro', { at: '2026-11-06' });
    const two = customer.again(one);
    await one.verify();
    await one.capture({ currency: 'USD', base_amount: 160273 });
    await two.capture({ currency: 'USD', base_amount: 161000 });
    await one.refund();
    await issue();
    expect(
      await database.query(
        `select p.gateway_payment_id as id, p.base_amount, (r.rupees ->> 'total')::integer as total
         from public.receipts r join public.payments p on p.id = r.payment_id where r.kind = 'receipt' order by total`,
      ),
    ).toEqual([
      { id: one.paymentId, base_amount: '160273', total: 160273 },
      { id: two.paymentId, base_amount: '161000', total: 161000 },
    ]);
  });

  test('credit notes add up at every moment, and the last one takes what is left', async () => {
    await details({ name: 'Konkan Traders', gstin: '27AAPFU0939F1ZV' });
    const order = await buy('2026-11-04', 77777);
    await issue();
    await database.at('2026-11-12');
    await order.refund(33333, { id: 'rfnd_Example0000011' });
    await issue();
    await database.at('2026-11-20');
    await order.refund(44444, { id: 'rfnd_Example0000012' });
    await issue();
    expect((await documents()).slice(1).map(short)).toEqual([
      ['CN2627/000001 Credit note b2b', 28248, 'IGST 5085', 33333],
      ['CN2627/000002 Credit note b2b', 37665, 'IGST 6779', 44444],
    ]);
    expect((await documents())[1]?.lines[0]?.description).toBe('Refund, tax invoice 2627/000001 of 4 Nov 2026');
    await issue();
    expect(await documents()).toHaveLength(3);
  });

  test('a note after 31 October of the next year has no tax and a series of its own', async () => {
    const order = await buy('2026-11-04');
    await issue();
    await database.at('2027-10-31T18:29:00Z');
    await order.refund(100, { id: uniqueId('rfnd') });
    await issue();
    await database.at('2027-10-31T18:31:00Z');
    await order.refund(200, { id: uniqueId('rfnd') });
    await issue();
    expect((await documents()).slice(1).map(short)).toEqual([
      ['CN2728/000001 Credit note b2cs', 84, 'CGST 8', 'SGST 8', 100],
      ['FN2728/000001 Credit note without GST none', 200, 200],
    ]);
  });

  test('a lost dispute gets a note of what was deducted', async () => {
    const order = await buy('2026-11-04');
    await issue();
    await order.dispute('lost');
    await issue();
    const note = (await documents())[1];
    expect(note?.totals.total).toBe(99900);
    expect(note?.lines[0]?.description).toBe('Lost dispute, tax invoice 2627/000001 of 4 Nov 2026');
  });

  test('a dispute that takes all after a part gets the rest of the tax', async () => {
    const order = await buy('2026-11-04');
    await issue();
    const payment = { id: String((await order.row()).gateway_payment_id), amount: order.amount };
    for (const [day, amount_deducted] of [['20', 33333], ['30', 99900]] as const) {
      const createdAt = `2026-11-${day}T00:00:00Z`;
      await database.at(createdAt);
      await database.send(disputeEvent('lost', 'lost', payment, { amount_deducted }, { createdAt }));
      await issue();
    }
    expect((await documents()).slice(1).map(short)).toEqual([
      ['CN2627/000001 Credit note b2cs', 28249, 'CGST 2542', 'SGST 2542', 33333],
      ['CN2627/000002 Credit note b2cs', 56413, 'CGST 5077', 'SGST 5077', 66567],
    ]);
  });

  test('the note of a lost dispute that was won later stands: a problem of the month in which the money came back', async () => {
    const order = await buy('2026-11-04');
    await order.dispute('lost');
    await issue();
    await database.at('2026-12-31T18:30:00Z');
    const problems = () =>
      database.query("select problem, month::text from billing.book_problems where problem like 'note_%'");
    expect(await problems()).toEqual([]);
    const payment = { id: String((await order.row()).gateway_payment_id), amount: order.amount };
    await database.send(disputeEvent('won', 'won', payment, {}, { createdAt: '2026-12-31T18:30:00Z' }));
    expect(await problems()).toEqual([{ problem: 'note_of_won_dispute', month: '2027-01-01' }]);
    await database.query("select billing.run_pass('books', '1 minute')");
    expect(await customer.findings()).toContain('note_of_won_dispute CN2627/000001');
  });

  test('the year of a document begins on 1 April in India', async () => {
    await buy('2027-03-31T18:29:59Z');
    await buy('2027-03-31T18:30:00Z');
    await issue();
    expect((await documents()).map(({ document_number }) => document_number)).toEqual(['2627/000001', '2728/000001']);
  });

  test('what is confirmed in a closed month is declared in the next open one', async () => {
    await database.at('2026-12-05');
    await database.query("select billing.close_month('2026-11-01')");
    await buy('2026-11-30');
    await issue();
    expect(await database.query('select document_date::text, tax_period::text from public.receipts')).toEqual([
      { document_date: '2026-11-30', tax_period: '2026-12-01' },
    ]);
  });

  test('a reissue cancels a receipt and makes one with the buyer of today, once', async () => {
    const order = await buy('2026-11-04');
    await issue();
    await order.refund(9900, { id: uniqueId('rfnd') });
    await issue();
    await details({ name: 'Konkan Traders', gstin: '27AAPFU0939F1ZV' });
    const reissue = () => actAsOwner(database, { action: 'reissue', reference: '2627/000001' });
    expect((await reissue()).result).toBe('CN2627/000002 cancels 2627/000001, and 2627/000002 replaces it.');
    const totals = (await documents()).map(({ document_number, totals }) => [document_number, totals.total]);
    expect(Object.fromEntries(totals)).toEqual({
      ...{ '2627/000001': 99900, 'CN2627/000001': 9900, 'CN2627/000002': 90000, '2627/000002': 90000 },
    });
    const descriptions = (await documents()).map((
      { document_number, lines: [line] },
    ) => [document_number, line?.description]);
    expect(Object.fromEntries(descriptions)).toMatchObject({
      'CN2627/000001': 'Refund, tax invoice 2627/000001 of 4 Nov 2026',
      'CN2627/000002': 'Correction, tax invoice 2627/000001 of 4 Nov 2026',
    });
    await expect(reissue()).rejects.toMatchObject({ code: 'PS409' });
    const { receipt } = await database.rpc('get_receipt', customer.id, order.id) as { receipt: Document };
    expect([receipt.document_number, receipt.buyer.gstin]).toEqual(['2627/000002', '27AAPFU0939F1ZV']);
  });
});

describe('a reissue after the settings of the seller changed keeps the seller of the day of the supply', () => {
  const reissue = (reference = '2627/000001', corrects_seller?: boolean) =>
    actAsOwner(database, { action: 'reissue', reference, ...(corrects_seller !== undefined && { corrects_seller }) });
  const newest = async () => (await documents()).findLast(({ title }) => !title.startsWith('Credit note'));

  test('a receipt of before the registration carries no GST', async () => {
    await sell("seller_name = 'Asha''s Apps', seller_state = '27', tax_rate = 700, tax_name = 'VAT'");
    await buy('2026-05-01');
    await issue();
    await database.set(seller.replace('seller_gstin', "seller_state = '29', seller_gstin"));
    await database.setPlan('pro', "name = 'Plus'");
    await database.at('2026-05-09');
    await details({ name: 'Konkan Traders', gstin: '27AAPFU0939F1ZV' });
    await reissue();
    const receipt = await newest();
    expect(receipt && short(receipt)).toEqual(['2627/000002 Receipt none', 93364, 'VAT 6536', 99900]);
    expect(receipt).toMatchObject({
      seller: { name: "Asha's Apps", address: null, gstin: null, state: '27' },
      buyer: { gstin: '27AAPFU0939F1ZV' },
      lines: [{ item: 'Pro', sac: '998315' }],
    });
    await database.setPlan('pro', "name = 'Pro'");
  });

  test('a tax invoice of before the rate was set has the tax that it lacked', async () => {
    await sell(seller.replace('tax_rate = 1800', 'tax_rate = null'));
    await buy('2026-11-04');
    await issue();
    const problems = () =>
      database.query("select document_number from billing.book_problems where problem = 'tax_missing'");
    expect(await problems()).toEqual([{ document_number: '2627/000001' }]);
    await database.set('tax_rate = 1800');
    await reissue();
    expect(await problems()).toEqual([]);
    expect((await newest())?.totals.taxable).toBe(84662);
  });

  test('a tax invoice keeps its GSTIN, state, rate and code', async () => {
    await sell();
    await buy('2026-11-04');
    await issue();
    await database.set(
      `seller_gstin = '27AAPFU0939F1ZV', seller_state = '27', seller_address = 'Pune', sac = '998314', tax_rate = 500`,
    );
    await details({ name: 'Mysuru Mills', gstin: '29BBBBB1111B1ZJ' });
    await reissue();
    const invoice = await newest();
    expect(invoice && short(invoice)).toEqual([
      ...['2627/000002 Tax invoice b2b', 84662, 'CGST 7619', 'SGST 7619', 99900],
    ]);
    expect(invoice).toMatchObject({
      seller: { address: '12 Sample Road, Bengaluru 560001', gstin: '29AAAAA0000A1ZY', state: '29' },
      lines: [{ sac: '998315' }],
    });
  });

  test('a mistake in the settings is corrected when the action says so', async () => {
    await sell(seller.replace('tax_rate = 1800', 'tax_rate = 180').replace('12 Sample Road', '21 Sample Road'));
    await buy('2026-11-04');
    await issue();
    await database.set(seller);
    await reissue('2627/000001', false);
    expect((await newest())?.totals.taxable).toBe(98134);
    await reissue('2627/000002', true);
    expect(await newest()).toMatchObject({
      totals: { taxable: 84662 },
      seller: { address: '12 Sample Road, Bengaluru 560001' },
    });
    await expect(actAsOwner(database, { action: 'note', reference: '2627/000001', corrects_seller: true })).rejects
      .toMatchObject({ code: '23514' });
  });

  test.each<[string, string, string, string[]]>([
    ['without a letter', 'null', "'AD290326000123X'", ['expwp', 'IGST 15239']],
    ['under a letter', "'AD290326000123X'", 'null', ['expwop']],
  ])('an export %s keeps that', async (_, then, now, expected) => {
    await sell(`${seller}, export_lut = ${then}`);
    await details({ name: 'Lisboa Lda', state: '96', country: 'PT' });
    await buy('2026-11-04');
    await issue();
    await database.set(`export_lut = ${now}`);
    await details({ name: 'Lisboa SA', state: '96', country: 'PT' });
    await reissue();
    const invoice = await newest();
    expect(invoice && [invoice.category, ...short(invoice).slice(2, -1)]).toEqual(expected);
    expect(invoice).toMatchObject({ buyer: { name: 'Lisboa SA' } });
    // In India after all: with the rate of today where the invoice had none.
    await details({ name: 'Lisboa SA', state: '29' });
    await reissue('2627/000002');
    expect((await newest())?.totals.taxable).toBe(84662);
  });
});

/** Sells before 1 April, reissues after it. @returns the order, on the first day after the tax can be adjusted */
async function reissueInNextYear() {
  await sell();
  const order = await buy('2027-03-20');
  await issue();
  await database.at('2027-04-05');
  await actAsOwner(database, { action: 'reissue', reference: '2627/000001' });
  await database.at('2027-10-31T18:31:00Z');
  return order;
}

test('the tax of a reissued supply is adjusted no longer than that of the supply', async () => {
  const order = await reissueInNextYear();
  await order.refund(200, { id: uniqueId('rfnd') });
  await issue();
  expect((await documents()).at(-1)).toMatchObject({ title: 'Credit note without GST', category: 'none' });
  expect(await database.query("select problem from billing.book_problems where problem = 'note_too_late'"))
    .toHaveLength(1);
});

test('a receipt that was reissued in the next year is reissued no longer than the first one', async () => {
  await reissueInNextYear();
  await expect(actAsOwner(database, { action: 'reissue', reference: '2728/000001' })).rejects.toMatchObject({
    code: 'PS409',
  });
});

describe('of a seller without a GSTIN', () => {
  test('is a receipt, with one tax of any name or none', async () => {
    await sell("seller_name = 'Asha''s Apps', tax_rate = 700, tax_name = 'VAT'");
    await buy('2026-05-01');
    await issue();
    await database.set('tax_rate = null');
    await buy('2026-05-02');
    await issue();
    expect((await documents()).map(short)).toEqual([
      ['2627/000001 Receipt none', 93364, 'VAT 6536', 99900],
      ['2627/000002 Receipt none', 99900, 99900],
    ]);
  });

  test.each([
    ['a GST by name', "seller_name = 'A', tax_name = 'IGST'"],
    ['receipts without a name', 'seller_name = null'],
    ['a wrong GSTIN', "seller_name = 'A', seller_gstin = '29AAAAA0000A1ZX'"],
    ['a state of another GSTIN', "seller_name = 'A', seller_gstin = '29AAAAA0000A1ZY', seller_state = '27'"],
    ['a number that begins with 0', "seller_name = 'A', receipt_prefix = '0A'"],
    ['two equal prefixes', "seller_name = 'A', receipt_prefix = 'CN'"],
    ['a short code above 5 crore', "seller_name = 'A', sac = '9983', over_5_crore = true"],
  ])('is refused %s', async (_, settings) => {
    await expect(sell(settings)).rejects.toMatchObject({ code: '23514' });
  });
});

test('each document is one event, and a mail with it unless the payment was confirmed more than a day ago', async () => {
  await sell();
  await database.set('events = true');
  const queued = async (destination: string, kind: string) =>
    (await database.query(
      'select payload from billing.outbox where destination = $1 and kind = $2 order by id',
      [destination, kind],
    )).map(({ payload }) => Object(payload));
  const order = await buy('2026-11-04');
  await database.at('2026-11-06');
  await issue();
  expect(await queued('email', 'receipt-issued')).toEqual([]);
  await order.refund(9900, { id: uniqueId('rfnd') });
  await issue();
  const [receipt, note] = await documents();
  expect(await queued('email', 'receipt-issued')).toEqual([
    {
      to: expect.stringContaining('@'),
      display_name: expect.any(String),
      receipt: expect.objectContaining(Object(
        note && {
          ...{ document_number: 'CN2627/000001', document_date: '2026-11-06', totals: note.totals },
        },
      )),
    },
  ]);
  const common = { user_id: customer.id, payment_id: order.id, currency: 'INR' };
  expect((await queued('event', 'receipt.issued')).map(({ type, data }) => [type, data])).toEqual([
    ['receipt.issued', {
      ...common,
      receipt_id: Object(receipt).id,
      kind: 'receipt',
      document_number: '2627/000001',
      total: 99900,
    }],
    ['receipt.issued', {
      ...common,
      receipt_id: Object(note).id,
      kind: 'credit_note',
      document_number: 'CN2627/000001',
      total: 9900,
    }],
  ]);
  await database.set('events = false');
});

test('only what was confirmed from the setting on gets a receipt, also an extra payment and a cycle', async () => {
  const early = await buy('2026-03-31');
  await customer.event('activated', '2026-05-01T00:00:00Z', {
    ...{ planId: 'plan_basic', start: '2026-05-01T00:00:00Z', end: '2026-06-01T00:00:00Z' },
  });
  await customer.charge({ start: '2026-05-01T00:00:00Z', end: '2026-06-01T00:00:00Z' }, 'basic');
  const unconfirmed = await customer.order('pro', { at: '2026-05-02' });
  await unconfirmed.verify();
  await sell();
  await issue();
  expect((await documents()).map(({ totals }) => totals.total)).toEqual([4900]);
  expect(await database.rpc('get_receipt', customer.id, early.id)).toEqual({ outcome: 'payment_not_found' });
  expect(await database.rpc('get_receipt', customer.id, unconfirmed.id)).toEqual({ outcome: 'not_issued' });
  await unconfirmed.capture();
  await issue();
  expect(await documents()).toHaveLength(2);
  expect(await database.rpc('get_receipt', (await database.customer()).id, unconfirmed.id)).toEqual({
    outcome: 'payment_not_found',
  });
});

test('each of two payments on an order has its own receipt and notes, whichever of them counts', async () => {
  await sell();
  const one = await customer.order('pro', { at: '2026-11-05' });
  const two = customer.again(one);
  const ofPayments = async () =>
    await database.query(
      `select p.gateway_payment_id as id, r.kind, (r.totals ->> 'total')::integer as total
       from public.receipts r join public.payments p on p.id = r.payment_id order by r.issued_at, r.kind desc`,
    );
  // Bought with an offer of the gateway, so that the amounts tell the payments apart.
  await one.verify();
  await one.capture({ amount: 89910 });
  await issue();
  await database.at('2026-11-06');
  await two.capture();
  await issue();
  const receipts = [
    { id: one.paymentId, kind: 'receipt', total: 89910 },
    { id: two.paymentId, kind: 'receipt', total: 99900 },
  ];
  expect(await ofPayments()).toEqual(receipts);
  // Now the second one counts. Its receipt is that of the order.
  await database.at('2026-11-07');
  await one.refund(89910);
  await issue();
  expect(await ofPayments()).toEqual([...receipts, { id: one.paymentId, kind: 'credit_note', total: 89910 }]);
  expect(await database.rpc('get_receipt', customer.id, one.id)).toMatchObject({
    receipt: { totals: { total: 99900 } },
  });
});

test('a payment that is only verified has no receipt, also once another one on its order was captured', async () => {
  await sell();
  const one = await customer.order('pro', { at: '2026-11-05' });
  const two = customer.again(one);
  await one.verify();
  await two.capture();
  await issue();
  const receipts =
    'select p.gateway_payment_id as id from public.receipts r join public.payments p on p.id = r.payment_id';
  expect(await database.query(receipts)).toEqual([{ id: two.paymentId }]);
  expect(await database.query('select from billing.documents_due')).toEqual([]);
  await one.capture();
  await issue();
  expect(await database.query(receipts)).toHaveLength(2);
});

test('a second payment of an order that was refunded has its own receipt', async () => {
  await sell();
  const one = await customer.order('pro', { at: '2026-11-05' });
  const two = customer.again(one);
  await one.verify();
  await one.capture({ amount: 89910 });
  await one.refund(89910);
  await issue();
  await database.at('2026-11-06');
  await two.capture();
  await issue();
  expect((await documents()).map(({ totals }) => totals.total)).toEqual([89910, 89910, 99900]);
});

test('numbers have no gap where a sweep is rolled back, and two sweeps give each once', async () => {
  await sell();
  for (const day of ['05', '06', '07']) await buy(`2026-11-${day}`);
  const [one, other] = [await database.connect(), await database.connect()];
  await one.query('begin');
  await one.query('select billing.issue_documents()');
  await one.query('rollback');
  await Promise.all([one, other].map((session) => session.query('select billing.issue_documents()')));
  expect((await documents()).map(({ document_number }) => document_number)).toEqual([
    ...['2627/000001', '2627/000002', '2627/000003'],
  ]);
});

test('a payment that cannot be numbered stays due, and the others get their numbers without a gap', async () => {
  await sell();
  await buy('2026-11-05', 99900);
  await buy('2026-11-06', 500);
  await buy('2026-11-07', 600);
  await database.query(
    `alter table public.receipts add constraint receipts_test_check check ((totals ->> 'total')::bigint <> 99900)`,
  );
  try {
    await issue();
    expect((await documents()).map(({ document_number, totals }) => [document_number, totals.total])).toEqual([
      ...[['2627/000001', 500], ['2627/000002', 600]],
    ]);
    expect(
      await database.query(
        'select p.amount from billing.documents_due d join public.payments p on p.id = d.payment_id',
      ),
    ).toEqual([{ amount: '99900' }]);
  } finally {
    await database.query('alter table public.receipts drop constraint receipts_test_check');
  }
  await issue();
  expect((await documents()).map(({ document_number }) => document_number).sort()).toEqual([
    ...['2627/000001', '2627/000002', '2627/000003'],
  ]);
});

test('a refund that arrives while its payment is numbered gets its note', async () => {
  await sell();
  const order = await buy('2026-11-05');
  const numbering = await database.connect();
  await numbering.query('begin');
  await numbering.query('select billing.issue_documents()');
  const refunded = order.refund(100, { id: uniqueId('rfnd') });
  await waitUntilBlocked(database, database.service);
  await numbering.query('commit');
  await refunded;
  await issue();
  expect((await documents()).map(({ totals }) => totals.total)).toEqual([99900, 100]);
});

test('documents never change, for the owner neither, and keep their buyer when the user goes', async () => {
  await sell();
  await details({ name: 'Asha Rao', state: '29' });
  await buy('2026-11-05');
  await issue();
  for (
    const change of [
      "update public.receipts set title = 'x'",
      'delete from public.receipts',
      'truncate public.receipts',
    ]
  ) {
    await expect(database.query(change), change).rejects.toMatchObject({ code: 'PS409' });
  }
  await database.query('delete from auth.users where id = $1', [customer.id]);
  expect(await database.query("select user_id, buyer ->> 'name' as name from public.receipts")).toEqual([
    { user_id: null, name: 'Asha Rao' },
  ]);
  expect(await database.query('select from public.billing_details')).toEqual([]);
});

describe('billing details', () => {
  test.each([
    ['an unknown state', { state: '25' }, 'state'],
    ['a wrong check digit', { gstin: '27AAPFU0939F1ZW' }, 'gstin'],
    ['a GSTIN of another state', { gstin: '27AAPFU0939F1ZV', state: '29' }, 'gstin'],
    ['abroad without a country', { state: '96' }, 'country'],
    ['a country without abroad', { state: '29', country: 'PT' }, 'country'],
    ['a long name', { name: 'a'.repeat(201) }, 'name'],
    ['a long address', { address: 'a'.repeat(501) }, 'address'],
  ])('are refused with %s', async (_, values, field) => {
    expect(await details(values)).toMatchObject({ outcome: 'invalid', field });
    expect(await database.rpc('get_billing_details', customer.id)).toEqual({ billing_details: null });
  });

  test.each([
    ['a taxpayer, whose state it sets', { gstin: ' 27aapfu0939f1zv ' }, { gstin: '27AAPFU0939F1ZV', state: '27' }],
    ['a body of the United Nations', { gstin: '9917USA00026UNF' }, { gstin: '9917USA00026UNF', state: null }],
    ['empty texts', { name: '', address: ' ' }, { name: null, address: null }],
    ['abroad', { state: '96', country: 'pt' }, { state: '96', country: 'PT' }],
  ])('take %s', async (_, values, stored) => {
    expect(await details(values)).toMatchObject({ outcome: 'stored', billing_details: stored });
  });
});

test('random amounts in five parts of at least 1.00, 100,000 in the long suite, add up, and no part is negative', async () => {
  const [{ wrong }] = await database.query(
    `with recursive drawn as (
       select n, (100 + floor(random() * 10000000))::bigint as total, (array[100, 500, 1200, 1800, 2800])[1 + n % 5] as rate, n % 2 = 0 as is_inside
       from generate_series(1, ${isLong ? 20_000 : 2000}) n
     ),
     heads as (
       select n, total, case when is_inside
         then jsonb_build_array(jsonb_build_object('name', 'CGST', 'rate', rate / 2.0), jsonb_build_object('name', 'SGST', 'rate', rate / 2.0))
         else jsonb_build_array(jsonb_build_object('name', 'IGST', 'rate', rate)) end as heads
       from drawn
     ),
     parts as (
       select n, total, billing.split_tax(total, heads) as whole, array[]::jsonb[] as notes, 0 as step from heads
       union all
       select n, total, whole, notes || billing.split_note(whole, notes, case
         when step = 4 or rest.amount - drawn.amount < 100 then rest.amount
         when drawn.amount >= 100 then drawn.amount -- the gateway refunds no less
         else 0
       end), step + 1
       from parts
       cross join lateral (
         select total - coalesce((select sum((x ->> 'total')::bigint) from unnest(notes) x), 0)::bigint as amount
       ) rest
       cross join lateral (select floor(rest.amount * random())::bigint as amount) drawn
       where step < 5
     )
     select count(*) as wrong from parts
     where step = 5 and (
       (select sum((x ->> 'taxable')::bigint) from unnest(notes) x) <> (whole ->> 'taxable')::bigint
       or (select min(least((x ->> 'taxable')::bigint, (t ->> 'amount')::bigint)) from unnest(notes) x, jsonb_array_elements(x -> 'taxes') t) < 0
       or exists (
         select from jsonb_array_elements(whole -> 'taxes') with ordinality w (t, place)
         where (t ->> 'amount')::bigint
           <> (select sum((x #>> array['taxes', (place - 1)::text, 'amount'])::bigint) from unnest(notes) x)
       )
     )`,
  ) as [{ wrong: string }];
  expect(Number(wrong)).toBe(0);
});
