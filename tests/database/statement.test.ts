import { beforeEach, expect, test } from 'vitest';
import { readFindings } from '../helpers/database/findings.ts';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import { paymentCaptured, seconds, subscriptionEvent } from '../helpers/gateway/events.ts';
import { months } from '../helpers/records/time.ts';

// A webhook that was lost is an alert, as everywhere.
const database = useDatabase({ isEmptied: true, findings: 'compared elsewhere' });
const customer = useCustomer(database);

type List = 'payments' | 'refunds' | 'disputes' | 'settlements';
type Page = { list: List; pass: 'new' | 'again'; from: number; to: number; skip: number };
type Item = Record<string, unknown>;

beforeEach(async () => {
  await database.query(`delete from billing.gateway_events`);
  await database.query(
    `update billing.statement_windows set read_until = '2026-01-01', window_end = null, skip = 0, items = 0, news = 0,
       next_read_at = case pass when 'new' then timestamptz '2026-01-01 01:00+00' else 'infinity' end,
       completed_at = null, completed_items = null, completed_news = null, answered_at = null, page = null, repeated_at = null`,
  );
  await database.at('2026-01-01T01:00:00Z');
});

const claim = async () => (await database.rpc('claim_statement_pages')).pages as Page[];
const claimList = async (list: List) => (await claim()).find((page) => page.list === list) ?? expect.fail(`no ${list}`);
const apply = async ({ list, pass, to, skip }: Page, items: Item[] | null, applied = 0) => {
  const given = items && JSON.stringify(items);
  const { news } = await database.rpc('apply_statement_page', list, pass, to, skip, given, applied);
  return (news as { item: Item; payment: unknown }[]).map(({ item, payment }) => ({ id: item.id, payment }));
};
const applyItem = (list: List, item: Item, invoice: Item | null = null, subscription: Item | null = null) =>
  database.rpc('apply_statement_item', list, ...[item, invoice, subscription].map((one) => one && JSON.stringify(one)));
const windowOf = ({ list, pass }: Page) =>
  database.one(
    `select read_until, skip, completed_items::integer as items, completed_news::integer as news,
       next_read_at = read_until + interval '70 minutes' as is_hourly
     from billing.statement_windows where (list, pass) = ($1, $2)`,
    [list, pass],
  );
const aboutPayment = (status: string) => (id: string, fields: Item = {}) => (
  { id, payment_id: `pay_${id}`, amount: 100, status, ...fields }
);
const [refund, dispute] = [aboutPayment('processed'), aboutPayment('open')];
const captured = (fields: Item) => ({ id: 'pay_1', status: 'captured', captured: true, currency: 'INR', ...fields });

test('each hour a window from the mark until ten minutes ago is read; two at once read it once; after five minutes again', async () => {
  const pages = await claim();
  const [from, to] = ['2026-01-01T00:00:00Z', '2026-01-01T00:50:00Z'].map((at) => seconds(at));
  expect(pages.map(({ list }) => list).toSorted()).toEqual(['disputes', 'payments', 'refunds', 'settlements']);
  for (const page of pages) expect(page).toMatchObject({ pass: 'new', from, to, skip: 0 });
  expect(await claim()).toEqual([]);
  await database.at('2026-01-01T01:05:00Z');
  // The window stays as it is: what it has is fixed.
  expect(await claim()).toMatchObject([{ to }, { to }, { to }, { to }]);
  for (const page of pages) expect(await apply(page, [])).toEqual([]);
  expect(await windowOf(pages[0] ?? expect.fail())).toMatchObject({
    read_until: new Date('2026-01-01T00:50:00Z'),
    is_hourly: true,
  });
  await database.at('2026-01-01T02:05:00Z');
  expect(await claimList('payments')).toMatchObject({ from: to, to: seconds('2026-01-01T01:55:00Z') });
});

