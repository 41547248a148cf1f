-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

drop function billing.final_outcome(billing.gateway_events);

drop function billing.refuse_now(billing.ranked_price,billing.ranked_price,boolean);

drop function billing.reason_of(pg_catalog.text);

drop function billing.is_outdated(billing.gateway_subscriptions,pg_catalog.jsonb);

drop function billing.settle_refunds(public.payments,pg_catalog.text);

drop function billing.source_of(public.payments,pg_catalog.uuid,pg_catalog.text);

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

REVOKE ALL ON FUNCTION "billing"."state_of_billing"(billing.sources) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."state_of_billing"(billing.sources) TO "service_role";

GRANT SELECT ON TABLE "billing"."purchases" TO "service_role";

GRANT SELECT ON TABLE "billing"."sources" TO "service_role";

GRANT SELECT ON TABLE "billing"."stoppable" TO "service_role";

-- Returns whether the gateway charges another cycle of what it bills: not in the last one that was agreed, nor while it is paused.
create function billing.has_next_charge(p_subscription billing.gateway_subscriptions)
returns boolean language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return case p_subscription.gateway_status
    when 'paused' then false
    when 'active' then p_subscription.charge_at is not null
    else true
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
  -- It may be completed before the event of its last charge arrives.
  v_is_over constant boolean := p_subscription.gateway_status = 'paused'
    or p_subscription.gateway_status = 'completed' and billing.unnamed_cycles(p_subscription) = 0;
begin
  lapses_at := case
    -- A refunded cycle ends at once.
    when p_subscription.paid_until is not null then p_subscription.paid_until
    -- The paid time passed while it was paused. The next charge gives access again.
    when p_subscription.last_resumed_at >= v_end then v_end
    -- All retries of a charge failed. Access ends after the days of grace, unless the customer pays,
    -- also where the gateway completes it later.
    when p_subscription.last_halted_at > p_subscription.period_event_at then v_end + make_interval(hours => 24 * v_days)
    -- No charge follows: no days of grace, but before the first one of a change of plan.
    when v_is_over
      and (billing.find_successor(p_subscription.user_id, p_subscription.gateway_subscription_id)).id is null
      then v_end
    when v_ends_with_change or v_is_over then v_end + make_interval(hours => 24 * v_days)
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
    when p_subscription.cancel_at_period_end then 'cancelled'
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

-- Access ends after the paid period and the plan's days of grace, unless another source takes over; a mail announces the end
-- of a paid period. Contract: "End of a period", "E-mails".

-- Returns when the access that a row shows is settled next: at the end of its period, seven days before an end that is to be
-- announced, then when it lapses. What the gateway renews it charges within the hour: until then nothing changes for a user who
-- has nothing else. A renewal does not write due_at.
create or replace function billing.next_check(
  p_ends_at timestamptz, -- of the period
  p_lapses_at timestamptz, -- of access; infinity: not before the gateway was asked
  p_is_renewed boolean -- the gateway renews it, no charge fails, and the user has nothing else
)
returns timestamptz -- null: never
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
begin
  return case
    when p_ends_at is null then null
    when p_ends_at > v_now and p_is_renewed and p_lapses_at = 'infinity' then p_ends_at + interval '1 hour'
    when p_ends_at > v_now
      then least(
        p_ends_at, p_lapses_at,
        case when p_ends_at - interval '7 days' > v_now then p_ends_at - interval '7 days' end
      )
    when p_lapses_at > v_now and p_lapses_at < 'infinity' then p_lapses_at
    else v_now + interval '1 hour'
  end;
end $$;

-- Enqueues the mail about an access that ends soon, one for each end of a period.
create or replace function billing.announce_end(p_user_id uuid)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
begin
  insert into billing.outbox (key, destination, kind, payload)
  select
    format('subscription-ending/%s/%s', s.id, billing.iso_time(s.current_period_end)),
    'notice',
    'subscription-ending',
    jsonb_build_object(
      'to', u.email,
      'display_name', coalesce(nullif(p.display_name, ''), p.username, ''),
      'plan_name', coalesce(pl.name, s.tier),
      'ends_at', billing.iso_time(s.current_period_end),
      'early_renewal', billing.early_renewal()
    )
  from public.subscriptions s
  join auth.users u on u.id = s.user_id
  join billing.profiles p on p.user_id = s.user_id
  left join public.plans pl on pl.id = s.plan_id
  where s.user_id = p_user_id
    and u.email <> ''
    and s.status = 'active'
    and s.current_period_end > v_now
    and s.current_period_end <= v_now + interval '7 days'
    -- No mail for a period that is shorter than the notice: the mail would follow the purchase at once.
    and (s.current_period_start is null or s.current_period_end - s.current_period_start >= interval '7 days')
    -- No mail if the gateway charges what runs, or what follows it.
    and not exists (
      select from billing.find_billed(s.user_id) b
      where b.charge_at <= s.current_period_end + interval '1 day'
        -- A row that was written by hand may say that it ends.
        and not (s.cancel_at_period_end and b.id = s.gateway_subscription_id)
    )
    -- No mail if another source takes over.
    and not exists (
      select from billing.sources o
      where o.user_id = s.user_id
        and o.ended_at is null
        -- An expression keeps the planner off the index on period_end: it reads only the payments of the user.
        and o.ends_at - s.current_period_end > interval '0'
      offset 0
    )
  on conflict (key) do nothing;
end $$;

-- Settles a batch of the users whose time has come: the period that is shown ends or lapses, its end is to be announced, or what
-- they bought begins. An error for one user, such as in an app's trigger, does not stop the others. A request of one of them
-- waits for the whole batch.
create or replace function billing.settle_due()
returns integer -- how many users were due; call again until it is 0
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
  v_due record;
  v_begun text;
  v_is_renewed boolean;
  v_done integer := 0;
begin
  for v_due in
    select
      s.user_id, u.email, s.due_at, s.current_period_end as ends_at, s.gateway_subscription_id,
      s.status = 'active' and not s.cancel_at_period_end and s.current_period_end > v_now as is_renewed
    from public.subscriptions s
    join auth.users u on u.id = s.user_id
    where s.due_at <= v_now
      and not exists (select from billing.recent_failures f where f.user_id = s.user_id::text)
    order by s.due_at
    limit 50 -- each is a subtransaction, and more than 64 slow down all others
    for no key update of u, s skip locked
  loop
    perform from billing.profiles p where p.user_id = v_due.user_id for no key update skip locked;
    -- An app holds it: the next run takes this user.
    continue when not found and exists (select from billing.profiles p where p.user_id = v_due.user_id);
    v_done := v_done + 1;
    begin
      v_begun := (
        select o.reference
        from billing.starts o
        where o.user_id = v_due.user_id and o.at between v_due.due_at and v_now
        order by o.at desc, o.reference desc
        limit 1
      );
      -- Each user's side effects are enqueued in one statement, as in a request.
      perform billing.begin_request(case when v_begun is null then 'expiry' else 'start of a period' end, v_begun);
      -- The usual one was renewed in time, and goes on.
      v_is_renewed := v_due.is_renewed and v_begun is null and exists (
        select from billing.gateway_subscriptions m
        where (m.user_id, m.gateway_subscription_id, m.gateway_status, m.period_end)
            = (v_due.user_id, v_due.gateway_subscription_id, 'active', v_due.ends_at)
          and m.last_halted_at is null
          and billing.has_next_charge(m)
      );
      -- Settling sets it anew.
      update public.subscriptions s
      set due_at = case
        when v_is_renewed then least(
          billing.next_check(v_due.ends_at, 'infinity', billing.is_sole(v_due.user_id, v_due.gateway_subscription_id)),
          billing.next_start(v_due.user_id)
        )
      end
      where s.user_id = v_due.user_id;
      continue when v_is_renewed;
      perform billing.settle_access(v_due.user_id, v_due.email);
      perform billing.announce_end(s.user_id)
      from public.subscriptions s
      where s.user_id = v_due.user_id
        -- What is shown until another end than before was not announced.
        and (s.current_period_end <> v_due.ends_at or s.current_period_end - interval '7 days' >= v_due.due_at);
      if exists (
        select from public.subscriptions s
        where s.user_id = v_due.user_id and s.status = 'active' and s.current_period_end is not null and s.due_at is null
      ) then
        raise exception 'a subscription would never end' using errcode = 'PS500';
      end if;
    exception when others then
      -- Such as a deadlock: the next run takes the whole batch again.
      if not billing.is_error_of_event(sqlstate) and sqlstate <> '55P03' then raise; end if;
      perform billing.note_settle_failure(v_due.user_id, sqlstate);
    end;
  end loop;
  perform set_config('subscriptions.request', '', true);
  if current_setting('subscriptions.enqueued', true) = 'on' then perform billing.wake(); end if;
  return v_done;
end $$;

