-- The subscription, tier and newest payments of a user. SPEC 4, GET /api/subscriptions.
-- API: service_role only.
-- Depends on: _schema, _profiles.

create function public.get_subscription(
  p_user_id uuid
)
returns jsonb -- {subscription, currentTier, payments}: the answer itself
language sql
stable
security invoker
set search_path = ''
set timezone = 'UTC'
as $$
  select jsonb_build_object(
    'subscription', (
      select to_jsonb(s)
        - '{superseded_gateway_subscription_ids, period_event_at, status_event_at, activated_event_at, updated_at}'::text[]
        || jsonb_build_object('plan', to_jsonb(p))
      from public.subscriptions s
      left join public.plans p on p.id = s.plan_id
      where s.user_id = p_user_id
    ),
    'currentTier', coalesce((select p.subscription_tier from public.profiles p where p.user_id = p_user_id), 'free'),
    'payments', coalesce((
      select jsonb_agg(to_jsonb(newest) - 'next_reconcile_at' order by newest.created_at desc, newest.id desc)
      from (
        select p.*
        from public.payments p
        where p.user_id = p_user_id
        order by p.created_at desc, p.id desc
        limit 10
      ) newest
    ), '[]')
  )
$$;
comment on function public.get_subscription(uuid) is 'A user''s subscription with its plan, current tier and ten newest payments.';
revoke execute on function public.get_subscription(uuid) from public, anon, authenticated;
grant execute on function public.get_subscription(uuid) to service_role;