test('a window of 230 items has three pages, and the mark moves after the last one only', async () => {
  const known = Array.from({ length: 230 }, (_, index) => refund(`rfnd_${index}`, { status: 'unheard of' }));
  const skips = [];
  for (let left = 230; left > 0; left -= 100) {
    const page = await claimList('refunds');
    skips.push(page.skip);
    expect((await windowOf(page)).read_until).toEqual(new Date('2026-01-01T00:00:00Z'));
    expect(await apply(page, known.slice(page.skip, page.skip + 100))).toEqual([]);
  }
  expect(skips).toEqual([0, 100, 200]);
  const done = await windowOf({ list: 'refunds', pass: 'new', from: 0, to: 0, skip: 0 });
  expect(done).toMatchObject({ read_until: new Date('2026-01-01T00:50:00Z'), skip: 0, items: 230, news: 0 });
});

test('a list that repeats its page is left after the second one, hourly again, and is a finding until it ends', async () => {
  const full = (from: number) =>
    Array.from({ length: 100 }, (_, n) => dispute(`disp_${from + n}`, { payment_id: null }));
  const overdue = async () => (await readFindings(database)).filter(([kind]) => String(kind).startsWith('statement_'));
  const page = await claimList('disputes');
  expect(await apply(page, full(0))).toEqual([]);
  expect(await overdue()).toEqual([]);
  expect(await apply(await claimList('disputes'), full(0))).toEqual([]);
  expect(await windowOf(page)).toMatchObject({ read_until: new Date('2026-01-01'), skip: 0, items: null });
  expect(await claim()).toEqual([]);
  expect(await overdue()).toEqual([['statement_repeats', 'disputes new']]);
  await database.at('2026-01-01T02:05:00Z');
  const again = await claimList('disputes');
  expect(again).toMatchObject({ from: page.from, skip: 0 });
  expect(await apply(again, full(0))).toEqual([]);
  expect(await apply(await claimList('disputes'), full(100))).toEqual([]);
  expect(await apply(await claimList('disputes'), [])).toEqual([]);
  expect(await windowOf(page)).toMatchObject({ items: 200, read_until: new Date('2026-01-01T01:55:00Z') });
  expect(await overdue()).toEqual([]);
});

test('a mark that does not move for six hours while the gateway answers is the finding statement_overdue', async () => {
  const overdue = async () => (await readFindings(database)).filter(([kind]) => kind === 'statement_overdue');
  for (const page of await claim()) await apply(page, []);
  expect(await overdue()).toEqual([]);
  await database.at('2026-01-01T07:00:00Z');
  expect(await apply(await claimList('refunds'), [refund('rfnd_late')])).toHaveLength(1);
  expect(await overdue()).toEqual([['statement_overdue', 'statement']]);
  for (const page of await claim()) await apply(page, []);
  const rest = await database.query(
    'select list, pass, extract(epoch from window_end)::bigint as to, skip from billing.statement_windows where window_end is not null',
  );
  for (const page of rest) await apply(page as unknown as Page, []);
  expect(await overdue()).toEqual([]);
});

test('the mark stays while something of the page is new, and a page of another run moves nothing', async () => {
  const page = await claimList('refunds');
  const items = [refund('rfnd_1')];
  expect(await apply(page, items)).toEqual([{ id: 'rfnd_1', payment: null }]);
  expect(await apply(page, items)).toEqual([{ id: 'rfnd_1', payment: null }]);
  await applyItem('refunds', refund('rfnd_1'));
  expect(await apply({ ...page, skip: 100 }, items)).toEqual([]);
  expect((await windowOf(page)).items).toBeNull();
  expect(await apply(page, items, 1)).toEqual([]);
  expect(await windowOf(page)).toMatchObject({ items: 1, news: 1 });
});

test('a list that the gateway does not have is read to its end', async () => {
  const page = await claimList('disputes');
  expect(await apply(page, null)).toEqual([]);
  expect(await windowOf(page)).toMatchObject({ items: 0, is_hourly: true });
});

test.each(['disputes', 'refunds'] as const)(
  'a later page of %s that the gateway refuses is read again, and the mark stays',
  async (list) => {
    const page = await claimList(list);
    const foreign = Array.from({ length: 100 }, (_, index) => dispute(`disp_${index}`, { payment_id: null }));
    expect(await apply(page, foreign)).toEqual([]);
    const next = { ...page, skip: 100 };
    expect(await claimList(list)).toEqual(next);
    expect(await apply(next, null)).toEqual([]);
    expect(await windowOf(page)).toMatchObject({ read_until: new Date('2026-01-01'), skip: 100, items: null });
    await database.at('2026-01-01T01:05:00Z');
    expect(await claimList(list)).toEqual(next);
  },
);

