import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { beforeAll, expect, test } from 'vitest';
import { useDatabase } from '../helpers/database/use-database.ts';
import { type Fields, seconds, subscriptionEvent } from '../helpers/gateway/events.ts';
import { isLong } from '../helpers/project/suite.ts';
import { months } from '../helpers/records/time.ts';

// billing.apply_next_charge writes the usual renewal in plain statements, all others go through the merge of the mirror.
// billing.first_ruling knows what rules after a first activation, otherwise the sources are ranked. These tests are why there
// may be two ways: the same event through both must leave the same rows.
const database = useDatabase({ findings: 'compared elsewhere' });
const [january, february] = [months(1), months(2)];

/** What may be known before the charge, besides a subscription that is billed: statements about the user $1, subscription $2. */
const states: Record<string, string> = {
  'a grant': `insert into billing.grants (user_id, tier, at, until)
    select $1::uuid, 'premium', billing.clock(), '2026-01-20' where $2 <> ''`,
  'a refunded cycle': `with r as (insert into billing.refunds (refund_id, gateway_payment_id, amount, status)
      select 'rfnd_' || $2, 'pay_january_' || $2, 4900, 'processed')
    update billing.gateway_subscriptions set has_refunds = true where user_id = $1 and gateway_subscription_id = $2`,
  'a refund of the charge': `insert into billing.refunds (refund_id, gateway_payment_id, amount, status)
    select 'rfnd_february', 'pay_february', 4900, 'processed' where $1::uuid is not null and $2 <> ''`,
  'no paid cycles are known':
    `update billing.gateway_subscriptions set paid_count = null where user_id = $1 and gateway_subscription_id = $2`,
  'days of grace':
    `update billing.gateway_subscriptions set gateway_status = 'pending' where user_id = $1 and gateway_subscription_id = $2`,
  'a wish':
    `insert into billing.wishes (user_id, at_period_end, at) select $1::uuid, true, '2026-01-01 00:00:30+00' where $2 <> ''`,
  'a dearer plan':
    `update billing.gateway_subscriptions set sold.amount = 5900 where user_id = $1 and gateway_subscription_id = $2`,
  'a page of the gateway': `update billing.gateway_subscriptions set short_url = 'https://gateway.example/old'
    where user_id = $1 and gateway_subscription_id = $2`,
  'another subscription':
    `insert into billing.gateway_subscriptions (user_id, gateway_subscription_id, gateway_plan_id, status, gateway_status, arrived_at)
    select $1::uuid, $2 || '_other', 'plan_basic', 'cancelled', 'cancelled', billing.clock()`,
  'an older one': older('older_0', "'cancelled', 'cancelled'", 'p.id', 'false, null, null'),
  'an older one that was completed': older('older_1', "'active', 'completed'", 'p.id', 'false, null, null'),
  'an older one that was refunded late': older(
    'older_2',
    "'cancelled', 'cancelled'",
    'p.id',
    "true, '2025-11-20', null",
  ),
  'an older one that the user ended': older('older_3', "'cancelled', 'cancelled'", 'p.id', "false, null, '2025-12-02'"),
  'an older one without a plan': older('older_4', "'cancelled', 'cancelled'", 'null', 'false, null, null'),
  'an older one that is still billed': older('older_5', "'active', 'active'", 'p.id', 'false, null, null'),
  'an older one whose charge fails': older('older_6', "'active', 'pending'", 'p.id', 'false, null, null'),
  'a newer event about its state': `update billing.gateway_subscriptions set gateway_status_event_at = '2026-03-01'
    where user_id = $1 and gateway_subscription_id = $2`,
  'a newer event about its plan': `update billing.gateway_subscriptions set plan_event_at = '2026-03-01'
    where user_id = $1 and gateway_subscription_id = $2`,
  'an edited profile': `update billing.profiles set subscription_tier = 'premium' where user_id = $1 and $2 <> ''`,
  'a newer purchase, and all cycles were charged': `with p as (insert into public.payments (
      user_id, amount, status, tier, plan_id, gateway_payment_id, gateway_order_id, captured_at, confirmed_at, fulfilled_at, since,
      period_start, period_end, settle_at, starts, duration_months
    )
    select $1::uuid, 99900, 'captured', 'pro', id, 'pay_pro', 'order_pro', '2026-01-03', '2026-01-03', '2026-01-03', '2026-01-03',
      '2026-02-01', '2027-02-01', '2026-02-01', 'after_current', 12 from public.plans where tier = 'pro' and lookup_key is null)
    update billing.gateway_subscriptions set gateway_status = 'completed' where user_id = $1 and gateway_subscription_id = $2`,
  'an older halt':
    `update billing.gateway_subscriptions set first_halted_at = '2025-12-31', last_halted_at = '2025-12-31'
    where user_id = $1 and gateway_subscription_id = $2`,
  'a later reconciliation':
    `update billing.gateway_subscriptions set gateway_status = 'pending', checked_at = '2026-02-03'
    where user_id = $1 and gateway_subscription_id = $2`,
  'a later period, which no check ends': `with s as (update public.subscriptions set due_at = null where user_id = $1)
    update billing.gateway_subscriptions set period_end = '2026-05-01' where user_id = $1 and gateway_subscription_id = $2`,
  'a request of another user': `with u as (
      insert into auth.users (id, email) values ('00000000-0000-4000-8000-000000000002', 'ravi@example.com') returning id
    )
    insert into billing.gateway_subscriptions (user_id, asked_tier, asked_plan_id, asked_gateway_plan_id, asked_price, gateway_subscription_id, expires_at)
    select u.id, p.tier, p.id, p.gateway_plan_id, billing.price_of(p), $2, billing.clock() + interval '1 day'
    from public.plans p, u where p.tier = 'basic' and p.lookup_key is null and $1::uuid <> u.id
    on conflict do nothing`,
  'notes that named another user': `update billing.gateway_subscriptions
    set noted_user_id = '00000000-0000-4000-8000-000000000002' where user_id = $1 and gateway_subscription_id = $2`,
  'a row that was extended by hand':
    `update public.subscriptions set current_period_end = '2026-03-10' where user_id = $1 and $2 <> ''`,
  'a row that was extended by hand, and not settled since':
    `update public.subscriptions set current_period_end = '2026-02-03' where user_id = $1 and $2 <> ''`,
  'a payment that has the id of the charge':
    `insert into public.payments (user_id, amount, status, tier, gateway_payment_id,
      gateway_order_id) select $1::uuid, 4900, 'failed', 'basic', 'pay_february', 'order_basic' where $2 <> ''`,
  'an older check':
    `update billing.gateway_subscriptions set next_check_at = null where user_id = $1 and gateway_subscription_id = $2`,
  'a stop':
    `update billing.gateway_subscriptions set stops_at = '2026-02-01' where user_id = $1 and gateway_subscription_id = $2`,
};
/** Bodies whose values lie outside of what the gateway sends, by the parts of the charge that they change. */
const odd: Record<string, (now: number) => Partial<Record<'envelope' | 'subscription' | 'payment', Fields>>> = {
  'a time in milliseconds': (now) => ({ envelope: { created_at: now * 1000 } }),
  'a time in the future': (now) => ({ envelope: { created_at: now + 400 * 86_400 } }),
  'a time as text': (now) => ({ envelope: { created_at: String(now) } }),
  'no time': () => ({ envelope: { created_at: undefined } }),
  'a cycle that begins in the year 33658': () => ({ subscription: { current_start: 1e12 } }),
  'a cycle of no length': () => ({ subscription: { current_start: seconds(february.end) } }),
  'an amount above all whole numbers of JavaScript': () => ({ payment: { amount: 1e17 } }),
  'such an amount in rupees': () => ({ payment: { base_amount: 1e17 } }),
  'such a number of cycles': () => ({ subscription: { paid_count: 1e17 } }),
  'an amount as text': () => ({ payment: { amount: '4900' } }),
  'an amount below zero': () => ({ payment: { amount: -1 } }),
  'a currency in small letters': () => ({ payment: { currency: 'inr' } }),
  'no payment id': () => ({ payment: { id: undefined } }),
  'another user': () => ({ subscription: { notes: { user_id: '00000000-0000-4000-8000-000000000002' } } }),
};
/** A subscription of the user whose cycle was over before this one began. */
function older(id: string, statuses: string, planId: string, kept: string): string {
  return `insert into billing.gateway_subscriptions (
      user_id, gateway_subscription_id, gateway_plan_id, status, gateway_status, plan_id, sold, has_refunds, paid_until, ended_at,
      period_start, period_end, activated_at, first_activated_at, first_charged_at, asked_at, arrived_at, cancelled_at
    )
    select $1::uuid, $2 || '_${id}', 'plan_pro', ${statuses}, ${planId}, case when ${planId} is not null then billing.price_of(p) end,
      ${kept}, '2025-11-20', '2025-12-20', '2025-11-20', '2025-11-20', '2025-11-20', '2025-11-20', '2025-12-20', '2025-12-02'
    from public.plans p where p.tier = 'pro' and p.lookup_key is null`;
}

