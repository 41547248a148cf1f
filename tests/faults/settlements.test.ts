import { expect, test } from 'vitest';
import { useBillingProject } from '../helpers/faults/billing-project.ts';
import { newCustomer } from '../helpers/faults/customer.ts';
import { useProject } from '../helpers/project/use-project.ts';

const billing = useBillingProject(useProject({ findings: 'compared elsewhere' }));
const lines = '/v1/settlements/recon/combined';

/** A purchase of a customer. @returns the gateway's id of its payment */
async function buy(): Promise<string> {
  const { user } = await newCustomer(billing);
  const { body: { order } } = await billing.send(user, 'payments/orders', { tier: 'pro' });
  return Object(await billing.simulate('pay', { order_id: order.id, outcome: 'captured' })).gateway_payment_id;
}
const settle = async (fields: Record<string, unknown> = {}) =>
  Object(await billing.simulate('settle', fields)).settlement;
const stored = (id: string) =>
  billing.database.one(
    `select b.lines::integer, b.lines_complete_at is not null as is_complete, b.difference::integer
     from billing.bank_lines b where b.settlement_id = $1`,
    [id],
  );
async function later(hours: number) {
  await billing.moveOn(hours);
  return await billing.runSchedule();
}

test('a settlement that a webhook announces has its lines with the next run, also those of other apps', async () => {
  const [own, refunded] = [await buy(), await buy()];
  await billing.simulate('refund', { payment_id: refunded, amount: 500 });
  const order = Object(await billing.callApi('/orders', { amount: 70000, currency: 'INR' }));
  await billing.simulate('pay', { order_id: order.id, outcome: 'captured' });
  const { id } = await settle({ adjustment: -300, utr: null, fees: 118, tax: 18 });
  expect(await stored(id)).toMatchObject({ lines: 0, is_complete: false });
  await billing.runSchedule();
  expect(await stored(id)).toEqual({ lines: 5, is_complete: true, difference: 0 });
  const known = await billing.database.query(
    `select l.entity_id from billing.settlement_lines l
     join public.payments p on p.gateway_payment_id = l.entity_id order by 1`,
  );
  expect(known.map(({ entity_id }) => entity_id)).toEqual([own, refunded].toSorted());
  const { asked } = await billing.runSchedule();
  expect(asked).toBe(0);
  // The UTR comes later.
  await settle({ settlement_id: id, utr: 'UTR7' });
  expect(await billing.database.one('select utr from billing.settlements where settlement_id = $1', [id])).toEqual({
    utr: 'UTR7',
  });
});

test('a settlement whose webhook is lost comes by the statement; its lines when the gateway shows them, a day late', async () => {
  await buy();
  const { id } = await settle({ deliver: { drop: true }, hold_lines: true });
  for (const hours of [1, 1]) await later(hours);
  expect(await stored(id)).toMatchObject({ lines: 0, is_complete: false });
  await later(20);
  expect(await stored(id)).toMatchObject({ is_complete: false });
  for (const hours of [2, 1]) await later(hours);
  expect(await stored(id)).toMatchObject({ lines: 1, is_complete: true, difference: 0 });
});

test('two runs at once, a repeated webhook and an answer that never comes change nothing', async () => {
  await buy();
  const { id } = await settle({ deliver: { duplicate: 2, at_once: true } });
  await billing.breakApi({ mode: 'close', path: lines, times: 2 });
  await Promise.all([billing.runSchedule(), billing.runSchedule()]);
  await billing.mend();
  await later(0.1);
  expect(await stored(id)).toEqual({ lines: 1, is_complete: true, difference: 0 });
});

test('a run that is killed during a page is followed by one that reads on', async () => {
  await buy();
  const { id } = await settle();
  await billing.breakApi({ mode: 'hang', path: lines, times: 1 });
  const killed = billing.runSchedule().catch(() => undefined);
  await billing.broken();
  await billing.kill();
  await killed;
  // After the leases of the page and of the run, which real time bounds.
  await billing.database.query("update billing.scheduled_jobs set run_until = null where name = 'reconciliation'");
  await later(0.1);
  expect(await stored(id)).toEqual({ lines: 1, is_complete: true, difference: 0 });
});

test('lines that do not come within three days are the finding settlement_incomplete', async () => {
  await buy();
  await billing.breakApi({ mode: 'status', status: 404, path: lines });
  const { id } = await settle();
  for (const hours of [1, 70]) await later(hours);
  const findings = () =>
    billing.database.query("select finding, subject from billing.findings where finding like 'settlement%'");
  expect(await findings()).toEqual([]);
  await later(2);
  expect(await findings()).toEqual([{ finding: 'settlement_incomplete', subject: id }]);
  await billing.mend();
  await later(24);
  expect(await findings()).toEqual([]);
});
