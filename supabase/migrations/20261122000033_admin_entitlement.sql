-- Findings about the match of payments and tiers: paid without a tier, a tier without a payment, captured without effect,
-- and paid twice. An admin reads them in private.findings.

-- A condition that uses an index calls the clock directly, so that the planner can estimate the rows. Other conditions read
-- the clock in a subquery, once for each query: a call for each row of a large table would dominate the run time.

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
  'Users with a running paid period and without an active subscription, although they did not cancel it. Look at '
  'private.explain_user(user_id). Then call private.grant_tier until period_end, or refund the payment at the gateway: '
  'either ends the finding. The view reads the payments whose period runs.';

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
    -- The sweep runs each minute. The reconciliation of a subscription that the gateway bills may take a day.
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
  'Users with a tier or an active subscription but without a running payment, gateway subscription or grant for it, and '
  'users whose period is long over. Look at private.explain_user(user_id). To keep the tier as a complimentary one, call '
  'private.grant_tier. To end it, set the subscription to cancelled and the profile to free. A report: the view reads every '
  'active subscription and every profile.';

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
  -- A subscription that was activated for a past period gives no access until it is charged.
  and (
    s.status = 'active'
    and s.current_period_end <= (select private.clock())
    and coalesce(pr.subscription_tier, 'free') = 'free'
  ) is not true;
comment on view private.tier_mismatch is
  'Profiles whose tier differs from the tier of the active subscription, and profiles with a tier although the subscription '
  'has ended. private.explain_user(user_id) shows the cause of each tier change. Then set the tier of the profile. A '
  'report: the view reads every subscription and its profile.';

-- Only payments and side effects with a problem are in these indexes, so they stay small.
create index payments_unsettled_idx on public.payments (captured_at)
where uncaptured_at is not null or dispute_status = 'lost' or status = 'captured' and fulfilled_at is null;
create index outbox_parked_at_idx on private.outbox (parked_at)
where parked_at is not null and delivered_at is null;

create view private.captured_not_fulfilled
with (security_invoker = true)
as
select
  p.user_id,
  p.captured_at as since,
  p.id as payment_id,
  p.tier,
  p.amount,
  p.gateway_payment_id,
  case
    when p.user_id is null then 'paid, user gone'
    when (private.plan_bought(p)).id is null then 'no plan of this tier'
    else 'not confirmed with its amount'
  end as reason
from public.payments p
where p.status = 'captured'
  and p.fulfilled_at is null
  and (p.amount = 0 or p.refunded_amount < p.amount);
comment on view private.captured_not_fulfilled is
  'Captured payments that granted no tier, with the reason. "no plan of this tier": add the plan, then call '
  'private.replay_event or verify the payment again. "not confirmed with its amount": look the payment up at the gateway. '
  '"paid, user gone": refund the payment at the gateway.';

create view private.paid_twice
with (security_invoker = true)
as
select
  p.user_id,
  x.created_at as since,
  p.id as payment_id,
  x.gateway_payment_id,
  'a further payment on the order' as reason
from private.extra_payments x
join public.payments p on p.id = x.payment_id
where x.refunded_amount < p.amount
  -- The gateway refunds a payment that was verified but not captured within five days.
  and (x.confirmed_at is not null or x.paid_at > (select private.clock()) - interval '5 days')
union all
select
  p.user_id,
  p.fulfilled_at,
  p.id,
  p.gateway_payment_id,
  case
    when exists (
      select
      from public.payments other
      where other.user_id = p.user_id
        and other.tier = p.tier
        and other.fulfilled_at is not null
        and other.ended_at is null
        and other.period_end > private.clock()
        and (other.fulfilled_at, other.since, other.id) < (p.fulfilled_at, p.since, p.id)
        and other.period_start < p.period_end
        and other.period_end > p.period_start
    ) then 'another payment for the same time'
    when exists (
      select
      from private.sources billed
      where billed.user_id = p.user_id
        and billed.kind = 'gateway_subscription'
        and billed.tier = p.tier
        and billed.ended_at is null
        and billed.ends_at > private.clock()
        and billed.starts_at < p.period_end
        and billed.ends_at > p.period_start
    ) then 'the gateway bills the same time'
    else 'captured after a newer purchase'
  end
from public.payments p
where p.fulfilled_at is not null
  and p.ended_at is null
  and p.period_end > private.clock()
  and (
    exists (
      select
      from public.payments other
      where other.user_id = p.user_id
        and other.id <> p.id
        and other.fulfilled_at is not null
        and other.ended_at is null
        and other.period_end > private.clock()
        and other.period_start < p.period_end
        and other.period_end > p.period_start
        and (
          other.tier = p.tier and (other.fulfilled_at, other.since, other.id) < (p.fulfilled_at, p.since, p.id)
          -- Only a webhook announced this older order, after a newer purchase.
          or p.verified_at is null and other.since > p.since and other.fulfilled_at < p.fulfilled_at
        )
    )
    or exists (
      select
      from private.sources billed
      where billed.user_id = p.user_id
        and billed.kind = 'gateway_subscription'
        and billed.ended_at is null
        and billed.ends_at > private.clock()
        and billed.starts_at < p.period_end
        and billed.ends_at > p.period_start
        and (
          billed.tier = p.tier
          -- Only the first activation counts. A later one, after the payment, changes nothing.
          or p.verified_at is null and exists (
            select
            from private.gateway_subscriptions m
            where m.user_id = p.user_id
              and m.gateway_subscription_id = billed.id
              and least(m.first_activated_at, m.first_charged_at) > p.since
              and least(m.first_activated_at, m.first_charged_at) < p.fulfilled_at
          )
        )
    )
  );
comment on view private.paid_twice is
  'Payments for something that was already paid. "a further payment on the order": refund it at the gateway. The event '
  'refund.processed ends the finding. The other reasons name a payment whose period overlaps another paid period that still '
  'runs: refund the payment, or extend the access with private.grant_tier. The setting early_renewal = extend prevents '
  'overlapping renewals. The view reads the payments whose period runs.';
