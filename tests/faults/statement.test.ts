import { expect, test } from 'vitest';
import { useBillingProject } from '../helpers/faults/billing-project.ts';
import { type BilledCustomer, newCustomer } from '../helpers/faults/customer.ts';
import { useProject } from '../helpers/project/use-project.ts';

const billing = useBillingProject(useProject({ findings: 'compared elsewhere' }));

/** Customers with the same life. The webhooks about the second are all lost. */
type Twins = { readonly loud: BilledCustomer; readonly silent: BilledCustomer };

const twins = async (): Promise<Twins> => ({ loud: await newCustomer(billing), silent: await newCustomer(billing) });
const both = async ({ loud, silent }: Twins, act: (customer: BilledCustomer) => Promise<unknown>) => {
  for (const customer of [loud, silent]) await act(customer);
};

/** Subscribes both, and loses everything about the second. */
async function subscribed(): Promise<Twins> {
  const two = await twins();
  const ids = [await two.loud.ask('basic'), await two.silent.ask('basic')];
  lose(ids[1]);
  await two.loud.approve(ids[0] ?? '');
  await two.silent.approve(ids[1] ?? '');
  return two;
}
function lose(...names: (string | undefined)[]) {
  for (const name of names) if (name !== undefined) billing.silent.add(name);
}

/** The gateway's ids of the payments for the cycles of a customer, the oldest first. */
async function cyclesOf({ user }: BilledCustomer): Promise<string[]> {
  const [subscription] = await billing.atGateway(user);
  const { items } = await billing.readApi(`/invoices?subscription_id=${subscription?.id}&count=100`);
  return items.map(({ payment_id: id }: { payment_id: string }) => id).reverse();
}

/** What was received from a customer and returned, without ids; and what the customer has. */
async function booksOf({ user, read }: BilledCustomer) {
  const payments = await billing.database.query(
    `select p.amount, p.currency, p.status, p.tier, p.period_start, p.period_end, p.refunded_amount, p.dispute_status,
       billing.kept(p) as kept
     from public.payments p where p.user_id = $1 order by p.period_end, p.amount, p.refunded_amount`,
    [user.id],
  );
  const { currentTier, subscription } = await read();
  const { status, ended_reason, current_period_end } = subscription;
  return { payments, shown: { currentTier, status, ended_reason, current_period_end } };
}

/** Lets two hours pass, with the schedule before and after, and compares both. @returns what both have */
async function compared(two: Twins) {
  for (const hours of [1, 1]) await two.loud.later(hours);
  const books = await booksOf(two.loud);
  expect(await booksOf(two.silent)).toEqual(books);
  return books;
}

test('without any webhook each cycle, a refund by hand and a lost dispute are known within two hours', async () => {
  const two = await subscribed();
  for (const days of [32, 31]) await two.loud.later(days * 24);
  expect((await compared(two)).payments).toHaveLength(3);

  await both(two, async (customer) => {
    const [first, second, third] = await cyclesOf(customer);
    if (customer === two.silent) lose(first, second, third);
    await billing.simulate('dispute', { payment_id: first, event: 'created', amount: 1000 });
    await billing.simulate('dispute', { payment_id: first, event: 'lost' });
    await billing.simulate('refund', { payment_id: second, amount: 700 });
    await billing.simulate('refund', { payment_id: third });
  });
  const { payments, shown } = await compared(two);
  expect(payments.map(({ kept, dispute_status }) => [Number(kept), dispute_status]))
    .toEqual([[3900, 'lost'], [4200, null], [0, null]]);
  expect(shown).toMatchObject({ currentTier: 'free', ended_reason: 'refunded' });

  // What changes days after it was created is read again once a day.
  await both(two, async (customer) => {
    const [first] = await cyclesOf(customer);
    await billing.simulate('dispute', { payment_id: first, event: 'won', amount_deducted: 0 });
  });
  for (const hours of [20, 5]) await two.loud.later(hours);
  expect((await compared(two)).payments[0]).toMatchObject({ dispute_status: 'won', kept: '4900' });
});