-- Returns whether the user has authorised another subscription since: of several that wait only one starts. Of two changes
-- that is the one that was asked for last. One that waits for the end of this one, or whose purchase does not go on, is none.
-- While this one runs, only one counts that was authorised after the last act on this one, and starts by its next charge: this
-- one was not known when that was asked for.
create or replace function billing.is_superseded(p_subscription billing.gateway_subscriptions)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return exists (
    select from billing.gateway_subscriptions o
    where o.user_id = p_subscription.user_id
      and o.id <> p_subscription.id
      and o.asked_plan_id is not null
      and o.gateway_subscription_id is distinct from p_subscription.replaces
      and o.replaces is distinct from p_subscription.gateway_subscription_id
      and (o.payment_id is null or billing.renews_purchase(o))
      and o.undone_at is null
      and billing.is_billed(o)
      and (
        p_subscription.period_end is null
        or o.period_end is null
          and o.starts_at <= p_subscription.period_end + interval '1 day'
          and billing.authorised_at(o) > billing.since_of(p_subscription)
          and billing.cancelled_by_user_at(o.user_id, o.asked_at) is null
          and (o.payment_id is null or exists (select from public.payments p where p.id = o.payment_id and p.fulfilled_at is not null))
      )
      and case
        when num_nonnulls(o.replaces, o.payment_id) > 0
          and num_nonnulls(p_subscription.replaces, p_subscription.payment_id) > 0
          then o.asked_at > p_subscription.asked_at
        else (billing.authorised_at(o), o.asked_at)
          > (coalesce(billing.authorised_at(p_subscription), p_subscription.asked_at), p_subscription.asked_at)
      end
  );
end $$;

-- The subscriptions that the gateway may still charge or let authorise, and those that have a stop.
create or replace view billing.stoppable with (security_invoker = true) as
select
  m.user_id,
  m.gateway_subscription_id,
  m as subscription,
  billing.authorised_at(m) as authorised_at, -- null: not authorised
  m.stops_at,
  m.status is distinct from 'cancelled'
    and coalesce(m.gateway_status, 'active') not in ('completed', 'expired', 'cancelled') as is_open,
  -- Whether a wish to cancel covers it: true for the end of the period, false at once.
  (
    select bool_and(w.at_period_end)
    from billing.wishes w
    where w.user_id = m.user_id and w.at >= m.asked_at and w.withdrawn_at is null
  ) as is_wish,
  (billing.find_successor(m.user_id, m.gateway_subscription_id)).starts_at as succeeded_at -- when the one starts that replaces it
from billing.gateway_subscriptions m
where m.gateway_subscription_id <> '';

-- Derives when the gateway must stop billing a subscription. The first reason counts.
create or replace function billing.find_stop(
  p_each billing.stoppable,
  p_newest billing.sources, -- the newest of billing.purchases; all null: none
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
    if v_authorised_at is null
      or p_newest.id is null
      or p_newest.gateway_subscription_id = p_each.gateway_subscription_id
      or v_subscription.payment_id::text = p_newest.id
      -- Without a plan of ours, and known only by a charge: it may be attached to nothing.
      or num_nonnulls(v_subscription.plan_id, v_subscription.activated_at, v_subscription.written_at) = 0
        and p_newest.kind <> 'payment'
      or v_is_waiting and v_subscription.asked_plan_id is not null and p_newest.kind <> 'payment'
      or p_newest.since <= (case when v_is_waiting then v_authorised_at else billing.since_of(v_subscription) end)
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
  v_row record;
  v_stop billing.stop;
  v_ends boolean;
begin
  -- All that a deleted user had is to stop at once. What replaced it went with the user, and must not take that back.
  if billing.is_deleted(p_user_id) then return; end if;
  for v_row in
    -- Without a subscription nothing is ranked.
    select s as each, (select billing.newest_purchase(p_user_id)) as newest
    from billing.stoppable s
    where s.user_id = p_user_id and (s.is_open or s.stops_at is not null)
    order by s.gateway_subscription_id
  loop
    v_each := v_row.each;
    v_stop := case when v_each.is_open then billing.find_stop(v_each, v_row.newest) end;
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

-- Finds what the gateway may charge, and what it has cancelled for a change that follows.
create or replace function billing.find_billed(p_user_id uuid)
returns setof billing.commitment language plpgsql stable rows 2 set search_path = pg_catalog, pg_temp as $$
begin
  -- Most users have none.
  if not exists (select from billing.gateway_subscriptions m where m.user_id = p_user_id) then return; end if;
  return query
  select
    m.user_id,
    case
      when m.period_end is not null then 'subscription'
      when m.replaces is not null then 'change'
      when m.payment_id is not null then 'renewal'
      else 'subscription'
    end,
    m.gateway_subscription_id, m.gateway_subscription_id, m.plan_id,
    (select p.tier from public.plans p where p.id = m.plan_id), m.sold,
    period.starts_at, period.ends_at, period.paid_by_kind, period.paid_by_id,
    billing.is_billed(m) and m.stops_at is null and billing.has_next_charge(m) or next.is_there is true,
    case
      when billing.is_billed(m)
        and m.stops_at is null
        -- Once halted, the gateway charges again only after the customer changed the method of payment.
        and coalesce(m.gateway_status, 'active') not in ('paused', 'halted')
        then case when m.gateway_status is null then m.period_end else m.charge_at end
    end,
    billing.since_of(m),
    next.change,
    case
      when next.is_there and not billing.is_stop_sent(m.gateway_subscription_id) then (next.change).starts_at - interval '48 hours'
    end,
    m.stops_at, null::text
  from billing.gateway_subscriptions m
  left join public.payments renewed
    on renewed.id = m.payment_id
    and renewed.fulfilled_at is not null
    and m.replaces is null
  cross join lateral (
    select m.period_start, m.period_end, 'gateway_subscription', m.gateway_subscription_id
    where m.period_end is not null
    union all
    select renewed.period_start, renewed.period_end, 'payment', renewed.id::text
    where m.period_end is null and renewed.id is not null
    union all
    select coalesce(m.starts_at, m.charge_at), coalesce(m.starts_at, m.charge_at), null::text, null::text
    where m.period_end is null and renewed.id is null
  ) period (starts_at, ends_at, paid_by_kind, paid_by_id)
  left join lateral (
    select n as change, true as is_there
    from billing.find_successor(m.user_id, m.gateway_subscription_id) n
    where n.starts_at > billing.clock()
      and coalesce(n.stops_at > n.starts_at, true) -- else a purchase replaced it
  ) next on true
  where m.user_id = p_user_id
    and m.gateway_subscription_id <> ''
    -- An imported one is billed, too, before its first event.
    and billing.is_known(m)
    and m.gateway_status is distinct from 'created'
    and (billing.is_billed(m) or next.is_there and period.ends_at > billing.clock());
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
          and s.kind = coalesce(b.paid_by_kind, 'gateway_subscription')
          and s.id = coalesce(b.paid_by_id, (
            select m.replaces from billing.gateway_subscriptions m where (m.user_id, m.gateway_subscription_id) = (p_user_id, b.id)
          ))
      )
    )
  order by b.kind = 'change', b.since desc, b.id desc
  limit 1;
  if v_found.plan_id is not null then return v_found; end if;

  -- Without a plan of ours a subscription has that of the source to which it is attached.
  if v_found.id is not null then v_ruling := billing.find_shown(p_user_id); end if;
  if v_found.id is null or v_found.id is distinct from (v_ruling.source).gateway_subscription_id then
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
  v_found.starts_at := v_source.starts_at;
  v_found.ends_at := v_source.ends_at;
  v_found.since := v_source.since;
  if v_source.kind in ('payment', 'gateway_subscription') then
    v_found.paid_by_kind := v_source.kind;
    v_found.paid_by_id := v_source.id;
  end if;
  return v_found;
end $$;

-- Returns a plan with its prices. Those that the gateway can't charge are left out, but not those of the plan "free".
create or replace function billing.offered_plan(
  p_plan public.plans,
  p_commitment billing.commitment, -- of the user; all null: none
  p_waiting uuid[] -- see billing.scenario. Null: there is no user, and no scenario
)
returns jsonb -- null: it has no such price
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_held constant billing.ranked_price := billing.rank_commitment(p_commitment);
  v_prices jsonb;
  v_scenario text;
