-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

create or replace view billing.purchases with (security_invoker = true) as
select s.*
from billing.sources s
where case s.kind
  when 'payment' then exists (
    select from public.payments p
    where p.id = s.id::uuid
      and p.ended_reason is distinct from 'dispute_lost'
      and not billing.is_lost(p)
      and p.uncaptured_at is null
      and not billing.is_refunded(coalesce(p.paid_amount, p.amount), p.refunded_amount)
  )
  when 'gateway_subscription' then exists (
    select from billing.gateway_subscriptions m
    where (m.user_id, m.gateway_subscription_id) = (s.user_id, s.id)
      and (
        m.paid_until is null
        -- After a refund of its newest cycle the cycles before still count, also if their payments are not known.
        or m.first_period_start < m.paid_until
        or exists (
          select from public.payments c
          where c.user_id = s.user_id
            and c.gateway_subscription_id = s.id
            and not billing.is_refunded(coalesce(c.paid_amount, c.amount), c.refunded_amount)
        )
      )
  )
  when 'manual' then s.gateway_subscription_id is not null
  else false
end;

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
      select from billing.purchases newer
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
