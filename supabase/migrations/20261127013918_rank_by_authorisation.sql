-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

-- Returns the time that ranks a gateway subscription among the sources of its user: of the newest act of the customer. Its
-- first charge is none: a change of plan may start weeks after it was authorised. A later activation is one, such as by a new
-- method of payment. The gateway debits up to 36 hours early, so two events of the first charge may be as far apart.
create or replace function billing.since_of(p_subscription billing.gateway_subscriptions)
returns timestamptz language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return case
    when p_subscription.written_at is not null then p_subscription.written_at
    when p_subscription.activated_at
      > least(p_subscription.first_activated_at, p_subscription.first_charged_at) + interval '36 hours'
      then greatest(p_subscription.activated_at, p_subscription.asked_at)
    else billing.authorised_at(p_subscription)
  end;
end $$;

create or replace view billing.sources with (security_invoker = true) as
select s.*, s.ended_at is null and s.lapses_at > billing.clock() as is_running
from (
  select
    p.user_id, 'payment' as kind, p.id::text as id, p.plan_id, p.tier,
    coalesce(p.chain_start, p.period_start) as starts_at,
    p.period_end as ends_at,
    -- No days of grace for what the customer cancelled, also below a source that ruled then.
    p.period_end + make_interval(hours => 24 * billing.grace_days(
      pl.grace_days, p.cancel_at_period_end or billing.is_cancelled_for_end(p.user_id, coalesce(p.since, p.fulfilled_at))
    )) as lapses_at,
    -- An import by the app may leave since empty.
    coalesce(p.since, p.fulfilled_at) as since,
    greatest(p.fulfilled_at, p.verified_at) as arrived_at,
    coalesce(p.ended_at, replaced.at) as ended_at,
    coalesce(p.ended_reason, case when p.ended_at is null and replaced.at is not null then 'replaced' end)
      as ended_reason,
    p.cancel_at_period_end,
    null::text as gateway_subscription_id,
    p.ended_at is null and coalesce(p.settle_at > billing.clock(), false) as is_upcoming,
    billing.price_sold(p) as sold,
    null::jsonb as entitlements
  from public.payments p
  left join public.plans pl on pl.id = p.plan_id
  left join lateral (
    select min(r.since) as at from billing.replacements r where r.kind = 'payment' and r.id = p.id::text
  ) replaced on true
  where p.fulfilled_at is not null
  union all
  select
    m.user_id, 'gateway_subscription', m.gateway_subscription_id, m.plan_id, pl.tier,
    least(m.period_start, m.paid_until),
    coalesce(m.paid_until, m.period_end),
    own.lapses_at,
    -- The renewal of a purchase follows it, also where the customer authorised it first.
    greatest(billing.since_of(m), renewed.since + interval '1 microsecond'),
    m.arrived_at,
    coalesce(own.ended_at, replaced.at),
    coalesce(own.ended_reason, case when own.ended_at is null and replaced.at is not null then 'replaced' end),
    m.cancel_at_period_end,
    nullif(m.gateway_subscription_id, ''),
    -- Debited before it starts.
    coalesce(o.starts_at > billing.clock() and not o.is_trial, false),
    m.sold,
    null
  from billing.gateway_subscriptions m
  join public.plans pl on pl.id = m.plan_id
  left join billing.subscription_orders o
    on o.gateway_subscription_id = m.gateway_subscription_id
    and o.user_id = m.user_id
  left join public.payments renewed on renewed.id = o.payment_id
  cross join lateral billing.mirrored_end(m, pl.grace_days) own
  -- Only the credited cycle has ended. A later one is a source again.
  left join lateral (
    select min(r.since) as at
    from billing.replacements r
    where r.kind = 'gateway_subscription'
      and r.id = m.gateway_subscription_id
      and r.user_id = m.user_id
      and r.until = m.period_end
  ) replaced on true
  where m.period_end is not null
  union all
  select
    g.user_id, 'grant', g.id::text, pl.id, g.tier, g.at, g.until,
    g.until + make_interval(hours => 24 * billing.grace_days(pl.grace_days, g.cancel_at_period_end)),
    g.at, g.at, g.ended_at, g.ended_reason, g.cancel_at_period_end, null, false, null, g.entitlements
  from billing.grants g
  left join public.plans pl on pl.tier = g.tier and pl.lookup_key is null
  union all
  select
    w.user_id, 'manual', w.user_id::text, w.plan_id, w.tier, w.period_start, w.period_end,
    case
      when w.gateway_subscription_id is not null then billing.billed_until(w.period_end, m.checked_at, grace.days)
      else coalesce(w.period_end + make_interval(hours => 24 * grace.days), 'infinity')
    end,
    w.at,
    w.at,
    case when m.status = 'cancelled' and m.cancelled_arrived_at >= w.at then m.cancelled_at else w.ended_at end,
    case when m.status = 'cancelled' and m.cancelled_arrived_at >= w.at then 'cancelled' else w.ended_reason end,
    w.cancel_at_period_end,
    w.gateway_subscription_id,
    false,
    null,
    w.entitlements
  from billing.manual_subscriptions w
  left join public.plans pl on pl.id = w.plan_id
  cross join lateral (select billing.grace_days(pl.grace_days, w.cancel_at_period_end) as days) grace
  left join billing.gateway_subscriptions m
    on m.user_id = w.user_id
    and m.gateway_subscription_id = w.gateway_subscription_id
  -- Skips rows whose gateway subscription is itself a source with newer facts.
  where (m.plan_id is not null and m.period_end is not null and m.arrived_at >= w.at) is not true
) s;

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
    'another payment for the same time', 'the gateway bills the same time', 'captured after a newer purchase'
  ])[overlap.reason]
