-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

drop function billing.sum_hours();

drop view billing.service_state;

comment on table billing.received_by_hour is null;

DROP TABLE "billing"."received_by_hour";

create or replace function billing.check_grant_limits(p_action billing.support_actions)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_limits billing.settings;
begin
  if billing.acts_as_owner(p_action) then return; end if;
  select * into v_limits from billing.settings;
  perform billing.require(
    v_limits.support_grant_days is null
      or p_action.until <= billing.clock() + make_interval(hours => 24 * v_limits.support_grant_days),
    'PS403', format('support may grant %s days at most: the setting support_grant_days', v_limits.support_grant_days)
  );
  perform billing.require(
    v_limits.support_grant_tier is null
      or p_action.entitlements is null and exists (
        select from public.plans p
        join public.plans most on most.tier = v_limits.support_grant_tier and most.lookup_key is null
        where p.tier = p_action.tier and p.lookup_key is null and billing.rank_of(p) <= billing.rank_of(most)
      ),
    'PS403', format(
      'support may grant %s at most, without entitlements: the setting support_grant_tier', v_limits.support_grant_tier
    )
  );
end $$;

create or replace function billing.perform_requeue_mail(p_action billing.support_actions)
returns billing.support_actions language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_row billing.outbox;
  v_obstacle text;
begin
  select * into v_row
  from billing.outbox o
  where o.id = billing.number_of(p_action.reference) or o.key = p_action.reference
  for update;
  perform billing.require(
    v_row.id is not null, 'PS404', format('requeue_mail needs reference: no message "%s"', p_action.reference)
  );
  v_obstacle := case
    when v_row.delivered_at is not null then format('was delivered at %s', billing.iso_time(v_row.delivered_at))
    when v_row.parked_at is not null and (v_row.claims = '{}' or v_row.last_error = 'withdrawn')
      then format('was withdrawn: %s', v_row.last_error)
    when v_row.parked_at is null and v_row.attempts = 0
      then format('is queued already, for %s', billing.iso_time(v_row.next_attempt_at))
    when not billing.requeue(v_row.id) then 'cannot be sent: that much of the payment is no longer left to refund'
  end;
  perform billing.require(v_obstacle is null, 'PS409', format('message %s %s', v_row.id, v_obstacle));
  p_action.reference := v_row.id;
  p_action.user_id := coalesce(p_action.user_id, billing.user_of_message(v_row));
  p_action.result := format('Message %s (%s) is queued again.', v_row.id, v_row.kind);
  return p_action;
end $$;

create or replace view billing.paid_twice with (security_invoker = true) as
with running as not materialized (
  select p.*
  from public.payments p
  where p.fulfilled_at is not null
    and p.ended_at is null
    and p.period_end - billing.clock() > interval '0'
    and not exists (select from billing.replacements r where r.kind = 'payment' and r.id = p.id::text)
)
select
  x.user_id, x.created_at as since, x.extra_of as payment_id, x.gateway_payment_id,
  'a further payment on the order' as reason
from public.payments x
where x.extra_of is not null
  and billing.kept(x) > 0
  -- The gateway refunds a payment that was verified but not captured within five days.
  and (x.confirmed_at is not null or x.captured_at > (select billing.clock()) - interval '5 days')
union all
select
  p.user_id, p.fulfilled_at, p.id, p.gateway_payment_id,
  (array[
    'another payment for the same time', 'the gateway bills the same time', 'captured after a newer purchase',
    'ordered before another purchase for the same time was paid'
  ])[overlap.reason]
