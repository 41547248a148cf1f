import { expect, test } from 'vitest';
import { whileBroken } from '../helpers/database/broken-function.ts';
import { call, fullAnswer, refusal, requestSubscription } from '../helpers/http/requests.ts';
import { restThenPool, useProject, useService } from '../helpers/project/use-project.ts';

// Users without a profile, and the ten newest payments: database/get-subscription.
// A payment captured by hand. Findings are compared while the user's subscription runs.
const project = useProject({ findings: { captured_not_fulfilled: 1 }, at: '2027-06-01T00:00:00Z' });
const { database, newUser, unchanged } = project;
const nothing = { subscription: null, currentTier: 'free', entitlements: {}, payments: [], billing: null };
const nothingYet = { status: 200, body: nothing };

const service = useService(restThenPool, project);
const read = (user: { accessToken: string }) => call(service, 'GET /api/subscriptions', { user });

test('GET /api/subscriptions of a user who has just signed up → 200 with no subscription, free, no payments', async () => {
  const user = await project.signUp();
  const { headers, ...received } = await fullAnswer(requestSubscription(service, user.accessToken));
  expect(received).toEqual(nothingYet);
  expect(headers.get('content-type')).toBe('application/json; charset=utf-8');
  expect(headers.get('cache-control')).toBe('private, no-store');
});

test('GET /api/subscriptions of a subscriber → 200 with subscription, plan, tier, entitlements and payments', async () => {
  const user = await newUser();
  const plan = await database.one(
    `update public.plans set entitlements = '{"reports": true, "projects": 10}' where tier = 'pro' returning id`,
  );
  const subscription = await database.one(
    `insert into public.subscriptions
         (user_id, plan_id, tier, status, current_period_start, current_period_end, gateway_subscription_id, created_at,
         entitlements)
       values ($1, $2, 'pro', 'active', '2027-03-01T10:00:00.125Z', '2028-03-01T10:00:00.125Z', $3, '2027-03-01T10:00:00Z',
         '{"projects": 25}')
       returning id`,
    [user.id, plan.id, `sub_${user.id}`],
  );
  const payment = await database.one(
    `insert into public.payments (user_id, subscription_id, amount, status, gateway_order_id, gateway_payment_id,
         gateway_signature, meta, captured_at, created_at)
       values ($1, $2, 99900, 'captured', $3, $4, 'abc', '{"tier": "pro"}',
         '2027-03-01T10:00:01Z', '2027-03-01T09:59:00Z')
       returning id`,
    [user.id, subscription.id, `order_${user.id}`, `pay_${user.id}`],
  );
  await database.query("update public.profiles set subscription_tier = 'pro' where user_id = $1", [user.id]);

  const { status, body } = await read(user);
  expect({ status, ...body }).toMatchObject({
    status: 200,
    subscription: {
      ...{ id: subscription.id, user_id: user.id, plan_id: plan.id, tier: 'pro', status: 'active' },
      current_period_start: '2027-03-01T10:00:00.125+00:00',
      current_period_end: '2028-03-01T10:00:00.125+00:00',
      ...{ cancelled_at: null, cancel_at_period_end: false, gateway_subscription_id: `sub_${user.id}` },
      price: null,
      plan: { id: plan.id, name: 'Pro', price: 99900, features: expect.any(Array), grace_days: 3 },
    },
    currentTier: 'pro',
    payments: [{
      ...{
        id: payment.id,
        amount: 99900,
        currency: 'INR',
        status: 'captured',
        meta: { tier: 'pro' },
        ...{ price_key: null, interval: null, interval_count: null },
      },
      ...{ gateway_order_id: `order_${user.id}`, gateway_payment_id: `pay_${user.id}`, gateway_signature: 'abc' },
      ...{ created_at: '2027-03-01T09:59:00+00:00', captured_at: '2027-03-01T10:00:01+00:00' },
    }],
    // The row names a subscription of the gateway, which charges it, also before its first event.
    billing: {
      ...{ gateway_subscription_id: `sub_${user.id}`, status: 'active', next: null, payment_attention: false },
      next_charge_at: '2028-03-01T10:00:00.125+00:00',
    },
  });
  // Those of the plan, and over them those of the row.
  expect(body.entitlements).toEqual({ reports: true, projects: 25 });
  // Another user has none of it, and nothing is written.
  const other = await newUser();
  await unchanged(async () => expect(await read(other)).toEqual(nothingYet));
});

test('GET /api/subscriptions without a session → 401; when the database refuses → 401, 500', async () => {
  const user = await newUser();
  const unauthorized = refusal(401, 'Unauthorized');
  expect(await call(service, 'GET /api/subscriptions')).toEqual(unauthorized);
  await whileBroken(database, 'get_subscription', async () => {
    expect(await read(user)).toEqual(refusal(500, 'Failed to get subscription'));
    expect(await call(service, 'GET /api/subscriptions')).toEqual(unauthorized);
  });
});
