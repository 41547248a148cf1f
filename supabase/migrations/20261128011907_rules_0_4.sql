-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

comment on view billing.purchases is null;

REVOKE ALL ON FUNCTION "billing"."find_followed"(uuid, text, uuid, billing.price, text, text) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."find_followed"(uuid, text, uuid, billing.price, text, text) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."find_stop"(billing.stoppable, billing.sources, boolean) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."find_stop"(billing.stoppable, billing.sources, boolean) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."grace_end"(billing.sources) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."grace_end"(billing.sources) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."newest_purchase"(uuid) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."newest_purchase"(uuid) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."refund_of"(billing.sources) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."refund_of"(billing.sources) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."sole_ruling"(billing.sources) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."sole_ruling"(billing.sources) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."source_of"(public.payments, uuid, text) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."source_of"(public.payments, uuid, text) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."state_of_billing"(billing.sources) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."state_of_billing"(billing.sources) TO "service_role";

GRANT SELECT ON TABLE "billing"."purchases" TO "service_role";

GRANT SELECT ON TABLE "billing"."sources" TO "service_role";

-- Records a row that was written by hand, so that billing.settle_access does not overwrite it.
-- Security definer: the role of an admin or of the app may write subscriptions but not this table.
create or replace function billing.record_manual_subscription()
returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if tg_op = 'UPDATE' and new.updated_at is not distinct from old.updated_at then
    new.updated_at := billing.clock();
  end if;
  -- A row that was written by hand was not sold by a price.
  select null, null, null, null into new.price_key, new.price_amount, new.currency, new.duration_months;
  -- The entitlements of what ruled before are not those of another plan.
  if tg_op = 'UPDATE' and (new.tier, new.plan_id) is distinct from (old.tier, old.plan_id)
    and new.entitlements is not distinct from old.entitlements
  then
    new.entitlements := null;
  end if;
  -- A purchase ranks after updated_at. A time in the future would rank the next purchase above acts that follow it.
  new.updated_at := least(new.updated_at, billing.clock());
  new.due_at := least(new.due_at, billing.clock());
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
      (period_start, period_end, next_check_at) = row(
        case when g.arrived_at is null then excluded.period_start else g.period_start end,
        case when g.arrived_at is null then excluded.period_end else g.period_end end,
        case when g.arrived_at is null then excluded.next_check_at else g.next_check_at end
      );
  end if;
  return new;
end $$;

-- Returns the time that ranks a gateway subscription among the sources of its user: of the newest act of the customer. Its
-- first charge is none: a change of plan may start weeks after it was authorised. A later activation is one, such as by a new
-- method of payment. The gateway debits up to 36 hours early, so two events of the first charge may be as far apart.
create or replace function billing.since_of(p_subscription billing.gateway_subscriptions)
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

-- Finds when the access ends that a gateway subscription gives, and why. Its plan is one of ours.
create or replace function billing.mirrored_end(
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
    and billing.is_cancelled_for_end(p_subscription.user_id, p_subscription.asked_at)
    and billing.is_stop_sent(p_subscription.gateway_subscription_id, '{"at_cycle_end": false}');
  -- The gateway cancels the subscription at the end of its cycle, a trial two days before its end, and one whose next cycle
  -- it could not debit up to 36 hours before that end. It charges the one that replaces it soon after the end.
  v_ends_with_change constant boolean := v_is_by_gateway
    and (not v_is_charged or p_subscription.cancelled_at >= v_end - interval '36 hours' or v_ends_with_cycle)
    and (billing.find_successor(p_subscription.user_id, p_subscription.gateway_subscription_id)).id is not null;
begin
  lapses_at := case
    -- A refunded cycle ends at once.
    when p_subscription.paid_until is not null then p_subscription.paid_until
    -- No charge follows: no days of grace, but before the first one of a change of plan.
    when p_subscription.gateway_status in ('paused', 'completed')
      and (billing.find_successor(p_subscription.user_id, p_subscription.gateway_subscription_id)).id is null
      then v_end
    when v_ends_with_change or p_subscription.gateway_status in ('paused', 'completed') then v_end + make_interval(hours => 24 * v_days)
    when v_ends_with_trial or v_ends_with_cycle then v_end
    -- The paid time passed while it was paused. The next charge gives access again.
    when p_subscription.last_resumed_at >= v_end then v_end
    -- All retries of a charge failed. Access ends after the days of grace, unless the customer pays.
    when p_subscription.last_halted_at > p_subscription.period_event_at then v_end + make_interval(hours => 24 * v_days)
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
    else p_subscription.ended_reason
  end;
  -- It had lapsed before it was cancelled.
  if p_subscription.paid_until is null and not p_subscription.cancel_at_period_end and ended_at > lapses_at then
    select null, null into ended_at, ended_reason;
  end if;
end $$;

create or replace view billing.sources with (security_invoker = true) as
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
      when p.cancel_at_period_end or wished.at >= coalesce(p.since, p.fulfilled_at)
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
    coalesce(own.ended_at, replaced.at),
    coalesce(own.ended_reason, case when own.ended_at is null and replaced.at is not null then 'replaced' end),
    m.cancel_at_period_end,
    nullif(m.gateway_subscription_id, ''),
    -- Debited before it starts.
    coalesce(m.starts_at > billing.clock() and not m.is_trial, false),
    m.sold,
    null,
    coalesce(m.gateway_status in ('pending', 'halted'), false)
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
      when w.gateway_subscription_id is not null then billing.billed_until(w.period_end, m.checked_at, grace.days)
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
    coalesce(m.gateway_status in ('pending', 'halted'), false)
  from billing.manual_subscriptions w
  left join public.plans pl on pl.id = w.plan_id
  cross join lateral (select billing.grace_days(pl.grace_days, w.cancel_at_period_end) as days) grace
  left join billing.gateway_subscriptions m
    on m.user_id = w.user_id
    and m.gateway_subscription_id = w.gateway_subscription_id
  -- Skips rows whose gateway subscription is itself a source with newer facts.
  where (m.plan_id is not null and m.period_end is not null and m.arrived_at >= w.at) is not true
) s;