type State = {
  about: readonly string[];
  arrival: number;
  fields: Fields;
  payment: Fields | null;
  isAsked: boolean;
  isEarly: boolean;
};
const optional = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const drawn: fc.Arbitrary<State> = fc.record({
  about: fc.subarray(Object.keys(states), { maxLength: 2 }),
  /** Seconds after the charge. */
  arrival: fc.constantFrom(1, 90, 7_200, 20 * 86_400),
  isAsked: fc.boolean(),
  isEarly: fc.boolean(),
  fields: fc.record({
    paid_count: optional(fc.constantFrom(0, 1, 2, 3)),
    charge_at: fc.constantFrom(null, seconds(february.end)),
    short_url: optional(fc.constantFrom('https://gateway.example/new', 'javascript:alert(1)', null)),
    remaining_count: optional(fc.constantFrom(0, 10)),
  }),
  payment: fc.option(fc.record({
    amount: fc.constantFrom(4900, 5900, 0),
    currency: fc.constantFrom('INR', 'USD'),
  })),
});

/** All rows that a charge may write, without what differs by itself: own ids, and the time of the transaction. */
const rows = `select jsonb_object_agg(name, rows) as rows from (
  select 'payments' as name, jsonb_agg(to_jsonb(p) - 'id' order by p.gateway_payment_id) as rows
  from public.payments p where p.gateway_subscription_id like $2 || '%'
  union all select 'subscriptions', jsonb_agg(to_jsonb(s) - 'id') from public.subscriptions s where s.user_id = $1
  union all select 'mirror', jsonb_agg(to_jsonb(m) - 'id' order by m.gateway_subscription_id, m.user_id)
    from billing.gateway_subscriptions m where $1 in (m.user_id, $1)
  union all select 'profile', jsonb_agg(to_jsonb(f)) from billing.profiles f where f.user_id = $1
  union all select 'outbox', jsonb_agg(to_jsonb(o) - 'id' - case when o.destination in ('event', 'revalidation') then 'key' else '' end
    order by o.kind, o.payload) from billing.outbox o where o.kind not like 'payment.%'
  union all select 'events', jsonb_agg(to_jsonb(e) order by e.body_sha256) from billing.gateway_events e
  union all select 'unsettled', jsonb_agg(to_jsonb(u)) from billing.unsettled_events u
  union all select 'marks', jsonb_agg(to_jsonb(k)) from billing.marks k
  union all select 'tiers', jsonb_agg(to_jsonb(t) - 'id' order by t.id) from billing.tier_changes t where t.user_id = $1
) r`;
const user = '00000000-0000-4000-8000-000000000001';
const subscription = 'sub_differential';

