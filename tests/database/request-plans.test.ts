import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Plans, watchPlans } from '../helpers/database/query-plans.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { sha256 } from '../helpers/gateway/deliver.ts';
import {
  disputeEvent,
  orderPaid,
  paymentCaptured,
  paymentFailed,
  type PaymentFields,
  refundEvent,
  subscriptionEvent,
} from '../helpers/gateway/events.ts';
import { uniqueId } from '../helpers/records/records.ts';
import { isLong } from '../helpers/project/is-long.ts';

const rows = isLong ? 100_000 : 10_000;

let database: TestDatabase;
let plans: Plans;
beforeAll(async () => {
  // The calls let users with the tier buy it again. The purchases are inserted without their mails.
  database = await createTestDatabase({
    findings: { paid_twice: 'any', unmailed_payment: 'any', missed_webhook: 'any' },
  });
  await database.query("update public.plans set gateway_plan_id = 'plan_pro' where tier = 'pro'");
  await database.query(`
    begin;
    set local session_replication_role = replica;
    insert into auth.users (id, email)
    select md5(n::text)::uuid, n || '@example.com' from generate_series(1, ${rows}) n;
    insert into public.profiles (user_id, subscription_tier, username) select id, 'pro', 'somebody' from auth.users;
    insert into public.subscriptions
      (id, user_id, tier, status, current_period_start, current_period_end, gateway_subscription_id, updated_at)
    select id, id, 'pro', 'active', now() - interval '1 month', now() + interval '11 months',
      case when n % 2 = 0 then 'sub_' || n end, now() - interval '1 month'
    from (select id, row_number() over () as n from auth.users) u;
    insert into public.payments
      (user_id, subscription_id, amount, status, tier, meta, gateway_order_id, gateway_payment_id, captured_at, confirmed_at,
       fulfilled_at, period_start, period_end, next_reconcile_at, created_at, since)
    select id, id, 99900, 'captured', 'pro', '{"tier": "pro"}', 'order_' || n, 'pay_' || n, now(), now(), now() - interval '1 month',
      now() - interval '1 month', now() + interval '11 months', null, now() - make_interval(mins => n::int), now() - interval '1 month'
    from (select id, row_number() over () as n from auth.users) u;
    insert into billing.gateway_subscriptions
      (user_id, gateway_subscription_id, gateway_plan_id, plan_id, status, activated_at, period_start, period_end, arrived_at,
       next_check_at)
    select s.user_id, coalesce(s.gateway_subscription_id, 'sub_over_' || s.user_id), 'plan_pro', p.id,
      case when s.gateway_subscription_id is null then 'cancelled' else 'active' end,
      s.updated_at, s.current_period_start, s.current_period_end, s.updated_at, now() + interval '10 months'
    from public.subscriptions s
    join public.plans p on p.tier = 'pro';
    insert into public.payments
      (user_id, gateway_subscription_id, period_start, period_end, gateway_payment_id, amount, status, captured_at,
       created_at, next_reconcile_at)
    select m.user_id, m.gateway_subscription_id, m.period_start, m.period_end, 'pay_of_' || m.gateway_subscription_id, 99900,
      'captured', m.activated_at, m.activated_at, null
    from billing.gateway_subscriptions m;
    insert into billing.refunds (refund_id, gateway_payment_id, amount, status)
    select 'rfnd_' || n, 'pay_refunded_' || n, 100, 'processed' from generate_series(1, ${rows}) n;
    insert into public.payments (user_id, extra_of, gateway_payment_id, amount, status, captured_at, next_reconcile_at)
    select user_id, id, 'pay_extra_' || id, amount, 'captured', now(), null
    from public.payments
    where gateway_order_id is not null;
    insert into billing.grants (user_id, tier, until, at)
    select id, 'pro', now() - interval '1 year', now() - interval '2 years' from auth.users;
    insert into billing.manual_subscriptions (user_id, tier, status, cancel_at_period_end, at)
    select id, 'pro', 'cancelled', false, now() - interval '2 years' from auth.users;
    insert into public.payments (user_id, amount, tier, meta, gateway_order_id)
    select id, 99900, 'pro', '{"tier": "pro"}', 'order_open_' || n
    from (select id, row_number() over () as n from auth.users limit 1000) u;
    insert into public.payments
      (user_id, amount, status, tier, starts, credit, credited_kind, credited_id, credited_until, credited_amount,
       fulfilled_at, period_start, period_end, settle_at, next_reconcile_at, since)
    select id, 90000, 'captured', 'pro', 'after_current', 9900, 'gateway_subscription', 'sub_over_' || id, now(), 0,
      now(), now() + interval '20 years', now() + interval '21 years', now() + interval '20 years', null, now()
    from auth.users;
    insert into billing.gateway_events (body_sha256, event_id, event, subject_id, payload, outcome, received_at)
    select sha256(n::text::bytea), 'evt_' || n, 'payment.captured', 'order_' || n, '{}', 'applied',
      now() - make_interval(mins => n)
    from generate_series(1, ${rows}) n;
    insert into billing.outbox (key, destination, kind, payload, delivered_at)
    select 'payment-success/' || n, 'email', 'payment-success', '{}', now() from generate_series(1, ${rows}) n;
    insert into billing.tier_changes (user_id, to_tier, cause) select id, 'pro', 'payment' from auth.users;
    commit`);
  await database.query('analyze');
  plans = await watchPlans(database);
});
afterAll(() => database.close());

