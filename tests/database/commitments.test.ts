import { beforeEach, describe, expect, test } from 'vitest';
import { useDatabase } from '../helpers/database/use-database.ts';
import { refundEvent, seconds } from '../helpers/gateway/events.ts';
import { attempt, told } from '../helpers/gateway/told.ts';
import { askChange, type Customer, customerOf } from '../helpers/records/customer.ts';
import { act as actAsSupport, grantTier, openSupport } from '../helpers/records/support-actions.ts';
import { day, type Period, shortTime } from '../helpers/records/time.ts';

const database = useDatabase({
  isEmptied: true,
  findings: { missed_webhook: 'any', charged_after_replacement: 'any' },
});
let customer: Customer;

/** Monthly prices besides the sample's default prices; pro and premium are sold by the year. */
const monthly: Record<string, number> = { pro_month: 9900, premium_month: 19900 };
const amounts: Record<string, number> = { ...monthly, basic: 4900, pro: 99900, premium: 199900 };
const keys = Object.keys(amounts);
const tierOf = (key: string) => key.replace('_month', '');
const storedKey = (key: string) => key in monthly ? key : null;

beforeEach(async () => {
  customer = await database.customer();
  await database.query(
    `insert into public.plans (tier, lookup_key, name, price, duration_months, gateway_plan_id)
     select replace(key, '_month', ''), key, key, value::int, 1, 'plan_' || key from json_each_text($1)`,
    [JSON.stringify(monthly)],
  );
});

const january: Period = { start: day('01-01'), end: day('02-01') };

/** Authorises a subscription, which is charged for a cycle at once, or from a later time on. */
async function authorise(of: Customer, key: string, chargeAt: string): Promise<void> {
  const { now } = await database.one('select billing.clock() as now');
  const time = new Date(String(now instanceof Date ? now.toISOString() : now)).toISOString();
  await of.event('authenticated', time, { planId: `plan_${key}`, fields: { charge_at: seconds(day(chargeAt)) } });
}
async function charge(of: Customer, key: string, cycle: Period, at = cycle.start): Promise<string> {
  const id = `pay_${cycle.start.slice(0, 10)}_${of.gatewayId}`;
  const fields = { charge_at: seconds(day(cycle.end)) };
  for (const name of ['activated', 'charged'] as const) {
    await of.event(name, at, { planId: `plan_${key}`, ...cycle, fields, payment: { id, amount: amounts[key] ?? 0 } });
  }
  return id;
}
async function bill(key = 'pro_month', cycle = january): Promise<string> {
  await database.at(cycle.start);
  return await charge(customer, key, cycle);
}

const preview = (key: string, when: 'now' | 'period_end') =>
  database.rpc('preview_change', customer.id, tierOf(key), when, storedKey(key));

/** Changes as the route does, pays the order and authorises the subscription. @returns the new subscription, if any */
async function change(key: string, when: 'now' | 'period_end') {
  const previewed = await preview(key, when);
  expect(previewed).toMatchObject({ outcome: 'change' });
  const price = storedKey(key);
  const order = previewed.order_start === null ? null : await customer.order(tierOf(key), {
    start: previewed.order_start as 'now' | 'after_current',
    ...price !== null && { price },
  });
  let next: Customer | null = null;
  if (previewed.is_billed) {
    const made = await askChange(database, customer, tierOf(key), when, { payment: order?.id ?? null, price });
    next = made;
    if (order) await order.verify();
    const starts = made.asked.start_at as number | null;
    const { now } = await database.one('select billing.iso_time(billing.clock()) as now');
    if (starts === null) {
      const end = new Date(String(now));
      end.setUTCMonth(end.getUTCMonth() + 1);
      await charge(next, key, { start: String(now), end: end.toISOString() });
    } else await authorise(next, key, new Date(starts * 1000).toISOString());
  } else await order?.verify();
  return { next, order, change: Object(previewed.change) };
}

/** What the answers say about each price: scenario, and both changes without their ids. */
async function answers() {
  const { plans } = Object(await database.rpc('list_plans_for_user', customer.id));
  type Offered = { lookup_key: string; scenario: string };
  const prices: Offered[] = plans.flatMap(({ prices }: { prices: Offered[] }) => prices);
  const told: Record<string, unknown> = {};
  for (const key of keys) {
    const scenario = prices.find(({ lookup_key }) => lookup_key === key)?.scenario;
    told[key] = { scenario, now: await preview(key, 'now'), period_end: await preview(key, 'period_end') };
  }
  return told;
}
const scenarioOf = async (key: string) => Object((await answers())[key]).scenario;
const billing = async () => Object((await database.rpc('get_subscription', customer.id)).billing);
const stops = (...of: (Customer | null)[]) =>
  Promise.all(of.map((one) => one === null ? 'none' : told(database, one.gatewayId)));
