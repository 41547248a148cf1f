-- What gives a user a tier from a start to an end, and which of it rules. billing.settle_access writes the result.
-- Contract: "Several sources", "Start and credit".

select billing.lock_users();

create table billing.grants (
  id bigint generated always as identity primary key,
  user_id uuid not null constraint grants_user_id_fkey references auth.users (id) on delete cascade,
  tier text not null,
  until timestamptz not null,
  reason text,
  at timestamptz not null default billing.clock(),
  cancel_at_period_end boolean not null default false,
  ended_at timestamptz,
  ended_reason text, -- revoked: by an admin. cancelled: by the user
  entitlements jsonb constraint grants_entitlements_check check (billing.are_entitlements(entitlements))
);
alter table billing.grants enable row level security;
grant select, update on billing.grants to service_role;
create index grants_user_id_idx on billing.grants (user_id);
comment on table billing.grants is 'Complimentary tiers: access that was granted without a payment.';

create table billing.manual_subscriptions (
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
  at timestamptz not null,
  entitlements jsonb
);
alter table billing.manual_subscriptions enable row level security;
grant select, update on billing.manual_subscriptions to service_role;
comment on table billing.manual_subscriptions is
  'The rows of public.subscriptions as they were last written by hand: in Studio, by an import or by the app. A fact that '
  'arrives later ranks above such a row.';

-- A gateway subscription is of one user: of who asked for it here, or is named by an active row. Its charges would go to one
-- of two, and both pages would show the next one. Security definer: as below.
create function billing.refuse_second_owner(p_user_id uuid, p_gateway_subscription_id text)
returns void language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_owner_id uuid;
begin
  select m.user_id into v_owner_id
  from billing.gateway_subscriptions m
  where m.gateway_subscription_id = p_gateway_subscription_id
    and m.user_id <> p_user_id
    and exists (select from billing.find_user(m.user_id))
    and (
      m.asked_plan_id is not null
      or exists (
        select from public.subscriptions s
        where (s.user_id, s.gateway_subscription_id, s.status) = (m.user_id, m.gateway_subscription_id, 'active')
      )
    )
  limit 1;
  if found then
    raise exception '% is the gateway subscription of the user %', p_gateway_subscription_id, v_owner_id
      using errcode = 'unique_violation', hint = 'Clear it in the row of that user first.';
  end if;
end $$;

-- Records a row that was written by hand, so that billing.settle_access does not overwrite it.
-- Security definer: the role of an admin or of the app may write subscriptions but not this table.
create function billing.record_manual_subscription()
returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  -- Of an insert all of old is null.
  -- A write of due_at alone, or of nothing, is one of the sweep.
  if to_jsonb(new) - 'due_at' = to_jsonb(old) - 'due_at' then return new; end if;
  -- This insert writes no row: it fails, or has an "on conflict" clause.
  if tg_op = 'INSERT' and exists (select from public.subscriptions s where s.user_id = new.user_id) then return new; end if;
  if new.gateway_subscription_id <> '' and new.gateway_subscription_id is distinct from old.gateway_subscription_id then
    perform billing.refuse_second_owner(new.user_id, new.gateway_subscription_id);
  end if;
  if new.updated_at = old.updated_at then new.updated_at := billing.clock(); end if;
  -- A row that was written by hand was not sold by a price.
  select null, null, null, null into new.price_key, new.price_amount, new.currency, new.duration_months;
  -- The entitlements of what ruled before are not those of another plan.
  if (new.tier, new.plan_id) is distinct from (old.tier, old.plan_id) and new.entitlements = old.entitlements then
    new.entitlements := null;
  end if;
  -- A purchase ranks after updated_at. A time in the future would rank the next purchase above acts that follow it.
  new.updated_at := least(new.updated_at, billing.clock());
  new.due_at := case when new.status = 'active' then least(new.due_at, billing.clock()) else billing.next_start(new.user_id) end;
  delete from billing.manual_subscriptions w where w.user_id = new.user_id;
  insert into billing.manual_subscriptions (
    user_id, plan_id, tier, status, period_start, period_end, gateway_subscription_id, cancel_at_period_end,
    ended_at, ended_reason, at, entitlements
  )
  values (
    new.user_id, new.plan_id, new.tier, new.status, new.current_period_start, new.current_period_end,
    new.gateway_subscription_id, new.cancel_at_period_end,
    case when new.status = 'cancelled' then coalesce(new.cancelled_at, billing.clock()) end,
    new.ended_reason, billing.clock(), new.entitlements
  );
  -- A subscription in the mirror is reconciled, and is cancelled at the gateway when another source replaces it.
  if new.gateway_subscription_id is not null then
    insert into billing.gateway_subscriptions as g (
      user_id, gateway_subscription_id, period_start, period_end, next_check_at, asked_at, written_at
    )
    values (
      new.user_id, new.gateway_subscription_id, new.current_period_start, new.current_period_end,
      -- Of a row without an end the gateway knows it.
      coalesce(new.current_period_end - interval '1 day', billing.clock()), billing.clock(), billing.clock()
    )
    on conflict (user_id, gateway_subscription_id) do update
    set written_at = case
        -- A longer period alone is no act of the customer.
        when new.gateway_subscription_id = old.gateway_subscription_id then g.written_at
        else excluded.written_at
      end,
      (period_start, period_end, next_check_at) = (
        select
          case when known.is_kept then g.period_start else excluded.period_start end,
          case when known.is_kept then g.period_end else excluded.period_end end,
          case when known.is_kept then g.next_check_at else excluded.next_check_at end
        from (
          -- Nor does the gateway charge later for it.
          select g.arrived_at is not null or (g.period_end between billing.clock() and excluded.period_end) is true as is_kept
        ) known
      );
  end if;
  return new;