test('of refunds, what is not known and another state are new; a pending one is no news of a processed one', async () => {
  const page = await claimList('refunds');
  await applyItem('refunds', refund('rfnd_1', { status: 'pending' }));
  const states = async (...statuses: string[]) => {
    const found = [];
    for (const status of statuses) found.push((await apply(page, [refund('rfnd_1', { status })])).length);
    return found;
  };
  // Nothing new moves the mark, so what is new comes first.
  expect(await states('processed', 'failed')).toEqual([1, 1]);
  await applyItem('refunds', refund('rfnd_1', { status: 'processed' }));
  expect(await states('failed', 'pending')).toEqual([1, 0]);
});

test('of disputes, another state is new; not while a newer event of the dispute is known', async () => {
  const page = await claimList('disputes');
  const of = async (fields: Item) => (await apply(page, [dispute('disp_1', fields)])).length;
  expect(await of({})).toBe(1);
  await applyItem('disputes', dispute('disp_1', { phase: 'chargeback' }));
  expect(await of({ phase: 'chargeback', status: 'lost', amount_deducted: 60 })).toBe(1);
  await applyItem('disputes', dispute('disp_1', { phase: 'chargeback', status: 'lost', amount_deducted: 60 }));
  expect(await database.one('select status, amount_deducted::integer from billing.disputes')).toEqual({
    status: 'lost',
    amount_deducted: 60,
  });
  // The list may lag behind an event of the last 20 minutes.
  await database.query("update billing.disputes set event_at = billing.clock() - interval '19 minutes'");
  expect(await of({ phase: 'chargeback', status: 'open' })).toBe(0);
});

test('of payments, a captured one on an order of ours is new until it is confirmed; failed ones and foreign orders never', async () => {
  const order = await customer.order('pro');
  const page = await claimList('payments');
  const item = captured({ order_id: order.orderId, amount: 99900 });
  const { id, amount } = await database.one('select id, amount from public.payments where gateway_order_id = $1', [
    order.orderId,
  ]);
  const payment = { id, order_id: order.orderId, amount: Number(amount) };
  const foreign = { ...item, id: 'pay_2', order_id: 'order_of_another_app' };
  expect(await apply(page, [item, foreign, { ...item, id: 'pay_3', status: 'failed', captured: false }]))
    .toEqual([{ id: 'pay_1', payment }]);
  await database.rpc('apply_order_payments', id, JSON.stringify([item]));
  expect(await apply(page, [item, foreign])).toEqual([]);
});

test.each(['captured', 'refunded'])(
  'a payment that was read as failed is new once it is %s, also after another one paid the order',
  async (status) => {
    const order = await customer.order('pro', { at: '01-01' });
    const item = (id: string, state: string) =>
      captured({ id, order_id: order.orderId, amount: 99900, status: state, captured: state !== 'failed' });
    const read = (...items: Item[]) => database.rpc('apply_order_payments', order.id, JSON.stringify(items));
    await database.at('2026-01-01T01:00:00Z');
    await read(item('pay_late', 'failed'));
    const page = await claimList('payments');
    expect(await apply(page, [item('pay_late', status)])).toMatchObject([{ id: 'pay_late' }]);
    await read(item('pay_late', 'failed'), item('pay_again', 'captured'));
    expect(await apply(page, [item('pay_late', status)])).toMatchObject([{ id: 'pay_late' }]);
    await read(item('pay_late', status), item('pay_again', 'captured'));
    expect(await apply(page, [item('pay_late', status)])).toEqual([]);
    expect(await customer.findings()).toEqual(['paid_twice pay_late']);
  },
);