const nextCharge = async () => {
  const { next_charge_at, price } = await billing();
  return `${price?.lookup_key} ${shortTime(next_charge_at)}`;
};

const inUse: [string, () => Promise<unknown>][] = [
  ['a gift of a lower tier', () => grantTier(database, customer.id, 'basic', day('01-20'))],
  ['a gift of the same tier', () => grantTier(database, customer.id, 'pro', day('01-20'))],
  ['a gift of a higher tier', () => grantTier(database, customer.id, 'premium', day('03-20'))],
  ['a gift in its days of grace', async () => {
    await grantTier(database, customer.id, 'basic', day('01-09'));
    await database.expire('01-10');
  }],
  [
    'a row that was extended by hand',
    () => customer.moveEnd('05-01'),
  ],
  [
    'the price off sale',
    () => database.query("update public.plans set is_active = false where lookup_key = 'pro_month'"),
  ],
  ['its tier off sale', () => database.setPlan('pro', 'is_active = false')],
];

describe.each<[string, () => Promise<unknown>]>([
  ['billed', () => bill()],
  ['upgraded with credit, so that its renewal waits', async () => {
    await bill('basic', { start: day('2025-12-15'), end: day('01-15') });
    await database.at('01-01');
    await change('pro_month', 'now');
  }],
  ['bought', async () => void await customer.buy('pro', { at: '01-01', price: 'pro_month' })],
])('a month of pro from 1 January, %s', (_, start) => {
  test.each(inUse)('has the same scenarios and changes under %s', async (name, act) => {
    await start();
    await database.at('01-11');
    const before = await answers();
    await database.at('01-08');
    await act();
    await database.at('01-11');
    const after = await answers();
    // All else than what is off sale stays.
    const isOffered = (key: string) => !name.includes('off sale') || tierOf(key) !== 'pro';
    const those = (told: Record<string, unknown>) =>
      keys.filter(isOffered).map((key) => [key, JSON.parse(JSON.stringify(told[key]), keepTimes)]);
    // What was bought once is followed by the next order, also a gift that ends later.
    const isLater = after.basic !== undefined && JSON.stringify(after).includes('after_current');
    const keepTimes = (field: string, value: unknown) =>
      isLater && (field === 'starts_at' || field === 'ends_at') ? undefined : value;
    expect(those(after)).toEqual(those(before));
  });
});

describe('a customer who renews goes on to renew after each change', () => {
  const ways: [string, 'billed' | 'upgraded'][] = [['billed', 'billed'], ['upgraded with credit', 'upgraded']];
  const covers: [string, (() => Promise<unknown>) | null][] = [
    ['alone', null],
    ['under a gift of the same tier', () => grantTier(database, customer.id, 'pro', day('01-20'))],
    [
      'under a row by hand',
      () => customer.moveEnd('01-25'),
    ],
  ];
  const changes: [string, 'now' | 'period_end'][] = [
    ['premium_month', 'now'],
    ['premium_month', 'period_end'],
    ['basic', 'now'],
    ['basic', 'period_end'],
    ['pro', 'now'],
    ['pro', 'period_end'],
  ];
  const cases = ways.flatMap(([title, way]) =>
    covers.flatMap(([cover, act]) => changes.map(([key, when]) => [title, cover, key, when, way, act] as const))
  );

  test.each(cases)('%s, %s, to %s, %s', async (_title, _cover, key, when, way, act) => {
    let old: Customer | null = customer;
    if (way === 'billed') await bill();
    else {
      await bill('basic', { start: day('2025-12-15'), end: day('01-15') });
      await database.at('01-01');
      old = (await change('pro_month', 'now')).next;
    }
    await database.at('01-10');
    await act?.();
    await database.at('01-11');
    const { next, change: terms, order } = await change(key, when);
    expect(next, 'it renews').not.toBeNull();
    const dueAt = when === 'now' ? '2026-01-11' : '2026-02-01';
    expect([shortTime(terms.due_at), terms.renews]).toEqual([dueAt, true]);
    // The dearer price takes a credit.
    expect(terms.credit > 0, 'credit').toBe(when === 'now' && key !== 'basic');
    expect(order === null).toBe(terms.credit === 0);
    expect(terms.next_charge.amount).toBe(amounts[key]);
    expect(await nextCharge()).toBe(`${key} ${shortTime(terms.next_charge.at)}`);
    // Of the two mandates one goes on: no time is charged twice.
    const [toldOld, toldNew] = await stops(old, next);
    expect(toldNew).toBe('nothing');
    expect(toldOld).toMatch(/^at cycle end 2026-01-30/);
  });
});

