-- Who has which tier: the sources of access, the one that rules, and private.settle_access, which writes it.

-- The sources of access: everything that gives a user a tier from a start to an end. Payments and gateway subscriptions
-- are facts; grants and rows written by hand are made by people. private.settle_access decides which source rules.

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
comment on column private.grants.ended_reason is 'revoked by an admin, or cancelled by the user.';

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
  'public.subscriptions as last written by hand: in Studio, by an import, by the app. A fact that arrives later outranks it.';

-- Records what was written by hand, so that settling does not erase it.
-- Security definer: an admin's or the app's own role may write subscriptions without rights here.
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
  -- Purchases rank above what was written before them: a time in the future would rank them above what comes later, too.
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
  -- So that it is reconciled, and cancelled at the gateway when another source replaces it.
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
  -- Null where an import of the app did not set it.
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
    -- A billed subscription goes on until a reconciliation after its end finds no further cycle.
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
-- The mirror has newer facts about that subscription.
where (m.plan_id is not null and m.period_end is not null and m.arrived_at >= w.at) is not true;
grant select on private.sources to service_role;
comment on view private.sources is
  'Everything that gives or gave a user a tier. A source is live until ended_at or lapses_at; the live one with the '
  'greatest since rules. lapses_at: the end plus the days of grace; infinity: the gateway has to be asked first.';

-- Finds the source of access that rules.

create view private.mirrored
with (security_invoker = true)
as
select
  m.user_id,
  count(*) filter (where m.status is distinct from 'cancelled' and m.ended_at is null)::integer as billing,
  count(*) filter (where m.is_replaced)::integer as replaced,
  count(*) filter (where m.plan_id is null or m.period_end is null)::integer as attaching,
  max(m.arrived_at) as newest_at
from private.gateway_subscriptions m
group by m.user_id;
grant select on private.mirrored to service_role;
comment on view private.mirrored is
  'How many gateway subscriptions of a user the gateway bills, is to cancel, and are no sources of access; and when the '
  'newest fact about them arrived.';

-- The ruling source, with what private.settle_access needs beside it.
create type private.ruling as (
  source private.sources,
  is_live boolean,
  is_cut boolean, -- ended by the cancellation of a gateway subscription that attached to it
  billing integer, -- how many gateway subscriptions the gateway still bills
  replaced integer, -- how many of them the gateway is to cancel
  attaching integer -- how many gateway subscriptions are no sources
);

-- The source that rules: the live one with the greatest since; where none is live, the one that ended last.
create function private.find_ruling(
  p_user_id uuid
)
returns private.ruling -- source is null where the user has none
language plpgsql
stable
set search_path = ''
as $$
declare
  v_now constant timestamptz := private.clock();
  v_ruling private.ruling;
