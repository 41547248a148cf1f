-- Findings about credits, and the findings about payments without the purchases that another purchase replaced.
-- Operations: "Findings".

create view private.unearned_credits
with (security_invoker = true)
as
select
  p.user_id,
  p.fulfilled_at as since,
  p.id as payment_id,
  p.gateway_payment_id,
  p.credit,
  p.credited_kind,
  p.credited_id,
  case
    when twice.is_second then 'another payment has the same credit'
    when paid.is_refunded then 'the credited payment was refunded'
    else 'paid more than a day after the order'
  end as reason
from public.payments p
join private.replacements r on r.payment_id = p.id
cross join lateral (
  select exists (
    select
    from private.replacements first
    where first.id = r.id
      and first.kind = r.kind
      and first.user_id = r.user_id
      and (r.kind = 'payment' or first.until = r.until)
      and (first.fulfilled_at, first.since, first.payment_id) < (r.fulfilled_at, r.since, r.payment_id)
  ) as is_second
) twice
cross join lateral (
  select private.paid_for(r.user_id, r.kind, r.id, r.until) < p.credited_amount as is_refunded
) paid
where p.credited_id is not null
  and p.user_id is not null
  and p.period_end > private.clock()
  and (twice.is_second or paid.is_refunded or p.fulfilled_at > p.created_at + interval '1 day');
comment on view private.unearned_credits is
  'Payments whose credit was not covered when they were fulfilled: two orders credited the same time, the credited payment '
  'was refunded or never captured, or the customer used the credited time before paying. The payment gives its tier, because '
  'an order is what was sold. Refund the payment at the gateway, or accept the loss: the finding ends with the period.';

create or replace view private.paid_not_entitled
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
    -- Its period has begun, and no purchase replaced it.
    and (p.starts = 'after_current' and p.period_start > private.clock()) is not true
    and not exists (select from private.replacements r where r.kind = 'payment' and r.id = p.id::text)
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

-- The payments that are sources of access of their own: without those that another purchase replaced.
create view private.purchases
with (security_invoker = true)
as
select
  p.id, p.user_id, p.tier, p.gateway_payment_id, p.verified_at, p.fulfilled_at, p.period_start, p.period_end, p.since,
  p.ended_at
from public.payments p
where not exists (select from private.replacements r where r.kind = 'payment' and r.id = p.id::text);
comment on view private.purchases is 'The payments without those whose unused time another purchase credited.';

create or replace view private.paid_twice
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
      from private.purchases other
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
from private.purchases p
where p.fulfilled_at is not null
  and p.ended_at is null
  and p.period_end > private.clock()
  and (
    exists (
      select
      from private.purchases other
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

revoke execute on all functions in schema private from public;
