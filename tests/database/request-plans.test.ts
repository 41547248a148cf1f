import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Plans, scansOf, watchPlans } from '../helpers/database/query-plans.ts';
import { createTestDatabase, type TestDatabase } from '../helpers/database/test-database.ts';
import { sha256 } from '../helpers/gateway/deliver.ts';
import {
  disputeEvent,
  orderPaid,
  paymentCaptured,
  paymentFailed,
  refundEvent,
  subscriptionEvent,
} from '../helpers/gateway/events.ts';
import { isLong } from '../helpers/project/suite.ts';
import { uniqueId } from '../helpers/records/records.ts';

const users = isLong ? 100_000 : 10_000;

let database: TestDatabase;
let plans: Plans;
beforeAll(async () => {
  // The rows are inserted directly, without the facts behind them.
  database = await createTestDatabase({ findings: 'compared elsewhere' });
  await database.query("update public.plans set gateway_plan_id = 'plan_' || tier");
  await database.query(rows);
  plans = await watchPlans(database);
});
afterAll(() => database.close());

/**
 * Each user has a purchase, a subscription that the gateway bills (an even number) or billed before, and more. The periods of
 * some others are over or end soon, and six in a hundred rows are due for reconciliation. The triggers are off: they would
 * take minutes. So is the automatic analyze: it would end the state before the first one.
 */
const rows = `
  begin;
  set local session_replication_role = replica;
  do $$
  declare
    v_table regclass;
  begin
    for v_table in select c.oid from pg_class c join pg_namespace n on n.oid = c.relnamespace
      where c.relkind = 'r' and n.nspname in ('public', 'billing', 'auth') loop
      execute format('alter table %s set (autovacuum_enabled = off)', v_table);
    end loop;
  end $$;
  create temporary table one on commit drop as
  select n, md5(n::text)::uuid as id, 'user' || n || '@example.com' as email,
    case when n % 2 = 0 then 'sub_' || n else 'sub_over_' || n end as sub,
    now() - interval '1 month' as since,
    now() + case when n % 100 in (2, 4, 6, 8, 10, 12) then '12 hours'
      when n % 2 = 0 or n <= first or n > first + 80 then '11 months'
      when n > first + 40 then '3 days' else interval '-10 days' end as until,
    case when n % 100 in (2, 4, 6, 8, 10, 12) then now() - make_interval(secs => n % 3600) else now() + interval '5 days' end as check_at
  from generate_series(1, ${users}) n cross join (values (${users} * 0.4)) v (first);

  insert into auth.users (id, email) select id, email from one;
  insert into auth.identities (id, provider, provider_id, user_id, identity_data)
  select id, 'email', id, id, jsonb_build_object('email', email) from one;
  insert into public.profiles (user_id, subscription_tier, username, display_name)
  select id, 'pro', 'user' || n, 'Somebody user' || n from one;
  insert into public.subscriptions
    (id, user_id, tier, status, current_period_start, current_period_end, gateway_subscription_id, created_at, updated_at,
     due_at)
  select id, id, 'pro', 'active', since, until, case when n % 2 = 0 then sub end, since, since, until from one;
  insert into public.payments
    (user_id, subscription_id, amount, status, tier, meta, gateway_order_id, gateway_payment_id, captured_at, confirmed_at,
     fulfilled_at, period_start, period_end, next_reconcile_at, created_at, since)
  select id, id, 99900, 'captured', 'pro', '{"tier": "pro"}', 'order_' || n, 'pay_' || n, now(), now(), since, since, until,
    null, now() - make_interval(mins => n), since
  from one;
  insert into billing.gateway_subscriptions
    (user_id, gateway_subscription_id, gateway_plan_id, plan_id, status, activated_at, period_start, period_end, arrived_at,
     next_check_at)
  select one.id, sub, 'plan_pro', p.id, case when n % 2 = 0 then 'active' else 'cancelled' end, since, since, until, since, check_at
  from one join public.plans p on p.tier = 'pro';
  insert into public.payments
    (user_id, gateway_subscription_id, period_start, period_end, gateway_payment_id, amount, status, captured_at, created_at,
     next_reconcile_at)
  select id, sub, since, until, 'pay_of_' || sub, 99900, 'captured', since, since, null from one;
  insert into billing.gateway_subscriptions
    (user_id, asked_tier, asked_plan_id, asked_gateway_plan_id, asked_price, gateway_subscription_id, asked_at, expires_at, next_check_at)
  select id, 'pro', (select p.id from public.plans p where p.tier = 'pro'), 'plan_pro', row(null, 99900, 'INR', 12)::billing.price, 'sub_new_' || n, now(), now() + interval '1 day', check_at from one;
  insert into billing.refunds (refund_id, gateway_payment_id, amount, status)
  select 'rfnd_' || n, 'pay_' || n, 100, 'processed' from one;
  insert into public.payments (user_id, extra_of, gateway_payment_id, amount, status, captured_at, next_reconcile_at)
  select user_id, id, 'pay_extra_' || id, amount, 'captured', now(), null from public.payments where gateway_order_id is not null;
  insert into billing.grants (user_id, tier, until, at)
  select id, 'pro', now() - interval '1 year', now() - interval '2 years' from one;
  insert into billing.manual_subscriptions (user_id, tier, status, cancel_at_period_end, at)
  select id, 'pro', 'cancelled', false, now() - interval '2 years' from one;
  insert into public.payments (user_id, amount, tier, meta, gateway_order_id, next_reconcile_at)
  select id, 99900, 'pro', '{"tier": "pro"}', 'order_open_' || n, case when n <= 1000 then now() + interval '1 hour' else check_at end
  from one;
  insert into public.payments
    (user_id, amount, status, tier, starts, credit, credited_kind, credited_id, credited_until, credited_amount, fulfilled_at,
     period_start, period_end, settle_at, next_reconcile_at, since)
  select id, 90000, 'captured', 'pro', 'after_current', 4900, 'gateway_subscription', sub, now(), 0, now(),
    now() + interval '20 years', now() + interval '21 years', now() + interval '20 years', null, now()
  from one where n <= ${users} * 0.4;
  insert into billing.gateway_events (body_sha256, event_id, event, subject_id, payload, outcome, received_at)
  select sha256(n::text::bytea), 'evt_' || n, 'payment.captured', 'order_' || n, '{}', 'applied', now() - make_interval(mins => n)
  from one;
  insert into billing.outbox (key, destination, kind, payload, created_at, queued_at, next_attempt_at, delivered_at)
  select 'payment-success/' || n, 'email', 'payment-success', jsonb_build_object('to', email), at, at, at, at
  from one cross join lateral (select now() - make_interval(secs => n * ${3_000_000 / users})) t (at);
  insert into billing.tier_changes (user_id, to_tier, cause) select id, 'pro', 'payment' from one;
  insert into billing.support_actions (action, reason, actor, result, user_id) select 'note', 'x', 'x', 'x', id from one;
  commit;
  select billing.enqueue('payment-failed/' || n, 'email', 'payment-failed', '{}') from generate_series(1, 1000) n;`;

