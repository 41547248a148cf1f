-- Grants, subscription rows written by hand, and the view of all sources of access. A source gives a user a tier from a
-- start to an end. private.settle_access decides which source rules.

create table private.grants (
  id bigint generated always as identity primary key,
  user_id uuid not null constraint grants_user_id_fkey references auth.users (id) on delete cascade,
  tier text not null,
  until timestamptz not null,
  reason text,
  at timestamptz not null default private.clock(),
  cancel_at_period_end boolean not null default false,
  ended_at timestamptz,
  ended_reason text
);
alter table private.grants enable row level security;
grant select, update on private.grants to service_role;
create index grants_user_id_idx on private.grants (user_id);
comment on table private.grants is 'Complimentary tiers: access that was granted without a payment.';
comment on column private.grants.ended_reason is 'revoked: by an admin. cancelled: by the user.';

create table private.manual_subscriptions (
  user_id uuid primary key constraint manual_subscriptions_user_id_fkey references auth.users (id) on delete cascade,
  plan_id uuid,
  tier text not null,
  status text not null,
  period_start timestamptz,
  period_end timestamptz,
  gateway_subscription_id text,
  cancel_at_period_end boolean not null,
  ended_at timestamptz,
  ended_reason text,
  at timestamptz not null
);
alter table private.manual_subscriptions enable row level security;
grant select, update on private.manual_subscriptions to service_role;
comment on table private.manual_subscriptions is
  'The rows of public.subscriptions as they were last written by hand: in Studio, by an import or by the app. A fact that '
  'arrives later ranks above such a row.';

-- Records a row that was written by hand, so that private.settle_access does not overwrite it.
-- Security definer: the role of an admin or of the app may write subscriptions but not this table.
create function private.record_manual_subscription()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  if tg_op = 'UPDATE' and new.updated_at is not distinct from old.updated_at then
    new.updated_at := private.clock();
  end if;
  -- A purchase ranks after updated_at. A time in the future would rank the next purchase above acts that follow it.
  new.updated_at := least(new.updated_at, private.clock());
  insert into private.manual_subscriptions as m (
    user_id, plan_id, tier, status, period_start, period_end, gateway_subscription_id, cancel_at_period_end,
    ended_at, ended_reason, at
  )
  values (
    new.user_id, new.plan_id, new.tier, new.status, new.current_period_start, new.current_period_end,
    new.gateway_subscription_id, new.cancel_at_period_end,
    case when new.status = 'cancelled' then coalesce(new.cancelled_at, private.clock()) end,
    new.ended_reason, private.clock()
  )
  on conflict (user_id) do update
  set plan_id = excluded.plan_id,
    tier = excluded.tier,
    status = excluded.status,
    period_start = excluded.period_start,
    period_end = excluded.period_end,
    gateway_subscription_id = excluded.gateway_subscription_id,
    cancel_at_period_end = excluded.cancel_at_period_end,
    ended_at = excluded.ended_at,
    ended_reason = excluded.ended_reason,
    at = excluded.at;
  -- A subscription in the mirror is reconciled, and is cancelled at the gateway when another source replaces it.
  if new.gateway_subscription_id is not null then
    insert into private.gateway_subscriptions as g (
      user_id, gateway_subscription_id, period_start, period_end, next_check_at
    )
    values (
      new.user_id, new.gateway_subscription_id, new.current_period_start, new.current_period_end,
      new.current_period_end - interval '1 day'
    )
    on conflict (user_id, gateway_subscription_id) do update
    set period_start = excluded.period_start,
      period_end = excluded.period_end,
      next_check_at = excluded.next_check_at
    where g.arrived_at is null;
  end if;
  return new;
end
$$;

create trigger record_manual_subscription
before update on public.subscriptions
for each row
when (new.revision = old.revision)
execute function private.record_manual_subscription();

create trigger record_manual_subscription_insert
before insert on public.subscriptions
for each row
when (new.revision = 0)
execute function private.record_manual_subscription();

