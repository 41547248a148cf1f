-- What each user may do: functions for an app's policies and queries. Contract: "Entitlements".

-- For the app's policies and queries. The body has no quotes, so that the function holds the id of the view: its caller may
-- not use schema billing.
create function public.current_tier()
returns text language sql stable set search_path = pg_catalog, pg_temp
return coalesce((select p.subscription_tier from billing.profiles p where p.user_id = (select auth.uid())), 'free');
comment on function public.current_tier is 'The tier of the signed-in user, or free.';

create function public.has_tier(p_tier text)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp
as $$ begin return public.current_tier() = p_tier; end $$;
comment on function public.has_tier is
  'Whether the signed-in user has exactly this tier. In a policy: using ((select public.has_tier(''pro''))).';
revoke execute on function public.current_tier(), public.has_tier(text) from public, anon, service_role;
grant execute on function public.current_tier(), public.has_tier(text) to authenticated;

create view billing.access with (security_invoker = true) as
select
  f.user_id, own.tier, billing.rank_of(p) as rank,
  coalesce(p.entitlements, '{}') || coalesce(s.entitlements, '{}') as entitlements
from billing.profiles f
cross join lateral (select coalesce(f.subscription_tier, 'free') as tier) own
left join public.plans p on p.tier = own.tier and p.lookup_key is null
left join public.subscriptions s on s.user_id = f.user_id and s.status = 'active' and s.tier = own.tier;
comment on view billing.access is
  'What each user may do: the entitlements of the tier''s plan, and over them those of the grant that rules.';
grant select on billing.access to service_role;

-- The access of the signed-in user; all null without a session. In plpgsql: a policy may ask for each row. Security definer:
-- the plan of the tier may be off sale, and policies hide it from the user then.
create function billing.own_access(
  out tier text,
  out entitlements jsonb,
  out tiers text[] -- its own, free, and those of the same rank or a lower one
)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
begin
  select own.tier, own.entitlements, array(
    select p.tier from public.plans p where billing.rank_of(p) <= own.rank union values (own.tier), ('free')
  )
  into own_access.tier, own_access.entitlements, own_access.tiers
  from (select auth.uid()) me (user_id)
  left join billing.access a on a.user_id = me.user_id
  -- A user without a profile.
  left join public.plans free on free.tier = 'free' and free.lookup_key is null and a.user_id is null
  cross join lateral (
    select
      coalesce(a.tier, 'free') as tier,
      coalesce(a.entitlements, free.entitlements, '{}') as entitlements,
      coalesce(a.rank, billing.rank_of(free)) as rank
  ) own
  where me.user_id is not null;
end $$;
grant execute on function billing.own_access to anon, authenticated;

create function public.has_feature(p_feature text)
returns boolean language sql stable set search_path = pg_catalog, pg_temp
return coalesce((
  select case jsonb_typeof(a.entitlements -> p_feature)
    when 'boolean' then (a.entitlements -> p_feature)::boolean
    when 'number' then (a.entitlements -> p_feature)::bigint > 0
    when 'null' then true
  end
  from billing.own_access() a
), false);
comment on function public.has_feature is
  'Whether the tier of the signed-in user has a feature: true, a number above 0, or unlimited. False for an unknown key. In a '
  'policy: using ((select public.has_feature(''reports''))).';

create function public.feature_limit(p_feature text)
returns bigint language sql stable set search_path = pg_catalog, pg_temp
return (
  select case
    when a.entitlements -> p_feature in ('true', 'null') then null
    when jsonb_typeof(a.entitlements -> p_feature) = 'number' then (a.entitlements -> p_feature)::bigint
    else 0
  end
  from billing.own_access() a
);
comment on function public.feature_limit is
  'The number that the tier of the signed-in user has of a feature: 0 where it has none, null where it is unlimited.';

create function public.current_tiers()
returns text[] language sql stable set search_path = pg_catalog, pg_temp
return coalesce((select a.tiers from billing.own_access() a), '{}');
comment on function public.current_tiers is
  'The tiers that the signed-in user has at least: the own one, those of no higher rank, and free. In a policy: using '
  '(required_tier = any ((select public.current_tiers())::text[])).';

create function public.has_tier_at_least(p_tier text)
returns boolean language sql stable set search_path = pg_catalog, pg_temp
return coalesce((select p_tier = any (a.tiers) from billing.own_access() a), false);
comment on function public.has_tier_at_least is 'Whether the signed-in user has this tier or one of a higher rank.';
revoke execute on function public.has_feature, public.feature_limit, public.has_tier_at_least, public.current_tiers
from public, service_role;
grant execute on function public.has_feature, public.feature_limit, public.has_tier_at_least, public.current_tiers
to anon, authenticated;
