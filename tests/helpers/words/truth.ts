import type { TestDatabase } from '../database/test-database.ts';

/** What is so about a customer at a moment. Times are ISO, amounts are minor units of INR. */
export type Truth = {
  isActive: boolean;
  /** The end of the paid period that is shown; null: none. */
  end: string | null;
  /** When access ends without a payment; null: never, or it has ended. */
  graceEnd: string | null;
  endedAt: string | null;
  /** `isAsked`: here, so that its payments have mails. `isRecorded`: whether the payment of the cycle before it has arrived. The mail about that payment names the next charge. */
  charge: { at: string; amount: number; isRecorded: boolean; isAsked: boolean } | null;
  /** What the gateway tries to charge, or would with another card. */
  amounts: number[];
  /** What is to begin, the first one first. */
  changes: { at: string; amount: number }[];
  /** The ends of what was paid or written by hand, and the starts of what is paid and has not begun. */
  paidEnds: string[];
  paidStarts: string[];
  /** What was ordered, and of what was paid the period. */
  payments: { amount: number; start: string | null; end: string | null }[];
  /** The ends of grants, and the starts of the changes that were asked for. */
  grantEnds: string[];
  asked: string[];
};

/** Reads it from the facts, and not by what answers, mails and support are written with. */
export async function readTruth(database: Pick<TestDatabase, 'query'>, userId: string): Promise<Truth> {
  const [row] = await database.query(
    `with mirror as (
       select m.*, coalesce(m.gateway_status, 'active') as state,
         -- Before its first event the gateway has told none.
         case when m.gateway_status is null then m.period_end else m.charge_at end as due_at
       from billing.gateway_subscriptions m
       where m.user_id = $1 and m.gateway_subscription_id <> '' and billing.is_billed(m) and m.gateway_status is distinct from 'created'
     ),
     shown as (
       select s.*, (billing.find_shown(s.user_id)).source as source from public.subscriptions s where s.user_id = $1
     )
     select jsonb_build_object(
       'isActive', coalesce((select s.status = 'active' from shown s), false),
       'end', (select s.current_period_end from shown s),
       'graceEnd', (
         select case when (s.source).lapses_at < 'infinity' then (s.source).lapses_at
           -- The gateway is told to stop it for the customer: no charge can fail after that.
           when exists (
             select from mirror m
             join billing.wishes w on w.user_id = $1 and w.at >= m.asked_at and w.withdrawn_at is null
             where m.gateway_subscription_id = (s.source).id and m.stops_at is not null
           ) then (s.source).ends_at
           else (s.source).ends_at + make_interval(days => coalesce(
             (select p.grace_days from public.plans p where p.id = (s.source).plan_id), 3
           )) end
         from shown s
       ),
       'endedAt', (
         select case when s.ended_reason = 'lapsed' then greatest((s.source).lapses_at, s.cancelled_at) else s.cancelled_at end
         from shown s where s.status = 'cancelled'
       ),
       'charge', (
         select jsonb_build_object('at', m.due_at, 'amount', (m.sold).amount, 'isRecorded', case m.state
           when 'authenticated' then m.due_at > billing.clock() + interval '1 hour' and not exists (
             select from public.payments p where p.id = m.payment_id and p.fulfilled_at is null
           )
           when 'active' then exists (
             select from public.payments p
             where p.gateway_subscription_id = m.gateway_subscription_id and p.period_end >= m.period_end
           )
           -- Each try moves it, and the first alone has a mail.
           else m.state <> 'pending'
         end, 'isAsked', m.asked_plan_id is not null)
         from mirror m
         where m.stops_at is null and m.state not in ('paused', 'halted') and m.due_at is not null
         order by m.due_at > billing.clock() desc, m.due_at limit 1
       ),
       'amounts', (
         select coalesce(jsonb_agg((m.sold).amount), '[]') from billing.gateway_subscriptions m
         where m.user_id = $1 and (m.sold).amount is not null
       ),
       'paidEnds', (
         select coalesce(jsonb_agg(given.until), '[]')
         from (
           select p.period_end from public.payments p where p.user_id = $1
           union all
           select w.period_end from billing.manual_subscriptions w where w.user_id = $1
           union all
           -- Of a cycle that has begun since the row was settled.
           select m.period_end from billing.gateway_subscriptions m where m.user_id = $1
         ) given (until)
         where given.until is not null
       ),
       'paidStarts', (
         select coalesce(jsonb_agg(p.period_start), '[]') from public.payments p
         where p.user_id = $1 and p.period_start > billing.clock()
       ),
       'payments', (
         select coalesce(jsonb_agg(jsonb_build_object('amount', p.amount, 'start', p.period_start, 'end', p.period_end)), '[]')
         from public.payments p where p.user_id = $1
       ),
       'grantEnds', (select coalesce(jsonb_agg(g.until), '[]') from billing.grants g where g.user_id = $1),
       'asked', (
         select coalesce(jsonb_agg(coalesce(m.starts_at, m.asked_at)), '[]') from billing.gateway_subscriptions m
         where m.user_id = $1 and m.asked_plan_id is not null
       ),
       'changes', (
         select coalesce(
           jsonb_agg(jsonb_build_object('at', m.starts_at, 'amount', (m.asked_price).amount) order by m.starts_at), '[]'
         )
         from mirror m
         where m.state in ('authenticated', 'active', 'pending')
           and coalesce(m.stops_at > m.starts_at, true)
           and m.replaces is not null and m.undone_at is null and m.starts_at > billing.clock()
       )
     ) as truth`,
    [userId],
    'truth',
  );
  return row?.truth as Truth;
}
