import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Plans, scansOf, watchPlans } from '../helpers/database/query-plans.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { isLong } from '../helpers/project/is-long.ts';

const users = isLong ? 100_000 : 10_000;

let database: TestDatabase;
let plans: Plans;
beforeAll(async () => {
  // The users are inserted without their history.
  database = await createTestDatabase({ findings: 'compared elsewhere' });
  await database.query(`
    begin;
    set local session_replication_role = replica;
    insert into auth.users (id, email)
    select md5(n::text)::uuid, 'user' || n || '@example.com' from generate_series(1, ${users}) n;
    insert into auth.identities (id, provider, provider_id, user_id, identity_data)
    select id, 'email', id, id, jsonb_build_object('email', email) from auth.users;
    insert into public.profiles (user_id, subscription_tier, username, display_name)
    select id, 'pro', split_part(email, '@', 1), 'Somebody ' || split_part(email, '@', 1) from auth.users;
    insert into public.subscriptions
      (user_id, tier, status, current_period_start, current_period_end, updated_at)
    select id, 'pro', 'active', now() - interval '1 month', now() + interval '11 months', now() - interval '1 month'
    from auth.users;
    insert into public.payments
      (user_id, amount, status, tier, meta, gateway_order_id, gateway_payment_id, captured_at, confirmed_at, fulfilled_at,
       period_start, period_end, next_reconcile_at, created_at, since)
    select id, 99900, 'captured', 'pro', '{"tier": "pro"}', 'order_' || n, 'pay_' || n, now(), now(),
      now() - interval '1 month', now() - interval '1 month', now() + interval '11 months', null,
      now() - make_interval(mins => n::int), now() - interval '1 month'
    from (select id, row_number() over (order by email) as n from auth.users) u;
    insert into billing.gateway_subscriptions (user_id, gateway_subscription_id, plan_id, status, period_start, period_end, arrived_at)
    select u.id, 'sub_' || u.id, p.id, 'cancelled', now() - interval '2 years', now() - interval '1 year', now()
    from auth.users u cross join public.plans p where p.tier = 'pro';
    insert into public.payments
      (user_id, gateway_subscription_id, period_start, period_end, gateway_payment_id, amount, status, captured_at,
       created_at, next_reconcile_at)
    select user_id, gateway_subscription_id, period_start, period_end, 'pay_of_' || gateway_subscription_id, 99900,
      'captured', period_start, period_start, null
    from billing.gateway_subscriptions;
    insert into billing.subscription_orders (user_id, tier, gateway_plan_id, gateway_subscription_id, expires_at)
    select user_id, 'pro', 'plan_pro', gateway_subscription_id, now() from billing.gateway_subscriptions;
    insert into billing.refunds (refund_id, gateway_payment_id, amount, status)
    select 'rfnd_' || n, 'pay_' || n, 100, 'processed' from generate_series(1, ${users}) n;
    insert into public.payments (user_id, extra_of, gateway_payment_id, amount, status, captured_at, next_reconcile_at)
    select user_id, id, 'pay_extra_' || id, amount, 'captured', now(), null
    from public.payments
    where gateway_order_id is not null limit 100;
    insert into billing.grants (user_id, tier, until, at)
    select id, 'pro', now() - interval '1 year', now() - interval '2 years' from auth.users;
    insert into billing.manual_subscriptions (user_id, tier, status, cancel_at_period_end, at)
    select id, 'pro', 'cancelled', false, now() - interval '2 years' from auth.users;
    insert into billing.gateway_events (body_sha256, event_id, event, subject_id, payload, outcome, received_at)
    select sha256(n::text::bytea), 'evt_' || n, 'payment.captured', 'order_' || n, '{}', 'applied',
      now() - make_interval(mins => n)
    from generate_series(1, ${users}) n;
    insert into billing.outbox (key, destination, kind, payload, delivered_at)
    select 'payment-success/' || id, 'email', 'payment-success', jsonb_build_object('to', email), now() from auth.users;
    insert into billing.tier_changes (user_id, to_tier, cause) select id, 'pro', 'payment' from auth.users;
    insert into billing.support_actions (action, reason, actor, result, user_id) select 'note', 'x', 'x', 'x', id from auth.users;
    commit`);
  await database.query('analyze');
  plans = await watchPlans(database);
});
afterAll(() => database.close());

/** Tables that grow with the users. Further payments on an order are rare. */
const large = [
  ...[
    'users',
    'identities',
    'profiles',
    'subscriptions',
    'payments',
    'gateway_events',
    'outbox',
    'tier_changes',
    'refunds',
  ],
  ...['gateway_subscriptions', 'grants', 'manual_subscriptions', 'support_actions'],
  'subscription_orders',
];

const email = 'user77@example.com';
const questions: Record<string, [sql: string, parameters: unknown[]]> = {
  'a customer by e-mail': ['select * from billing.customers where email = $1', [email]],
  'a customer by id': ['select * from billing.customers where user_id = md5($1)::uuid', ['77']],
  'a timeline by e-mail': ['select * from billing.timeline where email = $1 order by at', [email]],
  'a timeline by id': ['select * from billing.timeline where user_id = md5($1)::uuid', ['77']],
  'periods by id': ['select * from billing.periods where user_id = md5($1)::uuid', ['77']],
  'the payments of a customer': ['select * from billing.customer_payments where user_id = md5($1)::uuid', ['77']],
  'the findings of a customer': ['select count(*) from billing.findings where user_id = md5($1)::uuid', ['77']],
  'the mails of a customer': ['select * from billing.messages where recipient = $1', [email]],
  'the webhooks of an order': ['select * from billing.webhooks where subject_id = $1', ['order_77']],
  'the newest webhooks': ['select * from billing.webhooks order by received_at desc limit $1', [20]],
  'the state of the service': ['select * from billing.service_state where $1::int = 1', [1]],
  'the search by an order': ['select * from billing.search_customers($1)', ['order_77']],
  'the search by an address': ['select * from billing.search_customers($1)', ['user777']],
  'the search by a name': ['select * from billing.search_customers($1)', ['body user777']],
};

describe(`with ${users} users`, () => {
  test.each(Object.entries(questions))('%s reads large tables by index', async (_, [sql, parameters]) => {
    const plan = await plans.of(sql, parameters);
    const whole = large.flatMap((table) => scansOf(table, plan)).filter((scan) => scan.startsWith('Seq Scan'));
    expect(whole, plan).toEqual([]);
  });

  test('a whole column reads the table: the detection works', async () => {
    const plan = await plans.of('select max(amount) from billing.customer_payments');
    expect(scansOf('payments', plan)).toContain('Seq Scan on payments');
  });
});