-- Returns whether a subscription row shows a source.
create function billing.is_shown(p_gateway_subscription_id text, p_starts_at timestamptz, p_shown public.subscriptions)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return coalesce(p_gateway_subscription_id, p_starts_at::text)
    is not distinct from coalesce(p_shown.gateway_subscription_id, p_shown.current_period_start::text);
end $$;

-- Finds the ruling source: the running source with the greatest since. If no source is running, the one that ended last.
-- A purchase that begins when another source ends does not rule before.
create or replace function billing.find_ruling(
  p_user_id uuid,
  p_is_paid boolean default false -- of what was paid: without grants and rows that were written by hand
)
returns billing.ruling -- source is null: the user has no source
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
  v_ruling billing.ruling;
begin
  with mirrored as materialized (
    select
      count(*) as known,
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
    shown, g.known > 0
  into v_ruling
  from mirrored g
  left join public.subscriptions shown on shown.user_id = p_user_id
  left join billing.manual_subscriptions w on w.user_id = p_user_id
  -- Without offset 0 each use of a column would compute it again.
  left join (
    select s.*
    from billing.sources s
    where s.user_id = p_user_id and (not p_is_paid or s.kind in ('payment', 'gateway_subscription'))
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
    rank.generation desc,
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
  return v_ruling;
end $$;

-- Keeps the reason and the time of an end of this source that the row shows already, where a refund is only later or earlier
-- than another end: what happened first ended access. A refund that fails takes back its own end.
create or replace function billing.keep_end(p_ruling billing.ruling)
returns billing.ruling language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_source billing.sources := p_ruling.source;
  v_reason constant text := (p_ruling.shown).ended_reason;
  v_mirrored billing.gateway_subscriptions;
begin
  if (p_ruling.shown).status is distinct from 'cancelled'
    or v_reason is not distinct from v_source.ended_reason
    or not billing.is_shown(v_source.gateway_subscription_id, v_source.starts_at, p_ruling.shown)
  then
    return p_ruling;
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
  p_ruling.source := v_source;
  return p_ruling;
end $$;

-- What the gateway must be told: for each subscription that it may still charge, whether it must stop, and when. Derived from
-- facts by billing.find_stop; only differences are written. The requests of the customer to cancel and to resume.
-- Contract: POST /api/subscriptions/cancel, POST /api/subscriptions/resume.

create or replace view billing.purchases with (security_invoker = true) as
select s.*
from billing.sources s
where case s.kind
  when 'payment' then exists (
    select from public.payments p
    where p.id = s.id::uuid
      and p.ended_reason is distinct from 'dispute_lost'
      and not billing.is_lost(p)
      and p.uncaptured_at is null
      and not billing.is_refunded(p)
  )
  when 'gateway_subscription' then exists (
    select from billing.gateway_subscriptions m
    where (m.user_id, m.gateway_subscription_id) = (s.user_id, s.id)
      and m.undone_at is null
      and (
        -- Else both would be charged, also where a charge of this one was refunded or lost.
        billing.is_billed(m)
        or m.paid_until is null and not exists (
          select from public.payments c
          where c.user_id = s.user_id
            and c.gateway_subscription_id = s.id
            and c.period_end = m.period_end
            and c.period_start <= m.first_period_start
            and billing.is_lost(c)
        )
        -- After a refund of its newest cycle the cycles before still count, also if their payments are not known.
        or m.first_period_start < m.paid_until
        or exists (
          select from public.payments c
          where c.user_id = s.user_id
            and c.gateway_subscription_id = s.id
            and billing.kept(c) > 0
        )
      )
  )
  -- A row that still names it is none, where that one is a source itself.
  when 'manual' then exists (
    select from billing.gateway_subscriptions m
    where (m.user_id, m.gateway_subscription_id) = (s.user_id, s.gateway_subscription_id)
      and (m.written_at = s.since or m.plan_id is null or m.period_end is null)
  )
  else false
end;

comment on view billing.purchases is 'The acts of users that bought a tier. The newest one replaced what is older and still billed, also after it lapsed, failed or was cancelled. Only its refund, a lost dispute, or that it was never captured takes that back, and of a subscription only once the gateway bills it no more. A grant or a row that was written by hand replaces nothing, unless the row is the first to name a gateway subscription. A change of plan that was undone is none.';

do $do$
begin
  if exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_support') then
    perform billing.set_up_support();
  end if;
end $do$;

REVOKE ALL ON FUNCTION "billing"."is_shown"(text, timestamp WITH time zone, public.subscriptions) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."is_shown"(text, timestamp WITH time zone, public.subscriptions) TO "service_role";

revoke execute on all functions in schema billing from public;