end $$;

create trigger record_manual_subscription
before update on public.subscriptions
for each row
when (new.revision = old.revision)
execute function billing.record_manual_subscription();

create trigger record_manual_subscription_insert
before insert on public.subscriptions
for each row
when (new.revision = 0)
execute function billing.record_manual_subscription();

create table billing.wishes (
  id bigint generated always as identity primary key,
  user_id uuid not null constraint wishes_user_id_fkey references auth.users (id) on delete cascade,
  at timestamptz not null default billing.clock(),
  at_period_end boolean not null, -- false: at once
  withdrawn_at timestamptz -- when the user resumed. A wish to cancel at once is final
);
alter table billing.wishes enable row level security;
grant select, insert, update on billing.wishes to service_role;
create index wishes_user_id_idx on billing.wishes (user_id);
comment on table billing.wishes is
  'What users asked to be cancelled. A wish covers everything that the gateway bills or may bill for the user and that was '
  'asked for before it, whatever gives access at that time.';

-- Returns when the first wish that covers a gateway subscription was made: what was asked for before it, also if the customer
-- authorised it later.
create function billing.cancelled_by_user_at(p_user_id uuid, p_asked_at timestamptz)
returns timestamptz -- null: none
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return (
    select min(w.at)
    from billing.wishes w
    where w.user_id = p_user_id and w.at >= p_asked_at and w.withdrawn_at is null
  );
end $$;

-- When each customer last cancelled for the end of the period. It covers what was bought before, also below a source that ruled.
create view billing.ends_wished with (security_invoker = true) as
select w.user_id, max(w.at) as at
from billing.wishes w
where w.at_period_end and w.withdrawn_at is null
group by w.user_id;
comment on view billing.ends_wished is 'When each user last cancelled for the end of the period, and did not withdraw it.';
grant select on billing.ends_wished to service_role;

-- Returns when the customer authorised a gateway subscription: not before it was asked for here, since the gateway's clock
-- may be behind ours.
create function billing.authorised_at(p_subscription billing.gateway_subscriptions)
returns timestamptz language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  if not billing.is_known(p_subscription) then return null; end if;
  return greatest(
    least(p_subscription.authenticated_at, p_subscription.first_activated_at, p_subscription.first_charged_at),
    p_subscription.asked_at
  );
end $$;

-- Returns the time that ranks a gateway subscription among the sources of its user: of the newest act of the customer. Its
-- first charge is none: a change of plan may start weeks after it was authorised. A later activation is one, such as by a new
-- method of payment. The gateway debits up to 36 hours early, so two events of the first charge may be as far apart.
create function billing.since_of(p_subscription billing.gateway_subscriptions)
returns timestamptz language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return case
    when p_subscription.activated_at
      > least(p_subscription.first_activated_at, p_subscription.first_charged_at) + interval '36 hours'
      then greatest(p_subscription.activated_at, p_subscription.asked_at, p_subscription.written_at)
    when p_subscription.written_at is not null then p_subscription.written_at
    else billing.authorised_at(p_subscription)
  end;