begin
  with mirrored as materialized (
    select
      count(*) filter (where m.plan_id is null or m.period_end is null) as attaching,
      count(*) filter (where m.status is distinct from 'cancelled' and m.ended_at is null) as billing,
      count(*) filter (where m.is_replaced) as replaced,
      -- A cancellation without a plan of ours ends what the subscription attached to: what was there when it was
      -- activated, or, where no activation is known, when it was cancelled. A purchase since then goes on.
      max(least(m.activated_at, m.cancelled_at)) filter (where m.plan_id is null and m.status = 'cancelled' and m.activated_at is not null)
        as cut,
      max(m.cancelled_at) filter (where m.plan_id is null and m.status = 'cancelled' and m.activated_at is null)
        as bare_cut,
      max(m.activated_at) filter (where m.plan_id is null) as attached,
      max(m.cancelled_arrived_at) filter (where m.plan_id is null and m.status = 'cancelled' and m.activated_at is not null)
        as cut_arrived,
      max(m.cancelled_arrived_at) filter (where m.plan_id is null and m.status = 'cancelled') as any_cut_arrived
    from private.gateway_subscriptions m
    where m.user_id = p_user_id
  )
  select s, live.is_live, coalesce(cut.is_cut, false), g.billing, g.replaced, g.attaching
  into v_ruling
  from mirrored g
  left join private.manual_subscriptions w on w.user_id = p_user_id
  left join private.sources s on s.user_id = p_user_id
  cross join lateral (
    select
      case s.kind
        when 'manual' then
          case when s.gateway_subscription_id is null then g.any_cut_arrived else g.cut_arrived end >= s.since
        when 'gateway_subscription' then g.cut >= s.since
        else
          coalesce(g.cut >= s.since, false)
          or g.bare_cut >= s.since and (g.attached between s.since and g.bare_cut) is not true
      end as is_cut,
      -- What was written by hand outranks the facts before it, and is outranked by those after it.
      case when w.at is null or s.kind = 'manual' then 1 when s.arrived_at >= w.at then 2 else 0 end as generation
  ) cut
  cross join lateral (
    select
      s.ended_at is null
      and s.lapses_at > v_now
      and cut.is_cut is not true
      and (cut.generation = 0 and w.status = 'cancelled') is not true as is_live
  ) live
  order by
    live.is_live desc,
    cut.generation desc,
    case when live.is_live then s.since else least(s.ended_at, s.lapses_at) end desc,
    s.since desc,
    s.id desc
  limit 1;
  return v_ruling;
end
$$;
grant execute on function private.find_ruling(uuid) to service_role;

-- Gateway subscriptions that are no sources of access: without a plan of ours, or before their first cycle.

-- Attaches a gateway subscription that is no source to the source that rules. Contract: "Gateway subscriptions": activated sets status, id and period
-- of the subscription, charged its period alone.
create function private.attach_gateway_subscription(
  p_ruling private.ruling
)
returns private.ruling
language plpgsql
stable
set search_path = ''
as $$
declare
  v_now constant timestamptz := private.clock();
  v_source private.sources := p_ruling.source;
  v_grace constant integer := coalesce((select p.grace_days from public.plans p where p.id = (p_ruling.source).plan_id), 3);
  v_attached private.gateway_subscriptions;
  v_days integer := v_grace;
  v_end timestamptz;
  v_lapses_at timestamptz;