describe('a change that waits', () => {
  /** On 11 January, from pro_month to basic on 1 February. */
  async function wait(): Promise<Customer> {
    const payment = await bill();
    await database.at('01-11');
    const { next } = await change('basic', 'period_end');
    paid = payment;
    return next ?? expect.fail('no subscription');
  }
  let paid = '';

  test.each<[string, () => Promise<unknown>]>([
    [
      'the price is off sale',
      () => database.query("update public.plans set is_active = false where lookup_key = 'pro_month'"),
    ],
    ['its tier is off sale', () => database.setPlan('pro', 'is_active = false')],
    ['its cycle was refunded', () => database.send(refundEvent({ id: paid, order_id: null }, 9900))],
    ['a gift rules', () => grantTier(database, customer.id, 'premium', day('06-01'))],
    [
      'a row by hand rules',
      () => customer.moveEnd('05-01'),
    ],
  ])('is undone where %s', async (_, act) => {
    const next = await wait();
    await database.at('01-12');
    await act();
    expect((await billing()).next).toMatchObject({ tier: 'basic', undo_until: '2026-01-30T00:00:00.000Z' });
    expect(await preview('pro_month', 'period_end')).toMatchObject({
      outcome: 'undo',
      change: { amount_due: 0, due_at: null },
    });
    expect(await database.rpc('create_change', customer.id, 'pro', 'period_end', null, null, 'pro_month'))
      .toEqual({ outcome: 'undone' });
    expect(await stops(customer, next)).toEqual(['withdrawn', expect.stringMatching(/^at cycle end/)]);
    expect(await nextCharge()).toBe('pro_month 2026-02-01');
  });

  test('behind the renewal of a purchase is shown, stops that in time, and is undone until then', async () => {
    await bill('basic', { start: day('2025-12-15'), end: day('01-15') });
    await database.at('01-01');
    const { next: renewal } = await change('pro_month', 'now');
    const { next } = await change('basic', 'period_end');
    expect(await stops(renewal, next)).toEqual(['at cycle end 2026-01-30', 'nothing']);
    expect(await billing()).toMatchObject({ next: { tier: 'basic', starts_at: '2026-02-01T00:00:00.000Z' } });
    expect([await scenarioOf('pro_month'), await scenarioOf('basic')]).toEqual(['current', 'scheduled']);
    expect(await preview('basic', 'period_end')).toEqual({ outcome: 'already_subscribed' });
    expect(await database.rpc('create_change', customer.id, 'pro', 'now', null, null, 'pro_month'))
      .toEqual({ outcome: 'undone' });
    expect(await stops(renewal, next)).toEqual(['withdrawn', expect.stringMatching(/^at cycle end/)]);
    expect(await nextCharge()).toBe('pro_month 2026-02-01');
  });

  test('goes on after it began, also where a row by hand named meanwhile what it follows', async () => {
    const next = await wait();
    await database.at('01-12');
    await database.query("update public.subscriptions set tier = 'premium' where user_id = $1", [customer.id]);
    await database.at('02-01');
    await customer.event('cancelled', day('02-01'), { planId: 'plan_pro_month' });
    await charge(next, 'basic', { start: day('02-01'), end: day('03-01') });
    expect(await stops(next)).toEqual(['nothing']);
    expect(await nextCharge()).toBe('basic 2026-03-01');
    const found = await database.query('select finding from billing.findings where user_id = $1', [customer.id]);
    expect(found.map(({ finding }) => finding)).not.toContain('charged_after_replacement');
  });

  test('and is asked for again stays as it is: no second one is made', async () => {
    const next = await wait();
    const again = () => database.rpc('create_change', customer.id, 'basic', 'period_end');
    expect([await again(), await preview('basic', 'period_end')])
      .toEqual([{ outcome: 'already_subscribed' }, { outcome: 'already_subscribed' }]);
    // Also when it would be too late for a new one.
    await database.at('01-31');
    expect(await again()).toEqual({ outcome: 'already_subscribed' });
    await database.query("update public.plans set price = price + 100 where tier = 'basic'");
    expect(await again()).toEqual({ outcome: 'already_subscribed' });
    expect(await database.query('select from billing.gateway_subscriptions where replaces is not null')).toHaveLength(
      1,
    );
    expect(await stops(customer, next)).toEqual([expect.stringMatching(/^at cycle end/), 'nothing']);
  });

  test('cannot be undone once the gateway was told', async () => {
    await wait();
    await attempt(database, customer.gatewayId);
    expect((await billing()).next).toMatchObject({ undo_until: null });
    expect(await preview('pro_month', 'period_end')).toEqual({
      outcome: 'too_late',
      possible_from: '2026-02-01T00:00:00.000Z',
    });
  });

  test.each<[string, () => Promise<unknown>]>([
    ['a cancellation', () => customer.cancel('at the end')],
    [
      'a purchase of premium for the end',
      () => customer.buy('premium', { start: 'after_current', price: 'premium_month' }),
    ],
  ])('that is undone after %s says that it does not renew', async (_, act) => {
    await bill();
    await database.at('01-11');
    await act();
    await database.at('01-12');
    const { next } = await change('basic', 'period_end');
    expect((await preview('pro_month', 'period_end')).change).toMatchObject({ renews: false, next_charge: null });
    await database.rpc('create_change', customer.id, 'pro', 'period_end', null, null, 'pro_month');
    expect(await stops(customer, next)).toEqual([expect.stringMatching(/^at cycle end/), expect.anything()]);
  });
});