end $$;

-- Returns the subscription that starts when another one ends: of the newest change of plan that was authorised and neither
-- undone nor cancelled.
create function billing.find_successor(p_user_id uuid, p_gateway_subscription_id text)
returns billing.gateway_subscriptions -- all null: none
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return (
    select m
    from billing.gateway_subscriptions m
    where m.user_id = p_user_id
      and m.replaces = p_gateway_subscription_id
      and m.undone_at is null
      and billing.is_billed(m)
      and billing.cancelled_by_user_at(p_user_id, m.asked_at) is null
    order by m.asked_at desc, m.id desc
    limit 1
  );
end $$;

-- Nothing is stored about the sources that a payment replaced: when it is refunded in full, they run again.
create view billing.replacements with (security_invoker = true) as
select
  p.id as payment_id, p.user_id, p.credited_kind as kind, p.credited_id as id, p.credited_until as until, p.since,
  p.fulfilled_at
from public.payments p
where p.credited_id is not null
  and p.fulfilled_at is not null
  and not billing.is_refunded(p)
  and p.uncaptured_at is null
  and p.ended_reason is distinct from 'dispute_lost';
grant select on billing.replacements to service_role;
comment on view billing.replacements is
  'The sources of access that a purchase replaced: the credit of the purchase has paid for their unused time.';

-- Finds the purchases that run and got credit for a payment, also by way of other purchases.
create function billing.purchases_on_credit(p_payment public.payments)
returns setof public.payments language sql stable set search_path = pg_catalog, pg_temp as $$
  with recursive credited as (
    select r.payment_id
    from billing.replacements r
    where r.user_id = p_payment.user_id
      and case
        when p_payment.gateway_subscription_id is null then r.kind = 'payment' and r.id = p_payment.id::text
        else
          r.kind = 'gateway_subscription'
          and r.id = p_payment.gateway_subscription_id
          and r.until = p_payment.period_end
      end
    union
    select r.payment_id
    from credited c
    join billing.replacements r on r.kind = 'payment' and r.id = c.payment_id::text
  )
  select p.*
  from credited c
  join public.payments p on p.id = c.payment_id
  where p.ended_at is null and p.period_end > billing.clock()
$$;

-- Returns the days of access after the end of a period that is not followed by another one.
create function billing.grace_days(
  p_days integer, -- of the plan; null: there is no plan
  p_is_cancelled boolean -- for the end of the period
)
returns integer language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$ begin return case when p_is_cancelled then 0 else coalesce(p_days, 3) end; end $$;

-- Returns when the access ends that the gateway bills: not before a reconciliation found no further cycle. That began some
-- seconds before it was applied.
create function billing.billed_until(p_period_end timestamptz, p_checked_at timestamptz, p_grace_days integer)
returns timestamptz language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return case
    when p_checked_at - interval '10 seconds' > p_period_end + make_interval(hours => 24 * greatest(p_grace_days - 1, 0))
      then p_period_end + make_interval(hours => 24 * p_grace_days)
    else 'infinity'
  end;
end $$;

