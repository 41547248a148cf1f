-- The subscription, tier and newest payments of a user. SPEC 4, GET /api/subscriptions.
-- API: service_role only.
-- Depends on: _schema, _profiles.

-- json, not jsonb: it is built to be sent, never looked into.
create function public.get_subscription(
  p_user_id uuid
)
returns json -- {subscription, currentTier, payments}: the answer itself
language plpgsql -- which keeps its plan
stable
security invoker
set search_path = ''
set timezone = 'UTC'
as $$
begin
  return row_to_json(answer)
  from (
    select
      (
        select record
        from (
          select
            s.id, s.user_id, s.plan_id, s.tier, s.status, s.current_period_start, s.current_period_end, s.cancelled_at,
            s.cancel_at_period_end, s.ended_reason, s.gateway_subscription_id, s.created_at,
            row_to_json(p) as plan
          from public.subscriptions s
          left join public.plans p on p.id = s.plan_id
          where s.user_id = p_user_id
        ) record
      ) as subscription,
      coalesce(
        (select p.subscription_tier from public.profiles p where p.user_id = p_user_id),
        'free'
      ) as "currentTier",
      array(
        select newest
        from (
          select
            p.id, p.user_id, p.subscription_id, p.amount, p.currency, p.status, p.tier, p.gateway_order_id,
            p.gateway_payment_id, p.gateway_signature, p.meta, p.captured_at, p.confirmed_at, p.fulfilled_at,
            p.period_start, p.period_end, p.refunded_amount, p.dispute_status, p.created_at
          from public.payments p
          where p.user_id = p_user_id
          order by p.created_at desc, p.id desc
          limit 10
        ) newest
      ) as payments
  ) answer;
end
$$;
comment on function public.get_subscription(uuid) is 'A user''s subscription with its plan, current tier and ten newest payments.';
revoke execute on function public.get_subscription(uuid) from public, anon, authenticated;
grant execute on function public.get_subscription(uuid) to service_role;