begin
  select
    jsonb_agg(
      billing.offer_answer(p.id, p.tier, (its.wanted).price, p.gateway_plan_id)
        || case when own.scenario is null then '{}' else jsonb_build_object('scenario', own.scenario) end
      order by p.lookup_key is not null, ((its.wanted).price).months, p.price, p.lookup_key
    ) filter (where billing.is_payable(p.price, p.currency) or p.tier = 'free'),
    max(own.scenario) filter (where p.lookup_key is null)
  into v_prices, v_scenario
  from public.plans p
  cross join lateral (select billing.rank_plan(p) as wanted offset 0) its
  cross join lateral (
    select case when p_waiting is not null then billing.scenario(p_commitment, v_held, its.wanted, p_waiting) end as scenario
  ) own
  where p.tier = p_plan.tier and p.is_active;
  if v_prices is null then return null; end if;
  return to_jsonb(p_plan) || jsonb_build_object('prices', v_prices)
    || case when v_scenario is null then '{}' else jsonb_build_object('scenario', v_scenario) end;
end $$;

-- Settles the access of a user whose payment is fulfilled, with the success mail.
create or replace function billing.settle_purchase(
  p_purchase billing.purchase,
  p_payment public.payments, -- as it is fulfilled
  p_tier text,
  p_email text, -- of the user
  p_rules boolean -- whether it is known to rule
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_plan constant public.plans := p_purchase.plan;
  v_source billing.sources;
  v_ruling billing.ruling;
begin
  -- A ranking would take half of the time.
  if p_rules then
    v_source.user_id := p_payment.user_id;
    v_source.kind := 'payment';
    v_source.id := p_payment.id;
    v_source.plan_id := v_plan.id;
    v_source.tier := p_tier;
    v_source.starts_at := coalesce(p_payment.chain_start, p_payment.period_start);
    v_source.ends_at := p_payment.period_end;
    v_source.lapses_at := p_payment.period_end;
    v_source.since := p_payment.since;
    v_source.cancel_at_period_end := p_payment.cancel_at_period_end;
    v_source.sold := billing.price_sold(p_payment);
    v_ruling := billing.sole_ruling(v_source);
    v_ruling.shown := p_purchase.shown;
  end if;
  perform billing.settle_access(
    p_payment.user_id, p_email, p_payment.id::text, p_ruling => v_ruling, p_mail => jsonb_build_object(
      'plan_name', v_plan.name, 'amount', coalesce(p_payment.paid_amount, p_payment.amount), 'currency', p_payment.currency,
      'transaction_id', p_payment.gateway_payment_id, 'valid_until', billing.iso_time(p_payment.period_end)
    )
  );
end $$;

create or replace function public.verify_payment(
  p_user_id uuid,
  p_order_id text,
  p_payment_id text,
  p_signature text -- already checked by the route
)
returns jsonb
-- {outcome: applied | already_applied | payment_not_found | plan_not_found | refunded | never_captured, tier, valid_until}
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_email text;
  v_purchase billing.purchase;
  v_payment public.payments;
begin
  perform billing.begin_request('payment', p_payment_id);
  v_email := billing.lock_user(p_user_id);
  v_purchase := billing.lock_purchase(
    (select p.id from public.payments p where p.gateway_order_id = p_order_id and p.user_id = p_user_id), p_payment_id
  );
  v_payment := v_purchase.payment;
  if v_payment.id is null then return jsonb_build_object('outcome', 'payment_not_found'); end if;

  if v_payment.uncaptured_at is not null then
    -- A signature never expires, so it must not grant the tier again. A confirmation by the gateway would.
    update public.payments p set next_reconcile_at = billing.clock() where p.id = v_payment.id;
    return jsonb_build_object('outcome', 'never_captured');
  end if;
  if v_payment.status = 'captured' and v_payment.gateway_payment_id <> p_payment_id then
    perform billing.note_extra_payment(v_payment, p_payment_id, null);
    v_payment := billing.count_best_payment(v_payment);
  elsif v_payment.gateway_payment_id is distinct from p_payment_id and v_payment.status <> 'captured' then
    v_payment.gateway_payment_id := p_payment_id;
    v_payment.refunded_amount := v_purchase.refunded_amount;
  end if;

  if v_payment.status = 'captured' and billing.is_refunded(v_payment) then
    return jsonb_build_object('outcome', 'refunded');
  end if;
  if v_payment.fulfilled_at is null or v_payment.ended_reason = 'refunded' then
    v_purchase.payment := v_payment;
    return billing.fulfil_payment(
      v_purchase, v_email, case when v_payment.gateway_payment_id = p_payment_id then p_signature end, false
    );
  end if;

  if (v_payment.verified_at is null or v_payment.gateway_payment_id = p_payment_id and v_payment.gateway_signature is null)
    and not exists (select from public.payments x where x.gateway_payment_id = p_payment_id and billing.is_refunded(x))
  then
    -- The webhook fulfilled the payment first. The verification is the customer's newest act, also of a second payment that
    -- was not refunded.
    update public.payments p
    set gateway_signature = case when p.gateway_payment_id = p_payment_id then p_signature else p.gateway_signature end,
      verified_at = coalesce(p.verified_at, billing.clock()),
      since = case when p.verified_at is null then greatest(
        billing.clock(),
        (select s.updated_at + interval '1 microsecond' from public.subscriptions s where s.user_id = p_user_id)
      ) else p.since end
    where p.id = v_payment.id;
    perform billing.settle_payment(v_payment, v_email);
  end if;
  return jsonb_build_object(
    'outcome', 'already_applied', 'tier', v_payment.tier, 'valid_until', billing.iso_time(v_payment.period_end)
  );
end $$;

-- Each connection plans it once, and not again at its first five calls.
create or replace function public.get_subscription(p_user_id uuid)
returns json -- {subscription, currentTier, entitlements, payments, billing}: the answer's body
language plpgsql stable
set search_path = pg_catalog, pg_temp set timezone = 'UTC' set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
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
            case when s.current_period_end < billing.clock() then billing.shown_grace_end(s) end as access_ends_at,
            billing.price_answer(s.tier, billing.price_shown(s)) as price, row_to_json(p) as plan
          from public.subscriptions s
          left join public.plans p on p.id = s.plan_id
          where s.user_id = p_user_id
        ) record
      ) as subscription,
      coalesce(a.tier, 'free') as "currentTier",
      coalesce(a.entitlements, (
        select p.entitlements from public.plans p where p.tier = 'free' and p.lookup_key is null
      ), '{}') as entitlements,
      array(
        select newest
        from (
          select
            p.id, p.user_id, p.subscription_id, p.amount, p.currency, p.status, p.tier, p.price_key,
            -- As billing.interval_answer, which would be called twice for each payment: a tenth of the read.
            case when p.duration_months % 12 = 0 then 'year' when p.duration_months is not null then 'month' end as "interval",
            case when p.duration_months % 12 = 0 then p.duration_months / 12 else p.duration_months end as interval_count,
            p.gateway_order_id, p.gateway_payment_id, p.gateway_signature,
            coalesce(p.gateway_subscription_id, p.failed_subscription_id) as gateway_subscription_id, p.meta, p.captured_at,
            p.confirmed_at, p.fulfilled_at, p.period_start, p.period_end, p.paid_amount, p.refunded_amount, p.dispute_status, p.created_at
          from public.payments p
          where p.user_id = p_user_id and p.extra_of is null
          order by p.created_at desc, p.id desc
          limit 10
        ) newest
      ) as payments,
      (
        select record
        from (
          select
            b.gateway_subscription_id, coalesce(m.gateway_status, m.status, 'active') as status,
            b.charge_at as next_charge_at,
            coalesce(m.gateway_status in ('pending', 'halted') and m.stops_at is null, false) as payment_attention,
            m.short_url as manage_url,
            billing.price_answer(b.tier, b.sold) as price,
            billing.next_change(p_user_id) as next
          from billing.find_billed(p_user_id) b
          join billing.gateway_subscriptions m
            on m.user_id = p_user_id
            and m.gateway_subscription_id = b.gateway_subscription_id
          where billing.is_billed(m)
          -- What is charged next; else the running one before one that starts later; of two the one that would rule.
          order by
            b.charge_at > billing.clock() desc nulls last, b.charge_at, m.period_end > billing.clock() desc nulls last, b.since desc,
            b.id desc
          limit 1
        ) record
      ) as billing
    from (values (p_user_id)) one (user_id)
    left join billing.access a on a.user_id = one.user_id
  ) answer;
end $$;

-- Sets the terms of a change that withdraws the one that waits: what the user pays for goes on.
create or replace function billing.undo_change(p_change billing.change, p_from billing.commitment)
returns billing.change language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  p_change.outcome := 'undo';
  p_change.is_billed := false;
  p_change.credit := 0;
  p_change.amount_due := 0;
  p_change.starts_at := p_from.ends_at;
  p_change.ends_at := billing.add_months(p_from.ends_at, billing.sold_months((p_change.plan).duration_months));
  -- An earlier cancellation counts again.
  p_change.goes_on := (
    select billing.cancelled_by_user_at(m.user_id, m.asked_at) is null and billing.has_next_charge(m)
    from billing.gateway_subscriptions m
    where m.user_id = p_from.user_id and m.gateway_subscription_id = p_from.gateway_subscription_id
  );
  p_change.next_charge_at := case when p_change.goes_on then p_from.ends_at end;
  p_change.next_amount := coalesce((p_from.sold).amount, (p_change.plan).price);
  if p_from.undo_until is null then
    -- What runs ends, so what follows it must start.
    p_change.outcome := 'too_late';
    p_change.starts_at := (p_from.next).starts_at;
  end if;
  return p_change;