from running p
-- For each payment, so that a condition on the user comes before all of it.
cross join lateral (
  select min(o.reason) as reason
  from (
    select case
      when other.tier = p.tier and (other.fulfilled_at, other.since, other.id) < (p.fulfilled_at, p.since, p.id) then 1
      -- Only a webhook announced this older order, after a newer purchase.
      when p.verified_at is null and other.since > p.since and other.fulfilled_at < p.fulfilled_at then 3
    end as reason
    from running other
    where other.user_id = p.user_id
      and other.id <> p.id
      and other.period_start < p.period_end
      and other.period_end > p.period_start
    union all
    select case
      when billed.tier = p.tier then 2
      -- Only the authorisation counts. A later activation, after the payment, changes nothing.
      when p.verified_at is null and began.at > p.since and began.at < p.fulfilled_at then 3
    end
    from billing.sources billed
    join billing.gateway_subscriptions m on m.user_id = billed.user_id and m.gateway_subscription_id = billed.id
    cross join lateral (select billing.authorised_at(m) as at) began
    where billed.user_id = p.user_id
      and billed.kind = 'gateway_subscription'
      and billed.ended_at is null
      and billed.ends_at > billing.clock()
      and billed.starts_at < p.period_end
      and billed.ends_at > p.period_start
  ) o
) overlap
where overlap.reason is not null;

create or replace view billing.unexpected_charges with (security_invoker = true) as
select
  m.user_id, c.captured_at as since, found.finding, m.gateway_subscription_id, c.gateway_payment_id, c.amount,
  c.period_start, c.period_end