// Takes the usual way only where the session says so, and notes whether it was taken.
beforeAll(async () => {
  await database.at('2026-01-01T00:00:00Z');
  await database.set('events = true');
  await database.query(`alter function billing.apply_next_charge(bytea, text, jsonb) rename to usual_charge`);
  await database.query(
    `create function billing.apply_next_charge(p_body_sha256 bytea, p_event_id text, p_body jsonb) returns boolean
    language plpgsql as $$ begin
      if current_setting('test.way', true) <> 'usual' then return false; end if;
      perform set_config('test.taken', billing.usual_charge(p_body_sha256, p_event_id, p_body)::text, true);
      return current_setting('test.taken')::boolean;
    end $$`,
  );
  await database.query('alter function billing.first_ruling(billing.gateway_subscriptions) rename to usual_ruling');
  await database.query(
    `create function billing.first_ruling(p_subscription billing.gateway_subscriptions) returns billing.ruling
    language plpgsql as $$ declare v_ruling billing.ruling; begin
      if current_setting('test.way', true) <> 'usual' then return null; end if;
      v_ruling := billing.usual_ruling(p_subscription);
      perform set_config('test.taken', (v_ruling.is_live is not null)::text, true);
      return v_ruling;
    end $$`,
  );
});

type Client = Awaited<ReturnType<typeof database.connect>>;
const at = (client: Client, time: number) => client.query('update stopped.clock set at = to_timestamp($1)', [time]);
async function send(client: Client, body: string) {
  const hash = createHash('sha256').update(body).digest('hex');
  await client.query('select public.apply_gateway_event($1, $2, $3)', [hash, hash, body]);
}
const event = (name: 'activated' | 'charged', fields: Partial<Parameters<typeof subscriptionEvent>[0]>) =>
  subscriptionEvent({ name, userId: user, id: subscription, planId: 'plan_basic', ...fields });