end $$;

create or replace function billing.plan_change(
  p_user_id uuid,
  p_tier text,
  p_when text, -- now or period_end
  p_price text -- the lookup key of the price; null: the default price of the tier
)
returns billing.change language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
  v_plan constant public.plans := billing.find_plan(p_tier, p_price);
  v_months constant integer := billing.sold_months(v_plan.duration_months);
  v_from constant billing.commitment := billing.find_commitment(p_user_id);
  v_held constant billing.ranked_price := billing.rank_commitment(v_from);
  v_is_same constant boolean := coalesce(v_held.plan_id = v_plan.id, false); -- a renewal, not a change
  v_is_undo constant boolean := v_is_same and (v_from.next).id is not null;
  v_credit record;
  v_change billing.change;
begin
  v_change.outcome := case
    -- What a customer has is undone to, also where it is off sale.
    when v_plan.id is null or not v_is_undo and not billing.is_on_offer(v_plan) then 'plan_not_found'
    when v_plan.tier <> p_tier then 'price_conflict'
    -- In the days of grace nothing has an end to wait for. While a charge is under way, another payment might be one too much.
    when v_held.plan_id is null or v_from.ends_at <= v_now and (p_when <> 'now' or coalesce(v_from.charge_at <= v_now, false))
      then 'subscription_not_found'
  end;
  if v_change.outcome is not null then return v_change; end if;
  v_change.plan := v_plan;
  v_change.from_tier := v_from.tier;
  v_change.from_price := case when (v_from.sold).amount is not null then coalesce((v_from.sold).lookup_key, v_from.tier) end;
  if v_is_undo then return billing.undo_change(v_change, v_from); end if;

  select * into v_credit from billing.find_credit(p_user_id, v_plan) where p_when = 'now';
  -- Why it cannot begin before the end of the period.
  v_change.reason := case
    when p_when <> 'now' or v_is_same then null
    when (v_held.price).currency <> v_plan.currency then 'currency'
    when v_held.tier = v_plan.tier and billing.compare_prices(v_held, billing.rank_plan(v_plan)) = 'downgrade' then 'downgrade'
    when v_credit.is_excess then 'credit'
  end;
  v_change.outcome := case
    when v_change.reason is not null then 'not_now'
    when v_is_same and v_from.gateway_subscription_id is not null then 'already_subscribed'
    -- It waits already: asked for again it changes nothing.
    when p_when = 'period_end' and v_plan.id = (v_from.next).asked_plan_id then 'already_subscribed'
    else 'change'
  end;
  -- A renewal that the customer cancelled or never authorised is made again. A change of one that waits renews the same
  -- purchase.
  if p_when = 'period_end' and (
    v_from.kind = 'renewal'
    or v_from.kind = 'purchase' and v_is_same and exists (
      select from billing.gateway_subscriptions m where m.user_id = p_user_id and m.payment_id::text = v_from.id
    )
  ) then
    v_change.renews := v_from.paid_by_id::uuid;
  end if;
  v_change.is_billed := v_plan.gateway_plan_id is not null and num_nonnulls(v_from.gateway_subscription_id, v_change.renews) > 0;

  v_change.credit := 0;
  v_change.starts_at := v_now;
  v_change.due_at := v_now;
  if p_when = 'now' then
    v_change.credit := coalesce(v_credit.credit, 0);
    if not v_change.is_billed or v_change.credit > 0 then
      v_change.order_start := 'now';
      v_change.charge_at := billing.add_months(v_now, v_months);
    end if;
  elsif v_change.is_billed then
    v_change.replaces := v_from.gateway_subscription_id;
    v_change.starts_at := v_from.ends_at;
    v_change.charge_at := v_from.ends_at;
    v_change.due_at := v_from.ends_at;
    -- The customer may authorise for 24 hours, and the gateway needs to know a cancellation 48 hours before a cycle ends.
    if v_change.outcome = 'change' and v_change.replaces is not null and v_change.starts_at < v_now + interval '80 hours' then
      v_change.outcome := 'too_late';
    end if;
  else
    v_change.order_start := 'after_current';
    v_change.starts_at := coalesce(
      (billing.find_followed(p_user_id, v_plan.tier, null, null, v_change.order_start, null)).ends_at, v_now
    );
  end if;
  v_change.ends_at := billing.add_months(v_change.starts_at, v_months);
  v_change.amount_due := v_plan.price - v_change.credit;
  v_change.goes_on := v_change.is_billed;
  v_change.next_charge_at := case when v_change.is_billed then coalesce(v_change.charge_at, v_change.ends_at) end;
  v_change.next_amount := v_plan.price;
  return v_change;
end $$;