from running p
-- For each payment, so that a condition on the user comes before all of it.
cross join lateral (
  select min(case
    when o.tier = p.tier and o.reason is not null then o.reason
    -- Only a webhook announced this older order, after a newer purchase.
    when p.verified_at is null and o.since > p.since and o.at < p.fulfilled_at then 3
    -- Such as in another tab: the order could credit nothing.
    when p.credit is null and o.is_paid and o.at > p.created_at and o.at < p.fulfilled_at then 4
  end) as reason
  from (
    select
      other.tier, other.since, other.fulfilled_at as at, true as is_paid,
      case when (other.fulfilled_at, other.since, other.id) < (p.fulfilled_at, p.since, p.id) then 1 end as reason
    from running other
    where other.user_id = p.user_id
      and other.id <> p.id
      and other.period_start < p.period_end
      and other.period_end > p.period_start
    union all
    select billed.tier, began.at, began.at, began.is_paid, case when began.is_paid then 2 end
    from billing.sources billed
    join billing.gateway_subscriptions m on m.user_id = billed.user_id and m.gateway_subscription_id = billed.id
    cross join lateral (
      select
        -- A later activation, after the payment, changes nothing.
        billing.authorised_at(m) as at,
        -- A trial is not paid for.
        num_nonnulls(m.activated_at, m.first_charged_at) > 0 as is_paid
    ) began
    where billed.user_id = p.user_id
      and billed.kind = 'gateway_subscription'
      and billed.ended_at is null
      and billed.ends_at > billing.clock()
      and billed.starts_at < p.period_end
      and billed.ends_at > p.period_start
  ) o
) overlap
where overlap.reason is not null;

-- Returns whether support noted something about a payment since then, which ends some findings about it.
create function billing.is_noted(p_payment public.payments, p_since timestamptz)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return exists (
    select from billing.support_actions a
    where a.action = 'note'
      and a.reference in (p_payment.id::text, p_payment.gateway_payment_id)
      and a.created_at >= p_since
  );
end $$;

create or replace view billing.dispute_lost with (security_invoker = true) as
select
  p.user_id,
  p.captured_at as since,
  case when p.gateway_subscription_id is null then p.id end as payment_id,
  p.tier, p.amount, lost.amount as lost, billing.kept(p) as kept, p.gateway_payment_id
from public.payments p
cross join lateral (select billing.lost_amount(p.gateway_payment_id) as amount offset 0) lost
where p.dispute_status is not null
  and lost.amount > 0
  -- An admin accepted that a part was lost.
  and not (billing.kept(p) > 0 and billing.is_noted(p, coalesce(p.dispute_event_at, p.captured_at)))
  and (
    p.fulfilled_at is not null
    and p.ended_at is null
    or exists (
      select from billing.sources s
      where (s.user_id, s.kind, s.id) = (p.user_id, 'gateway_subscription', p.gateway_subscription_id) and s.is_running
    )
    or exists (select from billing.purchases_on_credit(p))
  );

create or replace view billing.returned_too_much with (security_invoker = true) as
select
  p.user_id, coalesce(p.dispute_event_at, p.captured_at, p.created_at) as since, p.gateway_payment_id, p.currency,
  coalesce(p.paid_amount, p.amount) as paid, p.refunded_amount as refunded, lost.amount as lost
from public.payments p
cross join lateral (select billing.lost_amount(p.gateway_payment_id) as amount offset 0) lost
where p.refunded_amount > 0
  and p.refunded_amount + lost.amount > coalesce(p.paid_amount, p.amount)
  and not billing.is_noted(p, coalesce(p.dispute_event_at, p.captured_at, p.created_at));

create or replace view billing.unmailed_payments with (security_invoker = true) as
select p.user_id, p.fulfilled_at as since, p.id as payment_id, p.gateway_payment_id
from public.payments p
cross join lateral billing.find_user(p.user_id) u
-- Older payments are not listed: mail rows are kept for at least 30 days after their delivery. A payment that is captured
-- long after it was verified was mailed when it was verified.
where least(p.fulfilled_at, p.verified_at) > billing.clock() - interval '30 days'
  and p.period_end - billing.clock() > interval '-30 days'
  and u.email <> ''
  and not exists (select from billing.outbox o where o.key = 'payment-success/' || p.id)
  and not billing.is_noted(p, '-infinity');

-- What pages would else read from all customers is computed in passes: the sweep goes through the customers in the order of
-- their ids, for part of a second each minute. Operations: "Findings", "Revenue".

create or replace view billing.customer_findings with (security_invoker = true) as
select 'paid_not_entitled' as finding, v.payment_id as subject, v.user_id, v.since, to_jsonb(v) as detail,
  'Read the timeline; then grant the tier until the end of the period, or refund the payment at the gateway.' as remedy
from billing.paid_not_entitled v
union all
select 'entitled_not_paid', v.user_id::text, v.user_id, v.since, to_jsonb(v),
  'Grant the tier to make it complimentary, or set the subscription to cancelled and the profile to free.'
