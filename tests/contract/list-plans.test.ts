import { afterEach, expect, test } from 'vitest';
import { localKeys } from '../helpers/project/keys.ts';
import { whileBroken } from '../helpers/database/broken-function.ts';
import { sessionClaims } from '../helpers/http/caller.ts';
import { fullAnswer, refusal, send } from '../helpers/http/requests.ts';
import { poolThenRest, useProject, useService } from '../helpers/project/use-project.ts';
import { createToken } from '../helpers/http/tokens.ts';

const project = useProject();
const { database, newUser } = project;
const service = useService(poolThenRest, project);
const path = '/api/subscriptions/plans';
const forAll = 'public, max-age=60';
const forNoCache = 'private, no-store';

type Plan = { readonly tier: string; readonly scenario?: string; readonly prices: Record<string, unknown>[] };
async function list(headers: Record<string, string> = {}) {
  const { headers: received, status, body } = await fullAnswer(send(service, `GET ${path}`, { headers }));
  const plans: Plan[] = Object(body).plans;
  return { status, body, plans, header: (name: string) => received.get(name) };
}
const as = (accessToken: string) => ({ authorization: `Bearer ${accessToken}` });
afterEach(async () => {
  await database.query("delete from public.plans where tier like 'test-%'");
});

const defaultPrice = (lookup_key: string, amount: number, months: 1 | 12) => ({
  ...{ lookup_key, amount, currency: 'INR', interval: months === 12 ? 'year' : 'month', interval_count: 1 },
  ...{ id: expect.any(String), gateway_plan_id: null, is_default: true },
});
const isEtag = expect.stringMatching(/^W\/"[0-9a-f]{16}"$/);

test('GET /api/subscriptions/plans → 200; every plan with all its fields, cheapest first', async () => {
  const { status, body, header } = await list();
  const defaults = { grace_days: 3, billing_cycles: null, trial_days: 0, gateway_plan_id: null };
  const [id, created_at] = [expect.any(String), expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+\+00:00$/)];
  const plans = ([
    ['basic', 'Basic', 4900, 1, 100, ['All core features', 'E-mail support']],
    ['pro', 'Pro', 99900, 12, 200, ['Everything in Basic', 'Analytics', 'Priority support']],
    ['premium', 'Premium', 199900, 12, 300, ['Everything in Pro', 'Unlimited projects', 'A person to call']],
  ] as const).map(([tier, name, amount, duration_months, rank, features]) => ({
    ...{ id, tier, name, price: amount, currency: 'INR', duration_months, features, is_active: true, ...defaults },
    ...{ created_at, rank, entitlements: {}, lookup_key: null, prices: [defaultPrice(tier, amount, duration_months)] },
  }));
  expect({ status, body }).toEqual({ status: 200, body: { plans } });
  expect(header('content-type')).toBe('application/json; charset=utf-8');
  expect(header('cache-control')).toBe(forAll);
  expect(header('vary')).toContain('authorization');
  expect(header('etag')).toEqual(isEtag);
  expect(header('access-control-allow-origin')).toBe('*');
});

test('GET /api/subscriptions/plans → each plan with its prices on offer, the default first, then the shortest, and with its entitlements', async () => {
  await database.query(
    `insert into public.plans (tier, name, price, rank, entitlements) values ('test-a', 'A', 4900, 7, '{"projects": null}')`,
  );
  await database.query(
    `insert into public.plans (tier, name, lookup_key, price, currency, duration_months, gateway_plan_id, is_active)
     values ('test-a', 'A', 'a-long', 900, 'USD', 24, null, true),
       ('test-a', 'A', 'a-quarter', 1500, 'INR', 3, 'plan_a', true),
       ('test-a', 'A', 'a-month', 500, 'INR', 1, null, true), ('test-a', 'A', 'a-month-b', 500, 'INR', 1, null, true),
       ('test-a', 'A', 'a-month-0', 400, 'INR', 1, null, true), ('test-a', 'A', 'a-old', 1, 'INR', 1, null, false)`,
  );
  const plan = (await list()).plans.find(({ tier }) => tier === 'test-a');
  const of = (lookup_key: string, amount: number, currency: string, interval: string, interval_count: number) => (
    {
      lookup_key,
      amount,
      currency,
      interval,
      interval_count,
      gateway_plan_id: lookup_key === 'a-quarter' ? 'plan_a' : null,
      ...{ id: expect.any(String), is_default: lookup_key === 'test-a' },
    }
  );
  expect(plan).toMatchObject({ rank: 7, entitlements: { projects: null } });
  expect(plan?.prices).toEqual([
    of('test-a', 4900, 'INR', 'year', 1),
    of('a-month-0', 400, 'INR', 'month', 1),
    of('a-month', 500, 'INR', 'month', 1),
    of('a-month-b', 500, 'INR', 'month', 1),
    of('a-quarter', 1500, 'INR', 'month', 3),
    of('a-long', 900, 'USD', 'year', 2),
  ]);
});