let next = 0;
/** A user with an unpaid order, another one for each call. */
async function open(): Promise<{ userId: string; money: PaymentFields; orderId: string; id: string }> {
  next += 1;
  const row = await database.one('select id, user_id from public.payments where gateway_order_id = $1', [
    `order_open_${next}`,
  ]);
  const orderId = `order_open_${next}`;
  return {
    userId: String(row.user_id),
    id: String(row.id),
    orderId,
    money: { id: uniqueId('pay'), order_id: orderId },
  };
}
type Open = Awaited<ReturnType<typeof open>>;

const deliver = (body: (order: Open) => string) => async (): Promise<[string, unknown[]]> => {
  const text = body(await open());
  return ['select public.apply_gateway_event($1, $2, $3)', [sha256(text), uniqueId('evt'), text]];
};
const subscription = (name: 'activated' | 'charged' | 'cancelled') =>
  deliver(({ userId, money }) =>
    subscriptionEvent({
      name,
      userId,
      id: uniqueId('sub'),
      planId: 'plan_pro',
      payment: { id: money.id, amount: 99900 },
      start: '2126-01-01T00:00:00Z',
      end: '2126-02-01T00:00:00Z',
      createdAt: new Date(Math.ceil(Date.now() / 1000) * 1000 + 60_000).toISOString(),
    })
  );
const ofUser = (call: string) => async (): Promise<[string, unknown[]]> => [`select ${call}`, [(await open()).userId]];
const plain = (call: string) => (): Promise<[string, unknown[]]> => Promise.resolve([`select ${call}`, []]);