-- Finds when the access ends that a gateway subscription gives, and why. Its plan is one of ours.
create function billing.mirrored_end(
  p_subscription billing.gateway_subscriptions,
  p_grace_days integer, -- of its plan
  out lapses_at timestamptz, -- the end of what is paid, with the days of grace; infinity: not before the gateway was asked
  out ended_at timestamptz, -- null: it runs until then
  out ended_reason text
)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_days constant integer := billing.grace_days(p_grace_days, p_subscription.cancel_at_period_end);
  v_end constant timestamptz := p_subscription.period_end;
  v_is_cancelled constant boolean := coalesce(p_subscription.status = 'cancelled', false);
  v_is_charged constant boolean := num_nonnulls(p_subscription.activated_at, p_subscription.first_charged_at) > 0;
  v_is_by_gateway constant boolean := v_is_cancelled and p_subscription.ended_at is null;
  -- A cancellation for the end of a trial is sent before that end, and the gateway cancels at once. The trial runs to its end,
  -- also where the reason has gone since: the change of plan that follows it was cancelled.
  v_ends_with_trial constant boolean := v_is_by_gateway and not v_is_charged
    and (p_subscription.cancel_at_period_end or billing.is_stop_sent(p_subscription.gateway_subscription_id));
  -- Cancelled for its end, and stopped at once, since a charge of the next cycle failed before that end.
  v_ends_with_cycle constant boolean := v_is_by_gateway
    and p_subscription.cancelled_at < v_end
    and exists (
      select from billing.ends_wished w where w.user_id = p_subscription.user_id and w.at >= p_subscription.asked_at
    )
    and billing.is_stop_sent(p_subscription.gateway_subscription_id, '{"at_cycle_end": false}');
  -- The gateway cancels the subscription at the end of its cycle, a trial two days before its end, and one whose next cycle
  -- it could not debit up to 36 hours before that end. It charges the one that replaces it soon after the end.
  v_ends_with_change constant boolean := v_is_by_gateway
    and (not v_is_charged or p_subscription.cancelled_at >= v_end - interval '36 hours' or v_ends_with_cycle)
    and (billing.find_successor(p_subscription.user_id, p_subscription.gateway_subscription_id)).id is not null;
  -- It may be completed before the event of its last charge arrives.
  v_is_over constant boolean := p_subscription.gateway_status = 'paused'
    or v_is_cancelled and p_subscription.last_paused_at
      > greatest(p_subscription.paid_period_event_at, p_subscription.last_resumed_at, '-infinity')
    or p_subscription.gateway_status = 'completed' and billing.unnamed_cycles(p_subscription) = 0;
begin
  lapses_at := case
    -- A refunded cycle ends at once.
    when p_subscription.paid_until is not null then p_subscription.paid_until
    -- All retries of a charge failed, not after a resumption as below. Access ends after the days of grace, unless the customer
    -- pays, also where the gateway completes it later.
    when p_subscription.last_halted_at > p_subscription.period_event_at
      and (p_subscription.last_resumed_at between v_end and p_subscription.last_halted_at) is not true
      then v_end + make_interval(hours => 24 * v_days)
    -- The paid time passed while it was paused. The next charge gives access again.
    when p_subscription.last_resumed_at >= v_end then v_end
    -- No charge follows: no days of grace, but before the first one of a change of plan.
    when v_ends_with_change or v_is_over then v_end + make_interval(hours => case
      when exists (
        select from billing.find_successor(p_subscription.user_id, p_subscription.gateway_subscription_id) n
        where n.id is not null and n.first_charged_at is null
      ) then 24 * v_days
      else 0
    end)
    when v_ends_with_trial or v_ends_with_cycle then v_end
    else billing.billed_until(v_end, p_subscription.checked_at, v_days)
  end;
  ended_at := case
    -- What the customer ended at once is cancelled at the gateway later.
    when not v_is_by_gateway then p_subscription.ended_at
    when not (v_ends_with_trial or v_ends_with_change or v_ends_with_cycle) then p_subscription.cancelled_at
  end;
  ended_reason := case
    when v_is_cancelled then 'cancelled'
    when p_subscription.paid_until is not null then 'refunded'
    -- As the gateway will say at its end.
    when p_subscription.cancel_at_period_end or p_subscription.ended_at is not null then 'cancelled'
  end;
  -- It had lapsed before it was cancelled.
  if p_subscription.paid_until is null and not p_subscription.cancel_at_period_end and ended_at > lapses_at then
    select null, null into ended_at, ended_reason;
  end if;
end $$;

-- Returns whether a purchase is renewed again: its renewal was asked for and authorised after the customer had cancelled it.
create function billing.is_renewed_since(p_payment_id uuid, p_cancelled_at timestamptz)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return exists (
    select from public.payments p
    join billing.gateway_subscriptions m on m.user_id = p.user_id and m.payment_id = p.id
    where p.id = p_payment_id
      and m.asked_at > p_cancelled_at
      and billing.is_billed(m)
      and m.stops_at is null
  );
end $$;

create view billing.sources with (security_invoker = true) as
select
  s.*,
  s.ended_at is null and s.lapses_at > billing.clock() as is_running,
  -- What the gateway bills has a day until its next charge is known to fail, or to be missing.
  coalesce(s.ends_at, 'infinity') <= billing.clock()
    and (s.lapses_at < 'infinity' or s.is_failing or s.ends_at <= billing.clock() - interval '1 day') as is_in_grace