test('what fails here is tried again for six hours, and then stops the lists no longer', async () => {
  const { paymentId: payment_id, amount } = await customer.buy('pro');
  const { id: late, orderId: late_order } = await (await database.customer()).order('basic');
  const found: Partial<Record<List, Item>> = {
    payments: captured({ id: 'pay_late', order_id: late_order, amount: 4900 }),
    refunds: refund('rfnd_failing', { payment_id }),
    disputes: dispute('disp_failing', { payment_id, amount }),
  };
  await database.query(
    `create function public.fail() returns trigger language plpgsql as 'begin raise check_violation; end';
     create trigger fail before update on public.payments for each row
       when (new.gateway_payment_id is distinct from old.gateway_payment_id
         or new.refunded_amount <> old.refunded_amount or new.dispute_status is distinct from old.dispute_status)
       execute function public.fail()`,
  );
  /** Reads each list as a run does. @returns how many items were new before and after it */
  const read = async () => {
    const counts = [];
    for (const page of (await claim()).toSorted((a, b) => a.list.localeCompare(b.list))) {
      const item = found[page.list];
      if (item === undefined) continue;
      const before = (await apply(page, [item])).length;
      if (before === 1 && page.list === 'payments') {
        await database.rpc('apply_order_payments', late, JSON.stringify([item]));
      } else if (before === 1) await applyItem(page.list, item);
      counts.push([before, (await apply(page, [item], before)).length]);
    }
    return counts;
  };
  try {
    const stays = [1, 1];
    expect(await read()).toEqual([stays, stays, stays]);
    await database.at('2026-01-01T07:00:00Z');
    expect(await read()).toEqual([[1, 0], [1, 0], [1, 0]]);
    await database.sweep();
    const parked = await database.query(
      "select count(*)::integer as events from billing.gateway_events where outcome = 'parked'",
    );
    expect(parked).toEqual([{ events: 3 }]);
    expect((await windowOf({ list: 'refunds', pass: 'new', from: 0, to: 0, skip: 0 })).items).toBe(1);
  } finally {
    await database.query('drop function public.fail() cascade');
  }
});

test('a webhook hides no payment from the statement, also under an event id that looks like a read', async () => {
  const order = await customer.order('pro');
  const page = await claimList('payments');
  const fields = { id: 'pay_1', order_id: order.orderId, amount: 102258 };
  // Another amount than the order's: it grants nothing, and the order is to be read.
  expect(await database.send(paymentCaptured(fields), 'reconcile:pay_1:captured')).toBe('mismatch');
  expect(await apply(page, [{ ...fields, status: 'captured', captured: true }])).toMatchObject([{ id: 'pay_1' }]);
});

test('the cycle of another app with the same gateway account is read once', async () => {
  const page = await claimList('payments');
  const item = captured({ order_id: 'order_1', invoice_id: 'inv_1', amount: 4900 });
  expect(await apply(page, [item])).toEqual([{ id: 'pay_1', payment: null }]);
  const cycle = { subscription_id: 'sub_foreign', billing_start: 1, billing_end: 2, paid_at: 1 };
  expect(await applyItem('payments', item, cycle, { id: 'sub_foreign', notes: [] })).toEqual({ applied: false });
  expect(await apply(page, [item])).toEqual([]);
  expect(await database.query('select from public.payments')).toEqual([]);
});

test('a cycle belongs to the user who asked for its subscription, also if its notes were edited', async () => {
  const january = months(1);
  await customer.event('activated', '01-01', { planId: 'plan_pro', ...january });
  const other = await database.customer();
  const item = captured({ order_id: 'order_1', invoice_id: 'inv_1', amount: 99900 });
  const cycle = {
    subscription_id: customer.gatewayId,
    billing_start: seconds(january.start),
    billing_end: seconds(january.end),
    paid_at: seconds(january.start),
  };
  const subscription = { id: customer.gatewayId, plan_id: 'plan_pro', status: 'active', notes: { user_id: other.id } };
  expect(await applyItem('payments', item, cycle, subscription)).toMatchObject({ applied: true });
  expect(await database.query('select user_id, period_end from public.payments')).toEqual([
    { user_id: customer.id, period_end: new Date(january.end) },
  ]);
});

test('once a day the last ten days are read again', async () => {
  await database.query("update billing.statement_windows set next_read_at = billing.clock() where pass = 'again'");
  const pages = (await claim()).filter(({ pass }) => pass === 'again');
  const to = seconds('2026-01-01T00:50:00Z');
  for (const page of pages) expect(page).toMatchObject({ from: to - 10 * 86_400, to });
  expect(pages).toHaveLength(4);
});