/** A claim of mails reads the earliest due rows from the index without a sort. */
const earliest = /Limit.*\n.*LockRows.*\n.*Index Scan using outbox_pending_idx/;
// As billing.sweep() does.
const asSweep = 'set local enable_seqscan = off;';
/** What the schedule and the dispatcher call, and by which indexes it reads these tables. */
const work: [call: string, reads: Record<string, string[]>, settings?: string][] = [
  ['billing.settle_due()', {
    subscriptions: ['subscriptions_due_at_idx', 'subscriptions_user_id_key'],
    payments: ['payments_user_id_created_at_idx'],
    gateway_subscriptions: ['gateway_subscriptions_key'],
    grants: ['grants_user_id_idx'],
    manual_subscriptions: ['manual_subscriptions_pkey'],
    profiles: ['profiles_pkey'],
    users: ['users_pkey'],
  }, asSweep],
  ["public.claim_outbox('email')", { outbox: ['outbox_pending_idx'] }],
  ["public.complete_outbox(gen_random_uuid(), '1,2,3')", { outbox: ['outbox_pkey'] }],
  ["public.fail_outbox(gen_random_uuid(), '1,2,3', 'HTTP 500')", { outbox: ['outbox_pkey'] }],
  ["public.next_outbox_attempt('email,revalidation')", { outbox: ['outbox_pending_idx'] }],
  ['public.get_health()', { outbox: ['outbox_pending_idx'] }],
  ['billing.requeue(1)', { outbox: ['outbox_pkey'] }],
  ['billing.delete_messages()', { outbox: ['outbox_messages_created_at_idx'] }],
  ['public.purge_records(400, 30, 1100)', { outbox: ['outbox_delivered_at_idx', 'outbox_parked_at_idx'] }],
  ['public.claim_subscriptions_to_reconcile()', {
    gateway_subscriptions: ['gateway_subscriptions_next_check_at_idx'],
    subscriptions: [],
    payments: [],
  }],
  ['public.claim_payments_to_reconcile()', { payments: ['payments_next_reconcile_at_idx'] }],
];