/** The bodies of a life: they contain random ids. */
function bodiesOf({ fields, payment, isEarly }: State) {
  const first = { ...january, createdAt: january.start, fields: { paid_count: 1 } };
  return {
    before: [
      event('activated', first),
      event('charged', { ...first, payment: { id: `pay_january_${subscription}`, amount: 4900 } }),
    ],
    charge: event('charged', {
      ...february,
      createdAt: new Date(chargedAt(isEarly) * 1000).toISOString(),
      fields,
      ...(payment && { payment: { id: 'pay_february', ...payment } }),
    }),
  };
}
const chargedAt = (isEarly: boolean) => seconds(january.end) - (isEarly ? 36 * 3600 : 0);

/** A subscription that is billed, with the payment of January, and what else is known. */
async function prepare(client: Client, { about, isAsked }: State, bodies: readonly string[]) {
  await at(client, seconds(january.start));
  await client.query("insert into auth.users (id, email) values ($1, 'asha@example.com')", [user]);
  if (isAsked) {
    await client.query(
      `insert into billing.gateway_subscriptions (user_id, asked_tier, asked_plan_id, asked_gateway_plan_id, asked_price, gateway_subscription_id, expires_at)
       select $1, tier, id, gateway_plan_id, billing.price_of(p), $2, billing.clock() + interval '1 day'
       from public.plans p where tier = 'basic' and lookup_key is null`,
      [user, subscription],
    );
  }
  for (const body of bodies) await send(client, body);
  for (const each of about) await client.query(states[each] ?? '', [user, subscription]);
  // An edit by hand settles nothing.
  const isSettled = about.some((each) => each !== 'an edited profile' && !each.endsWith('not settled since'));
  if (isSettled) await client.query("select billing.settle_access($1, 'asha@example.com')", [user]);
}

/** Charges February. @returns the rows, and whether the usual way was taken */
async function charge(client: Client, { arrival, isEarly }: State, body: string) {
  await at(client, chargedAt(isEarly) + arrival);
  await send(client, body);
  await client.query('set constraints all immediate');
  const { rows: [read] } = await client.query(rows, [user, subscription]);
  const { rows: [way] } = await client.query("select current_setting('test.taken', true) = 'true' as is_usual");
  return { rows: read.rows, isUsual: way.is_usual === true };
}

/** Applies the charge in a transaction that is undone. */
async function run(
  client: Client,
  state: State,
  { before, charge: body }: ReturnType<typeof bodiesOf>,
  way: 'usual' | 'merge',
) {
  await client.query('begin');
  try {
    await prepare(client, state, before);
    await client.query("select set_config('test.way', $1, true)", [way]);
    return await charge(client, state, body);
  } finally {
    await client.query('rollback');
  }
}

test('the usual renewal leaves the rows that the merge of its event would leave', async () => {
  let usual = 0;
  let usualBesideOlder = 0;
  const client = await database.connect();
  await fc.assert(
    fc.asyncProperty(drawn, async (state) => {
      const bodies = bodiesOf(state);
      const one = await run(client, state, bodies, 'usual');
      usual += Number(one.isUsual);
      usualBesideOlder += Number(one.isUsual && state.about.some((each) => each.startsWith('an older one')));
      if (one.isUsual) expect(one.rows).toEqual((await run(client, state, bodies, 'merge')).rows);
    }),
    { numRuns: isLong ? 2000 : 150, ...(isLong ? {} : { seed: 4 }) },
  );
  // Otherwise nothing was compared.
  expect(usual).toBeGreaterThan(isLong ? 200 : 15);
  expect(usualBesideOlder).toBeGreaterThan(isLong ? 50 : 5);
}, 600_000);

/** What may be known before the first activation: statements about the user $1, subscription $2. */
const beginnings: Record<string, readonly string[]> = {
  'it was asked for': request(),
  'a trial': request("starts_at = '2026-01-20', is_trial = true"),
  'a request that was withdrawn': request("stops_at = '2026-01-01'"),
  'another request': request().map((statement) => statement.replace('$2', "$2 || '_asked'")),
  'a grant': [states['a grant']!],
  'a wish': [states['a wish']!],
  'a payment that failed': [
    `insert into public.payments (user_id, amount, status, gateway_order_id) select $1::uuid, 4900, 'failed', $2`,
  ],
  'a row by hand': [
    `insert into public.subscriptions (user_id, tier, status, current_period_end)
     select $1::uuid, 'premium', 'active', '2026-06-01' where $2 <> ''`,
  ],
  'another subscription': [states['another subscription']!],
  'an older one': [states['an older one']!],
  'an edited profile': [states['an edited profile']!],
};