test('support reads that the renewal of an upgrade ends with the refund of its order', async () => {
  await bill();
  await database.at('01-12');
  const { order } = await change('premium_month', 'now');
  const reference = order?.paymentId ?? '';
  const support = await openSupport(database);
  const { rows } = await support.query(
    'select refund_effect from billing.customer_payments where gateway_payment_id = $1',
    [reference],
  );
  expect(rows).toEqual([{ refund_effect: 'ends_renewal' }]);
  const { result } = await actAsSupport(support, { action: 'refund', reference });
  expect(result).toMatch(/Its access and its renewal end when the refund is processed\.$/);
  await order?.refund(amounts.premium_month);
  expect(await nextCharge()).toBe('pro_month 2026-02-01');
});

test('in the last days what renews is current, never to be renewed, also behind a purchase', async () => {
  await bill('basic', { start: day('2025-12-15'), end: day('01-15') });
  await database.at('01-13');
  expect(await scenarioOf('basic')).toBe('current');
  await change('pro_month', 'now');
  await database.at('2026-02-12T00:00:00Z');
  expect(await scenarioOf('pro_month')).toBe('current');
  expect(await nextCharge()).toBe('pro_month 2026-02-13');
});

test('a purchase that renews nothing is paid today, also for a change at its end, and says so', async () => {
  await customer.buy('pro', { at: '01-01', price: 'pro_month' });
  await database.at('01-11');
  expect(await preview('basic', 'period_end')).toMatchObject({
    order_start: 'after_current',
    change: {
      ...{ amount_due: 4900, due_at: '2026-01-11T00:00:00.000Z', starts_at: '2026-02-01T00:00:00.000Z' },
      ...{ renews: false, next_charge: null },
    },
  });
});

test.each<[string, 'now' | 'period_end']>([
  ['a renewal', 'now'],
  ['a change for the end', 'period_end'],
])(
  '%s whose authorisation only a read shows is replaced by what was bought since it was asked for',
  async (_, when) => {
    await bill('basic');
    await database.at('01-11');
    const order = when === 'now' ? await customer.order('pro', { start: 'now', price: 'pro_month' }) : null;
    const next = await askChange(database, customer, 'pro', when, { payment: order?.id ?? null, price: 'pro_month' });
    await order?.verify();
    await customer.buy('premium', { at: '01-12' });
    const start = when === 'now' ? '02-11' : '02-01';
    const entity = {
      id: next.gatewayId,
      status: 'authenticated',
      plan_id: 'plan_pro_month',
      paid_count: 0,
      notes: [],
    };
    await database.rpc(
      'apply_gateway_subscription',
      next.asked.id,
      JSON.stringify({ ...entity, charge_at: seconds(day(start)) }),
    );
    const told = [expect.stringMatching(when === 'now' ? /^at cycle end 2026-02-09/ : /^at cycle end 2026-01-30/)];
    expect(await stops(next)).toEqual(told);
    // The webhook that comes late changes nothing.
    await authorise(next, 'pro_month', start);
    expect(await stops(next)).toEqual(told);
  },
);

