import { beforeAll, expect, test } from 'vitest';
import { useBillingProject } from '../helpers/faults/billing-project.ts';
import { type BilledCustomer, newCustomer } from '../helpers/faults/customer.ts';
import { useProject } from '../helpers/project/use-project.ts';
import { expectSameSums, type Gstr1, type Summary } from '../helpers/records/gstr1.ts';

// The year 2026-27 of a seller in India with the real function and the simulated gateway, closed month by month.

const customers = Number(Deno.env.get('CUSTOMERS') ?? 200);
const billing = useBillingProject(useProject({ findings: 'compared elsewhere' }), { from: '2026-04-01T06:30:00Z' });
const buyers = [
  { name: 'Mysuru Mills', gstin: '29BBBBB1111B1ZJ', address: '4 Mill Street, Mysuru 570001' },
  { name: 'Konkan Traders', gstin: '27AAPFU0939F1ZV', address: '7 Marine Drive, Mumbai 400020' },
  { name: 'Asha Rao', state: '29' },
  { name: 'Ravi Shah', state: '08', address: '9 Lake Road, Jaipur 302001' },
  { name: 'Lisboa Lda', address: 'Rua do Exemplo 1, Lisboa', state: '96', country: 'PT' },
];
const monthStart = (index: number) => new Date(Date.UTC(2026, 3 + index, 1));
const nameOf = (index: number) => monthStart(index).toISOString().slice(0, 10);

beforeAll(async () => {
  await billing.database.query(
    `update billing.settings set seller_name = 'Example Software LLP', seller_address = '12 Sample Road, Bengaluru 560001',
     seller_gstin = '29AAAAA0000A1ZY', seller_state = '29', sac = '998315', tax_rate = 1800, receipts_from = '2026-04-01'`,
  );
  await billing.database.query('delete from public.plans where lookup_key is not null');
  await billing.database.query(
    'update billing.statement_windows set read_until = billing.clock(), next_read_at = billing.clock(), window_end = null',
  );
});

/** Moves to a day, and runs the schedule twice on the way. */
async function goTo(time: Date) {
  const hours = (time.getTime() / 1000 - billing.now()) / 3600;
  for (const part of [hours / 2, hours / 2]) {
    await billing.moveOn(part);
    await billing.runSchedule();
  }
}

/** A customer with another price than the others: one in two subscribes, the others buy a year; one in 40 pays over a lakh. */
async function join(index: number): Promise<BilledCustomer> {
  const customer = await newCustomer(billing);
  const details = await billing.send(customer.user, 'billing-details', buyers[index % buyers.length], 'PUT');
  expect(details).toMatchObject({ status: 200 });
  if (index % 2 === 0) {
    await customer.start('basic');
    return customer;
  }
  const price = index % 40 === 3 ? 10_000_001 + index : 99_900 + index * 37;
  await billing.database.query("update public.plans set price = $1, duration_months = 12 where tier = 'pro'", [price]);
  const { status, body } = await billing.send(customer.user, 'payments/orders', { tier: 'pro' });
  expect({ status, body }).toMatchObject({ status: 201 });
  await billing.simulate('pay', { order_id: body.order.id, outcome: 'captured' });
  return customer;
}

/** Refunds a part, or the rest, of some payments: of this month and of earlier ones. */
async function refundSome(month: number) {
  const payments = await billing.database.query(
    `select p.gateway_payment_id as id, p.amount - p.refunded_amount as left from public.payments p
     where p.status = 'captured' and p.refunded_amount < p.amount - 200 order by p.captured_at, p.id`,
  );
  const chosen = new Set([0.1, 0.5, 0.9, 0.99].map((part) => Math.floor(payments.length * part)));
  for (const at of chosen) {
    const payment = payments[at];
    // Less than what comes in: a negative balance is not settled.
    const left = Math.min(Number(payment?.left), 50_000);
    const amount = (month + at) % 3 === 0 ? left : Math.floor(left / 3);
    await billing.simulate('refund', { payment_id: payment?.id, amount });
  }
}

/** Vices of the gateway, another each month. */
const vices: readonly Record<string, unknown>[] = [
  {},
  { hold_lines: true },
  { utr: null, adjustment: 1012 },
  { deliver: { drop: true } },
  { fees_from_credits: true },
  { adjustment: -300, deliver: { duplicate: 1 } },
  { fees: 590, tax: 90 },
];

type Closed = { gstr1: string; summary: string };
const answers = (month: string) =>
  billing.database.one(
    `select billing.gstr1($1)::text as gstr1, billing.book_summary($1)::text as summary`,
    [month],
  ) as Promise<unknown> as Promise<Closed>;

test('each month of a year adds up, from the payments to the bank lines, and stays once it is closed', async () => {
  const closed = new Map<string, Closed>();
  const perMonth = Math.ceil(customers / 12);
  for (let month = 0; month < 12; month += 1) {
    const joining = Array.from({ length: perMonth }, (_, n) => month * perMonth + n).filter((n) => n < customers);
    for (const index of joining.slice(0, perMonth / 2)) await join(index);
    await goTo(new Date(monthStart(month).getTime() + 12 * 86_400_000));
    await billing.simulate('settle', vices[month % vices.length] ?? {});
    for (const index of joining.slice(perMonth / 2)) await join(index);
    await refundSome(month);
    await billing.runSchedule();
    await goTo(new Date(monthStart(month).getTime() + 26 * 86_400_000));
    await billing.simulate('settle', vices[(month + 3) % vices.length] ?? {});
    await goTo(new Date(monthStart(month + 1).getTime() + 2 * 86_400_000));
    const name = nameOf(month);
    const open = await answers(name);
    await billing.database.query('select billing.close_month($1)', [name]);
    closed.set(name, open);
    // Later events changed no month that is closed, and closing did not change this one.
    for (const [before, answered] of closed) expect(await answers(before), before).toEqual(answered);
    const made: Gstr1 = JSON.parse(open.gstr1);
    const summary: Summary = JSON.parse(open.summary);
    expect(summary.invoices, name).toBeGreaterThanOrEqual(joining.length);
    expectSameSums(made, summary);
    const bank = await billing.database.query(
      `select b.settlement_id, b.difference::integer, b.amount - (b.payments - b.fees - b.gst_on_fees - b.refunds + b.adjustments
         - b.transfers + b.other - b.settlement_fees + b.difference) as off
       from billing.bank_lines b where date_trunc('month', b.settled_on) = $1::date`,
      [name],
    );
    expect(bank.map(({ difference, off }) => [difference, off]), name).toEqual([[0, '0'], [0, '0']]);
  }
  // Each document is in one month, and each payment has its document and, but for the newest, its settlement.
  const year = await billing.database.one(
    `select
       (select count(*) from public.receipts)::integer as documents,
       (select count(*) from public.receipts r where r.document_date >= date_trunc('month', r.tax_period)
          and r.tax_period in (select m.month from billing.book_months m) or r.tax_period = '2027-04-01')::integer as declared,
       (select count(*) from public.payments p where p.status = 'captured'
          and not exists (select from public.receipts r where r.payment_id = p.id))::integer as without_document,
       (select count(*) from billing.book_problems v where v.problem in ('payment_unsettled', 'document_waiting')
          or v.problem like 'settlement%')::integer as problems`,
  );
  expect(year).toEqual({ documents: year.documents, declared: year.documents, without_document: 0, problems: 0 });
  expect(Number(year.documents)).toBeGreaterThan(customers * 4);
}, 1_800_000);
