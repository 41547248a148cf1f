import { describe, expect, test } from 'vitest';
import { useCustomer, useDatabase } from '../helpers/database/use-database.ts';
import { refundEvent, seconds } from '../helpers/gateway/events.ts';
import { subscribe } from '../helpers/records/customer.ts';
import { months } from '../helpers/records/time.ts';

const database = useDatabase({ isEmptied: true });
const customer = useCustomer(database);
const [january, february] = [months(1), months(2)];

/** Writes the row of a subscriber whom the gateway bills already, on 5 January, unless a time is set. */
async function bring(
  { tier = 'pro', status = 'active', end = january.end, id = customer.gatewayId }: {
    tier?: string;
    status?: string;
    end?: string | null;
    id?: string | null;
  } = {},
) {
  await database.query(
    `insert into public.subscriptions as s (user_id, plan_id, tier, status, current_period_end, gateway_subscription_id)
     select $1, p.id, p.tier, $3, $4, $5 from public.plans p where p.tier = $2 and p.lookup_key is null
     on conflict (user_id) do update
     set status = excluded.status, tier = excluded.tier, current_period_end = excluded.current_period_end,
       gateway_subscription_id = excluded.gateway_subscription_id`,
    [customer.id, tier, status, end, id],
  );
}
/** The rows that the service has of it, before and after an import that is run again. */
const readRows = () =>
  database.one(
    `select to_jsonb(w) as written, to_jsonb(m) as mirrored, to_jsonb(s) as row
     from billing.manual_subscriptions w
     join billing.gateway_subscriptions m using (user_id)
     join public.subscriptions s using (user_id)
     where w.user_id = $1`,
    [customer.id],
  );
const setTier = (tier: string | null) =>
  database.query('update public.profiles set subscription_tier = $2 where user_id = $1', [customer.id, tier]);

describe('a row by hand that names a gateway subscription gives its tier at once', () => {
  test.each([
    ['with an end', january.end, 'free'],
    ['without an end', null, 'free'],
    ['whose profile has no tier', january.end, null],
  ])('%s', async (_, end, before) => {
    await database.at('01-05');
    await setTier(before);
    await bring({ end });
    expect(await customer.tier()).toBe('pro');
  });

  test('to a user without a profile', async () => {
    await database.at('01-05');
    await database.query('delete from public.profiles where user_id = $1', [customer.id]);
    await bring();
    expect(await customer.tier()).toBe('pro');
  });

  test('where an earlier row is replaced by one that names it', async () => {
    await database.at('01-05');
    await bring({ status: 'cancelled', id: null });
    expect(await customer.tier()).toBe('free');
    await bring();
    expect(await customer.tier()).toBe('pro');
  });
});

describe('the tier of the profile stays', () => {
  test.each([
    ['where an admin wrote a higher one', 'premium', {}],
    ['where an admin wrote a lower one', 'basic', {}],
    ['where the row is cancelled', 'free', { status: 'cancelled' }],
    ['where the row names no gateway subscription', 'free', { id: null }],
    ['where the period is over: the gateway is read first', 'free', { end: '2026-01-04T00:00:00Z' }],
    ['where the period ends now: the gateway is read first', 'free', { end: '2026-01-05T00:00:00Z' }],
  ])('%s', async (_, tier, row) => {
    await database.at('01-05');
    await setTier(tier);
    await bring(row);
    expect(await customer.tier()).toBe(tier);
    // For the findings.
    await database.query('delete from public.subscriptions where user_id = $1', [customer.id]);
  });

  test('where a row that named it before gets a longer period', async () => {
    await database.at('01-05');
    await bring();
    await setTier('free');
    await bring({ end: february.end });
    expect(await customer.tier()).toBe('free');
    await setTier('pro');
  });
});