/** Imports a subscription of pro_month that runs until a time and of which nothing is known. */
const importOne = (until: string) =>
  database.query(
    `insert into public.subscriptions (user_id, plan_id, tier, status, current_period_end, gateway_subscription_id)
     select $1, id, tier, 'active', $2, $3 from public.plans where lookup_key = 'pro_month'`,
    [customer.id, until, customer.gatewayId],
  );

test.each([
  ['while it runs', 'pro', '01-10'],
  ['in its days of grace', 'pro', '02-02'],
  ['while it runs', 'premium', '01-10'],
  ['in its days of grace', 'premium', '02-02'],
  ['while it runs', 'basic', '01-10'],
  ['in its days of grace', 'basic', '02-02'],
])('what a row by hand names is what goes on, %s, beside a newer gift of %s', async (_, tier, at) => {
  await database.at('01-01');
  await importOne(january.end);
  await database.at('01-05');
  await grantTier(database, customer.id, tier, day('06-01'));
  await database.at(at);
  expect(
    await database.one(
      'select tier, goes_on, id, ends_at::text from billing.find_commitment($1)',
      [customer.id],
    ),
  ).toEqual({ tier: 'pro', goes_on: true, id: customer.gatewayId, ends_at: expect.stringContaining('2026-02-01') });
  expect([await scenarioOf('pro_month'), await scenarioOf('pro')]).toEqual(['current', 'upgrade']);
});

test.each(['plan_id', 'null'])(
  'a resumed import with the plan %s says when it is charged, and no amount',
  async (plan) => {
    await database.at('01-01');
    await importOne(january.end);
    await database.query(`update public.subscriptions set plan_id = ${plan} where user_id = $1`, [customer.id]);
    await database.at('01-05');
    await customer.cancel('at the end');
    expect(await database.rpc('resume_subscription', customer.id)).toMatchObject({ outcome: 'resumed' });
    const mails = "select payload from billing.outbox where kind = 'subscription-resumed'";
    const payload = { next_charge: null, next_charge_at: '2026-02-01T00:00:00.000Z' };
    expect(await database.query(mails)).toMatchObject([{ payload }]);
  },
);

test.each([
  ['is extended', '01-10', '03-15', '02-01', '01-30'],
  ['is made shorter', '01-10', '01-20', '01-20', '01-18'],
  ['is extended after its charge was due', '02-02', '03-01', '03-01', '02-27'],
])('an import that %s by hand is charged when the gateway does, and stops before', async (_, at, until, due, stop) => {
  await database.at('01-01');
  await importOne(january.end);
  await database.at(at);
  await customer.moveEnd(until);
  const [billed] = await database.query('select charge_at from billing.find_billed($1)', [customer.id]);
  const [read] = await database.query(
    "select next_check_at + interval '1 day' as at from billing.gateway_subscriptions where user_id = $1",
    [customer.id],
  );
  expect([billed?.charge_at, read?.at].map(shortTime)).toEqual([`2026-${due}`, `2026-${due}`]);
  expect(await customer.cancel('at the end')).toMatchObject({ outcome: 'cancelled' });
  expect(await stops(customer)).toEqual([`at cycle end 2026-${stop}`]);
});

test.each([
  ['an import', 'basic', {}],
  ['an import', 'premium', { price: 'premium_month' }],
  ['what is billed', 'pro', { price: 'pro_month' }],
  ['what is billed', 'premium', { price: 'premium_month' }],
])('%s that a purchase of %s replaced still stops after its row is extended by hand', async (what, tier, price) => {
  await database.at('01-01');
  await (what === 'an import' ? importOne(january.end) : bill('basic'));
  await customer.buy(tier, { at: '01-05', start: 'after_current', ...price });
  expect(await stops(customer)).toEqual(['at cycle end 2026-01-30']);
  await database.at('01-06');
  await customer.moveEnd('02-10');
  for (const act of ['plan($1)', 'settle_access($1, null)']) {
    await database.query(`select billing.${act}`, [customer.id]);
    expect(await stops(customer)).toEqual(['at cycle end 2026-01-30']);
  }
});