/** Asks for the subscription here. @param set how the request differs */
function request(set?: string): string[] {
  const asked = `insert into billing.gateway_subscriptions (
      user_id, asked_tier, asked_plan_id, asked_gateway_plan_id, asked_price, asked_at, expires_at, gateway_subscription_id
    )
    select $1::uuid, tier, id, gateway_plan_id, billing.price_of(p), '2026-01-01'::timestamptz, '2026-01-02'::timestamptz, $2
    from public.plans p where tier = 'basic' and lookup_key is null
    on conflict do nothing`;
  const change = `update billing.gateway_subscriptions set ${set} where (user_id, gateway_subscription_id) = ($1, $2)`;
  return set === undefined ? [asked] : [asked, change];
}

const begun = fc.record({
  about: fc.subarray(Object.keys(beginnings), { maxLength: 2 }),
  /** What happened before the activation, and seconds until it arrives. */
  first: fc.constantFrom<('authenticated' | 'charged')[]>([], ['authenticated'], ['charged']),
  arrival: fc.constantFrom(1, 7_200, 20 * 86_400, 40 * 86_400),
  planId: fc.constantFrom('plan_basic', 'plan_unknown'),
});

test('a first activation leaves the rows that a ranking of all sources would leave', async () => {
  let usual = 0;
  const client = await database.connect();
  await fc.assert(
    fc.asyncProperty(begun, async ({ about, first, arrival, planId }) => {
      const bodies = [...first, 'activated' as const].map((name) =>
        subscriptionEvent({
          ...{ name, userId: user, id: subscription, planId, ...january, createdAt: january.start },
          ...(name === 'charged' && { payment: { id: 'pay_january', amount: 4900 } }),
        })
      );
      const run = async (way: 'usual' | 'ranking') => {
        await client.query('begin');
        try {
          await at(client, seconds(january.start));
          await client.query("insert into auth.users (id, email) values ($1, 'asha@example.com')", [user]);
          for (const statement of about.flatMap((each) => beginnings[each] ?? [])) {
            await client.query(statement, [user, subscription]);
          }
          for (const body of bodies.slice(0, -1)) await send(client, body);
          await client.query("select set_config('test.way', $1, true)", [way]);
          await at(client, seconds(january.start) + arrival);
          await send(client, bodies.at(-1)!);
          await client.query('set constraints all immediate');
          const { rows: [read] } = await client.query(rows, [user, subscription]);
          const { rows: [taken] } = await client.query(
            "select current_setting('test.taken', true) = 'true' as is_usual",
          );
          return { rows: read.rows, isUsual: taken.is_usual === true };
        } finally {
          await client.query('rollback');
        }
      };
      const one = await run('usual');
      usual += Number(one.isUsual);
      if (one.isUsual) expect(one.rows).toEqual((await run('ranking')).rows);
    }),
    { numRuns: isLong ? 1000 : 100, ...(isLong ? {} : { seed: 4 }) },
  );
  expect(usual).toBeGreaterThan(isLong ? 50 : 5);
}, 600_000);

const plain: State = {
  ...{ about: [], arrival: 90, isAsked: true, isEarly: false },
  fields: { paid_count: 2, charge_at: seconds(february.end) },
  payment: { amount: 4900, currency: 'INR' },
};

test.each(Object.keys(states))('a renewal beside %s leaves what the merge leaves', async (name) => {
  const client = await database.connect();
  for (const isAsked of [true, false]) {
    for (const isEarly of [true, false]) {
      const state = { ...plain, about: [name], isAsked, isEarly };
      const bodies = bodiesOf(state);
      const one = await run(client, state, bodies, 'usual');
      if (one.isUsual) expect(one.rows).toEqual((await run(client, state, bodies, 'merge')).rows);
    }
  }
});

test.each(Object.keys(odd))('a renewal with %s leaves what the merge leaves', async (name) => {
  const client = await database.connect();
  for (const isEarly of [true, false]) {
    const state = { ...plain, isEarly };
    const { before, charge: body } = bodiesOf(state);
    const parts = odd[name]!(chargedAt(isEarly));
    const event = JSON.parse(body);
    Object.assign(event, parts.envelope);
    Object.assign(event.payload.subscription.entity, parts.subscription);
    Object.assign(event.payload.payment.entity, parts.payment);
    const bodies = { before, charge: JSON.stringify(event) };
    const one = await run(client, state, bodies, 'usual');
    if (one.isUsual) expect(one.rows).toEqual((await run(client, state, bodies, 'merge')).rows);
  }
});