from (
  select
    p.user_id, 'payment' as kind, p.id::text as id, pl.id as plan_id, p.tier,
    coalesce(p.chain_start, p.period_start) as starts_at,
    p.period_end as ends_at,
    -- No days of grace for what the customer cancelled, also below a source that ruled then.
    p.period_end + make_interval(hours => 24 * billing.grace_days(pl.grace_days, own.is_cancelled)) as lapses_at,
    -- An import by the app may leave since empty.
    coalesce(p.since, p.fulfilled_at) as since,
    greatest(p.fulfilled_at, p.verified_at) as arrived_at,
    least(p.ended_at, replaced.at) as ended_at,
    coalesce(p.ended_reason, case when p.ended_at is null and replaced.at is not null then 'replaced' end)
      as ended_reason,
    p.cancel_at_period_end and own.is_cancelled as cancel_at_period_end,
    null::text as gateway_subscription_id,
    p.ended_at is null and coalesce(p.settle_at > billing.clock(), false) as is_upcoming,
    billing.price_sold(p) as sold,
    null::jsonb as entitlements,
    false as is_failing
  from public.payments p
  left join public.plans pl on pl.id = p.plan_id
  left join billing.ends_wished wished on wished.user_id = p.user_id
  cross join lateral (
    select case
      when p.cancel_at_period_end
        -- What has lapsed is not cancelled any more.
        or wished.at >= coalesce(p.since, p.fulfilled_at)
        and wished.at < p.period_end + make_interval(hours => 24 * billing.grace_days(pl.grace_days, false))
        then not billing.is_renewed_since(p.id, wished.at)
      else false
    end as is_cancelled
  ) own
  left join lateral (
    select min(r.since) as at from billing.replacements r where r.kind = 'payment' and r.id = p.id::text
  ) replaced on true
  where p.fulfilled_at is not null
  union all
  select
    m.user_id, 'gateway_subscription', m.gateway_subscription_id, m.plan_id, pl.tier,
    least(m.period_start, m.paid_until),
    coalesce(m.paid_until, m.period_end),
    own.lapses_at,
    -- The renewal of a purchase follows it, also where the customer authorised it first. A change of plan that was undone, and
    -- charged all the same, ranks below what was kept.
    greatest(coalesce(billing.since_of(kept) - interval '1 microsecond', billing.since_of(m)), renewed.since + interval '1 microsecond'),
    m.arrived_at,
    least(own.ended_at, replaced.at),
    coalesce(own.ended_reason, case when own.ended_at is null and replaced.at is not null then 'replaced' end),
    m.cancel_at_period_end,
    nullif(m.gateway_subscription_id, ''),
    -- Debited before it starts, by the whole seconds of the gateway.
    coalesce(date_trunc('second', m.starts_at) > billing.clock() and not m.is_trial, false),
    m.sold,
    null,
    -- Or it is not charged again.
    coalesce(m.gateway_status in ('pending', 'halted'), false) or not billing.has_next_charge(m)
  from billing.gateway_subscriptions m
  join public.plans pl on pl.id = m.plan_id
  left join public.payments renewed on renewed.id = m.payment_id
  left join billing.gateway_subscriptions kept
    on kept.user_id = m.user_id
    and kept.gateway_subscription_id = m.replaces
    and m.undone_at is not null
  cross join lateral billing.mirrored_end(m, pl.grace_days) own
  -- Only the credited cycle has ended. A later one is a source again.
  left join lateral (
    select min(r.since) as at
    from billing.replacements r
    where r.kind = 'gateway_subscription'
      and r.id = m.gateway_subscription_id
      and r.user_id = m.user_id
      and r.until = m.period_end
  ) replaced on true
  where m.period_end is not null
  union all
  select
    g.user_id, 'grant', g.id::text, pl.id, g.tier, g.at, g.until,
    g.until + make_interval(hours => 24 * billing.grace_days(pl.grace_days, g.cancel_at_period_end)),
    g.at, g.at, g.ended_at, g.ended_reason, g.cancel_at_period_end, null, false, null, g.entitlements,
    false
  from billing.grants g
  left join public.plans pl on pl.tier = g.tier and pl.lookup_key is null
  union all
  select
    w.user_id, 'manual', w.user_id::text, pl.id, w.tier, w.period_start, w.period_end,
    case
      -- The gateway is not read again once it says completed or cancelled.
      when w.gateway_subscription_id is not null and (m.id is null or billing.is_billed(m))
        then billing.billed_until(w.period_end, m.checked_at, grace.days)
      else coalesce(w.period_end + make_interval(hours => 24 * grace.days), 'infinity')
    end,
    w.at,
    w.at,
    case when m.status = 'cancelled' and m.cancelled_arrived_at >= w.at then m.cancelled_at else w.ended_at end,
    case when m.status = 'cancelled' and m.cancelled_arrived_at >= w.at then 'cancelled' else w.ended_reason end,
    w.cancel_at_period_end,
    w.gateway_subscription_id,
    false,
    null,
    w.entitlements,
    coalesce(m.gateway_status in ('pending', 'halted'), false) or not billing.has_next_charge(m)
  from billing.manual_subscriptions w
  left join public.plans pl on pl.id = w.plan_id
  cross join lateral (select billing.grace_days(pl.grace_days, w.cancel_at_period_end) as days) grace
  left join billing.gateway_subscriptions m
    on m.user_id = w.user_id
    and m.gateway_subscription_id = w.gateway_subscription_id
  -- Skips rows whose gateway subscription is itself a source with newer facts.
  where (m.plan_id is not null and m.period_end is not null and m.arrived_at >= w.at) is not true
) s;
grant select on billing.sources to service_role;
comment on view billing.sources is
  'All sources of access, also those that have ended. A source runs until ended_at or lapses_at. The running source with '
  'the greatest since rules; in its days of grace it ranks below all that is paid or granted for now. lapses_at is ends_at '
  'plus the days of grace, or infinity until the gateway was read. What is upcoming begins when another source ends, and '
  'rules from its start.';