test('an order that is paid after its row was extended by hand replaces what is billed, also after the next charge', async () => {
  await bill('basic');
  const pro = await customer.order('pro', { at: '01-05', price: 'pro_month' });
  await database.at('01-06');
  await customer.moveEnd('02-10');
  await database.at('01-07');
  await pro.capture();
  expect([await customer.tier(), ...await stops(customer)]).toEqual(['pro', 'at cycle end 2026-01-30']);
  await customer.charge({ start: day('02-01'), end: day('03-01') }, 'basic');
  expect(await customer.tier()).toBe('pro');
});

test('what is paused at the gateway has days of grace before the first charge of a change', async () => {
  await bill('pro_month');
  const { next } = await change('basic', 'period_end');
  await customer.event('paused', '01-20', { planId: 'plan_pro_month', ...january });
  await database.expire('02-02');
  expect(await customer.tier()).toBe('pro');
  expect(await customer.mails()).not.toContainEqual(expect.stringContaining('subscription-ended'));
  await next?.charge({ start: day('02-01'), end: day('03-01') }, 'basic');
  expect(await customer.tier()).toBe('basic');
});

test('a later activation also counts where the first event arrived after a row was written by hand', async () => {
  await database.at('01-03');
  await database.query(
    "insert into public.subscriptions (user_id, tier, status, current_period_end) values ($1, 'basic', 'active', '2026-02-03')",
    [customer.id],
  );
  const late = { createdAt: day('01-01'), planId: 'plan_pro_month', ...january };
  await customer.event('activated', '01-05', late);
  await customer.buy('premium', { at: '01-10', price: 'premium_month' });
  expect(await stops(customer)).toEqual(['at cycle end 2026-01-30']);
  await customer.event('activated', '01-12', { planId: 'plan_pro_month', ...january });
  expect(await stops(customer)).toEqual(['withdrawn']);
});

test('a cancellation for the end is stored wherever none stands, also where another reason stops what is billed', async () => {
  await bill('pro', { start: day('01-01'), end: day('2027-01-01') });
  const basic = customerOf(database, customer);
  await database.at('01-05');
  const payment = await charge(basic, 'basic', { start: day('01-05'), end: day('02-05') });
  const premium = await customer.buy('premium', { at: '01-06', price: 'premium_month' });
  await attempt(database, basic.gatewayId);
  await database.at('01-07');
  await premium.refund();
  expect(await customer.cancel('at the end')).toMatchObject({ outcome: 'cancelled' });
  const wishes = () => database.query('select at_period_end from billing.wishes where withdrawn_at is null');
  expect(await wishes()).toEqual([{ at_period_end: true }]);
  await customer.cancel('at the end');
  expect(await wishes()).toHaveLength(1);
  await database.send(refundEvent({ id: payment, order_id: null }, 4900));
  expect((await billing()).next_charge_at ?? null).toBeNull();
});

test('a price or plan with an open order stays', async () => {
  await customer.order('pro', { at: '01-01', price: 'pro_month' });
  const remove = () => database.query("delete from public.plans where lookup_key = 'pro_month'");
  await expect(remove()).rejects.toThrow('is in use');
  await database.at('01-07');
  await remove();
});

test('the plan of a tier with an open order stays, and may get another tier', async () => {
  await database.query("insert into public.plans (tier, name, price) values ('team', 'Team', 5000)");
  await customer.order('team', { at: '01-01' });
  await expect(database.query("delete from public.plans where tier = 'team'")).rejects.toThrow('is in use');
  await database.query("update public.plans set tier = 'crew' where tier = 'team'");
});

test('acts ask for the commitment, and not for the row that rules', async () => {
  const acts = [
    ...['scenario', 'offered_plan', 'find_credit', 'plan_change', 'undo_change', 'next_change'],
    ...['find_billed', 'commitments'],
  ];
  const readers = await database.query(
    `select p.proname as name from pg_proc p
     where p.pronamespace in ('billing'::regnamespace, 'public'::regnamespace)
       and (p.proname = any ($1) or p.proname in ('list_plans_for_user', 'preview_change', 'create_change', 'create_subscription'))
       and p.prosrc ~ 'public\\.subscriptions\\M|find_shown|find_ruling'`,
    [acts],
  );
  expect(readers).toEqual([]);
  const missing = await database.query(
    'select name from unnest($1::text[]) name where not exists (select from pg_proc p where p.proname = name)',
    [acts],
  );
  expect(missing).toEqual([]);
});

