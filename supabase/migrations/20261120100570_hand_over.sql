-- What else a user paid for: when the payment that carries a subscription gives out, another one takes over.
-- Depends on: _fulfil_payment.

create view private.paid_periods
with (security_invoker = true)
as
select
  p.id as payment_id,
  p.user_id,
  p.tier,
  pl.id as plan_id,
  p.period_start,
  p.period_end,
  p.period_end + make_interval(days => coalesce(pl.grace_days, 3)) as grace_end,
  p.fulfilled_at
from public.payments p
left join public.plans pl on pl.tier = p.tier
where p.fulfilled_at is not null
  and (p.refunded_amount < p.amount or p.amount = 0);
revoke all on private.paid_periods from public;
grant select on private.paid_periods to service_role;
comment on view private.paid_periods is 'What each payment bought that granted its tier and was not given back in full.';

-- Lets another payment carry a subscription. The caller holds the lock on the subscription.
create function private.hand_over(
  p_subscription_id uuid,
  p_heir private.paid_periods,
  p_email text -- of the user
)
returns void
language plpgsql
set search_path = ''
as $$
begin
  update public.subscriptions s
  set tier = p_heir.tier,
    plan_id = coalesce(p_heir.plan_id, s.plan_id),
    -- An heir that only adds to a period begins in the future.
    current_period_start = least(p_heir.period_start, s.current_period_start),
    current_period_end = p_heir.period_end
  where s.id = p_subscription_id;
  perform private.set_tier(p_heir.user_id, p_heir.tier, p_email);
end
$$;
revoke execute on function private.hand_over(uuid, private.paid_periods, text) from public;
grant execute on function private.hand_over(uuid, private.paid_periods, text) to service_role;