describe.each([['before the first analyze', ''], ['after an analyze', 'analyze']])(
  `${users} users %s`,
  (_, analyze) => {
    beforeAll(() => database.query(analyze));

    test.each(work)('%s reads each table by its indexes, call after call', async (call, reads, settings = '') => {
      let read = '';
      // Often enough for a generic plan that Postgres keeps for later calls, for any parameters.
      for (let count = 0; count < 8; count += 1) {
        // Plans are read for values at first, and for any values from the sixth call on. Reading them is slow.
        const isRead = count === 0 || count >= 6;
        read += await plans.of(
          `begin; set local auto_explain.log_min_duration = ${isRead ? 0 : -1}; ${settings} select ${call}; rollback`,
        );
      }
      for (const [table, indexes] of Object.entries(reads)) {
        const scans = scansOf(table, read);
        for (const index of indexes) expect(scans.join(), read).toContain(index);
        expect(scans).not.toContain(`Seq Scan on ${table}`);
      }
      if (call.includes('_to_reconcile')) expect(read).not.toMatch(/Hash Join/);
      if (call.includes('claim_outbox')) expect(read).toMatch(earliest);
      const locked = call.includes('claim_subscriptions') ? [...read.matchAll(/LockRows.*actual rows=(\d+)/g)] : [];
      for (const [, rows] of locked) expect(Number(rows)).toBeLessThanOrEqual(200);
      if (analyze !== '') expect(wholeReads(read), read).toEqual([]);
    });
  },
);

/** Tables that grow with the users. The plans, the pauses and the lists of pending work stay small. */
const large = `users identities profiles subscriptions payments gateway_events outbox tier_changes refunds
  gateway_subscriptions grants manual_subscriptions support_actions`.split(/\s+/);
const wholeReads = (plan: string) =>
  large.flatMap((table) => scansOf(table, plan)).filter((scan) => scan.startsWith('Seq Scan'));

type Call = () => Promise<[statement: string, parameters: unknown[]]>;
type Open = Awaited<ReturnType<typeof open>>;
let next = 0;
/** An unpaid order, of another user for each call. */
async function open() {
  next += 1;
  const orderId = `order_open_${next}`;
  const row = await database.one('select id, user_id from public.payments where gateway_order_id = $1', [orderId]);
  return { userId: row.user_id, id: row.id, orderId, money: { id: uniqueId('pay'), order_id: orderId } };
}

/** A call about an unpaid order, which is prepared by a statement. */
const about = (call: string, parameters: (order: Open) => unknown[], prepare = ''): Call => async () => {
  const order = await open();
  if (prepare !== '') await database.query(prepare, [order.id]);
  return [`select ${call}`, parameters(order)];
};
const ofUser = (call: string) => about(call, ({ userId }) => [userId]);
const verify = (prepare?: string) =>
  about(
    "public.verify_payment($1, $2, $3, 's')",
    ({ userId, orderId, money }) => [userId, orderId, money.id],
    prepare,
  );
const deliver = (body: (order: Open) => string) =>
  about('public.apply_gateway_event($1, $2, $3)', (order) => {
    const text = body(order);
    return [sha256(text), uniqueId('evt'), text];
  });
const subscription = (name: 'activated' | 'charged' | 'cancelled') =>
  deliver(({ userId, money }) =>
    subscriptionEvent({
      ...{ name, userId: String(userId), id: uniqueId('sub'), planId: 'plan_pro' },
      payment: { id: money.id, amount: 99900 },
      ...{ start: '2126-01-01T00:00:00Z', end: '2126-02-01T00:00:00Z' },
      createdAt: new Date(Math.ceil(Date.now() / 1000) * 1000 + 60_000).toISOString(),
    })
  );
const paidItems = ({ money }: Open, more = {}) =>
  JSON.stringify([{ ...money, amount: 99900, currency: 'INR', status: 'captured', ...more }]);

const plain = `public.list_plans() public.discard_order(gen_random_uuid()) public.purge_records(90,30,30)
  billing.replay_missed_events() billing.settle_waiting_subscriptions()
  billing.erase_deleted_users() billing.empty_payloads()`.split(/\s+/);