describe('a purchase that was cancelled for its end, and is renewed again', () => {
  let next: Customer | null;
  beforeEach(async () => {
    await bill('basic', { start: day('2025-12-15'), end: day('01-15') });
    await database.at('01-01');
    const { next: renewal } = await change('pro_month', 'now');
    await database.at('01-05');
    await customer.cancel('at the end');
    await attempt(database, renewal?.gatewayId ?? '');
    await renewal?.event('cancelled', '01-06', { planId: 'plan_pro_month' });
    await database.at('01-07');
    expect(await customer.row()).toMatchObject({ cancel_at_period_end: true });
    ({ next } = await change('pro_month', 'period_end'));
  });

  test('has days of grace before the first charge', async () => {
    expect(await customer.row()).toMatchObject({ cancel_at_period_end: false });
    await next?.event('pending', '2026-02-01T00:01:00Z', { planId: 'plan_pro_month' });
    expect(await customer.stateAt('2026-02-03T23:00:00Z')).toMatch(/^pro: pro active/);
    expect(await customer.stateAt('2026-02-04T00:00:01Z')).toMatch(/^free/);
  });

  test('has no mail about its end', async () => {
    await database.expire('01-28');
    expect(await customer.mails()).not.toContainEqual(expect.stringContaining('subscription-ending'));
    const lapses = "select lapses_at from billing.sources where kind = 'payment' and ended_at is null";
    expect((await database.query(lapses)).map((source) => shortTime(source.lapses_at))).toEqual(['2026-02-04']);
  });
});

test.each([[0, '2026-02-01T00:00:31Z'], [1, '02-02']])(
  'a read that began before the end of a period ends no access, a later one does, after %i days of grace',
  async (graceDays, end) => {
    await database.setPlan('basic', `grace_days = ${graceDays}`);
    await bill('basic');
    const cycle = { current_start: seconds(january.start), current_end: seconds(january.end) };
    const read = async (time: string) => {
      await database.at(time);
      await customer.reconcile({ status: 'active', paid_count: 1, ...cycle });
    };
    await read('2026-02-01T00:00:09Z');
    expect(await database.query('select lapses_at from billing.sources')).toEqual([{ lapses_at: Infinity }]);
    expect(await customer.stateAt('2026-02-01T00:00:10Z')).toMatch(/^basic: basic active/);
    await read('2026-02-01T00:00:30Z');
    expect(await customer.stateAt(end)).toMatch(/^free/);
  },
);

describe('what waits behind a purchase', () => {
  let renewal: Customer | null;
  let next: Customer | null;
  let paid: Awaited<ReturnType<typeof change>>['order'];
  beforeEach(async () => {
    await bill('basic', { start: day('2025-12-15'), end: day('01-15') });
    await database.at('01-01');
    ({ next: renewal, order: paid } = await change('pro_month', 'now'));
    await database.at('01-02');
    ({ next } = await change('premium_month', 'period_end'));
  });
  const reasons = async () => {
    const rows = await database.query('select id, kind, stop_reason from billing.commitments($1)', [customer.id]);
    return Object.fromEntries(rows.map(({ id, kind, stop_reason }) => [String(id), `${kind} ${stop_reason}`]));
  };

  test('says why it stops: a change follows the renewal, a newer purchase the old subscription', async () => {
    expect(await reasons()).toMatchObject({
      [String(renewal?.gatewayId)]: 'renewal changed',
      [String(next?.gatewayId)]: 'change null',
      [customer.gatewayId]: 'subscription replaced',
    });
  });

  test.each<[string, () => Promise<unknown>]>([
    ['refunded', async () => await paid?.refund()],
    ['lost in a dispute', async () => {
      await paid?.dispute('lost');
      await database.sweep();
      await next?.event('updated', '01-03', { planId: 'plan_premium_month', fields: { status: 'authenticated' } });
    }],
  ])('is stopped before it starts once the purchase is %s', async (_, act) => {
    await act();
    expect(await stops(next)).toEqual([expect.stringMatching(/^at cycle end/)]);
  });
});

describe('while the order of a change is not paid, but its renewal is authorised', () => {
  beforeEach(async () => {
    await bill('basic');
    await database.at('01-11');
    const order = await customer.order('pro', { start: 'now', price: 'pro_month' });
    const renewal = await askChange(database, customer, 'pro', 'now', { payment: order.id, price: 'pro_month' });
    await authorise(renewal, 'pro_month', new Date(Number(renewal.asked.start_at) * 1000).toISOString());
  });

  test('the customer has what is billed', async () => {
    expect([await scenarioOf('basic'), await scenarioOf('pro_month')]).toEqual(['current', 'upgrade']);
  });

  test('a change is one from what is billed', async () => {
    expect((await preview('premium_month', 'period_end')).change).toMatchObject({
      ...{ from: 'basic', from_price: 'basic', starts_at: '2026-02-01T00:00:00.000Z' },
    });
  });
});

