-- What is on offer. GET /api/subscriptions/plans.
-- API: service_role only.
-- Depends on: _schema.

create function public.list_plans()
returns jsonb -- {plans}: the answer itself, cheapest first
language sql
stable
security invoker
set search_path = ''
set timezone = 'UTC'
as $$
  select jsonb_build_object('plans', coalesce(jsonb_agg(to_jsonb(p) order by p.price, p.tier), '[]'))
  from public.plans p
  where p.is_active
$$;
comment on function public.list_plans() is 'The plans on offer, cheapest first.';
revoke execute on function public.list_plans() from public, anon, authenticated;
grant execute on function public.list_plans() to service_role;