describe('an import that is run again writes nothing', () => {
  const importAll = () =>
    database.query(
      `insert into public.subscriptions (user_id, plan_id, tier, status, current_period_end, gateway_subscription_id)
       select $1, p.id, p.tier, 'active', $2, $3 from public.plans p where p.tier = 'pro' and p.lookup_key is null
       on conflict (user_id) do nothing`,
      [customer.id, january.end, customer.gatewayId],
    );
  const importAgain = async () => {
    const before = await readRows();
    await importAll();
    expect(await readRows()).toEqual(before);
  };

  test('a charge since ranks above it, and its refund ends access', async () => {
    await database.at('01-05');
    await importAll();
    await customer.charge(february, 'pro');
    await database.at('02-03');
    await importAgain();
    await database.at('02-10');
    await database.send(refundEvent({ id: `pay_2026-02_${customer.gatewayId}`, amount: 99900 }, 99900));
    expect(await customer.state()).toBe('free: pro cancelled to 2026-02-01');
  });

  test('a cancellation since stays', async () => {
    await database.at('01-05');
    await importAll();
    await customer.cancel('at the end');
    await database.at('01-06');
    await importAgain();
    expect(await customer.row()).toMatchObject({ cancel_at_period_end: true });
  });
});

describe('a charge that was read before its user was known counts once an import names its subscription', () => {
  const charge = { amount: 99900, currency: 'INR' };
  const cycle = { billing_start: seconds(january.start), billing_end: seconds(january.end) };
  const invoiceOf = (id: string) => ({
    ...{ id: `inv_${id}`, subscription_id: id, payment_id: `pay_${id}`, status: 'paid', paid_at: cycle.billing_start },
    ...charge,
    ...cycle,
  });
  const readStatement = async () => {
    const invoice = invoiceOf(customer.gatewayId);
    const payment = { id: invoice.payment_id, created_at: invoice.paid_at, invoice_id: invoice.id, ...charge };
    const subscription = { id: customer.gatewayId, plan_id: 'plan_pro', status: 'active', paid_count: 1, notes: [] };
    const read = [payment, invoice, subscription].map((each) => JSON.stringify(each));
    return (await database.rpc('apply_statement_item', 'payments', ...read)).applied;
  };

  const readInvoices = async () => {
    const items = JSON.stringify([invoiceOf(customer.gatewayId)]);
    return (await database.rpc('apply_invoices', customer.gatewayId, items)).applied === 1;
  };

  test.each([
    ['by the invoices', readInvoices],
    ['by the statement', readStatement],
  ])('%s', async (_, readAgain) => {
    await database.at('01-02');
    expect(await readStatement()).toBe(false);
    // A day later its stored fields are reduced.
    await database.sweep('01-04');
    expect(await readStatement()).toBe(false);
    await database.at('01-20');
    await bring();
    const stored = { user_id: customer.id, amount: '99900', period_end: new Date(january.end) };
    for (const isNew of [true, false]) {
      expect(await readAgain()).toBe(isNew);
      expect(await database.query('select user_id, amount, period_end from public.payments')).toEqual([stored]);
      expect(await customer.state()).toBe('pro: pro active to 2026-02-01');
    }
  });
});

test.each([
  ['before it is no missed webhook', january, []],
  ['after it is one', february, ['missed_webhook']],
])('a cycle of an import that began %s', async (_, cycle, findings) => {
  await database.at('01-05');
  await bring({ end: '2026-01-25T00:00:00Z' });
  await database.at('02-02');
  const { id } = await database.one('select id from billing.gateway_subscriptions');
  const times = { current_start: seconds(cycle.start), current_end: seconds(cycle.end) };
  const entity = { status: 'active', plan_id: 'plan_pro', paid_count: 3, ...times };
  expect(await database.rpc('apply_gateway_subscription', id, JSON.stringify(entity))).toMatchObject({ applied: true });
  const marks = await database.query(
    "select kind from billing.marks where kind = 'missed_webhook' and key = $1",
    [customer.gatewayId],
  );
  expect(marks.map(({ kind }) => kind)).toEqual(findings);
});

test.each(['before', 'after'])(
  'a refund of the cycle of an import ends access, %s its payment is read',
  async (when) => {
    await database.at('01-05');
    await bring();
    await database.at('01-10');
    const id = `pay_${customer.gatewayId}`;
    const charge = { amount: 99900, currency: 'INR' };
    const refund = () => database.send(refundEvent({ id, amount: charge.amount }, charge.amount));
    if (when === 'before') await refund();
    const { id: row } = await database.one('select id from billing.gateway_subscriptions');
    const [start, end] = [seconds(january.start), seconds(january.end)];
    const read = { status: 'active', plan_id: 'plan_pro', paid_count: 3, current_start: start, current_end: end };
    expect(await database.rpc('apply_gateway_subscription', row, JSON.stringify(read))).toEqual({
      applied: false,
      lacks_payment: true,
    });
    const invoice = {
      payment_id: id,
      status: 'paid',
      billing_start: start,
      billing_end: end,
      paid_at: start,
      ...charge,
    };
    await database.rpc('apply_invoices', customer.gatewayId, JSON.stringify([invoice]));
    if (when === 'after') await refund();
    expect(await customer.tier()).toBe('free');
  },
);