begin
  select * into v_attached
  from private.gateway_subscriptions m
  where m.user_id = v_source.user_id
    and (m.plan_id is null or m.period_end is null)
    and case when v_source.kind = 'manual' then m.arrived_at else m.activated_at end >= v_source.since
    and m.activated_at is not null
  order by m.activated_at desc, m.gateway_subscription_id desc
  limit 1;
  if found then
    -- Before its first cycle it goes on with what it attaches to, as far as that is paid.
    v_end := coalesce(
      v_attached.period_end,
      case when v_source.ended_reason = 'refunded' then least(v_source.ends_at, v_source.ended_at) else v_source.ends_at end
    );
    if v_attached.cancel_at_period_end or v_source.cancel_at_period_end then
      v_days := 0;
    end if;
    v_lapses_at := case
      when v_end is null then 'infinity'
      -- Before its first cycle nothing more is paid: it is shown as active when it is announced.
      when v_attached.period_end is null
        then greatest(v_end + make_interval(days => v_days), v_attached.arrived_at + interval '1 hour')
      -- Without an id it cannot be reconciled.
      when v_attached.gateway_subscription_id = ''
        then greatest(v_end + make_interval(days => v_days), v_attached.arrived_at + interval '1 hour')
      when v_attached.checked_at > v_end + make_interval(days => greatest(v_days - 1, 0))
        then v_end + make_interval(days => v_days)
      else 'infinity'
    end;
    if v_attached.status = 'active' and v_attached.ended_at is null and v_lapses_at > v_now then
      p_ruling.is_live := true;
    elsif p_ruling.is_live then
      return p_ruling;
    end if;
    v_source.gateway_subscription_id := nullif(v_attached.gateway_subscription_id, '');
    v_source.cancel_at_period_end := v_source.cancel_at_period_end or v_attached.cancel_at_period_end;
    if v_attached.period_end is not null then
      v_source.starts_at := v_attached.period_start;
    end if;
    v_source.ends_at := v_end;
    v_source.lapses_at := v_lapses_at;
    p_ruling.source := v_source;
    return p_ruling;
  end if;

  if v_source.kind = 'gateway_subscription' then
    return p_ruling;
  end if;
  select * into v_attached
  from private.gateway_subscriptions m
  where m.user_id = v_source.user_id
    and m.plan_id is null
    and m.activated_at is null
    and m.period_end is not null
    and (v_source.gateway_subscription_id is null or v_source.gateway_subscription_id = m.gateway_subscription_id)
    and case when v_source.kind = 'manual' then m.arrived_at else m.first_charged_at end >= v_source.since
  order by m.first_charged_at desc, m.gateway_subscription_id desc
  limit 1;
  if not found then
    return p_ruling;
  end if;
  v_lapses_at := v_attached.period_end + make_interval(days => v_grace);
  if v_lapses_at <= v_now then
    -- A period that is over is shown when it is announced. It gives and takes no access.
    if p_ruling.is_live and v_attached.arrived_at <= v_now - interval '1 hour'
      or not p_ruling.is_live and v_source.ends_at > v_attached.period_end
    then
      return p_ruling;
    end if;
    v_lapses_at := v_source.lapses_at;
  elsif v_source.ended_at is null and not p_ruling.is_cut then
    -- A charge after the lapse. A charge undoes no other end.
    p_ruling.is_live := true;
  end if;
  v_source.starts_at := v_attached.period_start;
  v_source.ends_at := v_attached.period_end;
  v_source.lapses_at := v_lapses_at;
  p_ruling.source := v_source;
  return p_ruling;
end
$$;
grant execute on function private.attach_gateway_subscription(private.ruling) to service_role;

-- Who has which tier: private.settle_access ranks a user's sources of access and writes the result. It is the only writer
-- of public.subscriptions and of a profile's tier.

create table private.settle_failures (
  user_id uuid primary key constraint settle_failures_user_id_fkey references auth.users (id) on delete cascade,
  error text not null,
  failed_at timestamptz not null
);
alter table private.settle_failures enable row level security;
comment on table private.settle_failures is
  'Users whose access a scheduled job could not settle: tried again after an hour, so that they hold up no others.';
comment on column private.settle_failures.error is
  'SQLSTATE, such as that of an app''s own trigger on the profile. PS500: the subscription is still live.';

-- Stores why a scheduled job could not settle a user.
create function private.note_settle_failure(
  p_user_id uuid,
  p_sqlstate text
)
returns void
language plpgsql
set search_path = ''
as $$
begin
  insert into private.settle_failures as f (user_id, error, failed_at)
  values (p_user_id, p_sqlstate, private.clock())
  on conflict (user_id) do update
  set error = excluded.error,
    failed_at = excluded.failed_at;
  raise warning 'the access of user % was not settled: %', p_user_id, p_sqlstate;
end
$$;

-- Gives a user a tier where the profile has another one; a missing profile is made.
create function private.set_tier(
  p_user_id uuid,
  p_tier text, -- null: leave it
  p_email text -- of the user, to name a new profile by
)
returns text -- the name to greet the user by; null where there was no profile
language plpgsql
set search_path = ''
as $$
declare
  v_known_tier text;
  v_display_name text;
begin
  select p.subscription_tier, coalesce(nullif(p.display_name, ''), p.username, '')
  into v_known_tier, v_display_name
  from public.profiles p
  where p.user_id = p_user_id;
  if p_tier is null or v_known_tier = p_tier then
    return v_display_name;
  end if;
  if v_display_name is null then
    insert into public.profiles (user_id, subscription_tier, username)
    values (p_user_id, p_tier, private.default_username(p_email))
    on conflict (user_id) do update set subscription_tier = excluded.subscription_tier;
  else
    update public.profiles p set subscription_tier = p_tier where p.user_id = p_user_id;
  end if;
  return v_display_name;