create type billing.ruling as (
  source billing.sources,
  is_live boolean,
  is_ended_by_gateway boolean, -- ended by the cancellation of a gateway subscription that was attached to it
  attaching integer, -- how many of the user's gateway subscriptions are no sources
  upcoming integer, -- how many sources begin when another one ends
  shown public.subscriptions -- the user's row as it is. All null: none
);

-- Returns what rules where nothing but one running source is known of a user.
create function billing.sole_ruling(p_source billing.sources)
returns billing.ruling language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
declare
  v_ruling billing.ruling;
begin
  v_ruling.source := p_source;
  v_ruling.is_live := true;
  v_ruling.is_ended_by_gateway := false;
  v_ruling.attaching := 0;
  v_ruling.upcoming := 0;
  return v_ruling;
end $$;

-- Returns whether a subscription row shows a source.
create function billing.is_shown(p_gateway_subscription_id text, p_starts_at timestamptz, p_shown public.subscriptions)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return coalesce(p_gateway_subscription_id, p_starts_at::text)
    is not distinct from coalesce(p_shown.gateway_subscription_id, p_shown.current_period_start::text);
end $$;

-- Finds the gateway subscriptions of a user that gave access once and cannot give it any more, by their rows alone.
create function billing.past_subscriptions(p_user_id uuid)
returns text[] language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return array(
    select m.gateway_subscription_id
    from billing.gateway_subscriptions m
    join public.plans p on p.id = m.plan_id
    where m.user_id = p_user_id
      and m.status = 'cancelled'
      and m.cancelled_at <= billing.clock()
      and m.period_end + make_interval(hours => 24 * billing.grace_days(p.grace_days, false)) <= billing.clock()
  );
end $$;

-- Finds the ruling source: the running source with the greatest since. If no source is running, the one that ended last.
-- A purchase that begins when another source ends does not rule before.
create function billing.find_ruling(
  p_user_id uuid,
  p_is_paid boolean default false -- of what was paid: without grants and rows that were written by hand
)
returns billing.ruling -- source is null: the user has no source
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
  v_past text[] := billing.past_subscriptions(p_user_id);
  v_ruling billing.ruling;