test('without any webhook a last charge before a cancellation at the gateway is known', async () => {
  const two = await subscribed();
  await two.loud.later(1);
  const [{ current_end: end } = { current_end: 0 }] = await billing.atGateway(two.loud.user);
  // The charge and the cancellation come between two reads of the subscription.
  await two.loud.later((end - billing.now()) / 3600 - 1);
  await billing.moveOn(1.2);
  await both(two, ({ leave }) => leave());
  const { payments, shown } = await compared(two);
  expect(payments).toHaveLength(2);
  expect(shown).toMatchObject({ currentTier: 'free', ended_reason: 'cancelled' });
});

test('without any webhook the refund of a purchase in two parts by hand is known', async () => {
  const two = await twins();
  const paid = new Map<BilledCustomer, string>();
  await both(two, async (customer) => {
    const { body: { order } } = await billing.send(customer.user, 'payments/orders', { tier: 'pro' });
    if (customer === two.silent) lose(order.id);
    const answer = Object(await billing.simulate('pay', { order_id: order.id, outcome: 'captured' }));
    expect(await billing.send(customer.user, 'payments/verify', answer)).toMatchObject({ status: 200 });
    const { gateway_payment_id: id } = answer;
    if (customer === two.silent) lose(id);
    paid.set(customer, id);
  });
  expect((await compared(two)).shown).toMatchObject({ currentTier: 'pro' });
  const refund = (amount?: number) =>
    both(two, (customer) => billing.simulate('refund', { payment_id: paid.get(customer), amount }));
  // The payment is settled: only the list of refunds names them.
  await two.loud.later(24 * 10);
  await refund(900);
  expect((await compared(two)).shown).toMatchObject({ currentTier: 'pro' });
  await refund();
  expect((await compared(two)).shown).toMatchObject({ currentTier: 'free', ended_reason: 'refunded' });
});

test.each(
  [['is down', { mode: 'close' }], ['answers 429', { mode: 'status', status: 429, retry_after: 5 }]] as const,
)('after 40 hours in which the gateway %s one run reads on from the mark, and nothing is lost', async (_, fault) => {
  const two = await subscribed();
  await two.loud.later(1);
  const [{ current_end: end } = { current_end: 0 }] = await billing.atGateway(two.loud.user);
  // The second cycle is charged meanwhile.
  await two.loud.later((end - billing.now()) / 3600 - 20);
  const readUntil = async () =>
    Number((await billing.database.one('select read_until from billing.statement')).read_until);
  const mark = await readUntil();
  const firsts = [(await cyclesOf(two.loud))[0], (await cyclesOf(two.silent))[0]];
  lose(firsts[1]);
  await billing.breakApi(fault);
  for (const payment_id of firsts) await billing.simulate('refund', { payment_id, amount: 700 });
  for (const hours of [10, 10, 10, 10]) {
    await billing.moveOn(hours);
    // It stops after five reads without an answer.
    const { asked, applied, unanswered } = await billing.runSchedule();
    expect({ applied, unanswered: unanswered > 0, isShort: asked <= 15 }).toEqual({
      applied: 0,
      unanswered: true,
      isShort: true,
    });
    expect(await readUntil()).toBe(mark);
  }
  await billing.mend();
  // After the leases of the last run.
  await billing.moveOn(0.1);
  const { asked, unanswered } = await billing.runSchedule();
  expect({ unanswered, isShort: asked <= 30 }).toEqual({ unanswered: 0, isShort: true });
  expect(await readUntil()).toBe((billing.now() - 600) * 1000);
  const books = await booksOf(two.loud);
  expect(await booksOf(two.silent)).toEqual(books);
  expect(books.payments.map(({ kept }) => Number(kept))).toEqual([4200, 4900]);
});