test('GET /api/subscriptions/plans → a trial of what the gateway bills, to who never paid', async () => {
  await database.query(
    `insert into public.plans (tier, name, lookup_key, price, duration_months, gateway_plan_id, trial_days)
       values ('test-a', 'A', null, 4900, 1, 'plan_a', 7), ('test-a', 'A', 'a-once', 5900, 1, null, 7),
         ('test-a', 'A', 'a-year', 49000, 12, 'plan_a_year', 0)`,
  );
  const trials = async (headers = {}) =>
    (await list(headers)).plans.find(({ tier }) => tier === 'test-a')?.prices.map((price) => price.trial_days ?? null);
  const user = await newUser();
  const session = as(user.accessToken);
  expect([await trials(), await trials(session)]).toEqual([[7, null, null], [7, null, null]]);
  // A gift is not what he pays for.
  await database.query(
    `insert into billing.support_actions (action, email, tier, until, reason)
     values ('grant', $1, 'basic', now() + interval '1 day', 'a test')`,
    [user.id],
  );
  expect(await trials(session)).toEqual([7, null, null]);
  const tried = await newUser();
  await database.query(
    `insert into billing.gateway_subscriptions (user_id, gateway_subscription_id, asked_at, arrived_at, status)
     values ($1, 'sub_tried', now(), now(), 'active')`,
    [tried.id],
  );
  expect(await trials(as(tried.accessToken))).toEqual([null, null, null]);
  await database.query(
    `insert into public.payments (user_id, amount, tier, status, gateway_payment_id, captured_at)
     values ($1, 4900, 'basic', 'captured', 'pay_before', now() - interval '1 day')`,
    [user.id],
  );
  expect(await trials(session)).toEqual([null, null, null]);
  await database.query('delete from auth.users where id = any ($1)', [[user.id, tried.id]]);
  await database.query(
    `delete from public.payments where gateway_payment_id = 'pay_before';
     delete from billing.gateway_subscriptions where gateway_subscription_id = 'sub_tried'`,
  );
});

test('GET /api/subscriptions/plans → plans on offer, by price, then by tier', async () => {
  await database.query(
    `insert into public.plans (tier, name, price, is_active)
       values ('test-b', 'B', 4900, true), ('test-a', 'A', 4900, true), ('test-old', 'Old', 1, false)`,
  );
  expect((await list()).plans.map(({ tier }) => tier)).toEqual(['basic', 'test-a', 'test-b', 'pro', 'premium']);
});

test('GET /api/subscriptions/plans → without prices that the gateway can not charge, but with the plan free', async () => {
  // Rows of before the rule: what is on sale costs at least 100.
  await database.query(
    `alter table public.plans disable trigger check_plan;
     insert into public.plans (tier, name, lookup_key, price, rank)
       values ('test-0', '0', null, 0, 1), ('test-50', '50', null, 50, 1), ('free', 'Free', null, 0, 1),
         ('test-0', '0', 'sold', 500, null), ('basic', 'Basic', 'cheap', 50, null);
     alter table public.plans enable trigger check_plan`,
  );
  const session = as((await newUser()).accessToken);
  for (const { plans } of [await list(), await list(session)]) {
    const listed = plans.map(({ tier, prices }) => [tier, ...prices.map((price) => price.lookup_key)].join(' '));
    expect(listed).toEqual(['free free', 'test-0 sold', 'basic basic', 'pro pro', 'premium premium']);
  }
  await database.query("delete from public.plans where tier = 'free' or lookup_key in ('sold', 'cheap')");
});

test('GET /api/subscriptions/plans with its ETag → 304 without a body; after a new plan → 200, another ETag', async () => {
  const etag = (await list()).header('etag') ?? '';
  for (const known of [etag, `"other", ${etag}`, etag.replace('W/', ''), '*']) {
    const { status, body, header } = await list({ 'if-none-match': known });
    expect({ status, body }).toEqual({ status: 304, body: null });
    expect(header('etag')).toBe(etag);
    expect(header('cache-control')).toBe(forAll);
    expect(header('access-control-allow-origin')).toBe('*');
    expect(header('content-type')).toBeNull();
  }
  await database.query("insert into public.plans (tier, name, price) values ('test-new', 'New', 500)");
  const changed = await list({ 'if-none-match': etag });
  expect(changed.status).toBe(200);
  expect(changed.header('etag')).toEqual(isEtag);
  expect(changed.header('etag')).not.toBe(etag);
});

// Which sessions are invalid: unit/auth, contract/sessions.
test('GET /api/subscriptions/plans with an invalid session → 200 as without one', async () => {
  const { body } = await list();
  expect(JSON.stringify(body)).not.toContain('scenario');
  const expired = await createToken({ ...sessionClaims(crypto.randomUUID()), exp: 1 });
  for (const token of ['garbage', localKeys.publishable, expired]) {
    const received = await list(as(token));
    expect({ status: received.status, body: received.body }).toEqual({ status: 200, body });
    expect(received.header('cache-control')).toBe(forAll);
  }
});

// Upgrades and downgrades: database/get-subscription.
test('GET /api/subscriptions/plans with a session → 200; the public plans, each and each price with a scenario, for no cache and never 304', async () => {
  const session = as((await newUser()).accessToken);
  const open = await list();
  const scenario = 'buy';
  const plans = open.plans.map((plan) => ({
    ...plan,
    scenario,
    prices: plan.prices.map((price) => ({ ...price, scenario })),
  }));
  const expected = { status: 200, plans };
  for (const known of ['"none"', open.header('etag') ?? '', '*']) {
    const { status, plans, header } = await list({ ...session, 'if-none-match': known });
    expect({ status, plans }).toEqual(expected);
    expect(header('cache-control')).toBe(forNoCache);
    expect(header('vary')).toContain('authorization');
    expect(header('etag')).toBeNull();
  }
});

test('GET /api/subscriptions/plans when the database refuses → 500 with no-store, with and without a session', async () => {
  const session = as((await newUser()).accessToken);
  for (const [name, headers] of [['list_plans', {}], ['list_plans_for_user', session]] as const) {
    await whileBroken(database, name, async () => {
      const received = await list(headers);
      expect(received).toMatchObject(refusal(500, 'Failed to list plans'));
      expect(received.header('cache-control')).toBe(forNoCache);
      expect(received.header('etag')).toBeNull();
    });
  }
});