from billing.gateway_subscriptions m
-- Of most subscriptions no charge but the newest is read: the rest would take most of the time of this view.
cross join lateral (
  select
    case
      when m.cancel_at_period_end or m.status = 'cancelled' or m.gateway_status in ('completed', 'expired')
        or num_nonnulls(m.stops_at, m.ended_at) > 0
        then billing.cancelled_by_user_at(m.user_id, m.asked_at)
    end as cancelled_at,
    exists (
      select from billing.gateway_subscriptions o
      where o.user_id = m.user_id and o.gateway_subscription_id <> m.gateway_subscription_id
    )
    or exists (select from public.payments p where p.user_id = m.user_id and p.fulfilled_at is not null) as is_one_of_several,
    (
      select count(*) > count(distinct d.period_end)
      from public.payments d
      where d.user_id = m.user_id and d.gateway_subscription_id = m.gateway_subscription_id
    ) as is_charged_twice
  offset 0
) known
cross join lateral (
  select p as payment, p.*
  from public.payments p
  where (p.user_id, p.gateway_subscription_id) = (m.user_id, m.gateway_subscription_id)
    and (
      known.is_one_of_several or known.is_charged_twice or known.cancelled_at is not null or m.status = 'cancelled'
      or p.period_end > (select billing.clock())
    )
  offset 0
) c
cross join lateral (
  select known.cancelled_at < c.captured_at or m.status = 'cancelled' and m.cancelled_at < c.captured_at as is_before
) cancelled
cross join lateral (
  select case when cancelled.is_before then 'charged_after_cancellation' else 'charged_after_replacement' end as finding
  where cancelled.is_before
    or known.is_one_of_several and exists (
      select from billing.sources newer
      left join billing.gateway_subscriptions s
        on (s.user_id, s.gateway_subscription_id) = (newer.user_id, newer.id)
        and newer.kind = 'gateway_subscription'
      -- Checks the authorisation, too, because a later activation moves newer.since past the charge.
      cross join lateral (values (newer.since), (billing.authorised_at(s))) there (since)
      where newer.user_id = m.user_id
        and newer.kind in ('payment', 'gateway_subscription')
        and newer.id <> m.gateway_subscription_id
        -- The renewal of a purchase follows it, as in billing.sources.
        and there.since > (
          select greatest(billing.since_of(m), max(renewed.since))
          from billing.subscription_orders o
          join public.payments renewed on renewed.id = o.payment_id
          where o.user_id = m.user_id and o.gateway_subscription_id = m.gateway_subscription_id
        )
        and there.since < c.captured_at
        -- It is known a day after it was paid at the latest. Its order may be older.
        and (newer.kind <> 'payment' or newer.arrived_at - interval '1 day' < c.captured_at)
        and coalesce(newer.ended_at > c.captured_at, true)
    )
  union all
  select 'charged_twice'
  where c.period_end > (select billing.clock())
    and m.ended_at is null
    and known.is_one_of_several
    and exists (
      select from billing.gateway_subscriptions newer
      join public.payments n using (user_id, gateway_subscription_id)
      where newer.user_id = m.user_id
        and newer.plan_id = m.plan_id
        and newer.gateway_subscription_id <> m.gateway_subscription_id
        and newer.ended_at is null
        and not billing.is_refunded(coalesce(n.paid_amount, n.amount), n.refunded_amount)
        and n.period_start < c.period_end
        and n.period_end > c.period_start
        -- Of two in one second the one that goes on is the newer one.
        and (n.captured_at, newer.status is distinct from 'cancelled', newer.gateway_subscription_id)
          > (c.captured_at, m.status is distinct from 'cancelled', m.gateway_subscription_id)
        -- The customer may start another one after a cancellation.
        and coalesce(known.cancelled_at > n.captured_at, true)
        and coalesce(m.cancelled_at > n.captured_at, true)
        -- Subscriptions that the app makes itself may overlap on purpose.
        and exists (
          select from billing.subscription_orders o
          where o.user_id = m.user_id
            and o.gateway_subscription_id in (m.gateway_subscription_id, newer.gateway_subscription_id)
        )
        -- The customer changed to another plan in between, and back.
        and not exists (
          select from billing.sources other
          where other.user_id = m.user_id
            and other.plan_id is distinct from m.plan_id
            and other.kind in ('payment', 'gateway_subscription')
            and other.since between c.captured_at and n.captured_at
        )
    )
  union
  select 'charged_twice'
  where known.is_charged_twice and exists (
    select from public.payments first
    where first.gateway_subscription_id = c.gateway_subscription_id
      and first.user_id = c.user_id
      and first.period_end = c.period_end
      and (first.captured_at, first.gateway_payment_id) < (c.captured_at, c.gateway_payment_id)
      and billing.kept(first) > 0
  )
  union all
  select 'mismatch'
  where c.period_end > (select billing.clock())
    and c.plan_id = m.plan_id
    and c.price_key is not distinct from (m.sold).lookup_key
    and (c.amount, c.currency) <> ((m.sold).amount, (m.sold).currency)
) found
where billing.kept(c.payment) > 0;

revoke execute on all functions in schema billing from public;