end
$$;
grant execute on function private.set_tier(uuid, text, text) to service_role;

-- When to tell the gateway that a subscription ends with its cycle. It debits the next cycle up to 36 hours before.
create function private.cancellation_time(
  p_period_end timestamptz
)
returns timestamptz
language plpgsql
stable
set search_path = ''
as $$
begin
  return greatest(p_period_end - interval '48 hours', private.clock());
end
$$;
grant execute on function private.cancellation_time(timestamptz) to service_role;

-- Enqueues the cancellation of replaced gateway subscriptions for the end of their cycle: paid time stays, no further
-- cycle is billed. Withdraws it for a subscription that is no longer replaced.
create function private.settle_cancellations(
  p_ruling private.ruling
)
returns boolean -- whether the ruling gateway subscription ends with its cycle, since the gateway was told already
language plpgsql
set search_path = ''
as $$
declare
  v_ruling constant private.sources := p_ruling.source;
  v_newest private.sources := v_ruling;
  v_is_charge_alone boolean;
  v_is_replaced boolean;
  v_other private.gateway_subscriptions;
  v_ends boolean := false;
begin
  if not (p_ruling.is_live or p_ruling.is_cut) then
    v_newest := null;
  elsif v_ruling.kind in ('grant', 'manual') and v_ruling.gateway_subscription_id is null then
    -- A grant stops no billing, but a purchase below it does.
    v_newest := null;
    select s.* into v_newest
    from private.sources s
    where s.user_id = v_ruling.user_id
      and s.kind in ('payment', 'gateway_subscription')
      and s.ended_at is null
      and s.lapses_at > private.clock()
    order by s.since desc, s.id desc
    limit 1;
  end if;
  select m.activated_at is null into v_is_charge_alone
  from private.gateway_subscriptions m
  where m.user_id = v_newest.user_id
    and m.gateway_subscription_id = v_newest.gateway_subscription_id;

  for v_other in
    select m.*
    from private.gateway_subscriptions m
    where m.user_id = v_ruling.user_id
      and m.gateway_subscription_id <> ''
      and m.status is distinct from 'cancelled'
      and m.ended_at is null
      -- Known only from a row that was written by hand, and that row rules.
      and (m.arrived_at is not null or v_ruling.kind <> 'manual')
    order by m.gateway_subscription_id
  loop
    v_is_replaced := v_newest.id is not null
      and v_other.gateway_subscription_id is distinct from v_newest.gateway_subscription_id
      and (
        v_newest.id = v_ruling.id
        or coalesce(v_other.activated_at, v_other.first_charged_at, v_other.arrived_at) < v_newest.since
      );
    continue when v_is_replaced = v_other.is_replaced
      -- One that is known by its charges alone may turn out to be the older or the newer one.
      or v_is_charge_alone is true and v_other.gateway_subscription_id <> v_newest.gateway_subscription_id
      or v_is_charge_alone is not null and v_other.activated_at is null;

    if v_is_replaced then
      perform private.enqueue_cancellation(
        v_other.gateway_subscription_id,
        coalesce(v_other.period_end > private.clock(), false)
      );
    elsif not private.withdraw_cancellation(v_other.gateway_subscription_id, 'it rules again') then
      v_other.cancel_at_period_end := true;
      v_ends := v_ends or v_other.gateway_subscription_id is not distinct from v_ruling.gateway_subscription_id;
    elsif v_other.cancel_at_period_end then
      perform private.enqueue_cancellation(
        v_other.gateway_subscription_id,
        true,
        private.cancellation_time(v_other.period_end)
      );
    end if;
    update private.gateway_subscriptions m
    set is_replaced = v_is_replaced,
      cancel_at_period_end = v_other.cancel_at_period_end
    where m.user_id = v_other.user_id
      and m.gateway_subscription_id = v_other.gateway_subscription_id;
  end loop;
  return v_ends;