from billing.entitled_not_paid v
union all
select 'tier_mismatch', v.user_id::text, v.user_id, v.since, to_jsonb(v),
  'Read in the timeline what wrote the tier, then set the tier of the profile.'
from billing.tier_mismatch v
union all
select 'paid_twice', coalesce(v.gateway_payment_id, v.payment_id::text), v.user_id, v.since, to_jsonb(v),
  'Refund the payment. A grant can give the customer the time, but does not end the finding.'
from billing.paid_twice v
union all
select v.finding, coalesce(nullif(v.gateway_payment_id, ''), v.gateway_subscription_id), v.user_id, v.since, to_jsonb(v),
  case v.finding
    when 'charged_twice' then 'Refund the charge at the gateway. Of two subscriptions the service cancels the older one.'
    when 'mismatch' then 'Compare the plan at the gateway with the price: the charge has another amount or currency.'
    else 'Cancel the subscription at the gateway, and refund the charge if the customer asks for it.'
  end
from billing.unexpected_charges v
union all
-- The gateway was told to end it with its cycle, although nothing asks for that any more: the purchase that replaced it was
-- refunded, or it was authorised while its cancellation was under way.
select 'stopped_in_error', m.gateway_subscription_id, m.user_id, m.stops_at,
  jsonb_build_object('gateway_subscription_id', m.gateway_subscription_id, 'period_end', m.period_end),
  'Ask the customer whether the subscription shall go on, and to start another one before it ends.'
from billing.gateway_subscriptions m
join public.subscriptions s on s.user_id = m.user_id
where m.stops_at is not null
  and m.cancel_at_period_end
  and billing.is_billed(m)
  and billing.cancelled_by_user_at(m.user_id, m.asked_at) is null
  and exists (
    select from billing.stoppable g
    where (g.user_id, g.gateway_subscription_id) = (m.user_id, m.gateway_subscription_id)
      and (billing.find_stop(g)).stops_at is null
  )
union all
select 'notes_edited', m.gateway_subscription_id, m.user_id, m.asked_at,
  jsonb_build_object('gateway_subscription_id', m.gateway_subscription_id, 'noted_user_id', m.noted_user_id),
  'Write the user back into the notes at the gateway. To give the access to another user, grant it.'
from billing.gateway_subscriptions m
where m.noted_user_id is not null
union all
-- For more than a day, although the invoices were read.
select 'unnamed_charge', m.gateway_subscription_id, m.user_id, coalesce(m.cancelled_arrived_at, m.arrived_at),
  jsonb_build_object(
    'gateway_subscription_id', m.gateway_subscription_id, 'paid_count', m.paid_count, 'cycles', unnamed.cycles
  ),
  'Look its payments up at the gateway, and compare them with those in the timeline.'
from billing.gateway_subscriptions m
cross join lateral (select billing.unnamed_cycles(m) as cycles offset 0) unnamed
where m.paid_count > 0 and m.arrived_at < (select billing.clock()) - interval '1 day' and unnamed.cycles > 0
union all
select 'unearned_credit', v.payment_id::text, v.user_id, v.since, to_jsonb(v),
  'Refund the payment at the gateway, or accept the loss: the finding ends with the period.'
from billing.unearned_credits v
union all
select 'dispute_lost', coalesce(v.payment_id::text, v.gateway_payment_id), v.user_id, v.since, to_jsonb(v),
  case when v.payment_id is null then 'Cancel the subscription at the gateway' else 'End the access of the payment' end
    || case when v.kept > 0 then ', or insert a note about the payment: a part was kept.' else '.' end
from billing.dispute_lost v
union all
select 'returned_too_much', v.gateway_payment_id, v.user_id, v.since, to_jsonb(v),
  case
    when v.lost > 0 then 'Contest the dispute at the gateway with the refund, then insert a note about the payment.'
    else 'Compare the refunds at the gateway with the payment, then insert a note about it.'
  end
from billing.returned_too_much v
union all
select 'unmailed_payment', v.payment_id::text, v.user_id, v.since, to_jsonb(v),
  'Write to the customer that the payment arrived, then insert a note about the payment.'
from billing.unmailed_payments v;

