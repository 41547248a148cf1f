-- For an admin: every paying user has the tier, and no user has what is not paid for. Each row is a user of whom that is
-- not so. Where an index leads to the rows the clock is called, so that the planner knows how many there are; elsewhere it
-- is read once a query: a call for each row of a large table would take longer than the rest.
-- Depends on: _fulfil_payment, _tier_changes, _support.

-- An entry a purchase.
create index payments_period_end_idx on public.payments (period_end)
where fulfilled_at is not null;

create view private.paid_not_entitled
with (security_invoker = true)
as
select
  paid.user_id,
  paid.since,
  paid.payment_id,
  paid.tier,
  paid.reference as gateway_payment_id,
  paid.period_end,
  s.status as subscription_status,
  s.ended_reason
from (
  select
    p.user_id, p.fulfilled_at as since, p.id::text as payment_id, p.tier, p.gateway_payment_id as reference, p.period_end
  from public.payments p
  where p.fulfilled_at is not null
    and p.period_end > private.clock()
    and p.ended_at is null
    and p.user_id is not null
  union all
  select
    g.user_id, g.arrived_at, g.gateway_subscription_id, g.tier, g.gateway_subscription_id, g.ends_at
  from private.sources g
  where g.kind = 'gateway_subscription'
    and g.ends_at > (select private.clock())
    and g.ended_at is null
) paid
left join public.subscriptions s on s.user_id = paid.user_id
where s.status is distinct from 'active'
  and exists (select from private.find_user(paid.user_id));
comment on view private.paid_not_entitled is
  'Users whose paid period runs and who have no active subscription, though they did not cancel it. Look at '
  'private.explain_user(user_id); private.grant_tier until period_end gives what was paid for, a refund at the '
  'gateway ends the finding, too. Reads the payments whose period runs.';

create view private.entitled_not_paid
with (security_invoker = true)
as
select
  holder.user_id,
  coalesce(
    case when s.is_over then s.ends_at end,
    (select max(c.at) from private.tier_changes c where c.user_id = holder.user_id),
    s.updated_at
  ) as since,
  case when s.is_over then 'its period is over' else 'nothing pays for it' end as reason,
  pr.subscription_tier as profile_tier,
  s.tier as subscription_tier,
  s.current_period_end,
  s.gateway_subscription_id
from (
  select p.user_id, p.subscription_tier
  from public.profiles p
  where p.subscription_tier <> 'free'
) pr
full join (
  select
    a.*,
    -- The sweep runs once a minute; reconciliation of what the gateway bills may take a day.
    ends.at as ends_at,
    ends.at < (select private.clock()) as is_over
  from public.subscriptions a
  left join public.plans pl on pl.id = a.plan_id
  cross join lateral (
    select a.current_period_end
      + make_interval(
        days => coalesce(pl.grace_days, 3) + case when a.gateway_subscription_id is null then 0 else 1 end,
        hours => 1
      ) as at
  ) ends
  where a.status = 'active'
) s on s.user_id = pr.user_id
cross join lateral (
  select coalesce(s.user_id, pr.user_id) as user_id, coalesce(s.tier, pr.subscription_tier) as tier
) holder
where s.is_over
  or s.gateway_subscription_id is null
  and not exists (
    select
    from private.sources o
    where o.user_id = holder.user_id
      and o.kind <> 'manual'
      and o.tier = holder.tier
      and o.ended_at is null
      and o.lapses_at + interval '1 hour' > (select private.clock())
  );
comment on view private.entitled_not_paid is
  'Users with a tier or an active subscription that no running payment, no gateway subscription and no grant '
  'carries, or whose period is long over. Look at private.explain_user(user_id); private.grant_tier makes it '
  'complimentary, else set the subscription to cancelled and the profile to free. A report: reads every active '
  'subscription and every profile.';

create view private.tier_mismatch
with (security_invoker = true)
as
select
  s.user_id,
  coalesce((select max(c.at) from private.tier_changes c where c.user_id = s.user_id), s.updated_at) as since,
  pr.subscription_tier as profile_tier,
  s.tier as subscription_tier,
  s.status as subscription_status,
  s.ended_reason
from public.subscriptions s
left join public.profiles pr on pr.user_id = s.user_id
where coalesce(pr.subscription_tier, 'free') <> case when s.status = 'active' then s.tier else 'free' end
  -- Activated for a period that is over, it gives no access until it is charged.
  and (
    s.status = 'active'
    and s.current_period_end <= (select private.clock())
    and coalesce(pr.subscription_tier, 'free') = 'free'
  ) is not true;
comment on view private.tier_mismatch is
  'Profiles with another tier than the active subscription''s, or with a tier though the subscription has ended. '
  'Look at private.explain_user(user_id) for who wrote it, then set the profile''s tier. A report: reads every '
  'subscription and its profile.';