begin
  loop
    with mirrored as materialized (
      select
        count(*) filter (where billing.is_known(m) and (m.plan_id is null or m.period_end is null)) as attaching,
        -- The cancellation of a gateway subscription without a plan of ours ends the source to which the subscription was
        -- attached. That source began before the activation or, where no activation is known, before the cancellation. A
        -- later purchase continues.
        max(least(m.activated_at, m.cancelled_at))
          filter (where m.plan_id is null and m.status = 'cancelled' and m.activated_at is not null)
          as cancelled_activated,
        max(m.cancelled_at) filter (where m.plan_id is null and m.status = 'cancelled' and m.activated_at is null)
          as cancelled_unactivated,
        max(m.activated_at) filter (where m.plan_id is null) as attached,
        max(m.cancelled_arrived_at) filter (where m.plan_id is null and m.status = 'cancelled' and m.activated_at is not null)
          as cancellation_arrived,
        max(m.cancelled_arrived_at) filter (where m.plan_id is null and m.status = 'cancelled') as any_cancellation_arrived
      from billing.gateway_subscriptions m
      where m.user_id = p_user_id
    )
    select
      s, live.is_live, coalesce(rank.is_ended_by_gateway, false), g.attaching, count(*) filter (where s.is_upcoming) over (),
      shown
    into v_ruling
    from mirrored g
    left join public.subscriptions shown on shown.user_id = p_user_id
    left join billing.manual_subscriptions w on w.user_id = p_user_id
    -- Without offset 0 each use of a column would compute it again.
    left join (
      select s.*
      from billing.sources s
      where s.user_id = p_user_id
        and (not p_is_paid or s.kind in ('payment', 'gateway_subscription'))
        and s.id <> all (v_past)
      offset 0
    ) s on true
    cross join lateral (
      select
        case s.kind
          when 'manual' then s.since <= case
            when s.gateway_subscription_id is null then g.any_cancellation_arrived
            else g.cancellation_arrived
          end
          when 'gateway_subscription' then g.cancelled_activated >= s.since
          else
            coalesce(g.cancelled_activated >= s.since, false)
            or g.cancelled_unactivated >= s.since and (g.attached between s.since and g.cancelled_unactivated) is not true
        end as is_ended_by_gateway,
        -- A row written by hand ranks above the facts that arrived before it, and below those that arrived after it.
        case when w.at is null or s.kind = 'manual' then 1 when s.arrived_at >= w.at then 2 else 0 end as generation
    ) rank
    cross join lateral (
      select
        s.is_running
        and not (s.is_upcoming and s.kind = 'payment')
        and rank.is_ended_by_gateway is not true
        and (rank.generation = 0 and w.status = 'cancelled') is not true as is_live
    ) live
    order by
      live.is_live desc,
      live.is_live and s.is_upcoming,
      -- Days of grace are not paid for.
      live.is_live and s.is_in_grace and bool_or(live.is_live and coalesce(s.ends_at > v_now, true)) over (),
      case when live.is_live or w.status = 'cancelled' then rank.generation end desc,
      case
        when live.is_live then s.since
        -- What has ended remains the last one, also where a later refund takes back all of it.
        when billing.is_shown(s.gateway_subscription_id, s.starts_at, shown) and shown.status = 'cancelled'
          then greatest(shown.cancelled_at, least(s.ended_at, s.lapses_at))
        -- What is upcoming, or ended before its start, gave no access.
        when (s.is_upcoming or s.ended_at < s.starts_at) is not true then least(s.ended_at, s.lapses_at)
      end desc nulls last,
      s.since desc,
      s.id desc
    limit 1;
    -- What is past counts only where nothing runs.
    exit when v_ruling.is_live or cardinality(v_past) = 0;
    v_past := '{}';
  end loop;
  return v_ruling;
end $$;

-- Attaches a gateway subscription that is no source to the ruling source. Such a subscription has no plan of ours, or its
-- first cycle has not begun. subscription.activated sets the status, the id and the period, subscription.charged sets the
-- period alone. Contract: "Gateway subscriptions".
create function billing.attach_gateway_subscription(p_ruling billing.ruling)
returns billing.ruling language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
  v_source billing.sources := p_ruling.source;
  v_grace integer;
  v_attached billing.gateway_subscriptions;
  v_days integer;
  v_end timestamptz;
  v_lapses_at timestamptz;