test('of settlements each is new once, and again when its state or its UTR is another; one without a UTR is read again', async () => {
  await database.query('truncate billing.settlements, billing.settlement_lines');
  const made = seconds('2026-01-01T00:20:00Z');
  const settlement = { id: 'setl_1', status: 'processed', amount: 500, fees: 0, tax: 0, utr: null, created_at: made };
  const page = await claimList('settlements');
  const [lacking, odd] = [{ ...settlement, id: 'setl_2', status: null }, {
    ...settlement,
    id: 'setl_3',
    amount: '500',
  }];
  expect(await apply(page, [settlement, lacking, odd])).toEqual([{ id: 'setl_1', payment: null }]);
  expect(await applyItem('settlements', settlement)).toEqual({ applied: true });
  for (const known of [settlement, { ...settlement, status: 'created' }]) {
    expect(await apply(page, [known])).toEqual([]);
  }
  await database.at('2026-01-20T00:00:00Z');
  await database.query("update billing.statement_windows set next_read_at = billing.clock() where pass = 'again'");
  const again = (await claim()).find(({ list, pass }) => list === 'settlements' && pass === 'again') ?? expect.fail();
  expect(again.from).toBe(made);
  for (const change of [{ utr: 'UTR1' }, { amount: 400 }, { fees: 118, tax: 18 }, { status: 'failed' }]) {
    const changed = Object.assign(settlement, change);
    expect(await apply(again, [changed])).toHaveLength(1);
    await applyItem('settlements', changed);
    if ('utr' in change) expect(await apply({ ...again, skip: 1 }, [changed])).toEqual([]);
  }
  expect(await apply(again, [settlement, { ...settlement, utr: '' }])).toEqual([]);
  await database.query('truncate billing.settlements, billing.settlement_lines');
});

test.each<[List, string, string]>([
  ['disputes', 'open', '2026-01-01T01:00:00Z'], // the order of its payment
  ['disputes', 'under_review', '2026-01-01T01:00:00Z'],
  ['refunds', 'pending', '2026-01-23T00:00:00Z'], // ten days before it was known
])('of %s, what is %s here is read again each day until it is decided, for 180 days', async (list, status, start) => {
  await database.query('delete from billing.disputes');
  const { paymentId: payment_id } = await customer.buy('pro');
  const item = (fields: Item) => aboutPayment(status)('item_1', { payment_id, amount: 99900, ...fields });
  const claimAt = async (time: string) => {
    await database.at(time);
    await database.query("update billing.statement_windows set next_read_at = billing.clock() where pass = 'again'");
    return (await claim()).find((page) => page.list === list && page.pass === 'again') ?? expect.fail(`no ${list}`);
  };
  await database.at('02-02');
  expect(await applyItem(list, item({}))).toMatchObject({ applied: true });
  const page = await claimAt('02-20');
  expect(page).toMatchObject({ from: seconds(start), skip: 0 });
  // It is decided on the first page: the next ones are those of the same window.
  await applyItem(list, item({ status: list === 'disputes' ? 'lost' : 'processed' }));
  expect(await claimAt('2026-02-20T00:10:00Z')).toEqual(page);
  await apply(page, []);
  const later = await claimAt('02-21');
  expect(later.to - later.from).toBe(10 * 86_400);
  await apply(later, []);
  await applyItem(list, item({ id: 'item_2' }));
  const bounded = await claimAt('2027-02-21T00:00:00Z');
  expect(bounded.to - bounded.from).toBe(180 * 86_400);
});

/** A subscription that the customer asked for here, with its first cycle. */
async function subscribed() {
  const january = months(1);
  await database.at('2026-01-01T00:00:00Z');
  await request();
  await customer.event('activated', '01-01', { planId: 'plan_pro', ...january });
  expect(await customer.charge(january, 'pro', { fields: { paid_count: 1 } })).toBe('applied');
}

/** The customer asks for the subscription. */
async function request() {
  await database.query(
    `insert into billing.gateway_subscriptions (user_id, asked_tier, asked_plan_id, asked_gateway_plan_id, asked_price, gateway_subscription_id, expires_at)
     select $1, tier, id, gateway_plan_id, billing.price_of(p), $2, billing.clock() + interval '1 day'
     from public.plans p where tier = 'pro' and lookup_key is null`,
    [customer.id, customer.gatewayId],
  );
}

