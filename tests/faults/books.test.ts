import { afterAll, beforeAll, expect, test } from 'vitest';
import { newCustomer } from '../helpers/faults/customer.ts';
import { useBillingProject } from '../helpers/faults/billing-project.ts';
import { runScript } from '../helpers/project/run-script.ts';
import { useProject } from '../helpers/project/use-project.ts';
import { allFiles, exampleBooks, expectedFile, expectedFiles, writeBooks } from '../helpers/records/books.ts';

const from = '2026-11-03T06:30:00Z';
const billing = useBillingProject(useProject({ findings: 'compared elsewhere' }), { from });
let folder: string;
beforeAll(async () => void (folder = await Deno.makeTempDir({ prefix: 'books-' })));
afterAll(() => Deno.remove(folder, { recursive: true }));

/** Moves to a day of the month, at the same time of day, and runs the schedule. */
async function goTo(day: number) {
  await billing.moveOn(day * 24 - (billing.now() - Date.parse('2026-10-31T06:30:00Z') / 1000) / 3600);
  await billing.runSchedule();
}

/** The numbers of the documents go on: the ones before are of October, and are all that is planted. */
async function plantOctober() {
  const [sold, noted] = [exampleBooks.documents[4] ?? expect.fail(), exampleBooks.documents[5] ?? expect.fail()];
  const october = { document_date: '2026-10-20', tax_period: '2026-10-01', gateway_payment_id: 'pay_October' };
  await writeBooks(billing.database, {
    seller: exampleBooks.seller,
    documents: [
      { ...sold, ...october, id: crypto.randomUUID(), number: 100, document_number: '2627/000100' },
      {
        ...{ ...noted, ...october, id: crypto.randomUUID(), number: 10, document_number: 'CN2627/000010' },
        ...{ refund_id: 'rfnd_October', against: '2627/000100' },
      },
    ],
    settlements: [],
  });
}

type Sale = { tier?: string; amount: number; currency?: string; months?: number; buyer: Record<string, string> };

/** A customer states the details and buys. @returns the gateway's id of the payment */
async function sell({ tier = 'pro', amount, currency = 'INR', months = 12, buyer }: Sale): Promise<string> {
  await billing.database.query(
    'update public.plans set price = $2, currency = $3, duration_months = $4, gateway_plan_id = null where tier = $1',
    [tier, amount, currency, months],
  );
  const { user } = await newCustomer(billing);
  expect(await billing.send(user, 'billing-details', buyer, 'PUT')).toMatchObject({ status: 200 });
  const { body: { order } } = await billing.send(user, 'payments/orders', { tier });
  const paid = Object(await billing.simulate('pay', { order_id: order.id, outcome: 'captured' }));
  await billing.runSchedule();
  return paid.gateway_payment_id;
}
async function refund(payment_id: string, amount: number) {
  const { refund } = Object(await billing.simulate('refund', { payment_id, amount }));
  await billing.runSchedule();
  return refund.id;
}
async function settle(utr: string, fields: Record<string, unknown> = {}) {
  const { settlement, lines } = Object(await billing.simulate('settle', { utr, ...fields }));
  await billing.runSchedule();
  return { id: settlement.id, adjustment: Object(lines).find(({ type }: { type: string }) => type === 'adjustment') };
}

test('the month of the worked example, made at the gateway, gives its files to the byte', async () => {
  const { database } = billing;
  await plantOctober();
  await database.query(
    `update billing.settings set receipts_from = '2026-11-01', export_lut = 'AD290326000123X'`,
  );
  await database.query("update public.plans set name = 'Premium' where tier = 'basic'");
  await database.query(
    'update billing.statement_windows set read_until = billing.clock(), next_read_at = billing.clock(), window_end = null',
  );
  await billing.simulate('account', { rates: { USD: 84.3542105263 } });
  const payments = [];
  payments.push(
    await sell({
      amount: 99900,
      buyer: { name: 'Mysuru Mills', gstin: '29BBBBB1111B1ZJ', address: '4 Mill Street, Mysuru 570001' },
    }),
  );
  await goTo(4);
  payments.push(
    await sell({
      amount: 77777,
      buyer: { name: 'Konkan Traders', gstin: '27AAPFU0939F1ZV', address: '7 Marine Drive, Mumbai 400020' },
    }),
  );
  const until = billing.now();
  await goTo(5);
  payments.push(await sell({ amount: 33333, months: 1, buyer: { name: 'Asha Rao', state: '29' } }));
  await goTo(6);
  const abroad = { name: 'Lisboa Lda', address: 'Rua do Exemplo 1, Lisboa', state: '96', country: 'PT' };
  payments.push(await sell({ amount: 1900, currency: 'USD', months: 1, buyer: abroad }));
  const settlements = [await settle('AXISCN0000000001', { until })];
  await goTo(7);
  const far = { name: 'Ravi Shah', address: '9 Lake Road, Jaipur 302001', state: '08' };
  payments.push(await sell({ tier: 'basic', amount: 10000001, buyer: far }));
  await goTo(12);
  const refunds = [await refund(payments[1] ?? '', 33333)];
  await goTo(13);
  // Its webhook is lost, and the lines come a day late.
  settlements.push(
    await settle('AXISCN0000000002', { partial: [payments[4]], deliver: { drop: true }, hold_lines: true }),
  );
  await goTo(15);
  await goTo(20);
  refunds.push(await refund(payments[1] ?? '', 44444));
  await goTo(23);
  settlements.push(await settle('AXISCN0000000003', { adjustment: 1012 }));
  await goTo(35);

  const documents = await database.query(
    "select id, document_number from public.receipts where tax_period = '2026-11-01'",
  );
  const names = new Map<string, string>([
    ...payments.map((id, n) => [id, `pay_Example000010${n + 1}`] as const),
    ...refunds.map((id, n) => [id, `rfnd_Example000001${n + 1}`] as const),
    ...settlements.map(({ id }, n) => [id, `setl_Example000000${n + 1}`] as const),
    [settlements[2]?.adjustment.entity_id, 'adj_Example0000001'],
    ...exampleBooks.documents.map(({ id, document_number: number }) => {
      const made = documents.find(({ document_number }) => document_number === number);
      return [String(made?.id), id] as const;
    }),
  ]);
  await database.query("select billing.close_month('2026-10-01')");
  const { code, stderr } = await runScript('books', ['2026-11', '--close', '--out', folder], {
    env: { SUPPORT_DB_URL: database.url },
  });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect([...Deno.readDirSync(folder)].map(({ name }) => name).toSorted()).toEqual(allFiles());
  for (const name of expectedFiles()) {
    let text = await Deno.readTextFile(`${folder}/${name}`);
    for (const [made, example] of names) text = text.replaceAll(made, example);
    // Lines of a kind are sorted by their ids.
    const inOrder = (lines: string) =>
      name === 'settlement-lines.csv' ? lines.split('\n').toSorted().join('\n') : lines;
    expect(inOrder(text), name).toBe(inOrder(await expectedFile(name)));
  }
});