test('an import that the gateway does not know, without an end, is read once a day', async () => {
  const reads: number[] = [];
  await database.at('01-05');
  await bring({ end: null });
  for (let hour = 0; hour < 24 * 30; hour += 6) {
    await database.at(new Date(Date.parse('2026-01-05T01:00:00Z') + hour * 3_600_000).toISOString());
    const { subscriptions } = await database.rpc('claim_subscriptions_to_reconcile');
    for (const { id } of Array.isArray(subscriptions) ? subscriptions : []) {
      reads.push(hour);
      await database.rpc('apply_gateway_subscription', id, null);
    }
  }
  expect(reads.length).toBe(30);
});

describe('one gateway subscription is of one customer', () => {
  const bringTo = (userId: string, id = customer.gatewayId) =>
    database.query(
      `insert into public.subscriptions as s (user_id, plan_id, tier, status, current_period_end, gateway_subscription_id)
       select $1, p.id, p.tier, 'active', $2, $3 from public.plans p where p.tier = 'pro' and p.lookup_key is null
       on conflict (user_id) do update set gateway_subscription_id = excluded.gateway_subscription_id`,
      [userId, january.end, id],
    );

  test('a second row by hand that names it is refused, also one that is edited; of a deleted customer it is free', async () => {
    await database.at('01-05');
    await bring();
    const other = await database.customer();
    const refused = `${customer.gatewayId} is the gateway subscription of the user ${customer.id}`;
    await expect(bringTo(other.id)).rejects.toThrow(refused);
    await database.query("insert into public.subscriptions (user_id, tier, status) values ($1, 'pro', 'active')", [
      other.id,
    ]);
    await expect(bringTo(other.id)).rejects.toThrow(refused);
    await database.query('delete from auth.users where id = $1', [customer.id]);
    await bringTo(other.id);
  });

  test('that was asked for here: a row by hand of another one that names it is refused', async () => {
    await database.at('01-05');
    const { gatewayId } = await subscribe(database, customer, 'pro');
    const other = await database.customer();
    await expect(bringTo(other.id, gatewayId)).rejects.toThrow(`${gatewayId} is the gateway subscription of the user`);
  });

  test('an invoice is of the customer whose row named it last', async () => {
    await database.at('01-05');
    await bring();
    const other = await database.customer();
    await database.at('01-06');
    await database.query('delete from public.subscriptions where user_id = $1', [customer.id]);
    await bringTo(other.id);
    await database.at('02-01');
    const cycle = { billing_start: seconds(february.start), billing_end: seconds(february.end) };
    const paid = { status: 'paid', amount: 99900, currency: 'INR', paid_at: seconds(february.start) };
    await database.rpc(
      'apply_invoices',
      customer.gatewayId,
      JSON.stringify([{ ...cycle, ...paid, payment_id: 'pay_2' }]),
    );
    expect(await database.query("select user_id from public.payments where gateway_payment_id = 'pay_2'")).toEqual([
      { user_id: other.id },
    ]);
  });

  test('once the wrong row no longer names it, it is of the customer whom a row names since', async () => {
    await database.at('01-05');
    await bring();
    const other = await database.customer();
    await database.at('01-06');
    await bring({ id: null, status: 'cancelled' });
    await setTier('free');
    await bringTo(other.id);
    await customer.charge(february, 'pro', { userId: other.id });
    expect(
      await database.query('select user_id from public.payments where user_id in ($1, $2)', [customer.id, other.id]),
    )
      .toEqual([{ user_id: other.id }]);
    expect([await customer.state(), await other.state()]).toEqual([
      'free: pro cancelled to 2026-02-01',
      'pro: pro active to 2026-03-01',
    ]);
    expect([await customer.findings(), await other.findings()]).toEqual([[], []]);
  });
});