-- Enqueues the mail about a change at the end of the period, once it is authorised, or about the renewal of a purchase that is
-- made again after its cancellation. The caller has settled the user's access.
create or replace function billing.announce_change(
  p_subscription billing.gateway_subscriptions, -- that starts then
  p_email text -- of the user
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_undo_until timestamptz;
  v_wish_id bigint;
begin
  -- The outbox remembers a mail for at least that long.
  if p_subscription.asked_at <= billing.clock() - interval '30 days' then return; end if;
  select w.id into v_wish_id
  from public.payments p
  join billing.wishes w on w.user_id = p.user_id and w.at >= p.since
  where p.id = p_subscription.payment_id
    and p_subscription.replaces is null
    and w.at_period_end
    and w.withdrawn_at is null
    and billing.is_renewed_since(p.id, w.at)
  order by w.at desc
  limit 1;
  if found then
    perform billing.withdraw_mails(array['subscription-cancelled/' || v_wish_id]);
    perform billing.announce_going_on(p_subscription.user_id, p_email, 'subscription-resumed', v_wish_id::text);
    return;
  end if;
  select b.undo_until into v_undo_until
  from billing.find_billed(p_subscription.user_id) b
  where (b.next).id = p_subscription.id;
  if not found then return; end if;
  -- Of several changes the newest one counts.
  perform billing.withdraw_outlook(p_subscription.user_id, 'change-scheduled/' || p_subscription.gateway_subscription_id);
  perform billing.enqueue_mail(
    p_subscription.user_id, p_email, 'change-scheduled', p_subscription.gateway_subscription_id,
    jsonb_build_object(
      'plan_name', coalesce(
        (select p.name from public.plans p where p.id = p_subscription.asked_plan_id), p_subscription.asked_tier
      ),
      'amount', (p_subscription.asked_price).amount, 'currency', (p_subscription.asked_price).currency,
      'starts_at', billing.iso_time(p_subscription.starts_at), 'undo_until', billing.iso_time(v_undo_until)
    ) || billing.interval_answer((p_subscription.asked_price).months)
  );
end $$;

create or replace function public.create_change(
  p_user_id uuid,
  p_tier text,
  p_when text, -- now or period_end
  p_payment_id uuid default null, -- pays for the first period
  p_gateway_key_id text default null,
  p_price text default null -- the lookup key of the price; null: the default price of the tier
)
returns jsonb
-- as create_subscription, or {outcome: undone | already_subscribed | subscription_not_found},
-- {outcome: not_now, reason}, {outcome: too_late, possible_from}
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_email text;
  v_change billing.change;
  v_undone_id uuid;
begin
  perform billing.begin_request('change', null);
  v_email := billing.lock_user(p_user_id);
  if v_email is null then return jsonb_build_object('outcome', 'user_not_found'); end if;
  v_change := billing.plan_change(p_user_id, p_tier, p_when, p_price);
  if v_change.outcome = 'undo' then
    with undone as (
      update billing.gateway_subscriptions m
      set undone_at = billing.clock()
      where m.user_id = p_user_id and m.replaces is not null and m.starts_at > billing.clock() and m.undone_at is null
      returning m.id, m.asked_at
    )
    select u.id into v_undone_id from undone u order by u.asked_at desc, u.id limit 1;
    perform billing.withdraw_outlook(p_user_id);
    perform billing.settle_access(p_user_id, v_email);
    perform billing.announce_going_on(p_user_id, v_email, 'change-undone', v_undone_id::text);
    return jsonb_build_object('outcome', 'undone');
  end if;
  if v_change.outcome <> 'change' then return public.preview_change(p_user_id, p_tier, p_when, p_price); end if;
  if not v_change.is_billed then return jsonb_build_object('outcome', 'not_at_gateway'); end if;
  return billing.request_subscription(
    p_user_id, v_change.plan, null, null, p_gateway_key_id,
    case
      -- The order was sold for a time of its own, also if no credit is left by now.
      when p_payment_id is not null then (
        select coalesce(p.period_end, billing.add_months(billing.clock(), p.duration_months))
        from public.payments p
        where p.id = p_payment_id
      )
      when p_when = 'period_end' then v_change.charge_at
    end,
    v_change.replaces, coalesce(p_payment_id, v_change.renews)
  );
end $$;

-- Applies refund.created, refund.processed or refund.failed, in any order, before or after their payment arrives. A refund
-- keeps its payment and its amount: what names another one changes nothing.
-- Contract: "Refunds".
create or replace function billing.apply_refund(p_refund jsonb, p_payment jsonb) -- the entities; null: the event has none
returns text -- the outcome for the ledger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_refund_id constant text := billing.json_text(p_refund -> 'id');
  v_gateway_payment_id constant text := coalesce(
    billing.json_text(p_refund -> 'payment_id'), billing.json_text(p_payment -> 'id')
  );
  v_amount constant bigint := billing.json_integer(p_refund -> 'amount');
  v_status constant text := billing.json_text(p_refund -> 'status');
  v_statuses constant text[] := array['pending', 'processed', 'failed'];
  v_payment public.payments;
  v_email text;
  v_is_news boolean;
  v_is_settled boolean;
  v_had_access boolean;
begin
  if v_refund_id is null or v_gateway_payment_id is null or v_amount is null or v_amount < 0
    or (v_status = any (v_statuses)) is not true
  then
    return 'ignored: refund.entity';
  end if;
  perform billing.lock_gateway_payment(v_gateway_payment_id);
  v_payment := billing.find_payment(coalesce(p_payment, '{}') || jsonb_build_object('id', v_gateway_payment_id), null);
  perform billing.note_missing_user(v_payment);
  v_email := billing.lock_user(v_payment.user_id);
  select * into v_payment from public.payments p where p.id = v_payment.id for update;
  update public.payments p
  set paid_amount = billing.json_integer(p_payment -> 'amount')
  where p.id = v_payment.id
    and p.gateway_payment_id = v_gateway_payment_id
    and p.gateway_subscription_id is null
    and p.paid_amount is null
    and billing.json_integer(p_payment -> 'amount') > 0;
  -- The refund is stored even without its payment, which reads its refunds when it arrives.
  insert into billing.refunds as r (refund_id, gateway_payment_id, amount, status, failed_at, support_action_id)
  values (
    v_refund_id, v_gateway_payment_id, v_amount, v_status, case when v_status = 'failed' then billing.clock() end,
    billing.number_of(p_refund #>> '{notes,support_action}')
  )
  on conflict (refund_id) do update
  set status = excluded.status, failed_at = excluded.failed_at,
    support_action_id = coalesce(r.support_action_id, excluded.support_action_id)
  -- A pending refund becomes processed or failed. A processed refund may still fail.
  where array_position(v_statuses, r.status) < array_position(v_statuses, excluded.status)
    and (r.gateway_payment_id, r.amount) = (excluded.gateway_payment_id, excluded.amount);
  v_is_news := found;
  if not exists (
    select from billing.refunds r
    where (r.refund_id, r.gateway_payment_id, r.amount) = (v_refund_id, v_gateway_payment_id, v_amount)
  ) then
    return 'mismatch';
  end if;
  -- The status is no condition: an index of all active rows would be read.
  v_had_access := (select s.status = 'active' from public.subscriptions s where s.user_id = v_payment.user_id);
  update public.payments p
  set refunded_amount = billing.refunded_amount(p.gateway_payment_id)
  where v_payment.id in (p.id, p.extra_of) and p.refunded_amount <> billing.refunded_amount(p.gateway_payment_id);
  v_is_settled := found;
  if v_is_settled then perform billing.settle_kept(v_payment, v_email); end if;
  if v_is_news and v_email is not null then
    -- Of several payments on an order the one that was refunded.
    v_payment := coalesce(
      (select p from public.payments p where p.gateway_payment_id = v_gateway_payment_id), v_payment
    );
    perform billing.announce_refund(p_refund, v_payment, v_email, v_had_access);
  end if;
  return case when v_payment.id is null then 'unmatched' when v_is_settled or v_is_news then 'applied' else 'already' end;
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
  perform billing.enqueue_mail(
    p_subscription.user_id, p_email,
    case p_status when 'pending' then 'payment-pending' else 'subscription-' || p_status end,
    -- One mail for each cycle that was not charged.
    concat_ws('/', v_id, case when p_status <> 'completed' then billing.iso_time(v_paid_until) end),
    jsonb_build_object(
      'access_ends_at', billing.iso_time(billing.access_end(p_subscription)),
      'amount', coalesce(billing.json_integer(p_payment -> 'amount'), (p_subscription.sold).amount),
      'currency', billing.charged_currency(p_payment, (p_subscription.sold).currency),
      'manage_url', p_subscription.short_url,
      'ends_at', billing.iso_time(v_paid_until)
    ),
    p_subscription.plan_id
  );
end $$;

-- Returns what rules after the first activation of a user who has nothing else. A ranking and a plan would take half of the time.
create or replace function billing.first_ruling(p_subscription billing.gateway_subscriptions)
returns billing.ruling -- null: something else is known of the user
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
  v_plan record;
  v_source billing.sources;
begin
  select p.tier, p.grace_days into v_plan
  from public.plans p
  where p.id = p_subscription.plan_id
    and (p_subscription.status, p_subscription.gateway_status) = ('active', 'active')
    and p_subscription.period_end > v_now
    and num_nonnulls(
      p_subscription.ended_at, p_subscription.stops_at, p_subscription.written_at, p_subscription.paid_until,
      p_subscription.last_halted_at, p_subscription.last_resumed_at, p_subscription.starts_at, p_subscription.replaces,
      p_subscription.payment_id, p_subscription.undone_at
    ) = 0
    and not p_subscription.cancel_at_period_end
    and not exists (
      select from billing.gateway_subscriptions m where m.user_id = p_subscription.user_id and m.id <> p_subscription.id
    )
    and not exists (select from public.subscriptions s where s.user_id = p_subscription.user_id)
    and not exists (select from public.payments c where c.user_id = p_subscription.user_id)
    and not exists (select from billing.grants g where g.user_id = p_subscription.user_id)
    and not exists (select from billing.manual_subscriptions w where w.user_id = p_subscription.user_id)
    and not exists (select from billing.wishes w where w.user_id = p_subscription.user_id);
  if not found then return null; end if;
  v_source.user_id := p_subscription.user_id;
  v_source.kind := 'gateway_subscription';
  v_source.id := p_subscription.gateway_subscription_id;
  v_source.plan_id := p_subscription.plan_id;
  v_source.tier := v_plan.tier;
  v_source.starts_at := p_subscription.period_start;
  v_source.ends_at := p_subscription.period_end;
  v_source.lapses_at := billing.billed_until(p_subscription.period_end, p_subscription.checked_at, v_plan.grace_days);
  v_source.since := billing.since_of(p_subscription);
  v_source.cancel_at_period_end := false;
  v_source.gateway_subscription_id := nullif(p_subscription.gateway_subscription_id, '');
  v_source.sold := p_subscription.sold;
  v_source.is_failing := p_subscription.charge_at is null;
  return billing.sole_ruling(v_source);
end $$;

-- Applies an event about a gateway subscription. Contract: "Fields that an event needs", "Gateway subscriptions".
create or replace function billing.apply_subscription_event(
  p_event text,
  p_entity jsonb,
  p_payment jsonb, -- of the cycle, if the event has it
  p_created_at timestamptz, -- of the event; null: it has none
  p_arrived_at timestamptz
)
returns text -- the outcome for the ledger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_status constant text := substr(p_event, length('subscription.') + 1);
  v_cancelled constant boolean := p_event = 'subscription.cancelled';
  v_has_cycle constant boolean := p_event in ('subscription.activated', 'subscription.charged');
  -- No real id has more than 200 characters, and the index cannot hold it.
  v_id constant text := coalesce(substring(billing.json_text(p_entity -> 'id') from '^.{1,200}$'), '');
  v_noted_user_id constant uuid := billing.json_uuid(p_entity -> 'notes' -> 'user_id');
  v_user_id uuid;
  v_owned billing.gateway_subscriptions := billing.find_subscription(v_id);
  v_start constant timestamptz := case when v_has_cycle then billing.json_time(p_entity -> 'current_start') end;
  v_end constant timestamptz := case when v_has_cycle then billing.json_time(p_entity -> 'current_end') end;
  v_payment_id constant text := case when p_event = 'subscription.charged' then billing.json_text(p_payment -> 'id') end;
  v_gateway_plan_id constant text := billing.json_text(p_entity -> 'plan_id');
  v_email text;
  v_merged billing.gateway_subscriptions;
  v_is_changed boolean;
begin
  -- Its user keeps it, also if its notes were edited at the gateway. Until a user exists they may be corrected.
  if v_owned.asked_plan_id is null and not exists (select from billing.find_user(v_owned.user_id)) then v_owned := null; end if;
  v_user_id := coalesce(v_owned.user_id, v_noted_user_id);
  if v_user_id is null then return 'ignored: subscription.entity.notes.user_id'; end if;
  if v_has_cycle
    and (v_start is null or v_end is null)
    -- An activation before the first cycle has no period.
    and (
      p_event = 'subscription.activated'
      and p_entity -> 'current_start' = 'null'
      and p_entity -> 'current_end' = 'null'
    ) is not true
  then
    return 'ignored: subscription.entity.current_start, current_end';
  end if;

  perform billing.lock_gateway_payment(v_payment_id);
  v_email := billing.lock_user(v_user_id);
  if v_email is null and billing.is_deleted(v_user_id) then
    perform set_config('subscriptions.user_deleted', 'on', true);
  end if;
  if v_email is null and billing.lock_missing_user(v_user_id) then
    -- Nothing but the payment is stored of an erased user, for a finding, and the subscription is cancelled at the gateway.
    v_merged.user_id := v_user_id;
    v_merged.gateway_subscription_id := v_id;
    if p_event = 'subscription.charged' then
      perform billing.record_charge(
        v_merged, v_gateway_plan_id, v_start, v_end, p_payment, billing.charged_at(p_created_at, p_arrived_at)
      );
    end if;
    return case when v_cancelled then 'unmatched' else billing.apply_event_for_missing_user(v_user_id, v_id) end;
  end if;
  -- For a finding. An older event that arrives late says nothing of them.
  if v_owned.noted_user_id is distinct from nullif(v_noted_user_id, v_owned.user_id) and v_owned.id is not null
    and (p_created_at < v_owned.gateway_status_event_at) is not true
  then
    update billing.gateway_subscriptions m set noted_user_id = nullif(v_noted_user_id, m.user_id) where m.id = v_owned.id;
  end if;
  v_merged := billing.merge_gateway_subscription(
    v_user_id, v_id, p_event, p_entity, v_gateway_plan_id, v_start, v_end, p_payment, p_created_at, p_arrived_at
  );
  if v_email is null then
    update billing.gateway_subscriptions m
    set awaits_user = true
    where (m.user_id, m.gateway_subscription_id) = (v_user_id, v_id) and not m.awaits_user;
    return case when v_cancelled then 'unmatched' else billing.apply_event_for_missing_user(v_user_id, v_id) end;
  end if;
  if v_status in ('pending', 'halted') then
    perform billing.record_failure(v_user_id, p_entity, p_payment, billing.charged_at(p_created_at, p_arrived_at));
  end if;
  if v_merged.user_id is null then return 'stale'; end if;
  v_is_changed := billing.settle_access(
    v_user_id, v_email, p_is_cancelled => v_cancelled,
    p_ruling => case when v_status = 'activated' then billing.first_ruling(v_merged) end
  );
  if v_merged.plan_id is not null and p_event = 'subscription.charged' then
    -- This charge may be the cause of a stop.
    v_merged.stops_at := (
      select m.stops_at from billing.gateway_subscriptions m where (m.user_id, m.gateway_subscription_id) = (v_user_id, v_id)
    );
    perform billing.announce_charge(v_merged, p_entity, p_payment, v_email);
    perform billing.announce_problem('completed', v_merged, p_payment, v_email);
  elsif v_merged.plan_id is not null and v_status in ('pending', 'halted', 'completed') then
    perform billing.announce_problem(v_status, v_merged, p_payment, v_email);
  elsif v_status = 'authenticated' then
    perform billing.announce_change(v_merged, v_email);
  elsif v_cancelled then
    perform billing.announce_lost_change(v_merged, v_email);
  end if;
  return case
    when not v_has_cycle and not v_cancelled then 'applied'
    -- The subscription waits for a plan of ours, for a cycle, or for a source to attach to.
    when v_is_changed is null then 'unmatched'
    -- A newer fact is known.
    when not v_is_changed
      and p_created_at < greatest(v_merged.period_event_at, v_merged.status_event_at)
      and v_merged.plan_id is null
      then 'stale'
    -- The event is about a gateway subscription that is not the attached one.
    when not v_is_changed and v_merged.plan_id is null and v_merged.activated_at is null then 'mismatch'
    else 'applied'
  end;
end $$;

-- Events to the app: what is true after a change, through the outbox. Contract: "Events to the app".

-- Returns why access changed, by the cause of the transaction (see billing.note_cause) and what it names. A charge of a
-- subscription that was charged before, or that goes on after a purchase, is a renewal. What was asked for while another price
-- ran, as a subscription beside one that the gateway bills or as an order with a start, is a change.
create or replace function billing.find_reason(
  p_cause text,
  p_reference text -- the gateway's id of the subscription, order or payment. Empty: see public.apply_gateway_event
)
returns text language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_reason constant text := case
    when p_cause in ('payment', 'payment.captured', 'order.paid', 'start of a period', 'subscription.activated') then 'purchase'
    when p_cause = 'subscription.charged' then 'renewal'
    when p_cause = 'change' then 'change'
    when p_cause = 'cancellation' then 'cancel'
    when p_cause = 'resumption' then 'resume'
    when starts_with(p_cause, 'refund.') then 'refund'
    when starts_with(p_cause, 'payment.dispute.') then 'dispute'
    when p_cause = 'expiry' then 'lapse'
    when p_cause in ('grant', 'grant revoked') then 'grant'
    when p_cause in ('reconciliation', 'plan', 'subscription', 'order') or starts_with(p_cause, 'subscription.') then 'gateway'
    else 'manual'
  end;
  v_mirrored billing.gateway_subscriptions;
begin
  if v_reason not in ('purchase', 'renewal') or coalesce(p_reference, '') = '' then return v_reason; end if;
  v_mirrored := billing.find_subscription(p_reference);
  return case
    when v_mirrored.id is null and v_reason = 'renewal'
      or v_mirrored.paid_count > 1
      or v_mirrored.first_charged_at < v_mirrored.paid_period_event_at
      or v_mirrored.payment_id is not null
      then 'renewal'
    when exists (
      select from (
        select v_mirrored.user_id, v_mirrored.asked_plan_id as plan_id, v_mirrored.asked_at as created_at, true as is_billed
        where v_mirrored.asked_plan_id is not null
        union all
        select p.user_id, p.plan_id, p.created_at, false
        from public.payments p
        where p_reference in (p.gateway_order_id, p.gateway_payment_id) and p.starts is not null
      ) asked
      cross join lateral (
        select p.plan_id, p.gateway_subscription_id is not null as is_billed
        from public.payments p
        where p.user_id = asked.user_id
          and p.created_at < asked.created_at
          and p.period_start <= asked.created_at
          and least(p.period_end, p.ended_at) > asked.created_at
        order by p.created_at desc
        limit 1
      ) running
      where running.plan_id <> asked.plan_id and running.is_billed >= asked.is_billed
    ) then 'change'
    else 'purchase'
  end;
end $$;

-- Deletes a batch of the ledger's payloads that are older than 90 days. The hash, the ids and the outcome remain, because
-- the rules need them. An event that still waits keeps the fields that it needs.
create or replace function billing.empty_payloads()
returns integer -- how many payloads were deleted or reduced; call again until it is 0
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_emptied integer;
begin
  with old as materialized (
    select
      e.body_sha256,
      final.outcome,
      case
        when final.outcome is null
          then billing.stored_payload(e.payload, e.outcome) #- '{payload,payment,entity,error_description}'
      end as payload
    from billing.gateway_events e
    cross join lateral (
      select case
        when not billing.awaits_effect(e.event, known.outcome) then known.outcome
        when billing.is_deleted(billing.json_uuid(e.payload #> '{payload,subscription,entity,notes,user_id}'))
          then 'ignored: user deleted'
      end as outcome -- null: the event still waits
      from (select billing.outcome_now(e) as outcome offset 0) known
    ) final
    where e.received_at < billing.clock() - interval '90 days'
      and e.payload is not null
      and (
        final.outcome is not null
        or not e.payload ? 'reduced'
        or e.payload #> '{payload,payment,entity,error_description}' is not null
      )
    order by e.received_at
    limit 1000
    for update of e skip locked
  ),
  settled as (
    delete from billing.unsettled_events u
    using old
    where u.body_sha256 = old.body_sha256 and old.outcome is not null
  )
  update billing.gateway_events e
  set payload = old.payload, outcome = coalesce(old.outcome, e.outcome)
  from old
  where e.body_sha256 = old.body_sha256;
  get diagnostics v_emptied = row_count;
  return v_emptied;
end $$;

-- Returns the parts outside of the schema that the service needs and that are missing, each with its remedy.
-- Security definer: support may not read schemas vault and cron. The answer has no value of them.
create or replace function billing.missing_parts()
returns table (part text, remedy text)
language plpgsql stable security definer set search_path = pg_catalog, pg_temp as $$
declare
  v_name text;
  v_is_there boolean;
begin
  return query
  select m.part, 'Run "select billing.set_up();".' || coalesce(' ' || m.more, '')
  from (
    select
      'extension ' || e.name, 'If it warns, enable the extension in the dashboard and run it again.', e.installed_version is not null
    from pg_available_extensions e
    where e.name in ('pg_net', 'pg_cron', 'supabase_vault')
    union all
    select 'trigger ' || e.name || ' on auth.users', null, e.is_there from billing.expected_triggers e
    union all
    select 'index of names', null, billing.has_names_index() from pg_available_extensions e where e.name = 'pg_trgm'
    union all
    values
      ('role subscriptions_api', 'If the function connects as this role, set its password again.', billing.has_pool_role()),
      ('role subscriptions_support', 'The login roles of support need their membership again.', billing.has_support_role())
  ) m (part, more, is_there)
  where not m.is_there;

  if to_regclass('cron.job') is not null then
    return query
    select
      'job ' || n.name || case
        when exists (select from cron.job j where j.jobname = n.name) then ' (switched off)' else ''
      end,
      'Run "select billing.set_up();".'
    from (values ('subscriptions-sweep'), ('subscriptions-reconcile'), ('subscriptions-purge-runs')) n (name)
    where not exists (select from cron.job j where j.jobname = n.name and j.active);
  end if;

  if to_regnamespace('net') is not null and to_regclass('vault.decrypted_secrets') is not null then
    foreach v_name in array array['subscriptions_url', 'subscriptions_internal_key'] loop
      begin
        v_is_there := exists (
          select from vault.decrypted_secrets s
          where s.name = v_name
            and s.decrypted_secret ~ case v_name when 'subscriptions_url' then '^\s*https?://\S+\s*$' else '\S' end
        );
      exception
        -- After a restore, Vault may not be able to decrypt a secret of another project.
        when others then
          v_is_there := false;
      end;
      if not v_is_there then
        part := 'Vault secret ' || v_name;
        -- Without the delete, create_secret and update_secret fail for a secret of another project.
        remedy := format(
          'Run "delete from vault.secrets where name = ''%1$s''; select vault.create_secret(''...'', ''%1$s'');" with its '
            'value.',
          v_name
        );
        return next;
      end if;
    end loop;
  end if;
end $$;

-- Applies the gateway's payments on an order, and ends access if no payment was captured in time. API: service_role only.
create or replace function public.apply_order_payments(
  p_payment_id uuid,
  p_items text default null -- the gateway's payments on the order with their refunds, a JSON array; null: no such order
)
returns jsonb -- {applied, ended}: how many answers changed something; whether access ended, as no payment was captured
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_payment public.payments;
  v_email text;
  v_applied integer;
  v_is_over boolean;
begin
  perform billing.begin_request('reconciliation', null);
  perform billing.lock_gateway_payment(refunded.id)
  from (
    select billing.json_text(item -> 'id') as id
    from jsonb_array_elements(p_items::jsonb) item
    where jsonb_typeof(item -> 'refunds') = 'array'
    order by 1
  ) refunded;
  v_email := billing.lock_user((select p.user_id from public.payments p where p.id = p_payment_id));
  -- Locks the payment until the end of the transaction. The rollback of a failed event releases the locks of its effect but
  -- not the lock on its ledger row, which comes after the payment in the lock order.
  select * into v_payment from public.payments p where p.id = p_payment_id for update;

  select count(*) filter (where billing.apply_answer(a.key, a.event, a.payload, null, v_payment.created_at))
  into v_applied
  from (
    select e.key, e.event, e.payload
    from jsonb_array_elements(p_items::jsonb) item
    cross join lateral billing.events_of(item || jsonb_build_object('order_id', v_payment.gateway_order_id)) e
    where jsonb_typeof(item) = 'object'
    -- Captures come before failures, so that no mail about a failed attempt is sent for a paid order.
    order by array_position(array['payment.captured', 'refund.processed', 'refund.failed', 'payment.failed'], e.event), e.key
  ) a;

  select * into v_payment from public.payments p where p.id = p_payment_id for update;
  v_is_over := v_payment.status = 'captured'
    and not billing.is_settled(v_payment)
    and v_payment.confirmed_at is null
    and billing.next_reconciliation(v_payment) is null
    and (p_items::jsonb @> '[{"status": "captured"}]') is not true;
  update public.payments p
  set next_reconcile_at = case when not billing.is_settled(v_payment) then billing.next_reconciliation(v_payment) end
  where p.id = p_payment_id;
  if v_is_over then
    perform billing.note_cause('never captured', v_payment.gateway_payment_id);
    -- verified_at remains, but from now on only a confirmation by the gateway counts.
    update public.payments p
    set status = 'failed',
      captured_at = null, uncaptured_at = billing.clock(), ended_at = billing.clock(), ended_reason = 'never_captured'
    where p.id = p_payment_id;
    if v_payment.fulfilled_at is not null and v_payment.ended_at is null then
      perform billing.settle_payment(v_payment, v_email);
    end if;
  end if;
  return jsonb_build_object('applied', v_applied, 'ended', v_is_over);
end $$;

-- Applies the gateway's answer about a subscription, as the events would that it stands for. The caller holds the lock on the
-- user.
create or replace function billing.apply_subscription_read(
  p_id uuid,
  p_entity jsonb, -- the subscription at the gateway; null: the gateway has no such subscription
  p_is_missed boolean -- an alert is due if no webhook announced it
)
returns jsonb -- {applied, lacks_payment}: whether it changed anything; whether apply_invoices is to name the payment
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_mirrored billing.gateway_subscriptions;
  v_entity jsonb := p_entity;
  v_status constant text := billing.json_text(v_entity -> 'status');
  v_now constant timestamptz := date_trunc('second', billing.clock());
  v_paid_count constant bigint := billing.json_integer(p_entity -> 'paid_count');
  v_second constant bigint := extract(epoch from v_now);
  v_event text;
  v_applied boolean;
begin
  select * into v_mirrored from billing.gateway_subscriptions m where m.id = p_id for update;
  if not found
    -- Read before the charge that a webhook told meanwhile: it counts fewer cycles. The next claim reads it again. A gateway that
    -- counts less for longer is believed.
    or v_paid_count < v_mirrored.paid_count and v_mirrored.arrived_at > billing.clock() - interval '10 minutes'
  then
    return jsonb_build_object('applied', false, 'lacks_payment', false);
  end if;
  v_entity := v_entity || jsonb_build_object('id', v_mirrored.gateway_subscription_id, 'notes', billing.notes_of(v_mirrored));
  select e.event, e.entity into v_event, v_entity from billing.missed_event(v_mirrored, v_entity) e;
  select coalesce(bool_or(billing.apply_answer(
    concat_ws(':', 'reconcile', v_mirrored.gateway_subscription_id, v_status, a.mark), a.event,
    jsonb_build_object('subscription', jsonb_build_object('entity', a.entity)), a.at,
    case when p_is_missed then coalesce(v_mirrored.period_end - interval '1 day', 'infinity') end
  )), false)
  into v_applied
  from (
    values
      -- A charge happens when its period begins. So its webhook changes nothing if it still arrives.
      (case when v_event = 'subscription.charged' then v_entity ->> 'current_end' end, v_event, v_entity,
        v_entity -> case when v_event = 'subscription.charged' then 'current_start' else 'ended_at' end,
        v_event is not null),
      (v_second::text, case v_status when 'active' then 'subscription.updated' else 'subscription.' || v_status end,
        p_entity || jsonb_build_object('id', v_entity -> 'id', 'notes', v_entity -> 'notes'), null,
        v_status is distinct from v_mirrored.gateway_status
          and v_status in ('active', 'pending', 'halted', 'paused', 'completed')
          and (v_status <> 'active' or v_mirrored.gateway_status in ('pending', 'halted', 'paused')))
  ) a (mark, event, entity, at, is_due)
  where a.is_due;

  update billing.gateway_subscriptions m
  set checked_at = billing.clock(),
    noted_user_id = billing.noted_user(m, p_entity),
    next_check_at = case
      when m.status = 'cancelled' or m.gateway_status = 'completed'
        then case when billing.unnamed_cycles(m) > 0 then v_now + interval '6 hours' end
      -- The customer may pay or resume months later. Until then nothing changes by itself.
      when v_status in ('halted', 'paused') and m.period_end < v_now - interval '14 days' then v_now + interval '1 day'
      else v_now + interval '6 hours'
    end,
    -- So a later cycle that passes unpaid is not taken for a paid one.
    paid_count = case
      when v_status in ('active', 'completed', 'pending', 'halted') then greatest(m.paid_count, v_paid_count)
      else m.paid_count
    end,
    gateway_status = coalesce(v_status, 'unknown'),
    charge_at = case when v_status is null then m.charge_at else billing.next_charge_at(v_entity) end
  where m.id = p_id
  returning m.* into v_mirrored;
  perform billing.check_again(v_mirrored.user_id);
  return jsonb_build_object('applied', v_applied, 'lacks_payment', billing.lacks_payment(v_mirrored));
end $$;

-- Applies the gateway's answer about a subscription that was asked for and has no cycle yet. One that was not authorised in time
-- is cancelled, so that it never bills, and forgotten. The caller holds the locks on the user and on the subscription.
create or replace function billing.apply_request_read(
  p_subscription billing.gateway_subscriptions,
  p_entity jsonb -- the subscription at the gateway; null: the gateway has no such subscription
)
returns jsonb -- as billing.apply_subscription_read
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := date_trunc('second', billing.clock());
  v_status constant text := billing.json_text(p_entity -> 'status');
  v_is_recent constant boolean := coalesce(p_subscription.starts_at, p_subscription.asked_at) > v_now - interval '30 days';
  v_subscription billing.gateway_subscriptions;
  v_applied boolean;
begin
  if p_subscription.expires_at <= billing.clock()
    and coalesce(v_status, 'unknown') in ('created', 'expired', 'cancelled', 'unknown')
  then
    if v_status = 'created' then perform billing.plan(p_subscription.user_id); end if;
    -- Not one whose authorisation arrived after the answer was read.
    if billing.forget_request(p_subscription.id) then
      return jsonb_build_object('applied', v_status is not distinct from 'created', 'lacks_payment', false);
    end if;
  end if;

  v_applied := billing.apply_request_state(p_subscription, p_entity, null, true);
  perform billing.check_again(p_subscription.user_id);
  -- It may renew a payment that never came.
  if v_status = 'authenticated' and p_subscription.payment_id is not null and p_subscription.stops_at is null then
    perform billing.plan(p_subscription.user_id);
    v_applied := v_applied
      or exists (select from billing.gateway_subscriptions m where m.id = p_subscription.id and m.stops_at is not null);
  end if;
  update billing.gateway_subscriptions m
  set checked_at = billing.clock(),
    noted_user_id = billing.noted_user(m, p_entity),
    next_check_at = case
      when m.period_end is not null then m.next_check_at
      when coalesce(v_status, 'created') = 'created' and v_is_recent
        then least(case when m.expires_at > v_now then m.expires_at end, v_now + interval '1 hour')
      -- Also an hour before the one that it replaces is told to stop.
      when v_status = 'authenticated' and m.starts_at > v_now + interval '49 hours'
        then least(v_now + interval '1 day', m.starts_at - interval '49 hours')
      -- Authorised: the first charge follows, or its next try.
      when v_status in ('authenticated', 'pending', 'halted') and v_is_recent
        then greatest(m.starts_at, v_now + interval '1 hour')
      when not billing.is_known(m) then m.expires_at -- then it is forgotten
    end
  where m.id = p_subscription.id
  returning * into v_subscription;
  return jsonb_build_object('applied', v_applied, 'lacks_payment', billing.lacks_payment(v_subscription));
end $$;

-- Returns in one sentence why a user has the tier: the source that rules.
create or replace function billing.why_text(p_ruling billing.ruling)
returns text language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_source constant billing.sources := p_ruling.source;
  v_until constant text := coalesce(' until ' || billing.day_text(v_source.ends_at), '');
  v_name text;
begin
  if v_source.kind is null then return 'No payment, subscription or grant gives a tier.'; end if;
  v_name := case v_source.kind
    when 'payment' then (
      select format('Payment %s of %s', coalesce(p.gateway_payment_id, p.id::text), billing.day_text(p.captured_at))
      from public.payments p
      where p.id = v_source.id::uuid
    )
    when 'gateway_subscription' then format('Subscription %s of %s', v_source.id, billing.day_text(v_source.since))
    when 'grant' then (
      select format('Grant %s of %s (%s)', g.id, billing.day_text(g.at), coalesce(g.reason, 'no reason'))
      from billing.grants g
      where g.id = v_source.id::bigint
    )
    else format('The subscription row that was written by hand on %s', billing.day_text(v_source.since))
  end;
  if p_ruling.is_live then
    return v_name || ' gives ' || v_source.tier || v_until || case
      when v_source.cancel_at_period_end then ' and was cancelled for that day.'
      when v_source.ends_at < billing.clock()
        then format(', and without a renewal days of grace until %s.', billing.day_text(billing.grace_end(v_source)))
      when v_source.gateway_subscription_id is not null then case billing.state_of_billing(v_source)
          when 'billed' then (
            select case
              when n.charge_at is null or billing.day_text(n.charge_at) = billing.day_text(v_source.ends_at)
                then ', when the gateway charges the next cycle.'
              -- What arrives later ranks above a row that was written by hand.
              when v_source.kind = 'manual' and n.charge_at < v_source.ends_at
                then format(', or until the gateway charges the next cycle on %s.', billing.day_text(n.charge_at))
              else format('. The gateway charges the next cycle on %s.', billing.day_text(n.charge_at))
            end
            from billing.next_charge(v_source.user_id) n
          )
          when 'paused' then '. The gateway has paused it.'
          when 'halted' then '. The gateway tries no further charge.'
          else (
            select case
              when n is null then ', and is not charged again.'
              when v_source.kind = 'manual' and (n ->> 'starts_at')::timestamptz < v_source.ends_at
                then format(', or until %s begins on %s.', n ->> 'tier', billing.day_text((n ->> 'starts_at')::timestamptz))
              else format('. Then %s begins.', n ->> 'tier')
            end
            from billing.next_change(v_source.user_id) n
          )
        end
      else '.'
    end;
  end if;
  return v_name || ' gave ' || v_source.tier || case
    -- Access may have ended before what was cancelled then.
    when (p_ruling.shown).ended_reason is distinct from 'refunded'
      and (v_source.ended_at is null or (p_ruling.shown).cancelled_at < v_source.ended_at) then v_until || case
      when v_source.lapses_at > v_source.ends_at and v_source.lapses_at < 'infinity'
        then format(', and days of grace until %s.', billing.day_text(v_source.lapses_at))
      else '.'
    end
    else format(
      ' and ended on %s: %s.',
      -- As the row and the mail say, which are settled when the end becomes known.
      billing.day_text(coalesce((p_ruling.shown).cancelled_at, v_source.ended_at)), coalesce(replace(
        case (p_ruling.shown).ended_reason when 'refunded' then 'refunded' else v_source.ended_reason end, '_', ' '
      ), 'ended')
    )
  end;
end $$;

create or replace view billing.customers with (security_invoker = true) as
select
  u.user_id, u.email, u.name,
  coalesce(pr.subscription_tier, 'free') as tier,
  billing.why_text(found.ruling) as why,
  live.kind as source_kind, live.id as source_id, live.ends_at as until,
  case when live.ends_at <= billing.clock() then nullif(live.lapses_at, 'infinity') end as grace_until,
  case
    when exists (
      select from billing.find_billed(u.user_id) b where b.charge_at is not null and b.plan_id is not null
    ) then 'billed'
    when live.kind = 'grant' then 'complimentary'
    when live.gateway_subscription_id is not null then billing.state_of_billing((found.ruling).source)
    when live.kind = 'payment' then 'one-time'
  end as billing,
  billing.next_charge_answer(u.user_id) as next_charge,
  (select max(r.received_at) from billing.received r where r.user_id = u.user_id) as last_payment_at,
  (
    select coalesce(jsonb_object_agg(net.currency, net.amount), '{}')
    from (
      select r.currency, sum(r.paid) as amount
      from billing.received r
      where r.user_id = u.user_id
      group by r.currency
    ) net
  ) as lifetime_amounts,
  (select count(*) from billing.findings_of(u.user_id)) as open_findings,
  u.signed_up_at
from billing.users u
left join billing.profiles pr on pr.user_id = u.user_id
-- One call for each user, for the columns that read it.
left join lateral (select billing.find_shown(u.user_id) as ruling offset 0) found on true
left join lateral (select ((found.ruling).source).* where (found.ruling).is_live) live on true;

do $do$
begin
  if exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_support') then
    perform billing.set_up_support();
  end if;
end $do$;

REVOKE ALL ON FUNCTION "billing"."has_next_charge"(billing.gateway_subscriptions) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."has_next_charge"(billing.gateway_subscriptions) TO "service_role";

revoke execute on all functions in schema billing from public;