end
$$;
grant execute on function private.settle_cancellations(private.ruling) to service_role;

-- Writes the ruling source to the subscription and the tier, and enqueues the side effects. It writes only what differs. The
-- caller holds the lock on the user.
create function private.settle_access(
  p_user_id uuid,
  p_email text, -- of the user; null: mails nothing, names a new profile by no address
  p_new_source_id text default null, -- just made: if it rules, the tier is written also where the profile has it already
  p_is_cancelled boolean default false, -- subscription.cancelled: without a live source the profile becomes free
  p_subscription_id uuid default null, -- of a new subscription
  p_mail jsonb default null, -- payload of the success mail of the new source, to a user who has a profile
  p_ruling private.ruling default null, -- where the caller knows what rules
  p_before public.subscriptions default null -- as the caller locked it
)
returns boolean -- whether the subscription changed; null: the user has none
language plpgsql
set search_path = ''
as $$
declare
  v_now constant timestamptz := private.clock();
  v_ruling private.ruling := p_ruling;
  v_source private.sources;
  v_before public.subscriptions := p_before;
  v_reason text; -- why the last source ended
  v_cancelled_at timestamptz;
  v_has_access boolean;
  v_tier text;
  v_display_name text;
  v_is_changed boolean := false;
  v_ended_at text;