test('the number of paid cycles is a promise, also of one that only a halt told: its invoices are read', async () => {
  await database.at('2026-01-01T00:00:00Z');
  await request();
  await customer.event('halted', '2026-02-02T00:00:00Z', { planId: 'plan_pro', fields: { paid_count: 1 } });
  expect(await customer.reconcile({ status: 'halted', paid_count: 1 })).toMatchObject({ lacks_payment: true });
});

test('the number of paid cycles is a promise: an end told before the last charge ends no access, and its mail waits', async () => {
  await subscribed();
  const mails = async () => (await customer.mails()).filter((mail) => mail.startsWith('subscription-completed'));
  await customer.event('completed', '2026-02-01T00:10:00Z', { planId: 'plan_pro', fields: { paid_count: 2 } });
  expect(await customer.stateAt('2026-02-01T00:11:00Z')).toBe('pro: pro active to 2026-02-01');
  expect(await mails()).toEqual([]);
  expect(await customer.charge(months(2), 'pro', { fields: { paid_count: 2 } })).toBe('applied');
  expect(await mails()).toHaveLength(1);
  expect(
    await database.one(
      "select payload ->> 'access_ends_at' as at from billing.outbox where kind = 'subscription-completed'",
    ),
  )
    .toEqual({ at: '2026-03-01T00:00:00.000Z' });
  expect(await customer.stateAt('2026-03-01T00:00:01Z')).toBe('free: pro cancelled to 2026-03-01');
});

test('the number of paid cycles is a promise, also of a cancelled subscription: its invoices are read for a day, then it is unnamed_charge', async () => {
  await subscribed();
  const claimAt = async (time: string) => {
    await database.at(time);
    return (await database.rpc('claim_subscriptions_to_reconcile')).subscriptions;
  };
  // The second charge was lost, and the cancellation tells its number.
  await customer.event('cancelled', '2026-02-02T00:00:00Z', { planId: 'plan_pro', fields: { paid_count: 2 } });
  expect(await claimAt('2026-02-02T01:00:00Z')).toMatchObject([{ gateway_subscription_id: customer.gatewayId }]);
  expect(await customer.reconcile({ status: 'cancelled', paid_count: 2 })).toMatchObject({ lacks_payment: true });
  expect(await claimAt('2026-02-02T07:00:00Z')).toHaveLength(1);
  await database.at('2026-02-03T00:00:01Z');
  await database.sweep();
  expect(await customer.findings()).toEqual([`unnamed_charge ${customer.gatewayId}`]);
  expect(await claimAt('2026-02-03T07:00:00Z')).toEqual([]);
  const february = months(2);
  const invoice = {
    status: 'paid',
    payment_id: 'pay_february',
    amount: 99900,
    currency: 'INR',
    billing_start: seconds(february.start),
    billing_end: seconds(february.end),
    paid_at: seconds(february.start),
  };
  await database.rpc('apply_invoices', customer.gatewayId, JSON.stringify([invoice]));
  await database.sweep();
  expect(await customer.findings()).not.toContain(`unnamed_charge ${customer.gatewayId}`);
});

test('an item of the statement and the read of its subscription are stored together, or not at all', async () => {
  await subscribed();
  await database.at('2026-02-01T01:00:00Z');
  const february = months(2);
  const item = captured({
    id: 'pay_february',
    amount: 99900,
    invoice_id: 'inv_2',
    created_at: seconds(february.start),
  });
  const invoice = {
    ...{ id: 'inv_2', subscription_id: customer.gatewayId, payment_id: 'pay_february', status: 'paid' },
    ...{ billing_start: seconds(february.start), billing_end: seconds(february.end), paid_at: seconds(february.start) },
  };
  const cycle = { current_start: seconds(february.start), current_end: seconds(february.end) };
  const entity = { id: customer.gatewayId, plan_id: 'plan_pro', status: 'cancelled', paid_count: 2, ...cycle };
  const applied = () => applyItem('payments', item, invoice, { ...entity, ended_at: seconds('2026-02-01T00:30:00Z') });
  const payments = () => database.query("select from public.payments where gateway_payment_id = 'pay_february'");
  // The database fails between the two.
  await database.query(
    `alter function billing.apply_subscription_read rename to read_later`,
  );
  await expect(applied()).rejects.toThrow('apply_subscription_read');
  expect([await payments(), await customer.state()]).toEqual([[], 'pro: pro active to 2026-02-01']);
  await database.query('alter function billing.read_later rename to apply_subscription_read');
  // The next page still lists it.
  expect(Object(await database.one("select billing.find_news('payments', $1) as news", [JSON.stringify([item])])).news)
    .toHaveLength(1);
  expect(await applied()).toEqual({ applied: true });
  expect([await payments(), await customer.state()]).toEqual([[{}], 'free: pro cancelled to 2026-03-01']);
});