/** Every function that a request or the schedule calls, and each event that has an effect. */
const calls: Record<string, () => Promise<[string, unknown[]]>> = {
  get_subscription: ofUser('public.get_subscription($1)'),
  list_plans: plain('public.list_plans()'),
  list_plans_for_user: ofUser('public.list_plans_for_user($1)'),
  create_order: ofUser("public.create_order($1, 'basic', gen_random_uuid()::text)"),
  'create_order with a credit': ofUser("public.create_order($1, 'premium', p_start => 'now')"),
  'create_order after the current period': ofUser("public.create_order($1, 'pro', p_start => 'after_current')"),
  store_order: async () => [
    'select public.store_order($1, $2)',
    [
      (await database.one(
        "insert into public.payments (user_id, amount) select user_id, 1 from public.payments where gateway_order_id = 'order_1' returning id",
      )).id,
      uniqueId('order'),
    ],
  ],
  discard_order: plain('public.discard_order(gen_random_uuid())'),
  verify_payment: async () => {
    const { userId, orderId, money } = await open();
    return ["select public.verify_payment($1, $2, $3, 'signature')", [userId, orderId, money.id]];
  },
  verify_returned_payment: async () => {
    const { orderId, money } = await open();
    return ["select public.verify_returned_payment($1, $2, 'signature')", [orderId, money.id]];
  },
  get_order: async () => {
    const { userId, orderId } = await open();
    return ['select public.get_order($1, $2, true)', [userId, orderId]];
  },
  'get_order of a paid order': async () => {
    const { userId } = await open();
    const paid = await database.one(
      'select gateway_order_id as id from public.payments where user_id = $1 and fulfilled_at is not null limit 1',
      [userId],
    );
    return ['select public.get_order($1, $2, true)', [userId, paid.id]];
  },
  apply_order_read: async () => {
    const { id, userId, orderId, money } = await open();
    await database.query('select public.get_order($1, $2, true)', [userId, orderId]);
    const items = [{ ...money, amount: 99900, currency: 'INR', status: 'captured' }];
    return ['select public.apply_order_read($1, $2)', [id, JSON.stringify(items)]];
  },
  'verify_payment after the current period': async () => {
    const { id, userId, orderId, money } = await open();
    await database.query("update public.payments set starts = 'after_current' where id = $1", [id]);
    return ["select public.verify_payment($1, $2, $3, 'signature')", [userId, orderId, money.id]];
  },
  'payment.captured': deliver(({ money }) => paymentCaptured(money)),
  'order.paid': deliver(({ money, orderId }) => orderPaid(money, { id: orderId })),
  'payment.failed': deliver(({ money }) => paymentFailed(money)),
  'refund.created': deliver(({ money }) => refundEvent(money, 99900, { status: 'pending' })),
  'refund.processed': deliver(({ money }) => refundEvent(money, 99900)),
  'refund.failed': deliver(({ money }) => refundEvent(money, 99900, { status: 'failed' })),
  'refund.processed of a purchase': deliver(() => refundEvent({ id: `pay_${next}` }, 99900)),
  'refund.processed of a charge': deliver(() => refundEvent({ id: `pay_of_sub_${2 * next}` }, 99900)),
  'payment.dispute.created': deliver(({ money }) => disputeEvent('created', 'open', money)),
  'subscription.activated': subscription('activated'),
  'subscription.charged': subscription('charged'),
  'subscription.cancelled': subscription('cancelled'),
  cancel_subscription: ofUser('public.cancel_subscription($1, true)'),
  resume_subscription: ofUser('public.resume_subscription($1)'),
  claim_outbox: plain("public.claim_outbox('email')"),
  complete_outbox: plain("public.complete_outbox(gen_random_uuid(), '1,2,3')"),
  fail_outbox: plain("public.fail_outbox(gen_random_uuid(), '1,2,3', 'HTTP 500')"),
  next_outbox_attempt: plain("public.next_outbox_attempt('email,revalidation')"),
  claim_payments_to_reconcile: plain('public.claim_payments_to_reconcile()'),
  apply_order_payments: async () => {
    const { id, money } = await open();
    const refunds = [{ id: uniqueId('rfnd'), amount: 100, status: 'processed' }];
    const items = [{ ...money, amount: 99900, currency: 'INR', status: 'captured', refunds }];
    return ['select public.apply_order_payments($1, $2)', [id, JSON.stringify(items)]];
  },
  claim_subscriptions_to_reconcile: plain('public.claim_subscriptions_to_reconcile()'),
  apply_gateway_subscription: async () => [
    'select public.apply_gateway_subscription($1, $2, $3)',
    [(await open()).userId, 'sub_2', '{"status": "halted"}'],
  ],
  get_health: plain('public.get_health()'),
  replay_missed_events: plain('billing.replay_missed_events()'),
  settle_waiting_subscriptions: plain('billing.settle_waiting_subscriptions()'),
  start_purchases: plain('billing.start_purchases()'),
  expire_subscriptions: plain('billing.expire_subscriptions()'),
  delete_mails: plain('billing.delete_mails()'),
  erase_deleted_users: plain('billing.erase_deleted_users()'),
  purge_records: plain('public.purge_records(90, 30, 30)'),
  empty_payloads: plain('billing.empty_payloads()'),
};

/** Tables that grow with the users. The plans, the pauses and the lists of pending work stay small. */
const large = [
  'users|profiles|subscriptions|payments|gateway_events|outbox|tier_changes',
  'gateway_subscriptions|refunds|grants|manual_subscriptions',
].join('|');

describe(`with ${rows} users`, () => {
  test.each(Object.entries(calls))(
    '%s reads large tables by index and sorts no more than ten rows, call after call',
    async (_, call) => {
      // Often enough for a generic plan that Postgres keeps for later calls, for any parameters.
      for (let count = 0; count < 7; count += 1) {
        const plan = await plans.of(...await call());
        const whole = [...plan.matchAll(new RegExp(`Seq Scan on (?:${large})\\b.*`, 'g'))].map(([text]) => text);
        expect(whole, plan).toEqual([]);
        const sorted = [...plan.matchAll(/\bSort {2}\(.*?actual rows=(\d+)/g)].map(([, rows]) => Number(rows));
        expect(sorted.filter((rows) => rows > 10), plan).toEqual([]);
      }
    },
  );

  test('a read of a whole table and a long sort are detected', async () => {
    const plan = await plans.of('select id from billing.outbox order by payload::text, id + 1');
    expect(plan).toMatch(/Seq Scan on outbox/);
    expect(plan).toMatch(/\bSort {2}\(.*?actual rows=\d{5}/);
  });
});
