-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

drop trigger wake_dispatcher on billing.outbox;

drop function billing.find_credit(pg_catalog.uuid,public.plans);

drop function billing.newest_purchase(pg_catalog.uuid,timestamp with time zone);

drop function billing.amounts_vary();

drop function billing.undo_change(billing.change,billing.commitment);

drop function billing.wake_dispatcher();

drop function billing.plan_change(pg_catalog.uuid,pg_catalog.text,pg_catalog.text,pg_catalog.text,boolean);

drop function billing.change_answer(billing.change);

drop type billing.change;

comment on column billing.support_actions.reference is null;

comment on view billing.entitled_not_paid is null;

DROP TRIGGER "note_enqueued" ON "billing"."outbox";

DROP TRIGGER "record_manual_subscription" ON "public"."subscriptions";

ALTER TABLE "billing"."gateway_events"
  DROP CONSTRAINT "gateway_events_body_sha256_check";

ALTER TABLE "billing"."gateway_subscriptions"
  DROP CONSTRAINT "gateway_subscriptions_idempotency_keys_check";

ALTER TABLE "billing"."gateway_subscriptions"
  DROP CONSTRAINT "gateway_subscriptions_status_check";

ALTER TABLE "billing"."outbox"
  DROP CONSTRAINT "outbox_destination_check";

ALTER TABLE "public"."payments"
  DROP CONSTRAINT "payments_credit_check";

ALTER TABLE "public"."payments"
  DROP CONSTRAINT "payments_credited_kind_check";

ALTER TABLE "public"."payments"
  DROP CONSTRAINT "payments_idempotency_keys_check";

ALTER TABLE "public"."payments"
  DROP CONSTRAINT "payments_reads_check";

ALTER TABLE "public"."payments"
  DROP CONSTRAINT "payments_starts_check";

CREATE TYPE "billing"."change" AS (
  "outcome"        text,
  "unread"         uuid,
  "reason"         text,
  "plan"           public.plans,
  "from_tier"      text,
  "from_price"     text,
  "order_start"    text,
  "is_billed"      boolean,
  "replaces"       text,
  "renews"         uuid,
  "starts_at"      timestamp WITH time zone,
  "ends_at"        timestamp WITH time zone,
  "credit"         bigint,
  "amount_due"     bigint,
  "due_at"         timestamp WITH time zone,
  "next_charge_at" timestamp WITH time zone,
  "next_amount"    bigint
);

CREATE TRIGGER note_enqueued
  AFTER INSERT OR UPDATE OF payload ON billing.outbox
  FOR EACH ROW
  EXECUTE FUNCTION billing.note_enqueued();

CREATE TRIGGER record_manual_subscription
  BEFORE UPDATE ON public.subscriptions
  FOR EACH ROW
  WHEN ((new.revision = old.revision))
  EXECUTE FUNCTION billing.record_manual_subscription();

REVOKE ALL ON FUNCTION "billing"."end_mail"(public.subscriptions, billing.sources, text, timestamp WITH time zone) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."end_mail"(public.subscriptions, billing.sources, text, timestamp WITH time zone) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."find_followed"(uuid, text, uuid, billing.price, text, text) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."find_followed"(uuid, text, uuid, billing.price, text, text) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."grace_end"(billing.sources) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."grace_end"(billing.sources) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."sole_ruling"(billing.sources) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."sole_ruling"(billing.sources) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."state_of_billing"(billing.sources) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."state_of_billing"(billing.sources) TO "service_role";

GRANT SELECT ON TABLE "billing"."purchases" TO "service_role";

GRANT SELECT ON TABLE "billing"."sources" TO "service_role";

-- A request that enqueued something dispatches after its answer, and one that did not saves the calls. Everything else wakes the
-- dispatcher. Security definer: service_role enqueues, but may not execute billing.wake.
create or replace function billing.note_enqueued()
returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if current_setting('subscriptions.request', true) = 'on' then
    perform set_config('subscriptions.enqueued', 'on', true);
  elsif current_setting('subscriptions.woken', true) is distinct from 'on' then
    perform billing.wake();
  end if;
  return null;
end $$;

-- Records a row that was written by hand, so that billing.settle_access does not overwrite it.
-- Security definer: the role of an admin or of the app may write subscriptions but not this table.
create or replace function billing.record_manual_subscription()
returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  -- A write of due_at alone, or of nothing, is one of the sweep.
  if tg_op = 'UPDATE' and to_jsonb(new) - 'due_at' = to_jsonb(old) - 'due_at' then return new; end if;
  -- This insert writes no row: it fails, or has an "on conflict" clause.
  if tg_op = 'INSERT' and exists (select from public.subscriptions s where s.user_id = new.user_id) then return new; end if;
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

-- Gives the tier of a row that was written by hand and begins to name a gateway subscription, such as one of an import, to a user
-- whose profile has none: the customer pays for it. A period that is over is read from the gateway first. After the statement,
-- which may write the profile itself. Security definer: the role of an admin or of the app may write subscriptions alone.
create function billing.give_billed_tier()
returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform billing.announce_access(u.id, u.email, new.tier, null, null, null)
  from auth.users u
  where u.id = new.user_id
    and new.status = 'active'
    and coalesce(new.current_period_end > billing.clock(), true)
    and not exists (select from billing.profiles p where p.user_id = new.user_id and p.subscription_tier <> 'free');
  return null;
end $$;