create view private.sources
with (security_invoker = true)
as
select
  p.user_id,
  'payment' as kind,
  p.id::text as id,
  p.plan_id,
  p.tier,
  coalesce(p.chain_start, p.period_start) as starts_at,
  p.period_end as ends_at,
  p.period_end + make_interval(days => case when p.cancel_at_period_end then 0 else coalesce(pl.grace_days, 3) end)
    as lapses_at,
  -- An import by the app may leave since empty.
  coalesce(p.since, p.fulfilled_at) as since,
  greatest(p.fulfilled_at, p.verified_at) as arrived_at,
  p.ended_at,
  p.ended_reason,
  p.cancel_at_period_end,
  null::text as gateway_subscription_id
from public.payments p
left join public.plans pl on pl.id = p.plan_id
where p.fulfilled_at is not null
union all
select
  m.user_id,
  'gateway_subscription',
  m.gateway_subscription_id,
  m.plan_id,
  pl.tier,
  least(m.period_start, m.paid_until),
  coalesce(m.paid_until, m.period_end),
  case
    -- A refunded cycle ends at once.
    when m.paid_until is not null then m.paid_until
    -- A subscription that the gateway bills runs until a reconciliation after its period finds no further cycle.
    when m.checked_at > m.period_end + make_interval(days => greatest(grace.days - 1, 0))
      then m.period_end + make_interval(days => grace.days)
    else 'infinity'
  end,
  coalesce(m.activated_at, m.first_charged_at, m.arrived_at),
  m.arrived_at,
  case when m.status = 'cancelled' then m.cancelled_at else m.ended_at end,
  case when m.status = 'cancelled' then 'cancelled' when m.paid_until is not null then 'refunded' else m.ended_reason end,
  m.cancel_at_period_end,
  nullif(m.gateway_subscription_id, '')
from private.gateway_subscriptions m
join public.plans pl on pl.id = m.plan_id
cross join lateral (select case when m.cancel_at_period_end then 0 else pl.grace_days end as days) grace
where m.period_end is not null
union all
select
  g.user_id,
  'grant',
  g.id::text,
  pl.id,
  g.tier,
  g.at,
  g.until,
  g.until + make_interval(days => case when g.cancel_at_period_end then 0 else coalesce(pl.grace_days, 3) end),
  g.at,
  g.at,
  g.ended_at,
  g.ended_reason,
  g.cancel_at_period_end,
  null
from private.grants g
left join public.plans pl on pl.tier = g.tier
union all
select
  w.user_id,
  'manual',
  w.user_id::text,
  w.plan_id,
  w.tier,
  w.period_start,
  w.period_end,
  case
    when w.gateway_subscription_id is not null
      and (m.checked_at > w.period_end + make_interval(days => greatest(grace.days - 1, 0))) is not true
      then 'infinity'
    else coalesce(w.period_end + make_interval(days => grace.days), 'infinity')
  end,
  w.at,
  w.at,
  case when m.status = 'cancelled' and m.cancelled_arrived_at >= w.at then m.cancelled_at else w.ended_at end,
  case when m.status = 'cancelled' and m.cancelled_arrived_at >= w.at then 'cancelled' else w.ended_reason end,
  w.cancel_at_period_end,
  w.gateway_subscription_id
from private.manual_subscriptions w
left join public.plans pl on pl.id = w.plan_id
cross join lateral (
  select case when w.cancel_at_period_end then 0 else coalesce(pl.grace_days, 3) end as days
) grace
left join private.gateway_subscriptions m
  on m.user_id = w.user_id
  and m.gateway_subscription_id = w.gateway_subscription_id
-- Skips rows whose gateway subscription is itself a source with newer facts.
where (m.plan_id is not null and m.period_end is not null and m.arrived_at >= w.at) is not true;
grant select on private.sources to service_role;
comment on view private.sources is
  'All sources of access, also those that have ended. A source runs until ended_at or lapses_at. The running source with '
  'the greatest since rules. lapses_at is ends_at plus the days of grace, or infinity until the gateway was read.';