-- The last job of the sweep.
create or replace function billing.run_passes()
returns integer -- 0: the next sweep goes on
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform billing.run_pass('findings', interval '0.4 seconds');
  perform billing.run_pass('revenue', interval '0.3 seconds');
  if exists (select from public.receipts) or exists (select from billing.settlements) then
    perform billing.run_pass('books', interval '0.3 seconds');
  end if;
  return 0;
end $$;

create view billing.service_state with (security_invoker = true) as
select
  (select max(e.received_at) from billing.gateway_events e where e.deliveries > 0) as last_webhook_at,
  -- By billing.clock(), as all else.
  (select j.done_at + (billing.clock() - now()) from billing.scheduled_jobs j where j.name = 'sweep') as last_sweep_at,
  (select j.done_at + (billing.clock() - now()) from billing.scheduled_jobs j where j.name = 'reconciliation')
    as last_reconciliation_at,
  (
    select min(o.queued_at)
    from billing.outbox o
    where o.destination in ('email', 'notice')
      and o.delivered_at is null
      and o.parked_at is null
      and o.queued_at <= billing.clock()
  ) as oldest_undelivered_mail_at,
  (select p.complete_as_of from billing.passes p where p.name = 'findings') as findings_as_of,
  (select p.complete_as_of from billing.passes p where p.name = 'revenue') as revenue_as_of,
  (select case when s.completed_at is not null then to_jsonb(s) end from billing.statement s) as statement,
  (select m.detail::integer from billing.marks m where m.kind = 'kept_days' and m.key = 'outbox') as messages_kept_days,
  (
    select count(*) from billing.received r where r.received_at >= date_trunc('day', billing.clock(), billing.time_zone())
  ) as payments_today,
  (
    select coalesce(jsonb_object_agg(today.currency, today.amount), '{}')
    from (
      select r.currency, sum(r.amount) as amount
      from billing.received r
      where r.received_at >= date_trunc('day', billing.clock(), billing.time_zone())
      group by r.currency
    ) today
  ) as revenue_today;

-- Sums up what happened in each month to the customers of a range, and to the payments of deleted users with such ids.
-- Periods that touch or overlap are one span, so that a renewal is neither an end nor a start. Of those that overlap, the one
-- that began last counts for the recurring revenue.
create or replace function billing.revenue_of(p_after uuid, p_until uuid)
returns setof billing.revenue_sums language plpgsql stable set search_path = pg_catalog, pg_temp
set enable_seqscan = off set jit = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
declare
  v_zone constant text := billing.time_zone();