/** Every function that a request or the schedule calls, and each event that has an effect. */
const requests: Record<string, Call> = {
  ...Object.fromEntries(plain.map((call): [string, Call] => [call, () => Promise.resolve([`select ${call}`, []])])),
  get_subscription: ofUser('public.get_subscription($1)'),
  list_plans_for_user: ofUser('public.list_plans_for_user($1)'),
  create_order: ofUser("public.create_order($1, 'basic', gen_random_uuid()::text)"),
  'create_order with a credit': ofUser("public.create_order($1, 'premium', p_start => 'now')"),
  'create_order after the current period': ofUser("public.create_order($1, 'pro', p_start => 'after_current')"),
  store_order: about(
    'public.store_order($1, $2)',
    ({ id }) => [id, uniqueId('order')],
    'update public.payments set gateway_order_id = null where id = $1',
  ),
  verify_payment: verify(),
  'verify_payment after the current period': verify(
    "update public.payments set starts = 'after_current' where id = $1",
  ),
  'verify_payment with the credit of a purchase': verify(
    `update public.payments p set credit = 1, credited_kind = 'payment', credited_id = (
       select c.id::text from public.payments c where c.user_id = p.user_id and c.fulfilled_at is not null limit 1
     ) where p.id = $1`,
  ),
  verify_returned_payment: about(
    "public.verify_returned_payment($1, $2, 's')",
    ({ orderId, money }) => [orderId, money.id],
  ),
  get_order: about('public.get_order($1, $2, true)', ({ userId, orderId }) => [userId, orderId]),
  'get_order of a paid order': about('public.get_order($1, $2, true)', ({ userId }) => [userId, `order_${next}`]),
  apply_order_read: about(
    'public.apply_order_read($1, $2)',
    (order) => [order.id, paidItems(order)],
    'select public.get_order(user_id, gateway_order_id, true) from public.payments where id = $1',
  ),
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
  apply_order_payments: about('public.apply_order_payments($1, $2)', (order) => [
    order.id,
    paidItems(order, { refunds: [{ id: uniqueId('rfnd'), amount: 100, status: 'processed' }] }),
  ]),
  apply_gateway_subscription: ofUser(
    `public.apply_gateway_subscription(m.id, '{"status": "halted"}') from billing.gateway_subscriptions m
     where m.user_id = $1 and m.arrived_at is not null`,
  ),
};

const email = 'user77@example.com';
const questions: [question: string, sql: string, parameter: unknown][] = [
  ['a customer by e-mail', 'select * from billing.customers where email = $1', email],
  ['a customer by id', 'select * from billing.customers where user_id = md5($1)::uuid', '77'],
  ['a timeline by e-mail', 'select * from billing.timeline where email = $1 order by at', email],
  ['a timeline by id', 'select * from billing.timeline where user_id = md5($1)::uuid', '77'],
  ['periods by id', 'select * from billing.periods where user_id = md5($1)::uuid', '77'],
  ['the payments of a customer', 'select * from billing.customer_payments where user_id = md5($1)::uuid', '77'],
  ['the findings of a customer', 'select count(*) from billing.findings where user_id = md5($1)::uuid', '77'],
  ['the mails of a customer', 'select * from billing.messages where recipient = $1', email],
  ['the webhooks of an order', 'select * from billing.webhooks where subject_id = $1', 'order_77'],
  ['the newest webhooks', 'select * from billing.webhooks order by received_at desc limit $1', 20],
  ['the state of the service', 'select * from billing.service_state where $1::int = 1', 1],
  ['the search by an order', 'select * from billing.search_customers($1)', 'order_77'],
  ['the search by an address', 'select * from billing.search_customers($1)', 'user777'],
  ['the search by a name', 'select * from billing.search_customers($1)', 'body user777'],
];

describe(`with ${users} users, after an analyze`, () => {
  test.each(Object.entries(requests))('%s reads large tables by index and sorts at most ten rows', async (_, call) => {
    for (let count = 0; count < 7; count += 1) {
      const plan = await plans.of(...await call());
      expect(wholeReads(plan), plan).toEqual([]);
      const sorted = [...plan.matchAll(/\bSort {2}\(.*?actual rows=(\d+)/g)].map(([, rows]) => Number(rows));
      expect(sorted.filter((rows) => rows > 10), plan).toEqual([]);
    }
  });

  test.each(questions)('an admin who asks for %s reads large tables by index', async (_, sql, parameter) => {
    const plan = await plans.of(sql, [parameter]);
    expect(wholeReads(plan), plan).toEqual([]);
  });
});