test('a charge after the deletion of its user is a finding, until it is refunded; one before it is none', async () => {
  await subscribed();
  await database.at('2026-01-20T00:00:00Z');
  await database.query('delete from auth.users where id = $1', [customer.id]);
  const found = async () =>
    (await database.query("select subject from billing.findings where finding = 'charged_after_deletion'")).map((
      { subject },
    ) => subject);
  expect(await found()).toEqual([]);
  await customer.charge(months(2), 'pro', { fields: { paid_count: 2 } });
  const [payment] = await found();
  expect(payment).toMatch(/^pay_2026-02/);
  await applyItem('refunds', refund('rfnd_1', { payment_id: payment, amount: 99900 }));
  expect(await found()).toEqual([]);
});

test('notes that were edited at the gateway move a subscription to nobody: its user keeps it, and a finding names them', async () => {
  await subscribed();
  const other = await database.customer();
  await database.at('2026-02-01T00:00:01Z');
  const charge = { ...months(2), planId: 'plan_pro', createdAt: '2026-02-01T00:00:00Z' };
  const send = (userId: string, id: string) =>
    database.send(subscriptionEvent({
      name: 'charged',
      userId,
      id: customer.gatewayId,
      ...charge,
      payment: { id, amount: 99900 },
    }));
  expect(await send(other.id, 'pay_february')).toBe('applied');
  expect(await database.query("select user_id from public.payments where gateway_payment_id = 'pay_february'"))
    .toEqual([{ user_id: customer.id }]);
  expect([await customer.state(), await other.state()]).toEqual(['pro: pro active to 2026-03-01', 'free: none']);
  await database.sweep();
  expect(await customer.findings()).toContain(`notes_edited ${customer.gatewayId}`);
});

test('whom the notes name is what the newest event or read says: an older event and a cycle by its invoice change nothing', async () => {
  await subscribed();
  const [own, other] = [{ notes: { user_id: customer.id } }, { notes: { user_id: (await database.customer()).id } }];
  const read = (start: string, end: string, paid_count: number, notes: Item) =>
    customer.reconcile({
      ...{ id: customer.gatewayId, plan_id: 'plan_pro', status: 'active', paid_count, ...notes },
      ...{ current_start: seconds(start), current_end: seconds(end) },
    });
  const [february, march] = [months(2), months(3)];
  const isEdited = async () => (await customer.findings()).includes(`notes_edited ${customer.gatewayId}`);
  await database.at('2026-02-01T06:00:00Z');
  // Its webhook was lost.
  await read(february.start, february.end, 2, other);
  expect(await isEdited()).toBe(true);
  await customer.event('updated', '2026-01-20T00:00:00Z', { planId: 'plan_pro' });
  expect(await isEdited()).toBe(true);
  const paid = { status: 'paid', amount: 99900, currency: 'INR', paid_at: seconds(february.start) };
  const cycle = { billing_start: seconds(february.start), billing_end: seconds(february.end) };
  const invoices = JSON.stringify([{ ...paid, ...cycle, payment_id: 'pay_2' }]);
  expect(await database.rpc('apply_invoices', customer.gatewayId, invoices)).toEqual({ applied: 1 });
  expect([await isEdited(), await customer.state()]).toEqual([true, 'pro: pro active to 2026-03-01']);
  await database.at('2026-03-01T06:00:00Z');
  await read(march.start, march.end, 3, other);
  expect(await isEdited()).toBe(true);
  await read(march.start, march.end, 3, own);
  expect(await isEdited()).toBe(false);
});
