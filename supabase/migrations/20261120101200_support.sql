-- For an admin: a tier on the house, and why a user has the tier that they have.
-- Depends on: _fulfil_payment, _gateway_events, _tier_changes.

create table private.grants (
  id bigint generated always as identity primary key,
  user_id uuid not null constraint grants_user_id_fkey references auth.users (id) on delete cascade,
  tier text not null,
  until timestamptz not null,
  reason text,
  at timestamptz not null default private.clock()
);
alter table private.grants enable row level security;
revoke all on private.grants from public;
create index grants_user_id_idx on private.grants (user_id);
comment on table private.grants is 'Tiers on the house: what of a user''s access nobody paid for.';

-- Grants a tier without a payment, until a given time. Never shortens what was paid.
create function private.grant_tier(
  p_user_id uuid,
  p_tier text,
  p_until timestamptz,
  p_reason text
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_email text;
begin
  select u.email into v_email from private.find_user(p_user_id, true) u;
  if not found then
    raise exception 'no such user' using errcode = 'PS404';
  end if;
  if p_until is null or p_until <= private.clock() then
    raise exception 'the end of a grant lies in the future' using errcode = 'PS400';
  end if;
  perform from public.subscriptions s
  where s.user_id = p_user_id
    and s.status = 'active'
    and s.tier <> p_tier
    and s.current_period_end > p_until;
  if found then
    raise exception 'the user has another tier for longer' using errcode = 'PS409';
  end if;
  perform private.note_cause('grant', p_reason);
  insert into private.grants (user_id, tier, until, reason)
  values (p_user_id, p_tier, p_until, p_reason);
  insert into public.subscriptions as s (user_id, plan_id, tier, status, current_period_start, current_period_end)
  values (
    p_user_id,
    (select p.id from public.plans p where p.tier = p_tier),
    p_tier,
    'active',
    date_trunc('milliseconds', private.clock()),
    date_trunc('milliseconds', p_until)
  )
  on conflict (user_id) do update
  set plan_id = excluded.plan_id,
    tier = excluded.tier,
    status = excluded.status,
    current_period_start = excluded.current_period_start,
    current_period_end = greatest(
      excluded.current_period_end,
      case when s.status = 'active' and s.tier = excluded.tier then s.current_period_end end
    ),
    cancelled_at = null,
    ended_reason = null,
    -- What the gateway bills never lapses: one that it bills no more must not carry the grant, nor end it by a late event.
    gateway_subscription_id = case when s.status = 'active' then s.gateway_subscription_id end,
    superseded_gateway_subscription_ids = case
      when s.status = 'active' or s.gateway_subscription_id is null then s.superseded_gateway_subscription_ids
      else s.superseded_gateway_subscription_ids || s.gateway_subscription_id
    end;
  perform private.set_tier(p_user_id, p_tier, v_email);
end
$$;
revoke execute on function private.grant_tier(uuid, text, timestamptz, text) from public;

-- What made a user's tier what it is, oldest first.
create function private.explain_user(
  p_user_id uuid
)
returns table (at timestamptz, what text, reference text, detail jsonb)
language sql
stable
set search_path = ''
as $$
  select line.at, line.what, line.reference, line.detail
  from (
    select
      1 as rank,
      0 as id,
      p.created_at as at,
      'payment created' as what,
      p.gateway_order_id as reference,
      jsonb_build_object('amount', p.amount, 'tier', private.tier_bought(p)) as detail
    from public.payments p
    where p.user_id = p_user_id
    union all
    select
      2,
      0,
      e.received_at,
      e.event,
      e.subject_id,
      jsonb_build_object('outcome', e.outcome, 'deliveries', e.deliveries, 'created_at', private.event_time(e.payload))
    from private.gateway_events e
    where e.subject_id in (
      select p.gateway_order_id from public.payments p where p.user_id = p_user_id
      union all
      select s.gateway_subscription_id from public.subscriptions s where s.user_id = p_user_id
      union all
      select unnest(s.superseded_gateway_subscription_ids) from public.subscriptions s where s.user_id = p_user_id
    )
    union all
    select
      3,
      0,
      p.fulfilled_at,
      'payment fulfilled',
      p.gateway_payment_id,
      jsonb_build_object('tier', p.tier, 'period_end', p.period_end, 'refunded_amount', p.refunded_amount)
    from public.payments p
    where p.user_id = p_user_id
      and p.fulfilled_at is not null
    union all
    select
      4,
      g.id,
      g.at,
      'tier granted',
      g.reason,
      jsonb_build_object('tier', g.tier, 'until', g.until)
    from private.grants g
    where g.user_id = p_user_id
    union all
    select
      5,
      c.id,
      c.at,
      'tier ' || coalesce(c.from_tier, 'none') || ' to ' || coalesce(c.to_tier, 'none'),
      c.reference,
      jsonb_build_object('cause', c.cause)
    from private.tier_changes c
    where c.user_id = p_user_id
  ) line
  -- What one transaction did has one time: cause before effect.
  order by line.at, line.rank, line.id, line.reference
$$;
revoke execute on function private.explain_user(uuid) from public;