-- Derives when the gateway must stop billing a subscription. The first reason counts.
create or replace function billing.find_stop(
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
    select p.* into v_newer
    from billing.purchases p
    -- A longer period alone is no act of the customer.
    left join billing.gateway_subscriptions m
      on p.kind = 'manual'
      and m.user_id = p.user_id
      and m.gateway_subscription_id = p.gateway_subscription_id
    cross join lateral (select coalesce(m.written_at, p.since) as at) act
    where p.user_id = p_each.user_id
      and act.at > case when v_is_waiting then v_authorised_at else billing.since_of(v_subscription) end
    order by act.at desc, p.id desc
    limit 1;
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
      -- What the gateway has cancelled itself cannot go on.
      when next.is_there and billing.is_billed(m) and not billing.is_stop_sent(m.gateway_subscription_id)
        then (next.change).starts_at - interval '48 hours'
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

-- Returns what a mail says about the next charge.
create or replace function billing.outlook(p_user_id uuid)
returns jsonb
-- {next_charge: see billing.next_charge_answer, is_open: true if there is none, and one may follow: the customer may authorise it,
-- or what is paused or halted goes on; next_charge_at: if the amount of that charge is not known}
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_next constant jsonb := billing.next_charge_answer(p_user_id);
begin
  -- The customer may have authorised it, and the gateway's word is late.
  if v_next is null and exists (
    select from billing.gateway_subscriptions m
    where m.user_id = p_user_id
      and case
        when billing.is_known(m) then billing.is_billed(m) and m.gateway_status in ('paused', 'halted')
        else m.expires_at > billing.clock()
      end
      and num_nonnulls(m.undone_at, m.stops_at) = 0
  ) then
    return '{"next_charge": null, "is_open": true}';
  end if;
  return jsonb_build_object('next_charge', v_next) || case
    when v_next is null then jsonb_strip_nulls(jsonb_build_object(
      'next_charge_at', (select billing.iso_time(min(b.charge_at)) from billing.find_billed(p_user_id) b)
    ))
    else '{}'
  end;
end $$;

-- Contract: GET /api/subscriptions/plans, "Scenarios".
create or replace function public.list_plans_for_user(p_user_id uuid) -- null: without scenarios
returns jsonb -- {plans, needs_state: true, if documents need it}: the answer's body, the lowest price first
language plpgsql stable
set search_path = pg_catalog, pg_temp set timezone = 'UTC' set plan_cache_mode = force_generic_plan as $$
declare
  v_commitment billing.commitment;
  v_waiting uuid[];
begin
  if p_user_id is not null then
    v_commitment := billing.find_commitment(p_user_id);
    v_waiting := array(
      select case when c.kind = 'purchase' then c.plan_id else (c.next).asked_plan_id end
      from billing.commitments(p_user_id) c
      where c.kind <> 'purchase' or c.starts_at > billing.clock() or c.ends_at > v_commitment.ends_at
    );
  end if;
  return (
    select jsonb_build_object('plans', coalesce(jsonb_agg(o.plan order by o.price, o.tier), '[]'))
    from (
      select p.price, p.tier, billing.offered_plan(p, v_commitment, v_waiting) as plan
      from public.plans p
      where p.is_active and p.lookup_key is null
      offset 0
    ) o
    where o.plan is not null
  ) || case
    when p_user_id is not null
      and exists (select from billing.settings s where s.seller_gstin is not null)
      and not exists (select from public.billing_details d where d.user_id = p_user_id and d.state is not null)
      then '{"needs_state": true}'
    else '{}'
  end::jsonb;
end $$;

-- Finds the credit that an upgrade in one currency gets: for the unused time of what the user pays for. Of a chain of early
-- renewals, the period that runs counts. The caller holds the lock on the user.
create function billing.find_credit(
  p_user_id uuid,
  p_plan public.plans,
  out credit bigint, -- minor currency units; null, as all others: there is none
  out kind text,
  out id text,
  out until timestamptz,
  out amount bigint, -- what was paid for the period
  out is_excess boolean, -- the unused time is worth more than the price can take, so the upgrade cannot start now
  -- The row of the gateway subscription whose running cycle was paid by a payment that may still be read; null: none.
  out unread uuid
)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
  v_from billing.commitment;
  v_starts_at timestamptz;
begin
  is_excess := false;
  if exists (select from billing.settings s where s.credit = 'off') then return; end if;
  v_from := billing.find_commitment(p_user_id);
  if billing.compare_prices(billing.rank_commitment(v_from), billing.rank_plan(p_plan)) <> 'upgrade' then return; end if;

  if v_from.paid_by_kind = 'payment' then
    select p.id::text, p.period_start, p.period_end
    into id, v_starts_at, until
    from public.payments paid
    join public.payments p
      on p.user_id = paid.user_id
      and coalesce(p.chain_id, p.id) = coalesce(paid.chain_id, paid.id)
    where paid.id = v_from.paid_by_id::uuid
      and p.fulfilled_at is not null
      and p.ended_at is null
      and p.period_end > v_now
      and not exists (select from billing.replacements r where r.kind = 'payment' and r.id = p.id::text)
    order by p.period_start
    limit 1;
  elsif v_from.paid_by_kind = 'gateway_subscription' then
    select m.gateway_subscription_id, m.period_start, m.period_end,
      case
        -- An import of which nothing was read.
        when num_nonnulls(m.arrived_at, m.checked_at) = 0 then m.id
        -- After three days the reconciliation has asked in vain.
        when coalesce(m.arrived_at > v_now - interval '3 days', true) and billing.lacks_payment(m) then m.id
      end
    into id, v_starts_at, until, unread
    from billing.gateway_subscriptions m
    where m.user_id = p_user_id
      and m.gateway_subscription_id = v_from.paid_by_id
      and m.paid_until is null
      and m.period_end > v_now;
  end if;
  if v_starts_at < until then
    kind := v_from.paid_by_kind;
    amount := billing.paid_for(p_user_id, kind, id, until, p_plan.currency);
    if amount > 0 then unread := null; end if;
    credit := floor(
      amount * extract(epoch from until - greatest(v_now, v_starts_at)) / extract(epoch from until - v_starts_at)
    );
    credit := credit - credit % billing.amount_step(p_plan.currency);
  end if;
  -- The gateway accepts no order of less than 100.
  is_excess := coalesce(credit >= 1 and credit > p_plan.price - 100, false);
  if is_excess or (credit >= 1) is not true then
    select null, null, null, null, null into credit, kind, id, until, amount;
  end if;
end $$;

-- Says which subscription to read from the gateway, as the reconciliation does, before a credit is known.
create function billing.unread_answer(p_id uuid)
returns jsonb -- {outcome: unread, subscription: {id, gateway_subscription_id}}
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return (
    select jsonb_build_object(
      'outcome', 'unread',
      -- Read by a function that is older than this schema.
      'gateway_subscription_id', m.gateway_subscription_id,
      'subscription', jsonb_build_object('id', m.id, 'gateway_subscription_id', m.gateway_subscription_id)
    )
    from billing.gateway_subscriptions m
    where m.id = p_id
  );
end $$;

-- Lets the mails about a purchase wait a minute for the amount that was paid, or gives it to those that wait.
create or replace function billing.set_mailed_amount(
  p_payment_id uuid,
  p_paid_amount bigint -- minor currency units; null: the gateway has not said it yet
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- A mail waits only where a recent payment had another amount than its order, by a fee on top or an offer.
  if p_paid_amount is null and not exists (
    select from (
      select p.amount, p.paid_amount from public.payments p where p.status = 'captured' order by p.captured_at desc limit 20
    ) newest
    where newest.paid_amount <> newest.amount
  ) then
    return;
  end if;
  update billing.outbox o
  set payload = o.payload || jsonb_strip_nulls(jsonb_build_object('amount', p_paid_amount)),
    next_attempt_at = case when p_paid_amount is null then o.queued_at + interval '1 minute' else o.queued_at end
  where o.key = any (array['payment-success/' || p_payment_id, 'plan-changed/' || p_payment_id])
    and num_nonnulls(o.delivered_at, o.parked_at) + cardinality(o.claims) = 0
    and (p_paid_amount is null or o.next_attempt_at > o.queued_at or o.payload -> 'amount' <> to_jsonb(p_paid_amount));
end $$;

create or replace function public.create_order(
  p_user_id uuid,
  p_tier text,
  p_idempotency_key text default null,
  p_gateway_key_id text default null, -- the API key of the order; null: an open order of any key is returned
  p_start text default null, -- now or after_current; null: not said, and there is no credit
  p_price text default null, -- the lookup key of the price; null: the default price of the tier
  p_is_read boolean default true -- see billing.plan_change
)
returns jsonb
-- {outcome: created | existing, payment_id, order_id, amount, currency, plan, price,
-- running: {tier, until, early_renewal, price, starts_at} | null, prefill: {email, name}},
-- with p_start also {credit, starts_at, ends_at},
-- {outcome: plan_not_found | price_conflict | user_not_found | in_flight | key_conflict},
-- {outcome: not_now, reason: credit}, {outcome: rate_limited, retry_after},
-- {outcome: unread, subscription}: see billing.unread_answer
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_now constant timestamptz := billing.clock();
  v_email text;
  v_plan constant public.plans := billing.find_plan(p_tier, p_price);
  v_keyed public.payments; -- the order of the idempotency key
  v_payment public.payments;
  v_refusal jsonb;
  v_credit record;
begin
  perform billing.begin_request('order', p_idempotency_key);
  -- Of two requests at once, the second waits here and then finds the first one's payment.
  v_email := billing.lock_user(p_user_id);
  if v_email is null then return jsonb_build_object('outcome', 'user_not_found'); end if;
  -- A key is on several payments where the first got no order, or where its order is of another API key.
  select * into v_keyed
  from public.payments p
  where p.user_id = p_user_id
    and p.created_at > v_now - interval '7 days'
    and p_idempotency_key = any (p.idempotency_keys)
  order by p.gateway_order_id is not null desc, p.created_at desc
  limit 1;
  if v_keyed.id is not null
    and (coalesce(v_keyed.price_key, v_keyed.tier), v_keyed.starts) is distinct from (coalesce(p_price, p_tier), p_start)
  then
    return jsonb_build_object('outcome', 'key_conflict');
  end if;
  if (v_plan.id is not null and (v_keyed.id is not null or billing.is_on_offer(v_plan))) is not true then
    return jsonb_build_object('outcome', 'plan_not_found');
  end if;
  if v_plan.tier <> p_tier then return jsonb_build_object('outcome', 'price_conflict'); end if;
  select * into v_credit from billing.find_credit(p_user_id, v_plan) where p_start = 'now';
  if v_keyed.id is null and v_credit.is_excess then
    return jsonb_build_object('outcome', 'not_now', 'reason', 'credit');
  end if;
  if v_keyed.id is null and not p_is_read and v_credit.unread is not null then
    return billing.unread_answer(v_credit.unread);
  end if;
  select * into v_payment
  from public.payments p
  where p.user_id = p_user_id
    and p.failed_subscription_id is null
    and coalesce(p.gateway_key_id = p_gateway_key_id, true)
    and (
      p.id = v_keyed.id
      or p.tier = v_plan.tier
        and p.starts is not distinct from p_start
        -- The credit is that of the time when the order was made.
        and (p.credited_kind, p.credited_id, p.credited_until)
          is not distinct from (v_credit.kind, v_credit.id, v_credit.until)
        and p.created_at > v_now - interval '30 minutes'
        and billing.is_open_for(p, v_plan)
    )
    -- After 30 seconds the request of a payment without an order has ended, so no order will follow.
    and (p.gateway_order_id is not null or p.created_at > v_now - interval '30 seconds')
  order by p.id = v_keyed.id desc nulls last, p.gateway_order_id is not null desc, p.created_at desc
  limit 1;

  if not found then
    -- At most ten orders an hour.
    v_refusal := billing.rate_limited((
      select p.created_at + interval '1 hour'
      from public.payments p
      where p.user_id = p_user_id and p.failed_subscription_id is null
      order by p.created_at desc
      offset 9
      limit 1
    ));
    if v_refusal is not null then return v_refusal; end if;
    -- The payment stores the terms of the sale. A later change of the plan, or of what was credited, does not change them.
    insert into public.payments (
      user_id, amount, currency, tier, plan_id, price_key, price_amount, duration_months, gateway_key_id, idempotency_keys,
      meta, starts,
      credit, credited_kind, credited_id, credited_until, credited_amount
    )
    values (
      p_user_id, v_plan.price - coalesce(v_credit.credit, 0), v_plan.currency, v_plan.tier, v_plan.id,
      v_plan.lookup_key, v_plan.price, billing.sold_months(v_plan.duration_months), p_gateway_key_id,
      array_remove(array[p_idempotency_key], null), jsonb_build_object('tier', v_plan.tier), p_start,
      v_credit.credit, v_credit.kind, v_credit.id, v_credit.until, v_credit.amount
    )
    returning * into v_payment;
  elsif v_payment.gateway_order_id is null then
    return jsonb_build_object('outcome', 'in_flight');
  elsif p_idempotency_key is not null and p_idempotency_key <> all (v_payment.idempotency_keys) then
    if cardinality(v_payment.idempotency_keys) = 20 then
      -- Then the order is not open any more, and the key may name a new one.
      return billing.rate_limited(v_payment.created_at + interval '30 minutes');
    end if;
    update public.payments p
    set idempotency_keys = p.idempotency_keys || p_idempotency_key
    where p.id = v_payment.id;
  end if;

  return billing.create_order_answer(v_payment, p_start, v_email);
end $$;

-- Sets the terms of a change that withdraws the one that waits: what the user pays for goes on.
create function billing.undo_change(p_change billing.change, p_from billing.commitment)
returns billing.change language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_sold constant billing.price := case when (p_from.sold).amount is null then billing.price_of(p_change.plan) else p_from.sold end;
  v_kept billing.stoppable;
begin
  p_change.outcome := 'undo';
  p_change.is_billed := false;
  p_change.credit := 0;
  p_change.amount_due := 0;
  p_change.starts_at := p_from.ends_at;
  -- What goes on is what was sold, also if its price was edited since.
  p_change.plan.currency := v_sold.currency;
  p_change.ends_at := billing.add_months(p_from.ends_at, v_sold.months);
  -- Without the change an earlier cancellation counts again, and a purchase that replaced what goes on.
  select s.* into v_kept
  from billing.stoppable s
  where (s.user_id, s.gateway_subscription_id) = (p_from.user_id, p_from.gateway_subscription_id);
  v_kept.succeeded_at := null;
  p_change.next_charge_at := case
    when (billing.find_stop(v_kept)).stops_at is null and billing.has_next_charge(v_kept.subscription) then p_from.ends_at
  end;
  p_change.next_amount := v_sold.amount;
  if p_from.undo_until is null then
    -- What runs ends, so what follows it must start.
    p_change.outcome := 'too_late';
    p_change.starts_at := (p_from.next).starts_at;
  end if;
  return p_change;
end $$;

create function billing.plan_change(
  p_user_id uuid,
  p_tier text,
  p_when text, -- now or period_end
  p_price text, -- the lookup key of the price; null: the default price of the tier
  p_is_read boolean -- whether the gateway was read: else the outcome may be unread
)
returns billing.change language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
  v_plan constant public.plans := billing.find_plan(p_tier, p_price);
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
  v_change.unread := v_credit.unread;
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
    -- A purchase of the tier outlasts what the gateway charges: nothing more is to be charged for that time.
    when p_when = 'period_end'
      and num_nonnulls(v_plan.gateway_plan_id, v_from.gateway_subscription_id) = 2
      and exists (
        select from billing.sources s
        where s.user_id = p_user_id
          and s.kind = 'payment'
          and s.tier = v_plan.tier
          and s.ends_at > v_from.ends_at
          and (s.is_running or s.is_upcoming)
      )
      then 'already_subscribed'
    when v_credit.unread is not null and not p_is_read then 'unread'
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
    if not v_change.is_billed or v_change.credit > 0 then v_change.order_start := 'now'; end if;
  elsif v_change.is_billed then
    v_change.replaces := v_from.gateway_subscription_id;
    v_change.starts_at := v_from.ends_at;
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
  v_change.ends_at := billing.add_months(v_change.starts_at, billing.sold_months(v_plan.duration_months));
  v_change.amount_due := v_plan.price - v_change.credit;
  v_change.next_charge_at := case
    when v_change.is_billed then case p_when when 'now' then v_change.ends_at else v_change.starts_at end
  end;
  v_change.next_amount := v_plan.price;
  return v_change;
end $$;

-- Enqueues the mail that something else goes on, and what is charged next, because a payment was taken back, or is kept after
-- all: of one that is kept also that nothing is, since its renewal was stopped. The caller has settled the user's access.
create or replace function billing.announce_other_charge(
  p_payment public.payments,
  p_email text, -- of the user
  p_before jsonb, -- billing.next_charge_answer, before
  p_how text -- lost, kept or never captured: with the payment, the key
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_after constant jsonb := billing.next_charge_answer(p_payment.user_id);
begin
  if v_after is distinct from p_before and (v_after is not null or p_how = 'kept') then
    perform billing.withdraw_outlook(p_payment.user_id);
    perform billing.withdraw_mails(array['plan-changed/' || p_payment.id]);
    perform billing.announce_going_on(p_payment.user_id, p_email, 'change-undone', p_payment.id || '/' || p_how);
  end if;
end $$;

-- Returns the terms of a change in answers, or why it is refused.
create function billing.change_answer(p_change billing.change)
returns jsonb -- see public.preview_change
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  if p_change.outcome = 'unread' then return billing.unread_answer(p_change.unread); end if;
  if p_change.outcome not in ('change', 'undo') then
    return jsonb_strip_nulls(jsonb_build_object(
      'outcome', p_change.outcome,
      'reason', p_change.reason,
      'possible_from', case when p_change.outcome = 'too_late' then billing.iso_time(p_change.starts_at) end
    ));
  end if;
  return jsonb_build_object(
    'outcome', p_change.outcome, 'order_start', p_change.order_start, 'is_billed', p_change.is_billed,
    'change', jsonb_build_object(
      'amount_due', p_change.amount_due, 'due_at', billing.iso_time(p_change.due_at), 'credit', p_change.credit,
      'currency', (p_change.plan).currency,
      'starts_at', billing.iso_time(p_change.starts_at),
      'ends_at', billing.iso_time(p_change.ends_at),
      'from', p_change.from_tier,
      'to', (p_change.plan).tier,
      'from_price', p_change.from_price,
      'to_price', coalesce((p_change.plan).lookup_key, (p_change.plan).tier),
      'renews', p_change.is_billed or p_change.next_charge_at is not null,
      'next_charge', case
        when p_change.next_charge_at is not null
          then jsonb_build_object('at', billing.iso_time(p_change.next_charge_at), 'amount', p_change.next_amount)
      end
    )
  );
end $$;

-- Applies an event, once. Its ledger row is written first: of two deliveries at once, the second waits there for the first,
-- and then returns the stored outcome. Row and effect commit together.
create or replace function billing.apply_delivery(
  p_body_sha256 bytea,
  p_event_id text, -- from the header, not signed
  p_body jsonb, -- null: nested too deep to read
  p_deliveries integer -- 0: the event comes from reconciliation, not from the gateway
)
returns billing.delivery language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_event billing.gateway_events;
  v_known billing.gateway_events;
  v_is_gone boolean; -- whether it is about a deleted user
begin
  v_event.body_sha256 := p_body_sha256;
  v_event.event_id := p_event_id;
  select c.event, coalesce(c.ignored, 'applied') into v_event.event, v_event.outcome from billing.classify_event(p_body) c;
  v_event.subject_id := left(coalesce(
    case when v_event.event like 'payment.dispute.%' then billing.disputed_payment_id(p_body) end,
    p_body #>> '{payload,subscription,entity,id}', p_body #>> '{payload,payment,entity,order_id}',
    p_body #>> '{payload,order,entity,id}',
    p_body #>> '{payload,payment,entity,id}', p_body #>> '{payload,refund,entity,payment_id}',
    p_body #>> '{payload,settlement,entity,id}'
  ), 200);
  v_event.event_at := case when v_event.event like 'subscription.%' then billing.event_time(p_body) end;
  v_event.payload := p_body;
  v_event.deliveries := p_deliveries;
  v_event.attempts := 1;
  v_event.received_at := billing.clock();
  if v_event.outcome <> 'applied' then v_event.reduce_at := v_event.received_at + interval '1 day'; end if;

  insert into billing.gateway_events select v_event.* on conflict (body_sha256) do nothing;
  if found then
    if v_event.outcome = 'applied' then
      perform set_config('subscriptions.user_deleted', '', true);
      select t.outcome, t.error into v_event.outcome, v_event.error from billing.try_event(v_event) t;
      v_is_gone := current_setting('subscriptions.user_deleted') = 'on';
      -- The rollback of an event that fails undid billing.note_missing_user.
      if v_event.error is not null and not v_is_gone then
        v_is_gone := billing.is_deleted(billing.json_uuid(p_body #> '{payload,subscription,entity,notes,user_id}'))
          or exists (
            select from public.payments p
            where p.user_id is null and v_event.subject_id in (p.gateway_order_id, p.gateway_payment_id)
          );
      end if;
    end if;
    if v_event.outcome <> 'applied' and v_event.reduce_at is null or v_is_gone then
      update billing.gateway_events e
      set outcome = v_event.outcome,
        error = v_event.error,
        payload = case when v_is_gone then billing.stored_payload(p_body, v_event.outcome) else e.payload end,
        reduce_at = case when v_event.outcome ~ '^(unmatched$|ignored: )' then e.received_at + interval '1 day' end
      where e.body_sha256 = p_body_sha256;
    end if;
    if billing.can_be_reapplied(v_event.event, v_event.outcome) then
      insert into billing.unsettled_events (body_sha256) values (p_body_sha256);
    end if;
    return (v_event.outcome, true);
  end if;

  select * into v_known from billing.gateway_events e where e.body_sha256 = p_body_sha256;
  if p_deliveries > 0 then
    update billing.gateway_events e
    set deliveries = e.deliveries + p_deliveries
    where e.body_sha256 = p_body_sha256
    returning * into v_known;
  end if;
  if v_known.outcome = 'ignored: subscription.entity.notes.user_id'
    and (billing.find_subscription(v_known.subject_id)).id is not null
  then
    -- An import has named its subscription since: it arrives now.
    v_known.received_at := billing.clock();
  -- A repeated event that had no effect is applied again. An unmatched subscription event waits in the mirror instead.
  elsif v_known.outcome = 'parked' or not billing.awaits_effect(v_known.event, v_known.outcome) then
    return (v_known.outcome, false);
  end if;
  v_known.payload := p_body; -- the stored one may be reduced or deleted by now
  return (billing.apply_recorded_event(v_known), true);
end $$;

create or replace function billing.announce_charge(
  p_subscription billing.gateway_subscriptions, -- after the event
  p_entity jsonb, -- the subscription
  p_payment jsonb, -- of the cycle
  p_email text -- of the user
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_payment_id constant text := billing.json_text(p_payment -> 'id');
begin
  if v_payment_id is not null then
    perform billing.enqueue_mail(
      p_subscription.user_id, p_email,
      case when billing.json_integer(p_entity -> 'paid_count') > 1 then 'subscription-renewed' else 'payment-success' end,
      v_payment_id,
      jsonb_build_object(
        'amount', billing.json_integer(p_payment -> 'amount'),
        'currency', billing.json_text(p_payment -> 'currency'),
        'transaction_id', v_payment_id,
        'valid_until', billing.iso_time(billing.json_time(p_entity -> 'current_end')),
        'next_charge_at', case
          when num_nonnulls(p_subscription.stops_at, p_subscription.ended_at) = 0
            and p_entity ? 'charge_at'
            then billing.iso_time(billing.next_charge_at(p_entity, p_subscription.paid_period_event_at))
        end
      ),
      p_subscription.plan_id, case when not exists (
        -- Who was told that it failed is told that it was paid.
        select from billing.outbox o
        where o.key = concat_ws(
          '/', 'payment-pending', p_subscription.gateway_subscription_id,
          billing.iso_time(billing.json_time(p_entity -> 'current_start'))
        )
      ) then p_subscription.gateway_subscription_id end
    );
  end if;
end $$;

-- Returns whether the gateway charged a cycle with a payment that it did not name yet.
create or replace function billing.lacks_payment(p_subscription billing.gateway_subscriptions)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return p_subscription.gateway_subscription_id <> ''
    and (
      p_subscription.period_end is not null
      and (
        num_nonnulls(p_subscription.activated_at, p_subscription.first_charged_at) > 0
        -- An import, as it was read.
        or p_subscription.arrived_at is null and p_subscription.gateway_status = 'active'
      )
      and not exists (
        select from public.payments c
        where c.gateway_subscription_id = p_subscription.gateway_subscription_id
          and c.period_end = p_subscription.period_end
      )
      or billing.unnamed_cycles(p_subscription) > 0
    );
end $$;

create or replace view billing.reconciliations with (security_invoker = true) as
select 'payments' as kind, p.next_reconcile_at as at
from public.payments p
where p.gateway_order_id is not null
union all
select 'gateway_subscriptions', nullif(m.next_check_at, '-infinity')
from billing.gateway_subscriptions m;

-- Subscriptions that were asked for and have no cycle yet, those whose period ends within a day, and those that are pending,
-- halted or paused at the gateway. Each is reconciled until it is renewed or cancelled. API: service_role only.
create or replace function public.claim_subscriptions_to_reconcile()
returns jsonb
-- {settled, subscriptions: [{id, gateway_subscription_id}]}; settled: how many of those that were due need no call now.
-- subscriptions: at most 20. 0 and []: nothing is due
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_now constant timestamptz := billing.clock();
  v_result jsonb;
begin
  -- The requests of these ended without an answer of the gateway.
  perform billing.forget_request(m.id)
  from billing.gateway_subscriptions m
  where m.next_check_at <= v_now and m.gateway_subscription_id is null
  limit 20;
  with due as materialized (
    select
      m.*, s.id is not null as has_row, m as subscription,
      m.period_end + make_interval(hours => 24 * (billing.grace_days(p.grace_days, false) + 14)) as given_up_at
    from billing.gateway_subscriptions m
    left join public.subscriptions s on s.user_id = m.user_id
    left join public.plans p on p.id = m.plan_id
    where m.next_check_at <= v_now and m.gateway_subscription_id is not null
    order by m.next_check_at
    limit 200
    for no key update of m skip locked
  ),
  planned as (
    select
      d.*,
      case
        -- One without an id cannot be read. A cancelled subscription has ended; for a day its last payments are looked for.
        when d.gateway_subscription_id = '' then null
        when d.next_check_at = '-infinity' then v_now
        when d.status = 'cancelled' or d.gateway_status = 'completed' then case
            when d.cancelled_arrived_at < v_now - interval '1 day' or billing.unnamed_cycles(d.subscription) = 0 then null
            else v_now
          end
        when d.asked_plan_id is not null and d.period_end is null then v_now
        -- The user may still sign up. The subscription may also belong to another app with the same gateway account.
        when not d.has_row and d.gateway_status is distinct from 'unknown'
          then case when d.arrived_at > v_now - interval '30 days' then v_now + interval '1 day' end
        -- The gateway may bill it again at any time. So long after the last access it is read once a day.
        when d.gateway_status in ('pending', 'halted', 'paused')
          or d.gateway_status = 'active' and d.period_end <= v_now + interval '1 day'
          then case when d.checked_at > d.given_up_at then greatest(d.checked_at + interval '1 day', v_now) else v_now end
        -- So long after the last access no further cycle is expected.
        when d.checked_at > d.given_up_at then null
        -- The gateway did not know it, such as under the key of another account.
        when d.gateway_status = 'unknown' then v_now
        -- If the subscription was renewed, later. A charge does not change next_check_at, so that it writes no index.
        else greatest(d.period_end - interval '1 day', v_now)
      end as next_at -- null: never
    from due d
  ),
  leased as (
    update billing.gateway_subscriptions m
    set next_check_at = case when p.is_now then v_now + interval '5 minutes' else p.next_at end
    from (
      select
        d.id, d.next_at, coalesce(d.next_at = v_now, false) as is_now,
        -- Neither a lot of requests nor a lot of ends of periods delays the others.
        row_number() over (partition by d.next_at = v_now order by d.next_check_at) as place
      from planned d
    ) p
    where m.id = p.id and (not p.is_now or p.place <= 20)
    returning m.id, m.gateway_subscription_id, p.is_now
  )
  select jsonb_build_object(
    'settled', count(*) filter (where not l.is_now),
    'subscriptions', coalesce(
      jsonb_agg(jsonb_build_object('id', l.id, 'gateway_subscription_id', l.gateway_subscription_id))
        filter (where l.is_now),
      '[]'
    )
  )
  into v_result
  from leased l;
  return v_result;
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
    case
      -- Not what happened before an import.
      when p_is_missed and (billing.json_time(a.at) < v_mirrored.written_at) is not true
        then coalesce(v_mirrored.period_end - interval '1 day', 'infinity')
    end
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
    -- Of an import that no event has named: its invoices name no plan.
    gateway_plan_id = coalesce(m.gateway_plan_id, left(billing.json_text(p_entity -> 'plan_id'), 200)),
    gateway_status = coalesce(v_status, 'unknown'),
    charge_at = case when v_status is null then m.charge_at else billing.next_charge_at(v_entity) end
  where m.id = p_id
  returning m.* into v_mirrored;
  perform billing.check_again(v_mirrored.user_id);
  return jsonb_build_object('applied', v_applied, 'lacks_payment', billing.lacks_payment(v_mirrored));
end $$;

create or replace function public.apply_gateway_subscription(
  p_id uuid,
  p_entity text default null -- as for billing.apply_subscription_read, JSON
)
returns jsonb -- as billing.apply_subscription_read
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_subscription billing.gateway_subscriptions;
begin
  select * into v_subscription from billing.gateway_subscriptions m where m.id = p_id;
  perform billing.begin_request('reconciliation', v_subscription.gateway_subscription_id);
  perform billing.lock_user(v_subscription.user_id);
  select * into v_subscription from billing.gateway_subscriptions m where m.id = p_id for update;
  -- A stop that found no subscription is planned again.
  if p_entity is not null and (v_subscription.stops_at is not null or v_subscription.gateway_status = 'unknown') then
    perform billing.plan(v_subscription.user_id);
    perform billing.apply_event_for_missing_user(v_subscription.user_id, v_subscription.gateway_subscription_id);
  end if;
  if v_subscription.asked_plan_id is not null and v_subscription.period_end is null then
    return billing.apply_request_read(v_subscription, p_entity::jsonb);
  end if;
  return billing.apply_subscription_read(p_id, p_entity::jsonb, true);
end $$;

-- Confirms that a claimed stop still stands, before the gateway is told what is final there: applies what was just read from
-- the gateway, plans again, and notes that the gateway may be told from now on. What was tried without an answer before, and
-- did not cancel it, is planned anew. API: service_role only.
create or replace function public.confirm_stop(
  p_id bigint, -- of the claimed row of the outbox
  p_at_cycle_end boolean, -- as the row was claimed
  p_entity text default null, -- the subscription at the gateway, JSON; null: the gateway has no such subscription
  p_invoices text default null -- its invoices, a JSON array; null: not read
)
returns jsonb -- {outcome: stands | changed | unnamed}. unnamed: a paid cycle is not known here, the invoices name it
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_now constant timestamptz := billing.clock();
  v_entity constant jsonb := p_entity::jsonb;
  v_id constant text := (select o.payload ->> 'gateway_subscription_id' from billing.outbox o where o.id = p_id);
  v_subscription billing.gateway_subscriptions;
  v_email text;
begin
  perform billing.begin_request('reconciliation', v_id);
  -- Locks the payments, whose locks come before that of the user.
  if p_invoices is not null then perform public.apply_invoices(v_id, p_invoices); end if;
  v_subscription := billing.find_subscription(v_id);
  if v_subscription.id is null and v_entity ->> 'status' not in ('created', 'expired', 'cancelled') then
    -- Authorised after its request was forgotten. Its notes name the user, as they do in its events.
    v_subscription.user_id := billing.json_uuid(v_entity #> '{notes,user_id}');
    v_subscription.gateway_subscription_id := v_id;
    -- Without one nothing paid is cut: the tries end, and a finding asks an admin.
    if coalesce(billing.json_integer(v_entity -> 'paid_count') > 0, v_entity ->> 'current_end' is not null)
      and not billing.is_deleted(v_subscription.user_id)
      and not exists (select from billing.find_user(v_subscription.user_id))
    then
      return jsonb_build_object('outcome', 'changed');
    end if;
  end if;
  v_email := billing.lock_user(v_subscription.user_id);
  if v_email is not null and v_entity is not null then
    if exists (select from billing.gateway_subscriptions m where m.id = v_subscription.id and billing.is_known(m)) then
      perform billing.apply_subscription_read(v_subscription.id, v_entity, false);
    else
      perform billing.apply_request_state(v_subscription, v_entity, null, false);
    end if;
    if p_invoices is null and billing.json_integer(v_entity -> 'paid_count') > (
      select count(distinct p.period_end) from public.payments p where p.gateway_subscription_id = v_id
    ) then
      return jsonb_build_object('outcome', 'unnamed');
    end if;
    update billing.outbox o
    set told_at = null
    where o.id = p_id
      and o.payload @> '{"at_cycle_end": false}'
      and v_entity ->> 'status' is distinct from 'cancelled';
    perform billing.settle_access(v_subscription.user_id, v_email);
    perform billing.release_cancellation_mail(v_subscription.user_id);
  elsif v_entity is null and v_subscription.period_end is not null then
    perform billing.apply_subscription_read(v_subscription.id, null, false);
  end if;
  -- What no plan wants any more: of a subscription that was resumed, or whose user is back.
  if v_email is not null and not exists (
    select from billing.stoppable s where s.gateway_subscription_id = v_id and s.stops_at is not null
  ) then
    update billing.outbox o set parked_at = v_now, last_error = 'withdrawn' where o.id = p_id and o.delivered_at is null;
    return jsonb_build_object('outcome', 'changed');
  end if;
  update billing.outbox o
  set told_at = v_now
  where o.id = p_id
    and o.payload @> jsonb_build_object('at_cycle_end', p_at_cycle_end)
    and o.claims[cardinality(o.claims)] is not null
    and o.next_attempt_at > v_now
    and o.delivered_at is null
    and o.parked_at is null
    and v_entity is not null; -- else nothing is told
  return jsonb_build_object('outcome', case when found then 'stands' else 'changed' end);
end $$;

create or replace function billing.perform_resume(p_action billing.support_actions)
returns billing.support_actions language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  -- As in public.resume_subscription: without a cancellation it changes nothing, and support is to know that.
  v_is_cancelled constant boolean := exists (select from billing.ends_wished w where w.user_id = p_action.user_id)
    or exists (select from public.subscriptions s where s.user_id = p_action.user_id and s.cancel_at_period_end);
  v_outcome text;
begin
  perform billing.require(p_action.user_id is not null, 'PS400', 'resume needs email: the customer''s e-mail address or id');
  v_outcome := public.resume_subscription(p_action.user_id) ->> 'outcome';
  perform billing.require(v_outcome <> 'subscription_not_found', 'PS404', 'nothing to resume');
  perform billing.require(
    v_outcome = 'resumed' and v_is_cancelled, 'PS409', 'nothing was cancelled for the end of a period, or the gateway has the cancellation already'
  );
  perform set_config('subscriptions.request', '', true);
  perform billing.wake();
  p_action.result := 'Resumed. ' || billing.next_charge_text(p_action.user_id);
  return p_action;
end $$;

create or replace function billing.perform_reconcile_now(p_action billing.support_actions)
returns billing.support_actions language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_orders integer;
  v_subscriptions integer;
  v_payment_id constant uuid := billing.payment_id_of(p_action.reference);
begin
  perform billing.require(
    num_nonnulls(p_action.user_id, p_action.reference) > 0, 'PS400', 'reconcile_now needs email or reference'
  );
  p_action.user_id := coalesce(
    p_action.user_id,
    (select p.user_id from public.payments p where p.id = v_payment_id),
    (select m.user_id from billing.gateway_subscriptions m where m.gateway_subscription_id = p_action.reference limit 1)
  );
  perform billing.lock_user(p_action.user_id);
  update public.payments p
  set next_reconcile_at = billing.clock()
  where p.user_id = p_action.user_id
    and (p_action.reference is null or p.id = v_payment_id)
    and p.gateway_order_id is not null
    and not billing.is_settled(p)
    -- The gateway does not keep an unpaid order for long.
    and (p_action.reference is not null or p.created_at > billing.clock() - interval '30 days');
  get diagnostics v_orders = row_count;
  update billing.gateway_subscriptions m
  set next_check_at = '-infinity'
  where m.user_id = p_action.user_id
    and (p_action.reference is null or m.gateway_subscription_id = p_action.reference)
    and m.gateway_subscription_id <> ''
    and m.status is distinct from 'cancelled';
  get diagnostics v_subscriptions = row_count;
  perform billing.require(
    v_orders + v_subscriptions > 0, 'PS404',
    'nothing to reconcile: no open order and no running subscription' || coalesce(' "' || p_action.reference || '"', '')
  );
  perform billing.call_function('/api/internal/reconcile');
  p_action.result := format('Orders to read: %s. Subscriptions to read: %s.', v_orders, v_subscriptions);
  return p_action;
end $$;

create or replace view billing.entitled_not_paid with (security_invoker = true) as
select
  holder.user_id,
  coalesce(
    case when holder.is_over then holder.ends_at end,
    (select max(c.at) from billing.tier_changes c where c.user_id = holder.user_id),
    holder.updated_at
  ) as since,
  case
    when holder.is_over and holder.current_period_end is null then 'the gateway does not bill it'
    when holder.is_over then 'its period is over'
    else 'nothing pays for it'
  end as reason,
  holder.profile_tier, holder.subscription_tier, holder.current_period_end, holder.gateway_subscription_id
from (
  select
    a.user_id,
    case when pr.subscription_tier <> 'free' then pr.subscription_tier end as profile_tier,
    a.tier as subscription_tier, a.current_period_end, a.gateway_subscription_id, a.updated_at,
    -- The sweep runs each minute. The reconciliation of a subscription that the gateway bills may take a day.
    ends.at as ends_at,
    ends.at < (select billing.clock()) as is_over
  from public.subscriptions a
  left join billing.profiles pr on pr.user_id = a.user_id
  left join public.plans pl on pl.id = a.plan_id
  cross join lateral (
    select coalesce(
      a.current_period_end + make_interval(
        hours => 24 * (billing.grace_days(pl.grace_days, false) + (a.gateway_subscription_id is not null)::integer) + 1
      ),
      -- A row by hand without an end, and what was read does not run.
      (
        select m.checked_at
        from billing.gateway_subscriptions m
        where m.user_id = a.user_id
          and m.gateway_subscription_id = a.gateway_subscription_id
          and m.gateway_status in ('created', 'pending', 'halted', 'paused', 'expired', 'unknown')
      )
    ) as at
  ) ends
  where a.status = 'active'
  union all
  select p.user_id, p.subscription_tier, null, null, null, null, null, null
  from billing.profiles p
  where p.subscription_tier <> 'free'
    and not exists (select from public.subscriptions s where s.user_id = p.user_id and s.status = 'active')
) holder
where holder.is_over
  or holder.gateway_subscription_id is null
  and not exists (
    select from billing.sources o
    where o.user_id = holder.user_id
      and o.kind <> 'manual'
      and o.tier = coalesce(holder.subscription_tier, holder.profile_tier)
      and o.ended_at is null
      and o.lapses_at + interval '1 hour' > (select billing.clock())
  );

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
              when num_nonnulls(n.charge_at, v_source.ends_at) = 0 then '. When the gateway charges the next cycle is not known.'
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

-- A support action note ends the problems that a document had before. A view, not a function: it is read for each document.
create view billing.settled_documents with (security_invoker = true) as
select a.reference as document_number, a.created_at as settled_at
from billing.support_actions a
where a.action = 'note' and a.reference is not null;

create view billing.notes_above with (security_invoker = true) as
select
  n.*, exists (
    select from billing.settled_documents s where s.document_number = n.document_number and s.settled_at >= n.at
  ) as is_settled
from (
  select
    r.document_number, r.payment_id, (r.totals ->> 'total')::bigint as excess, f.failed_at as at,
    'note_of_failed_refund' as problem, 'The refund failed afterwards: the note stands.' as detail
  from public.receipts r
  join billing.refunds f on f.refund_id = r.refund_id
  where f.status = 'failed'
  union all
  select
    r.document_number, r.payment_id, (r.totals ->> 'total')::bigint, coalesce(d.event_at, d.arrived_at),
    'note_of_won_dispute', 'The dispute was won afterwards: the note stands.'
  from public.receipts r
  join billing.disputes d on d.dispute_id = r.dispute_id
  where d.status in ('won', 'closed')
  union all
  select
    r.document_number, r.payment_id, (r.totals ->> 'total')::bigint - l.amount, l.at,
    'note_above_dispute', 'The dispute took less afterwards: the note stands.'
  from public.receipts r
  join billing.lost_disputes l on l.dispute_id = r.dispute_id
  where (r.totals ->> 'total')::bigint > l.amount
) n;

-- Returns by how much the notes of a payment exceed its refunds and lost disputes, in minor units, unless support settled it.
create function billing.noted_excess(p_payment_id uuid)
returns bigint -- negative: a refund or a dispute has no note yet, or one of a part
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_gateway_payment_id constant text := (select p.gateway_payment_id from public.payments p where p.id = p_payment_id);
begin
  return coalesce((
    select sum((n.totals ->> 'total')::bigint)
    from public.receipts n
    where n.payment_id = p_payment_id and num_nonnulls(n.refund_id, n.dispute_id) > 0
  ), 0)
  - coalesce((select sum(n.excess) from billing.notes_above n where n.payment_id = p_payment_id and n.is_settled), 0)
  - billing.refunded_amount(v_gateway_payment_id)
  - coalesce((
    select sum(l.amount) from billing.lost_disputes l where l.gateway_payment_id = v_gateway_payment_id
  ), 0);
end $$;

-- Issues what a payment lacks: its receipt, then a note for each processed refund and lost dispute.
create or replace function billing.issue_documents_of(p_payment public.payments, p_settings billing.settings)
returns timestamptz -- when to look again; null: nothing is left
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_receipt public.receipts := billing.find_receipt(p_payment.id);
  v_given record;
begin
  -- Also one that is not confirmed any more, since another payment on its order exchanged its row with it.
  if p_payment.status <> 'captured' or (p_payment.confirmed_at >= p_settings.receipts_from) is not true then return null; end if;
  if v_receipt.id is null then
    -- The gateway may book it in rupees some days later.
    if p_payment.currency <> 'INR' and p_payment.base_amount is null and p_settings.seller_gstin is not null
      and p_payment.confirmed_at > billing.clock() - interval '72 hours'
    then
      return p_payment.confirmed_at + interval '72 hours';
    end if;
    v_receipt := billing.issue_receipt(p_payment, p_settings);
  end if;
  for v_given in
    select r.refund_id, null::text as dispute_id, r.amount, r.created_at as at
    from billing.refunds r
    where r.gateway_payment_id = p_payment.gateway_payment_id
      and r.status = 'processed'
      and not exists (select from public.receipts n where n.refund_id = r.refund_id)
    union all
    select null, l.dispute_id, l.amount, l.at
    from billing.lost_disputes l
    where l.gateway_payment_id = p_payment.gateway_payment_id
      and not exists (select from public.receipts n where n.dispute_id = l.dispute_id)
    order by at, refund_id, dispute_id
  loop
    -- A refund that repeats a failed one has the note of that one.
    perform billing.issue_note(
      v_receipt, p_settings, least(v_given.amount, -billing.noted_excess(p_payment.id)), v_given.refund_id, v_given.dispute_id
    );
  end loop;
  return null;
end $$;

create or replace view billing.book_problems with (security_invoker = true) as
select d.tax_period as month, doubt.problem, d.document_number, d.payment_id, doubt.detail, d.issued_at as since
from billing.book_documents d
cross join lateral (
  select 'state_missing' as problem, 'The buyer''s state is not known: the seller''s was taken.' as detail
  where d.category = 'b2cs' and d.kind = 'receipt' and d.buyer ->> 'state' is null
  union all
  select 'buyer_incomplete', 'The invoice needs the name and the address of its buyer.'
  where d.kind = 'receipt'
    and (d.category in ('b2b', 'expwp', 'expwop') or d.category in ('b2cl', 'b2cs') and d.taxable >= 5000000)
    and (d.buyer ->> 'name' is null or d.buyer ->> 'address' is null)
  union all
  select 'rupees_missing', 'Its value in rupees is not known: the return lacks it.'
  where d.category <> 'none' and d.taxable is null
  union all
  select 'export_paid_in_rupees', 'Abroad, but not paid in foreign exchange: no export.'
  where d.category in ('expwp', 'expwop') and d.kind = 'receipt' and d.currency = 'INR'
  union all
  select 'sac_missing', 'The setting sac was not made.'
  where d.category <> 'none' and d.sac is null
  union all
  select 'einvoice_needed', 'Without the number of an e-invoice it does not count.'
  where d.category in ('b2b', 'expwp', 'expwop') and (select s.over_5_crore from billing.settings s)
  union all
  select 'note_too_late', 'Its tax cannot be adjusted any more.'
  where d.title = 'Credit note without GST' and d.document_date > billing.last_note_day(d.against_date)
) doubt
where not exists (select from public.receipts n where n.reissue_of = d.id)
  -- Only a receipt can be reissued, and not after notes took all of it.
  and (
    doubt.problem not in ('state_missing', 'buyer_incomplete', 'sac_missing')
    or d.kind = 'receipt' and billing.noted_total(d.id) < d.total
  )
  and not exists (
    select from billing.settled_documents s where s.document_number = d.document_number and s.settled_at >= d.issued_at
  )
union all
-- Of the month in which the tax is due again. Not where a later refund has used the note up.
select
  date_trunc('month', billing.day_in_india(n.at))::date, n.problem, n.document_number, n.payment_id, n.detail, n.at
from billing.notes_above n
-- The case: else the function is called for each document, before its refund or dispute is looked up.
where not n.is_settled and case when n.at is not null then billing.noted_excess(n.payment_id) > 0 end
union all
select
  date_trunc('month', billing.day_in_india(d.confirmed_at))::date, 'document_waiting', null, d.payment_id,
  'The payment has no document yet.', d.due_at
from billing.documents_due d
where not exists (select from public.receipts r where r.payment_id = d.payment_id)
union all
select v.month, v.problem, null, null, v.settlement_id, v.since
from billing.settlement_problems v
union all
select
  date_trunc('month', billing.day_in_india(p.captured_at))::date, 'payment_unsettled', null, p.id, p.gateway_payment_id,
  p.captured_at
from public.payments p
where p.status = 'captured'
  and p.gateway_payment_id is not null
  -- Since settlements are read.
  and p.captured_at >= (select min(s.created_at) from billing.settlements s)
  and p.captured_at < (select billing.clock()) - interval '240 hours'
  and not exists (
    select from billing.standing_lines l where l.entity_id = p.gateway_payment_id and l.status <> 'failed'
  );

-- Of the last two months: later ones are in a return.
create or replace view billing.book_findings with (security_invoker = true) as
select
  v.problem as finding, coalesce(v.document_number, v.detail) as subject, v.payment_id, v.since,
  jsonb_build_object(
    'document_number', v.document_number, 'payment_id', v.payment_id, 'month', to_char(v.month, 'YYYY-MM'), 'detail', v.detail
  ) as detail,
  case v.problem
    when 'state_missing' then 'Ask the customer for the state, then reissue the receipt.'
    when 'buyer_incomplete' then 'Ask the customer for name and address, then reissue the receipt.'
    when 'rupees_missing' then 'Look the rupees up at the gateway, and add the document to the return by hand.'
    when 'export_paid_in_rupees' then 'Ask an accountant: the tax of a sale inside India may be due.'
    when 'sac_missing' then 'Set sac in billing.settings, then reissue the receipt.'
    when 'einvoice_needed' then 'Make the e-invoice at the portal: without its number this is no invoice.'
    when 'note_too_late' then 'Tell the accountant: the refund does not reduce the tax.'
    when 'note_of_failed_refund' then 'Refund the payment again: the note stands for that, too. Or ask the accountant for a debit note.'
    when 'note_of_won_dispute' then 'Ask the accountant for a debit note: the money is back, and the note stands.'
    when 'note_above_dispute' then 'Ask the accountant for a debit note: the dispute took less than the note.'
    when 'payment_unsettled' then 'Look at the gateway why it holds the payment back, and ask it when it settles.'
  end || case when v.document_number is not null then ' A support action note about the document ends the finding.' else '' end
  as remedy
from billing.book_problems v
where v.payment_id is not null
  and v.problem <> 'document_waiting'
  -- A deleted user can't be asked any more.
  and (
    v.problem not in ('state_missing', 'buyer_incomplete')
    or not exists (select from public.payments p where p.id = v.payment_id and p.user_deleted_at is not null)
  )
  and v.month >= (select date_trunc('month', billing.clock() - interval '1 month'))::date;

comment on column billing.support_actions.reference is 'What it is about. A note about missed_webhook, unmailed_payment, refund_failed, returned_too_much or a document ends it.';

comment on view billing.entitled_not_paid is 'Users with a tier or an active subscription but no running source for it, and users whose period is long over, or has no end while the gateway does not bill it. A grant makes the tier a complimentary one. A report: it reads all users.';

comment on view billing.notes_above is 'The credit notes that are larger than what their refund or dispute took in the end. is_settled: by a note of support.';

comment on view billing.settled_documents is 'The support action notes, also those about other things than documents.';

do $do$
begin
  if exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_support') then
    perform billing.set_up_support();
  end if;
end $do$;

CREATE TRIGGER give_billed_tier_insert
  AFTER INSERT ON public.subscriptions
  FOR EACH ROW
  WHEN (((new.revision = 0) AND (new.gateway_subscription_id IS NOT NULL)))
  EXECUTE FUNCTION billing.give_billed_tier();

CREATE TRIGGER give_billed_tier
  AFTER UPDATE OF gateway_subscription_id ON public.subscriptions
  FOR EACH ROW
  WHEN (((new.revision = old.revision) AND (new.gateway_subscription_id <> COALESCE(old.gateway_subscription_id, ''::text))))
  EXECUTE FUNCTION billing.give_billed_tier();

REVOKE ALL ON FUNCTION "billing"."change_answer"(billing.change) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."change_answer"(billing.change) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."find_credit"(uuid, public.plans) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."find_credit"(uuid, public.plans) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."give_billed_tier"() FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."give_billed_tier"() TO "service_role";

REVOKE ALL ON FUNCTION "billing"."noted_excess"(uuid) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."noted_excess"(uuid) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."plan_change"(uuid, text, text, text, boolean) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."plan_change"(uuid, text, text, text, boolean) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."undo_change"(billing.change, billing.commitment) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."undo_change"(billing.change, billing.commitment) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."unread_answer"(uuid) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."unread_answer"(uuid) TO "service_role";

revoke execute on all functions in schema billing from public;