begin
  return query
  with captured as materialized (
    select p.*
    from (
      select p.* from public.payments p where p.user_id > p_after and p.user_id <= p_until
      union all
      select p.* from public.payments p where p.user_id is null and p.id > p_after and p.id <= p_until
    ) p
    where p.status = 'captured' and (p.extra_of is null or p.confirmed_at is not null)
  ),
  periods as materialized (
    select p.user_id, d.kind, d.name, p.monthly_amount, tstzrange(p.starts_at, p.ends_at) as period
    from billing.paid_periods p
    cross join lateral (values ('currency', p.currency), ('tier', p.tier)) d (kind, name)
    where p.user_id > p_after and p.user_id <= p_until and d.name is not null
  ),
  spans as (
    select p.user_id, p.kind, p.name, unnest(range_agg(p.period)) as span, 1 as active, 0 as mrr
    from periods p
    group by p.user_id, p.kind, p.name
    union all
    select
      p.user_id, p.kind, p.name, unnest(p.period::tstzmultirange - coalesce(range_agg(p.period) over newer, '{}')), 0,
      p.monthly_amount
    from periods p
    window newer as (
      partition by p.user_id, p.kind, p.name order by p.period desc rows between unbounded preceding and 1 preceding
    )
  ),
  events as (
    select
      left(coalesce(c.user_id, c.id)::text, 3) as bucket, 'currency' as kind, c.currency as name, l.at, l.payer_id, l.gross,
      l.refunded, 0 as lapsed, 0 as active, 0 as mrr
    from captured c
    cross join lateral (
      select c.captured_at as at, c.user_id as payer_id, coalesce(c.paid_amount, c.amount) as gross, 0 as refunded
      union all
      select f.created_at, null, 0, f.amount
      from billing.refunds f
      where f.gateway_payment_id = c.gateway_payment_id and c.refunded_amount > 0 and f.status = 'processed'
      union all
      select d.at, null, 0, d.amount from billing.losses(c) d where c.dispute_status is not null
    ) l
    union all
    select
      left(s.user_id::text, 3), s.kind, s.name, e.at, null, 0, 0,
      -- A customer who begins again in the month of the end has not lapsed.
      case
        when e.sign < 0 and date_trunc('month', s.next_at, v_zone) is distinct from date_trunc('month', e.at, v_zone)
          then s.active
        else 0
      end,
      e.sign * s.active, e.sign * s.mrr
    from (
      select s.*, lead(lower(s.span)) over (partition by s.user_id, s.kind, s.name, s.active order by s.span) as next_at
      from spans s
    ) s
    cross join lateral (values (lower(s.span), 1), (upper(s.span), -1)) e (at, sign)
    where e.at <= (select billing.clock())
  )
  select
    e.bucket, e.kind, e.name, e.month::date, sum(e.gross)::bigint, sum(e.refunded)::bigint,
    count(distinct e.payer_id) filter (where e.month = e.first_month),
    count(distinct e.payer_id) filter (where e.month > e.first_month), sum(e.lapsed), sum(e.active), sum(e.mrr)::bigint
  from (
    select m.*, min(m.month) over (partition by m.payer_id, m.name) as first_month
    from (select e.*, date_trunc('month', e.at at time zone v_zone) as month from events e) m
  ) e
  group by e.bucket, e.kind, e.name, e.month
  order by e.bucket, e.kind, e.name, e.month;
end $$;

create view billing.monthly_sums with (security_invoker = true) as
select
  k.kind, k.name, m.month::date as month,
  coalesce(s.gross, 0) as gross,
  coalesce(s.refunded, 0) as refunded,
  coalesce(s.new_customers, 0) as new_customers,
  coalesce(s.renewed_customers, 0) as renewed_customers,
  coalesce(s.lapsed_customers, 0) as lapsed_customers,
  coalesce(sum(s.active) over running, 0)::bigint as active_customers,
  coalesce(sum(s.mrr) over running, 0)::bigint as mrr
from (
  select s.kind, s.name, min(s.month) as first_month
  from billing.revenue_sums s
  where s.bucket = '' and (s.kind = 'tier' or (s.gross, s.refunded, s.new_customers) <> (0, 0, 0))
  group by s.kind, s.name
) k
cross join lateral generate_series(
  k.first_month::timestamp, date_trunc('month', (select billing.clock() at time zone billing.time_zone())), interval '1 month'
) m (month)
left join billing.revenue_sums s on (s.bucket, s.kind, s.name, s.month) = ('', k.kind, k.name, m.month::date)
window running as (partition by k.kind, k.name order by m.month);

create or replace view billing.revenue_monthly with (security_invoker = true) as
select
  s.month, s.name as currency, s.gross, s.refunded, s.gross - s.refunded as net, s.new_customers, s.renewed_customers,
  s.lapsed_customers, s.active_customers, s.mrr,
  round(
    100.0 * s.lapsed_customers / nullif(lag(s.active_customers) over (partition by s.name order by s.month), 0), 1
  )::float8 as churn_percent
from billing.monthly_sums s
where s.kind = 'currency';

create or replace view billing.active_monthly with (security_invoker = true) as
select s.month, s.name as tier, s.active_customers from billing.monthly_sums s where s.kind = 'tier';

comment on column billing.service_state.messages_kept_days is 'How long delivered messages are kept. Null: not known yet.';

comment on view billing.monthly_sums is 'Each month since the first one of a currency or tier, and how many were active at its end.';

comment on view billing.service_state is 'The state of the service in one row. Days are those of the seller''s time zone.';

do $do$
begin
  if exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_support') then
    perform billing.set_up_support();
  end if;
end $do$;

REVOKE ALL ON FUNCTION "billing"."is_noted"(public.payments, timestamp WITH time zone) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."is_noted"(public.payments, timestamp WITH time zone) TO "service_role";

revoke execute on all functions in schema billing from public;