begin
  if v_ruling.is_live is null then
    v_ruling := private.find_ruling(p_user_id);
  end if;
  if (v_ruling.source).id is not null then
    if v_ruling.attaching > 0 then
      v_ruling := private.attach_gateway_subscription(v_ruling);
    end if;
    v_source := v_ruling.source;
    if (
        v_ruling.replaced > 0
        or (v_ruling.is_live or v_ruling.is_cut)
          and v_ruling.billing > (v_ruling.is_live and v_source.gateway_subscription_id is not null)::integer
      )
      and private.settle_cancellations(v_ruling)
    then
      v_source.cancel_at_period_end := true;
    end if;

    if v_before.id is null then
      select * into v_before from public.subscriptions s where s.user_id = p_user_id for update;
    end if;
    if not v_ruling.is_live then
      v_reason := case
        when v_ruling.is_cut then 'cancelled'
        when v_source.ended_at is not null then v_source.ended_reason
        else coalesce(v_source.ended_reason, 'lapsed')
      end;
      v_cancelled_at := case
        when v_before.status = 'cancelled' and v_before.cancelled_at is not null then v_before.cancelled_at
        when v_reason = 'lapsed' then v_source.ends_at
        else v_now
      end;
    end if;

    if v_before.id is null then
      insert into public.subscriptions (
        id, user_id, plan_id, tier, status, current_period_start, current_period_end, cancelled_at,
        cancel_at_period_end, ended_reason, gateway_subscription_id, revision, created_at, updated_at
      )
      values (
        coalesce(p_subscription_id, gen_random_uuid()), p_user_id, v_source.plan_id, v_source.tier,
        case when v_ruling.is_live then 'active' else 'cancelled' end,
        v_source.starts_at, v_source.ends_at, v_cancelled_at, v_source.cancel_at_period_end, v_reason,
        v_source.gateway_subscription_id, 1, v_now, greatest(v_now, v_source.since)
      );
      v_is_changed := true;
    else
      update public.subscriptions s
      set plan_id = v_source.plan_id,
        tier = v_source.tier,
        status = case when v_ruling.is_live then 'active' else 'cancelled' end,
        current_period_start = v_source.starts_at,
        current_period_end = v_source.ends_at,
        cancelled_at = v_cancelled_at,
        cancel_at_period_end = v_source.cancel_at_period_end,
        ended_reason = v_reason,
        gateway_subscription_id = v_source.gateway_subscription_id,
        revision = s.revision + 1,
        updated_at = greatest(v_now, v_source.since)
      where s.id = v_before.id
        and (
          -- updated_at lies after every since that is known: by it a purchase knows that it is the newest act.
          s.updated_at < v_source.since
          or (
            s.plan_id, s.tier, s.status = 'active', s.current_period_start, s.current_period_end,
            s.cancelled_at, s.cancel_at_period_end, s.ended_reason, s.gateway_subscription_id
          ) is distinct from (
            v_source.plan_id, v_source.tier, v_ruling.is_live, v_source.starts_at, v_source.ends_at,
            v_cancelled_at, v_source.cancel_at_period_end, v_reason, v_source.gateway_subscription_id
          )
        );
      v_is_changed := found;
    end if;
  end if;

  -- The profile is written on a transition alone: a charge leaves one that was edited by hand as it is.
  v_has_access := v_ruling.is_live;
  if v_has_access and v_source.ends_at <= v_now then
    -- Live until the gateway was asked, or shown as active for a while. That keeps a tier, and gives it again where a refund
    -- failed; after the days of grace it gives no new one.
    v_has_access := v_source.ended_at is null
      and v_source.ends_at
        + make_interval(days => coalesce((select p.grace_days from public.plans p where p.id = v_source.plan_id), 3)) > v_now
      or v_source.kind = 'gateway_subscription' and exists (
        select
        from private.gateway_subscriptions m
        where m.user_id = p_user_id
          and m.gateway_subscription_id = v_source.gateway_subscription_id
          and m.has_refunds
      );
  end if;
  if v_ruling.is_live then
    if v_source.id = p_new_source_id
      or v_has_access and (v_before.status = 'active' and v_before.current_period_end > v_now) is not true
      or v_before.status = 'active' and v_before.tier <> v_source.tier
    then
      v_tier := v_source.tier;
    elsif not v_has_access and v_source.ended_reason = 'refunded' and v_before.current_period_end > v_now then
      v_tier := 'free';
    end if;
  elsif p_is_cancelled or v_source.id is not null and v_before.id is null or v_before.status = 'active' then
    v_tier := 'free';
  end if;
  if v_before.status = 'active' and not v_ruling.is_live then
    v_ended_at := private.iso_time(case when v_reason = 'lapsed' then v_source.ends_at else v_now end);
  end if;
  if v_tier is null and p_mail is null and v_ended_at is null then
    return case when v_source.id is not null then v_is_changed end;
  end if;

  v_display_name := private.set_tier(p_user_id, v_tier, p_email);
  insert into private.outbox (key, destination, kind, payload, created_at, queued_at, next_attempt_at)
  select effect.key, effect.destination, effect.kind, effect.payload, v_now, v_now, v_now
  from (
    select private.revalidation_key(), 'revalidation', 'revalidation',
      '{"paths": ["/subscription", "/pricing", "/analytics", "/dashboard"]}'::jsonb
    where v_tier is not null
      and current_setting('subscriptions.request', true) = 'on'
    union all
    select 'payment-success/' || p_new_source_id, 'email', 'payment-success',
      p_mail || jsonb_build_object('to', p_email, 'display_name', v_display_name)
    where p_mail is not null
      and v_display_name is not null
      and p_email <> ''
  ) effect (key, destination, kind, payload)
  on conflict (key) do nothing;
  if v_ended_at is not null and v_display_name is not null and p_email <> '' then
    perform private.enqueue(
      format('subscription-ended/%s/%s', v_before.id, v_ended_at),
      'notice',
      'subscription-ended',
      jsonb_build_object(
        'to', p_email,
        'display_name', v_display_name,
        'plan_name', coalesce((select p.name from public.plans p where p.id = v_source.plan_id), v_source.tier),
        'ends_at', v_ended_at
      )
    );
  end if;
  return case when v_source.id is not null then v_is_changed end;
end
$$;
grant execute on function private.settle_access(uuid, text, text, boolean, uuid, jsonb, private.ruling, public.subscriptions) to service_role;