test.each<[string, () => Promise<unknown>]>([
  [
    'a row by hand says that it ends, without a wish of the customer',
    () =>
      database.query('update public.subscriptions set cancel_at_period_end = true where user_id = $1', [customer.id]),
  ],
  ['the earlier one was withdrawn, also where the rows still have its mark', async () => {
    await customer.cancel('at the end');
    await database.query('update billing.wishes set withdrawn_at = at');
  }],
])('a cancellation is stored once where %s', async (_, mark) => {
  await customer.buy('pro', { at: '01-01', price: 'pro_month' });
  await mark();
  await database.at('01-02');
  await customer.cancel('at the end');
  await customer.cancel('at the end');
  const wishes = 'select at_period_end from billing.wishes where withdrawn_at is null';
  expect(await database.query(wishes)).toEqual([{ at_period_end: true }]);
});

test('a trial that the gateway has cancelled for the change that follows stays what the customer has', async () => {
  await database.query("update public.plans set trial_days = 14 where tier = 'pro' and lookup_key = 'pro_month'");
  await database.at('01-01');
  const { id } = await database.rpc('create_subscription', customer.id, 'pro', null, null, 'pro_month');
  await database.rpc('store_subscription', id, customer.gatewayId, 'https://gateway.example/s/1');
  await authorise(customer, 'pro_month', '2026-01-15T00:00:00Z');
  await database.at('01-02');
  await change('basic', 'period_end');
  await attempt(database, customer.gatewayId);
  await customer.event('cancelled', '01-13', { planId: 'plan_pro_month' });
  expect([await scenarioOf('pro_month'), await scenarioOf('basic')]).toEqual(['current', 'scheduled']);
  expect((await preview('premium_month', 'period_end')).outcome).toBe('too_late');
});

test('the last cycle that the gateway has cancelled for the change that follows stays what the customer has', async () => {
  await bill();
  await database.at('01-11');
  const { next } = await change('premium_month', 'period_end');
  await attempt(database, customer.gatewayId);
  await customer.event('cancelled', '01-30', { planId: 'plan_pro_month', ...january });
  expect([await scenarioOf('pro_month'), await scenarioOf('premium_month')]).toEqual(['current', 'scheduled']);
  expect(await nextCharge()).toBe('premium_month 2026-02-01');
  await charge(next ?? expect.fail('no change'), 'premium_month', { start: day('02-01'), end: day('03-01') });
  expect(await scenarioOf('premium_month')).toBe('current');
});

test('a read that began before the first charge does not hide it: what was authorised is active once its event comes', async () => {
  await bill();
  await database.at('01-11');
  const { next } = await change('basic', 'period_end');
  const { id } = await database.one('select id from billing.gateway_subscriptions where gateway_subscription_id = $1', [
    next?.gatewayId,
  ]);
  await database.at('2026-02-01T00:00:09Z');
  const entity = { id: next?.gatewayId, status: 'authenticated', plan_id: 'plan_basic', paid_count: 0, notes: [] };
  await database.rpc('apply_gateway_subscription', id, JSON.stringify({ ...entity, charge_at: seconds(day('02-01')) }));
  await next?.event('activated', '2026-02-01T00:00:01Z', {
    planId: 'plan_basic',
    start: day('02-01'),
    end: day('03-01'),
  });
  expect(await billing()).toMatchObject({ gateway_subscription_id: next?.gatewayId, status: 'active' });
});

test('while the first charge of another subscription is under way, answer and support name the one that follows', async () => {
  await bill('basic');
  await database.at('01-10');
  await authorise(customerOf(database, customer), 'pro', '01-09');
  const { next_charge } = await database.one('select next_charge from billing.customers where user_id = $1', [
    customer.id,
  ]);
  expect(next_charge).toEqual({ at: '2026-02-01T00:00:00.000Z', amount: 4900, currency: 'INR' });
  expect(await billing()).toMatchObject({
    next_charge_at: '2026-02-01T00:00:00+00:00',
    price: { lookup_key: 'basic' },
  });
});
