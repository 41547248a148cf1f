-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

drop view billing.customer_findings;

drop function billing.newest_purchase(pg_catalog.uuid);

drop function billing.find_stop(billing.stoppable,billing.sources,boolean);

REVOKE ALL ON FUNCTION "billing"."find_followed"(uuid, text, uuid, billing.price, text, text) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."find_followed"(uuid, text, uuid, billing.price, text, text) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."grace_end"(billing.sources) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."grace_end"(billing.sources) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."refund_of"(billing.sources) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."refund_of"(billing.sources) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."sole_ruling"(billing.sources) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."sole_ruling"(billing.sources) TO "service_role";

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
    coalesce(own.ended_at, replaced.at),
    coalesce(own.ended_reason, case when own.ended_at is null and replaced.at is not null then 'replaced' end),
    m.cancel_at_period_end,
    nullif(m.gateway_subscription_id, ''),
    -- Debited before it starts.
    coalesce(m.starts_at > billing.clock() and not m.is_trial, false),
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
create or replace function billing.find_ruling(
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

-- Returns what was refunded of the payment that a source is, or of the newest refunded cycle.
create or replace function billing.refund_of(p_source billing.sources)
returns jsonb -- {amount, currency}, in minor currency units; {}: nothing
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return coalesce((
    -- Else the rest was lost in a dispute.
    select case when billing.lost_amount(p.gateway_payment_id) = 0
      then jsonb_build_object('amount', p.refunded_amount, 'currency', p.currency)
    end
    from public.payments p
    where p.user_id = p_source.user_id
      and p.refunded_amount > 0
      and (p.id::text = p_source.id or p.gateway_subscription_id = p_source.gateway_subscription_id)
    order by p.period_end desc nulls last
    limit 1
  ), '{}');
end $$;

create function billing.newest_purchase(
  p_user_id uuid,
  p_after timestamptz default '-infinity' -- what is not newer does not count
)
returns billing.sources -- all null: none
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return (
    select row(p.*)::billing.sources
    from billing.purchases p
    -- A longer period alone is no act of the customer.
    left join billing.gateway_subscriptions m
      on p.kind = 'manual'
      and m.user_id = p.user_id
      and m.gateway_subscription_id = p.gateway_subscription_id
    cross join lateral (select coalesce(m.written_at, p.since) as at) act
    where p.user_id = p_user_id and act.at > p_after
    order by act.at desc, p.id desc
    limit 1
  );
end $$;

-- Derives when the gateway must stop billing a subscription. The first reason counts.
create function billing.find_stop(
  p_each billing.stoppable,
  p_with_wishes boolean default true -- false: as if the customer resumed
)
returns billing.stop language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
  v_subscription constant billing.gateway_subscriptions := p_each.subscription;
  v_authorised_at constant timestamptz := p_each.authorised_at;
  -- A charge fails. The gateway's cycle is the unpaid one then, also while the paid time still runs by our clock, and the next
  -- try must not succeed.
  v_is_failing constant boolean := v_subscription.gateway_status in ('pending', 'halted');
  -- Before its first cycle.
  v_is_waiting constant boolean := v_subscription.period_end is null;
  v_paid_until constant timestamptz := case
    when v_is_waiting then case when v_authorised_at is not null then v_subscription.starts_at end
    else coalesce(v_subscription.paid_until, v_subscription.period_end)
  end;
  -- A change of the plan that was authorised after it replaces a wish for the end of the period.
  v_is_wish constant boolean := case
    when p_with_wishes and (p_each.succeeded_at is null or not p_each.is_wish) then p_each.is_wish
  end;
  v_at timestamptz := case when v_is_wish or not v_is_waiting then v_paid_until end; -- the end of what is paid
  v_newer billing.sources;
  v_reason text;
begin
  if not v_is_wish or v_is_wish is null and v_authorised_at is null and v_subscription.expires_at <= v_now then
    return (v_now, false, false, case when v_is_wish is null then 'expired' else 'cancelled' end);
  elsif v_is_wish then
    v_reason := 'cancelled';
  elsif v_subscription.undone_at is not null then
    v_reason := 'undone';
  elsif v_is_waiting and v_subscription.payment_id is not null and not billing.renews_purchase(v_subscription) then
    v_reason := 'unpaid';
  elsif billing.is_superseded(v_subscription) then
    v_reason := 'superseded';
    -- The renewal of a purchase waits for its start: if the purchase that replaced it is refunded, it goes on.
    if v_subscription.payment_id is not null and v_subscription.replaces is null then v_at := v_paid_until; end if;
  elsif p_each.succeeded_at > v_now then
    v_reason := 'changed';
    v_at := p_each.succeeded_at;
  elsif p_each.succeeded_at is null then
    if v_authorised_at is null then return null; end if;
    v_newer := billing.newest_purchase(
      p_each.user_id, case when v_is_waiting then v_authorised_at else billing.since_of(v_subscription) end
    );
    if v_newer.id is null
      or v_newer.gateway_subscription_id = p_each.gateway_subscription_id
      or v_subscription.payment_id::text = v_newer.id
      -- Without a plan of ours, and known only by a charge: it may be attached to nothing.
      or num_nonnulls(v_subscription.plan_id, v_subscription.activated_at, v_subscription.written_at) = 0
        and v_newer.kind <> 'payment'
      or v_is_waiting and v_subscription.asked_plan_id is not null and v_newer.kind <> 'payment'
    then
      return null;
    end if;
    v_reason := 'replaced';
    v_at := v_paid_until;
  else
    v_reason := 'changed';
    v_at := v_paid_until; -- the gateway charged it after all
  end if;
  if v_is_failing then v_at := null; end if;
  return (
    coalesce(greatest(v_at, v_now), v_now),
    v_is_waiting and v_subscription.asked_plan_id is not null and v_is_failing is not true or coalesce(v_at > v_now, false),
    coalesce(v_is_wish, false),
    v_reason
  );
end $$;

-- Derives what the gateway must be told about the subscriptions of a user, and writes what differs. The caller holds the lock
-- on the user.
create or replace function billing.plan(p_user_id uuid)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_each billing.stoppable;
  v_stop billing.stop;
  v_ends boolean;
begin
  -- All that a deleted user had is to stop at once. What replaced it went with the user, and must not take that back.
  if billing.is_deleted(p_user_id) then return; end if;
  for v_each in
    select s.*
    from billing.stoppable s
    where s.user_id = p_user_id and (s.is_open or s.stops_at is not null)
    order by s.gateway_subscription_id
  loop
    v_stop := case when v_each.is_open then billing.find_stop(v_each) end;
    v_ends := case when v_each.is_open then coalesce(v_stop.is_wish, false) else (v_each.subscription).cancel_at_period_end end;
    if v_stop.stops_at is not null then
      perform billing.send_stop(v_each.gateway_subscription_id, v_stop, v_each.stops_at);
      -- No charge can fail after that, so no days of grace follow. Those before the first charge of a change of plan remain, and
      -- those that are over.
      v_ends := v_ends or v_each.succeeded_at is null and billing.is_stop_sent(v_each.gateway_subscription_id);
      if v_ends and not (v_each.subscription).cancel_at_period_end and billing.has_lapsed(v_each.subscription) then
        v_ends := false;
      end if;
    elsif v_each.stops_at is not null then
      update billing.outbox o
      set parked_at = billing.clock(), last_error = 'withdrawn'
      where o.key = 'cancel-subscription/' || v_each.gateway_subscription_id
        and o.told_at is null
        and o.delivered_at is null
        and o.parked_at is null;
      -- After the update, which waits for a dispatcher that claims the row.
      if v_each.is_open and billing.is_stop_sent(v_each.gateway_subscription_id) then
        -- What was told is final: it ends with its cycle.
        v_stop.stops_at := v_each.stops_at;
        v_ends := true;
      end if;
    end if;
    v_ends := v_ends and billing.is_known(v_each.subscription);
    if (v_each.stops_at, (v_each.subscription).cancel_at_period_end) is distinct from (v_stop.stops_at, v_ends) then
      update billing.gateway_subscriptions m
      set stops_at = v_stop.stops_at, cancel_at_period_end = v_ends
      where m.id = (v_each.subscription).id;
    end if;
  end loop;
end $$;

-- Returns what the mail about a cancellation says of the user's access, as it is settled.
create or replace function billing.cancellation_terms(
  p_user_id uuid,
  p_at_period_end boolean,
  p_had_access boolean -- before the cancellation
)
returns jsonb -- {access_ends_at, is_ended, resume_until}
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_past constant text[] := billing.past_subscriptions(p_user_id);
  v_after public.subscriptions;
  v_ends_at timestamptz; -- null: access does not end with what was cancelled
  v_resume_until timestamptz; -- null: it cannot be resumed
begin
  select * into v_after from public.subscriptions s where s.user_id = p_user_id;
  if p_had_access then
    v_ends_at := case
      when v_after.status = 'cancelled' then coalesce(billing.shown_grace_end(v_after), v_after.cancelled_at)
      when not exists (
        select from billing.sources s
        where s.user_id = p_user_id
          and s.id <> all (v_past)
          and s.is_running
          and (s.ends_at is null or coalesce(nullif(s.lapses_at, 'infinity'), s.ends_at) > v_after.current_period_end)
      ) then least(v_after.current_period_end, (
        -- A row that was extended by hand ends with the subscription that it names.
        select coalesce(m.paid_until, m.period_end)
        from billing.gateway_subscriptions m
        where (m.user_id, m.gateway_subscription_id) = (p_user_id, v_after.gateway_subscription_id) and m.arrived_at is not null
      ))
    end;
  end if;
  if p_at_period_end then
    v_resume_until := least(
      case when v_after.status = 'active' then v_after.current_period_end end,
      -- Then the gateway is told.
      (
        select min(s.stops_at) - interval '48 hours'
        from billing.stoppable s
        where s.user_id = p_user_id
          and s.is_open
          and s.is_wish
          -- What stops also without the cancellation is not resumed, nor what waits for its authorisation.
          and s.authorised_at is not null
          and (billing.find_stop(s, false)).stops_at is null
      )
    );
  end if;
  return jsonb_build_object(
    'access_ends_at', billing.iso_time(v_ends_at),
    'is_ended', v_after.status is distinct from 'active',
    'resume_until', case when v_resume_until > billing.clock() then billing.iso_time(v_resume_until) end
  );
end $$;

-- Contract: POST /api/subscriptions/resume.
create or replace function public.resume_subscription(p_user_id uuid)
returns jsonb -- {outcome: resumed | subscription_not_found | cannot_be_resumed, subscription}
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_email text;
  v_subscription public.subscriptions;
  v_wish_id bigint;
begin
  perform billing.begin_request('resumption', null);
  v_email := billing.lock_user(p_user_id);
  select * into v_subscription from public.subscriptions s where s.user_id = p_user_id for update;
  if not found and not billing.may_be_charged(p_user_id) then
    return jsonb_build_object('outcome', 'subscription_not_found');
  end if;
  if v_subscription.status is distinct from 'active' and not exists (
    select from billing.stoppable s where s.user_id = p_user_id and s.is_open and s.is_wish
  ) then
    return jsonb_build_object('outcome', 'cannot_be_resumed');
  end if;

  -- No dispatcher claims them until the commit.
  perform
  from billing.outbox o
  where o.key in (
    select 'cancel-subscription/' || s.gateway_subscription_id
    from billing.stoppable s
    where s.user_id = p_user_id and s.stops_at is not null
  )
  order by o.key
  for update;
  -- All that the customer cancelled goes on, or nothing.
  if exists (
    select from billing.stoppable s
    where s.user_id = p_user_id
      and case
        when s.is_open then s.stops_at is not null
        -- The gateway has confirmed what the customer cancelled last.
        else s.is_wish and (s.subscription).cancelled_arrived_at >= (
          select w.at from billing.ends_wished w where w.user_id = p_user_id
        )
      end
      -- A change or renewal that was never authorised holds back nothing that runs. The event of its cancellation authorises none.
      and (
        v_subscription.status is distinct from 'active'
        or s.authorised_at is not null
          and (s.is_open or num_nonnulls(
            (s.subscription).authenticated_at, (s.subscription).first_activated_at,
            (s.subscription).first_charged_at, (s.subscription).written_at
          ) > 0)
      )
      and billing.is_stop_sent(s.gateway_subscription_id)
      and (billing.find_stop(s, false)).stops_at is null
  ) then
    return jsonb_build_object('outcome', 'cannot_be_resumed');
  end if;
  with withdrawn as (
    update billing.wishes w
    set withdrawn_at = greatest(billing.clock(), w.at)
    where w.user_id = p_user_id and w.at_period_end and w.withdrawn_at is null
    returning w.id
  )
  select max(w.id) into v_wish_id from withdrawn w;
  if v_wish_id is not null or v_subscription.cancel_at_period_end then
    perform billing.withdraw_mails(array(
      select 'subscription-cancelled/' || w.id from billing.wishes w where w.user_id = p_user_id and w.at_period_end
    ));
    perform billing.mark_sources(p_user_id, false);
    perform billing.settle_access(p_user_id, v_email);
    perform billing.announce_going_on(
      p_user_id, v_email, 'subscription-resumed', coalesce(v_wish_id::text, v_subscription.id || '/' || v_subscription.revision)
    );
  end if;
  return jsonb_build_object('outcome', 'resumed', 'subscription', billing.subscription_answer(p_user_id));
end $$;

-- The one answer to what goes on, what waits and what was bought.
create or replace function billing.commitments(p_user_id uuid)
returns setof billing.commitment language plpgsql stable rows 3 set search_path = pg_catalog, pg_temp as $$
declare
  v_billed billing.commitment[] := array(select b from billing.find_billed(p_user_id) b);
begin
  for v_each in 1 .. cardinality(v_billed) loop
    if v_billed[v_each].stops_at is not null then
      v_billed[v_each].stop_reason := (
        select (billing.find_stop(s)).reason
        from billing.stoppable s
        where s.user_id = p_user_id and s.gateway_subscription_id = v_billed[v_each].id
      );
    end if;
  end loop;
  return query
  select b.* from unnest(v_billed) b
  union all
  select
    s.user_id, case s.kind when 'payment' then 'purchase' else 'subscription' end,
    s.id, null, s.plan_id, s.tier, s.sold, s.starts_at, s.ends_at, s.kind, s.id, false, null::timestamptz, s.since,
    null::billing.gateway_subscriptions, null::timestamptz, null::timestamptz, null::text
  from billing.sources s
  where s.user_id = p_user_id
    and s.kind in ('payment', 'gateway_subscription')
    and s.is_running
    and not exists (select from unnest(v_billed) b where b.id = s.id);
end $$;

-- Finds the commitment that an act of the customer is about: what the gateway charges next; else what was bought last, and
-- runs; else what was given.
create or replace function billing.find_commitment(p_user_id uuid)
returns billing.commitment -- all null: there is none
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
  v_billed constant billing.commitment[] := array(select b from billing.find_billed(p_user_id) b);
  v_ruling billing.ruling;
  v_source billing.sources;
  v_found billing.commitment;
begin
  select b.* into v_found
  from unnest(v_billed) b
  where b.goes_on
    -- Not the renewal of an order that is not paid yet.
    and (b.kind <> 'renewal' or b.paid_by_id is not null)
    -- What was not charged in time has lapsed with what it goes on from, until it is charged.
    and (
      greatest(b.ends_at, b.charge_at) > v_now
      or exists (
        select from billing.sources s
        where s.user_id = p_user_id
          and s.is_running
          and (
            s.kind = 'manual' and s.gateway_subscription_id = b.id
            or s.kind = coalesce(b.paid_by_kind, 'gateway_subscription')
            and s.id = coalesce(b.paid_by_id, (
              select m.replaces from billing.gateway_subscriptions m where (m.user_id, m.gateway_subscription_id) = (p_user_id, b.id)
            ))
          )
      )
    )
  order by b.kind = 'change', b.since desc, b.id desc
  limit 1;
  if v_found.plan_id is not null then return v_found; end if;

  -- Without a plan of ours a subscription has that of the source to which it is attached, or of the row by hand that names it.
  if v_found.id is not null then v_ruling := billing.find_shown(p_user_id); end if;
  if v_found.id is distinct from (v_ruling.source).gateway_subscription_id then
    select s, true into v_ruling.source, v_ruling.is_live
    from billing.sources s
    where s.user_id = p_user_id and s.kind = 'manual' and s.gateway_subscription_id = v_found.id and s.is_running;
    v_ruling := billing.attach_gateway_subscription(v_ruling);
  end if;
  if v_found.id is null or v_ruling.is_live is not true then
    v_ruling := billing.attach_gateway_subscription(billing.find_ruling(p_user_id, true));
    if v_ruling.is_live is not true then v_ruling := billing.find_shown(p_user_id); end if;
  end if;
  if v_ruling.is_live is not true then return null; end if;
  v_source := v_ruling.source;
  select b.* into v_found from unnest(v_billed) b where b.id = v_source.gateway_subscription_id;
  if not found then
    v_found.user_id := p_user_id;
    v_found.kind := case v_source.kind when 'payment' then 'purchase' when 'gateway_subscription' then 'subscription' else 'given' end;
    v_found.id := v_source.id;
    v_found.goes_on := false;
  end if;
  v_found.plan_id := v_source.plan_id;
  v_found.tier := v_source.tier;
  v_found.sold := v_source.sold;
  -- Before its first event the gateway charges the price that the row by hand names.
  if v_source.kind = 'manual' and v_found.goes_on then
    v_found.sold := (select billing.price_of(p) from public.plans p where p.id = v_source.plan_id and p.tier = v_source.tier);
  end if;
  v_found.starts_at := v_source.starts_at;
  v_found.ends_at := v_source.ends_at;
  v_found.since := v_source.since;
  if v_source.kind in ('payment', 'gateway_subscription') then
    v_found.paid_by_kind := v_source.kind;
    v_found.paid_by_id := v_source.id;
  end if;
  return v_found;
end $$;

-- Sets the terms of a change that withdraws the one that waits: what the user pays for goes on.
create or replace function billing.undo_change(p_change billing.change, p_from billing.commitment)
returns billing.change language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_kept billing.stoppable;
begin
  p_change.outcome := 'undo';
  p_change.is_billed := false;
  p_change.credit := 0;
  p_change.amount_due := 0;
  p_change.starts_at := p_from.ends_at;
  p_change.ends_at := billing.add_months(p_from.ends_at, billing.sold_months((p_change.plan).duration_months));
  -- Without the change an earlier cancellation counts again, and a purchase that replaced what goes on.
  select s.* into v_kept
  from billing.stoppable s
  where (s.user_id, s.gateway_subscription_id) = (p_from.user_id, p_from.gateway_subscription_id);
  v_kept.succeeded_at := null;
  p_change.next_charge_at := case
    when (billing.find_stop(v_kept)).stops_at is null and billing.has_next_charge(v_kept.subscription) then p_from.ends_at
  end;
  p_change.next_amount := coalesce((p_from.sold).amount, (p_change.plan).price);
  if p_from.undo_until is null then
    -- What runs ends, so what follows it must start.
    p_change.outcome := 'too_late';
    p_change.starts_at := (p_from.next).starts_at;
  end if;
  return p_change;
end $$;

-- Returns when a user's access ends unless a gateway subscription is charged again. Only the ruling source ends access, and
-- only if no other running source ends later. Another gateway subscription ends with its cycle if it is not renewed, or its
-- charge has been missing for a day.
create or replace function billing.access_end(p_subscription billing.gateway_subscriptions)
returns timestamptz -- null: access does not depend on the subscription, or its end is not known
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_source constant billing.sources := (billing.find_ruling(p_subscription.user_id)).source;
  v_end constant timestamptz := billing.grace_end(v_source);
begin
  if v_source.ended_at is not null
    or not (
      v_source.kind = 'gateway_subscription' and v_source.id = p_subscription.gateway_subscription_id
      -- Before the first charge of a change of plan.
      or p_subscription.period_end is null and v_source.id in (p_subscription.replaces, p_subscription.payment_id::text)
    )
    or exists (
      select from billing.sources s
      left join billing.gateway_subscriptions m
        on m.user_id = s.user_id
        and m.gateway_subscription_id = s.gateway_subscription_id
      left join public.plans p on p.id = s.plan_id
      left join billing.manual_subscriptions w on w.user_id = s.user_id
      where s.user_id = p_subscription.user_id
        and (s.kind, s.id) <> (v_source.kind, v_source.id)
        and s.ended_at is null
        -- A cancelled row by hand ended what arrived before it.
        and (w.status = 'cancelled' and s.arrived_at < w.at) is not true
        and s.lapses_at > v_end
        and (
          s.lapses_at < 'infinity'
          or (m.stops_at is not null or m.gateway_status = 'pending' or s.is_in_grace) is not true
          or s.ends_at + make_interval(hours => 24 * billing.grace_days(p.grace_days, s.cancel_at_period_end)) > v_end
        )
    )
  then
    return null;
  end if;
  return v_end;
end $$;

-- Enqueues the mail about a charge that failed or was the last. The caller has settled the user's access.
create or replace function billing.announce_problem(
  p_status text,
  p_subscription billing.gateway_subscriptions, -- after the event
  p_payment jsonb, -- that failed; null: the event names none
  p_email text -- of the user
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_id constant text := p_subscription.gateway_subscription_id;
  -- The end of the paid time: of a change of plan before its first charge the end of what it follows.
  v_paid_until constant timestamptz := coalesce(p_subscription.period_end, case
    when num_nonnulls(p_subscription.replaces, p_subscription.payment_id) > 0 then p_subscription.starts_at
  end);
  v_access_ends_at timestamptz;
begin
  -- Without a paid cycle there is no access that ends.
  if p_subscription.gateway_status is distinct from p_status or v_paid_until is null
    -- The customer cancelled it at once, and knows.
    or p_subscription.ended_at is not null
    -- Its last charge will say until when it is paid.
    or p_status = 'completed' and billing.unnamed_cycles(p_subscription) > 0
  then
    return;
  end if;
  v_access_ends_at := billing.access_end(p_subscription);
  -- A refund ends it when it arrives.
  if v_access_ends_at <= billing.clock() then
    v_access_ends_at := greatest(v_access_ends_at, (
      select s.cancelled_at from public.subscriptions s where s.user_id = p_subscription.user_id and s.status = 'cancelled'
    ));
  end if;
  perform billing.enqueue_mail(
    p_subscription.user_id, p_email,
    case p_status when 'pending' then 'payment-pending' else 'subscription-' || p_status end,
    -- One mail for each cycle that was not charged.
    concat_ws('/', v_id, case when p_status <> 'completed' then billing.iso_time(v_paid_until) end),
    jsonb_build_object(
      'access_ends_at', billing.iso_time(v_access_ends_at),
      -- The last of the attempts often fails in the moment in which the days of grace are over.
      'is_ended', coalesce(v_access_ends_at <= billing.clock(), false),
      'amount', coalesce(billing.json_integer(p_payment -> 'amount'), (p_subscription.sold).amount),
      'currency', billing.charged_currency(p_payment, (p_subscription.sold).currency),
      'manage_url', p_subscription.short_url,
      'ends_at', billing.iso_time(v_paid_until)
    ),
    p_subscription.plan_id
  );
end $$;

-- What pages would else read from all customers is computed in passes: the sweep goes through the customers in the order of
-- their ids, for part of a second each minute. Operations: "Findings", "Revenue".

create view billing.customer_findings with (security_invoker = true) as
select 'paid_not_entitled' as finding, v.payment_id as subject, v.user_id, v.since, to_jsonb(v) as detail,
  'Read the timeline; then grant the tier until the end of the period, or refund the payment at the gateway.' as remedy
from billing.paid_not_entitled v
union all
select 'entitled_not_paid', v.user_id::text, v.user_id, v.since, to_jsonb(v),
  'Grant the tier to make it complimentary, or set the subscription to cancelled and the profile to free.'
from billing.entitled_not_paid v
union all
select 'tier_mismatch', v.user_id::text, v.user_id, v.since, to_jsonb(v),
  'Read in the timeline what wrote the tier, then set the tier of the profile.'
from billing.tier_mismatch v
union all
select 'paid_twice', coalesce(v.gateway_payment_id, v.payment_id::text), v.user_id, v.since, to_jsonb(v),
  'Refund the payment. A grant can give the customer the time, but does not end the finding.'
from billing.paid_twice v
union all
select v.finding, coalesce(nullif(v.gateway_payment_id, ''), v.gateway_subscription_id), v.user_id, v.since, to_jsonb(v),
  case v.finding
    when 'charged_twice' then 'Refund the charge at the gateway. Of two subscriptions the service cancels the older one.'
    when 'mismatch' then 'Compare the plan at the gateway with the price: the charge has another amount or currency.'
    else 'Cancel the subscription at the gateway, and refund the charge if the customer asks for it.'
  end
from billing.unexpected_charges v
union all
-- The gateway was told to end it with its cycle, although nothing asks for that any more: the purchase that replaced it was
-- refunded, or it was authorised while its cancellation was under way.
select 'stopped_in_error', m.gateway_subscription_id, m.user_id, m.stops_at,
  jsonb_build_object('gateway_subscription_id', m.gateway_subscription_id, 'period_end', m.period_end),
  'Ask the customer whether the subscription shall go on, and to start another one before it ends.'
from billing.gateway_subscriptions m
join public.subscriptions s on s.user_id = m.user_id
where m.stops_at is not null
  and m.cancel_at_period_end
  and billing.is_billed(m)
  and billing.cancelled_by_user_at(m.user_id, m.asked_at) is null
  and exists (
    select from billing.stoppable g
    where (g.user_id, g.gateway_subscription_id) = (m.user_id, m.gateway_subscription_id)
      and (billing.find_stop(g)).stops_at is null
  )
union all
select 'notes_edited', m.gateway_subscription_id, m.user_id, m.asked_at,
  jsonb_build_object('gateway_subscription_id', m.gateway_subscription_id, 'noted_user_id', m.noted_user_id),
  'Write the user back into the notes at the gateway. To give the access to another user, grant it.'
from billing.gateway_subscriptions m
where m.noted_user_id is not null
union all
-- For more than a day, although the invoices were read.
select 'unnamed_charge', m.gateway_subscription_id, m.user_id, coalesce(m.cancelled_arrived_at, m.arrived_at),
  jsonb_build_object(
    'gateway_subscription_id', m.gateway_subscription_id, 'paid_count', m.paid_count, 'cycles', unnamed.cycles
  ),
  'Look its payments up at the gateway, and compare them with those in the timeline.'
from billing.gateway_subscriptions m
cross join lateral (select billing.unnamed_cycles(m) as cycles offset 0) unnamed
where m.paid_count > 0 and m.arrived_at < (select billing.clock()) - interval '1 day' and unnamed.cycles > 0
union all
select 'unearned_credit', v.payment_id::text, v.user_id, v.since, to_jsonb(v),
  'Refund the payment at the gateway, or accept the loss: the finding ends with the period.'
from billing.unearned_credits v
union all
select 'dispute_lost', coalesce(v.payment_id::text, v.gateway_payment_id), v.user_id, v.since, to_jsonb(v),
  case
    when v.payment_id is null and v.kept > 0
      then 'Cancel the subscription at the gateway, or insert a note about the payment: a part was kept.'
    when v.payment_id is null then 'Cancel the subscription at the gateway.'
    when v.kept > 0 then 'End the access of the payment, or insert a note about it: a part was kept.'
    else 'End the access of the payment.'
  end
from billing.dispute_lost v
union all
select 'returned_too_much', v.gateway_payment_id, v.user_id, v.since, to_jsonb(v),
  case
    when v.lost > 0 then 'Contest the dispute at the gateway with the refund, then insert a note about the payment.'
    else 'Compare the refunds at the gateway with the payment, then insert a note about it.'
  end
from billing.returned_too_much v
union all
select 'unmailed_payment', v.payment_id::text, v.user_id, v.since, to_jsonb(v),
  'Write to the customer that the payment arrived, then insert a note about the payment.'
from billing.unmailed_payments v;

-- Sums up what happened in each month to the customers of a range, and to the payments of deleted users with such ids.
-- Periods that touch or overlap are one run, so that a renewal is neither an end nor a start. Of those that overlap, the one
-- that began last counts for the recurring revenue.
create or replace function billing.revenue_of(p_after uuid, p_until uuid)
returns setof billing.revenue_sums language plpgsql stable set search_path = pg_catalog, pg_temp
set enable_seqscan = off set jit = off set enable_bitmapscan = off set plan_cache_mode = force_generic_plan as $$
declare
  v_zone constant text := billing.time_zone();
begin
  return query
  with captured as materialized (
    select p.*
    from public.payments p
    where p.user_id > p_after and p.user_id <= p_until and p.status = 'captured'
    union all
    select p.*
    from public.payments p
    where p.user_id is null and p.id > p_after and p.id <= p_until and p.status = 'captured'
  ),
  lines as (
    select
      left(coalesce(c.user_id, c.id)::text, 3) as bucket, c.currency, c.user_id, c.captured_at as at,
      coalesce(c.paid_amount, c.amount) as gross, 0 as refunded
    from captured c
    where c.extra_of is null or c.confirmed_at is not null
    union all
    select left(coalesce(c.user_id, c.id)::text, 3), c.currency, null, f.created_at, 0, f.amount
    from captured c
    join billing.refunds f on f.gateway_payment_id = c.gateway_payment_id
    where c.refunded_amount > 0 and f.status = 'processed' and (c.extra_of is null or c.confirmed_at is not null)
    union all
    select left(coalesce(c.user_id, c.id)::text, 3), c.currency, null, l.at, 0, l.amount
    from captured c
    cross join lateral billing.losses(c) l
    where c.dispute_status is not null and (c.extra_of is null or c.confirmed_at is not null)
  ),
  received as (
    select
      g.bucket, g.currency, g.month, sum(g.gross) as gross, sum(g.refunded) as refunded,
      count(g.user_id) filter (where g.month = g.first_month) as new_customers,
      count(g.user_id) filter (where g.month > g.first_month) as renewed_customers
    from (
      select
        l.bucket, l.currency, l.user_id, date_trunc('month', l.at at time zone v_zone) as month, sum(l.gross) as gross,
        sum(l.refunded) as refunded,
        min(date_trunc('month', l.at at time zone v_zone)) over (partition by l.user_id, l.currency) as first_month
      from lines l
      group by l.bucket, l.currency, l.user_id, 4
    ) g
    group by g.bucket, g.currency, g.month
  ),
  moved as (
    select
      left(p.user_id::text, 3) as bucket, p.kind, p.name, date_trunc('month', e.at at time zone v_zone) as month,
      sum(e.active) as active, sum(e.lapsed) as lapsed, sum(e.amount) as mrr
    from (
      select
        p.user_id, d.kind, d.name, p.starts_at, p.ends_at, p.monthly_amount,
        max(p.ends_at) over (w rows unbounded preceding) as reaches,
        (p.starts_at <= max(p.ends_at) over (w rows between unbounded preceding and 1 preceding)) is not true as is_first,
        lead(p.starts_at) over w as next_at
      from billing.paid_periods p
      cross join lateral (values ('currency', p.currency), ('tier', p.tier)) d (kind, name)
      where p.user_id > p_after and p.user_id <= p_until and d.name is not null
      window w as (partition by p.user_id, d.kind, d.name order by p.starts_at, p.ends_at)
    ) p
    cross join lateral (
      values
        (p.starts_at, p.is_first::integer, 0, p.monthly_amount),
        (least(p.ends_at, p.next_at), 0, 0, -p.monthly_amount),
        (
          case when (p.next_at > p.reaches) is not false then p.reaches end,
          -1,
          -- A customer who begins again in the month of the end has not lapsed.
          (date_trunc('month', p.next_at, v_zone) is distinct from date_trunc('month', p.reaches, v_zone))::integer,
          0
        )
      union all
      -- After its end those count again that began earlier and end later, as after the refund of an upgrade.
      select e.at, 0, 0, e.amount
      from (
        select
          o.monthly_amount, o.ends_at,
          max(o.ends_at) over (order by o.starts_at desc, o.ends_at desc rows between unbounded preceding and 1 preceding) as covered
        from billing.paid_periods o
        where p.ends_at < p.reaches
          and (p.next_at > p.ends_at) is not false
          and o.user_id = p.user_id
          and case p.kind when 'tier' then o.tier else o.currency end = p.name
          and (o.starts_at, o.ends_at) <= (p.starts_at, p.ends_at)
      ) o
      cross join lateral (values (o.covered, o.monthly_amount), (least(o.ends_at, p.next_at), -o.monthly_amount)) e (at, amount)
      where o.ends_at > o.covered and (p.next_at > o.covered) is not false
    ) e (at, active, lapsed, amount)
    where e.at <= (select billing.clock())
    group by 1, 2, 3, 4
  )
  select
    x.bucket, x.kind, x.name, x.month::date, sum(x.gross)::bigint, sum(x.refunded)::bigint, sum(x.new_customers)::bigint,
    sum(x.renewed_customers)::bigint, sum(x.lapsed)::bigint, sum(x.active)::bigint, sum(x.mrr)::bigint
  from (
    select
      r.bucket, 'currency' as kind, r.currency as name, r.month, r.gross, r.refunded, r.new_customers, r.renewed_customers,
      0 as lapsed, 0 as active, 0 as mrr
    from received r
    union all
    select m.bucket, m.kind, m.name, m.month, 0, 0, 0, 0, m.lapsed, m.active, m.mrr from moved m
  ) x
  group by x.bucket, x.kind, x.name, x.month
  order by x.bucket, x.kind, x.name, x.month;
end $$;

comment on view billing.customer_findings is 'What is wrong about customers now, by what was paid and granted. Filter it by user_id: of all customers it takes minutes.';

do $do$
begin
  if exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_support') then
    perform billing.set_up_support();
  end if;
end $do$;

REVOKE ALL ON FUNCTION "billing"."find_stop"(billing.stoppable, boolean) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."find_stop"(billing.stoppable, boolean) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."newest_purchase"(uuid, timestamp WITH time zone) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."newest_purchase"(uuid, timestamp WITH time zone) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."past_subscriptions"(uuid) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."past_subscriptions"(uuid) TO "service_role";

revoke execute on all functions in schema billing from public;