begin
  if v_source.id is null or p_ruling.attaching = 0 then return p_ruling; end if;
  v_grace := billing.grace_days((select p.grace_days from public.plans p where p.id = v_source.plan_id), false);
  select * into v_attached
  from billing.gateway_subscriptions m
  where m.user_id = v_source.user_id
    and (m.plan_id is null or m.period_end is null)
    and case when v_source.kind = 'manual' then m.arrived_at else m.activated_at end >= v_source.since
    and m.activated_at is not null
  order by m.activated_at desc, m.gateway_subscription_id desc
  limit 1;
  if found then
    -- Before its first cycle the subscription has no period: the paid period of the source continues.
    v_end := coalesce(
      v_attached.period_end,
      case when v_source.ended_reason = 'refunded' then least(v_source.ends_at, v_source.ended_at) else v_source.ends_at end
    );
    v_days := billing.grace_days(v_grace, v_attached.cancel_at_period_end or v_source.cancel_at_period_end);
    v_lapses_at := case
      when v_end is null then 'infinity'
      -- Before its first cycle no further time is paid, and a subscription without an id cannot be reconciled. The row is
      -- active for an hour after the activation arrived.
      when v_attached.period_end is null or v_attached.gateway_subscription_id = ''
        then greatest(v_end + make_interval(hours => 24 * v_days), v_attached.arrived_at + interval '1 hour')
      -- The gateway is not read again once it says completed.
      when not billing.is_billed(v_attached) then v_end + make_interval(hours => 24 * v_days)
      else billing.billed_until(v_end, v_attached.checked_at, v_days)
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

  if v_source.kind = 'gateway_subscription' then return p_ruling; end if;
  select * into v_attached
  from billing.gateway_subscriptions m
  where m.user_id = v_source.user_id
    and m.plan_id is null
    and m.activated_at is null
    and m.period_end is not null
    and (v_source.gateway_subscription_id is null or v_source.gateway_subscription_id = m.gateway_subscription_id)
    and case when v_source.kind = 'manual' then m.arrived_at else m.first_charged_at end >= v_source.since
  order by m.first_charged_at desc, m.gateway_subscription_id desc
  limit 1;
  if not found then return p_ruling; end if;
  v_lapses_at := v_attached.period_end + make_interval(hours => 24 * v_grace);
  if v_lapses_at <= v_now then
    -- The charged period is over. The row shows that period, but access does not change: a running source shows it for an
    -- hour after the charge arrived, an ended source shows it unless its own period ended later.
    if p_ruling.is_live and v_attached.arrived_at <= v_now - interval '1 hour'
      or not p_ruling.is_live and v_source.ends_at > v_attached.period_end
    then
      return p_ruling;
    end if;
    v_lapses_at := v_source.lapses_at;
  elsif v_source.ended_at is null and not p_ruling.is_ended_by_gateway then
    -- A charge makes a lapsed source run again, but not a source that ended for another reason.
    p_ruling.is_live := true;
  end if;
  v_source.starts_at := v_attached.period_start;
  v_source.ends_at := v_attached.period_end;
  v_source.lapses_at := v_lapses_at;
  p_ruling.source := v_source;
  return p_ruling;
end $$;

-- Finds what the subscription row shows: the ruling source, with what is attached to it. Keeps the reason and the time of an
-- end of this source that the row shows already, where a refund is only later or earlier than another end: what happened first
-- ended access. A refund that fails takes back its own end.
create function billing.find_shown(p_user_id uuid)
returns billing.ruling -- source is null: the user has no source
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_ruling billing.ruling := billing.attach_gateway_subscription(billing.find_ruling(p_user_id));
  v_source billing.sources := v_ruling.source;
  v_reason constant text := (v_ruling.shown).ended_reason;
  v_mirrored billing.gateway_subscriptions;
begin
  if v_ruling.is_live
    or (v_ruling.shown).status is distinct from 'cancelled'
    or v_reason is not distinct from v_source.ended_reason
    or not billing.is_shown(v_source.gateway_subscription_id, v_source.starts_at, v_ruling.shown)
  then
    return v_ruling;
  end if;
  select * into v_mirrored
  from billing.gateway_subscriptions m
  where v_source.kind = 'gateway_subscription' and (m.user_id, m.gateway_subscription_id) = (v_source.user_id, v_source.id);
  if v_reason = 'refunded' and v_mirrored.paid_until is not null then
    v_source.ended_reason := v_reason;
  elsif v_reason <> 'refunded' and v_source.ended_reason = 'refunded' then
    v_source.ended_reason := v_reason;
    if v_reason = 'lapsed' then v_source.ended_at := null; end if;
    if v_mirrored.paid_until is not null then
      v_mirrored.paid_until := null;
      v_source.starts_at := v_mirrored.period_start;
      v_source.ends_at := v_mirrored.period_end;
      select own.lapses_at into v_source.lapses_at
      from public.plans p
      cross join lateral billing.mirrored_end(v_mirrored, p.grace_days) own
      where p.id = v_mirrored.plan_id;
    end if;
  end if;
  v_ruling.source := v_source;
  return v_ruling;
end $$;
