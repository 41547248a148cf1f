-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

drop view billing.periods;

drop function billing.check_due_subscriptions();

drop function billing.keep_end(billing.ruling);

drop function billing.find_ruling(pg_catalog.uuid,boolean);

drop function billing.announce_subscription_ends(pg_catalog.uuid[]);

drop view billing.customers;

drop function billing.expire_subscriptions();

drop function billing.settle_access(pg_catalog.uuid,pg_catalog.text,pg_catalog.text,boolean,pg_catalog.jsonb,billing.ruling);

drop function billing.first_ruling(billing.gateway_subscriptions);

drop function billing.plan(pg_catalog.uuid);

drop function billing.tier_to_write(billing.ruling,public.subscriptions,pg_catalog.text,boolean);

drop function billing.start_purchases();

drop function billing.why_text(billing.ruling);

drop function billing.sole_ruling(billing.sources);

drop function billing.settle_lapsed(pg_catalog.uuid[]);

drop function billing.attach_gateway_subscription(billing.ruling);

drop function billing.find_shown(pg_catalog.uuid);

drop type billing.ruling;

comment on column public.payments.settle_at is null;

comment on column public.subscriptions.due_at is null;

comment on view billing.purchases is null;

DROP INDEX "public"."payments_settle_at_idx";

DROP INDEX "public"."subscriptions_due_at_idx";

CREATE TYPE "billing"."ruling" AS (
  "source"              billing.sources,
  "is_live"             boolean,
  "is_ended_by_gateway" boolean,
  "attaching"           integer,
  "upcoming"            integer,
  "shown"               public.subscriptions
);

CREATE INDEX subscriptions_due_at_idx ON public.subscriptions USING btree (due_at)
  WHERE (due_at IS NOT NULL);

REVOKE ALL ON FUNCTION "billing"."check_again"(uuid) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."check_again"(uuid) TO "service_role";

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

REVOKE ALL ON FUNCTION "billing"."release_cancellation_mail"(uuid) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."release_cancellation_mail"(uuid) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."send_stop"(text, billing.stop, timestamp WITH time zone) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."send_stop"(text, billing.stop, timestamp WITH time zone) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."source_of"(public.payments, uuid, text) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."source_of"(public.payments, uuid, text) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."state_of_billing"(billing.sources) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."state_of_billing"(billing.sources) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."withdraw_mails"(text[]) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."withdraw_mails"(text[]) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."withdraw_outlook"(uuid, text) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."withdraw_outlook"(uuid, text) TO "service_role";

GRANT SELECT ON TABLE "billing"."purchases" TO "service_role";

GRANT SELECT ON TABLE "billing"."sources" TO "service_role";

-- Withdraws mails that are no longer true and not sent yet.
create or replace function billing.withdraw_mails(p_keys text[])
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  with waiting as materialized (
    select o.id
    from billing.outbox o
    -- An expression leaves the planner the index on the key alone: that of all waiting rows grows with an outage.
    where o.key = any (p_keys) and num_nonnulls(o.delivered_at, o.parked_at) = 0
    order by o.id
    for no key update
  )
  update billing.outbox o
  set parked_at = billing.clock(), last_error = 'withdrawn'
  from waiting
  where o.id = waiting.id;
end $$;

-- Locks a payment, and reads what decides about it. The caller holds the lock on the user.
create or replace function billing.lock_purchase(p_payment_id uuid, p_gateway_payment_id text)
returns billing.purchase language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_purchase billing.purchase;
begin
  -- Subqueries, because a row that waited for its lock is not joined again.
  select
    p,
    (select pl from public.plans pl where billing.is_bought(pl, p)),
    (select s from public.subscriptions s where s.user_id = p.user_id),
    exists (select from billing.gateway_subscriptions m where m.user_id = p.user_id and billing.is_known(m)),
    greatest(
      (select s.updated_at from public.subscriptions s where s.user_id = p.user_id),
      (select max(m.arrived_at) from billing.gateway_subscriptions m where m.user_id = p.user_id),
      (
        select max(later.since)
        from public.payments later
        where later.user_id = p.user_id and later.settle_at > billing.clock()
      )
    ),
    (select w.at from billing.manual_subscriptions w where w.user_id = p.user_id),
    (select e.early_renewal from billing.settings e),
    (select e.time_zone from billing.settings e),
    coalesce((select r.amount from billing.refunded r where r.gateway_payment_id = p_gateway_payment_id), 0)
  into v_purchase
  from public.payments p
  where p.id = p_payment_id
  for update of p;
  return v_purchase;
end $$;

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

-- Returns the subscription that starts when another one ends: of the newest change of plan that was authorised and neither
-- undone nor cancelled.
create or replace function billing.find_successor(p_user_id uuid, p_gateway_subscription_id text)
returns billing.gateway_subscriptions -- all null: none
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  -- Most subscriptions are followed by none.
  if not exists (
    select from billing.gateway_subscriptions m where m.user_id = p_user_id and m.replaces = p_gateway_subscription_id
  ) then
    return null;
  end if;
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
  v_ruling billing.ruling;
begin
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

-- Keeps the reason and the time of an end of this source that the row shows already, where a refund is only later or earlier
-- than another end: what happened first ended access. A refund that fails takes back its own end.
create function billing.keep_end(p_ruling billing.ruling)
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

-- Finds what the subscription row shows: the ruling source, with what is attached to it.
create function billing.find_shown(p_user_id uuid)
returns billing.ruling -- source is null: the user has no source
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_ruling constant billing.ruling := billing.attach_gateway_subscription(billing.find_ruling(p_user_id));
begin
  return case when v_ruling.is_live then v_ruling else billing.keep_end(v_ruling) end;
end $$;

-- Writes the ruling source to the subscription row and the profile's tier, and enqueues the side effects.
-- billing.settle_access is the only function that decides them.

-- Finds the tier that settling writes to the profile. It is written only when access begins, ends or gets another tier. So a
-- charge does not overwrite a tier that an admin edited.
create function billing.tier_to_write(
  p_ruling billing.ruling,
  p_before public.subscriptions, -- the subscription row; all null: there was none
  p_new_source_id text, -- see billing.settle_access
  p_is_cancelled boolean
)
returns text -- null: none
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
  v_source constant billing.sources := p_ruling.source;
  v_has_access boolean := p_ruling.is_live;
begin
  if v_has_access and v_source.ends_at <= v_now then
    -- The period is over, but the source still runs: the gateway was not read yet, or a late event shows it for an hour.
    -- Such a source keeps the tier, and restores it after a failed refund. After the days of grace it gives no new tier.
    v_has_access := v_source.ended_at is null
      and v_source.ends_at + make_interval(
        hours => 24 * billing.grace_days((select p.grace_days from public.plans p where p.id = v_source.plan_id), false)
      ) > v_now
      or v_source.kind = 'gateway_subscription' and exists (
        select from billing.gateway_subscriptions m
        where m.user_id = v_source.user_id
          and m.gateway_subscription_id = v_source.gateway_subscription_id
          and m.has_refunds
      );
  end if;
  if p_ruling.is_live then
    if v_source.id = p_new_source_id
      or v_has_access and (p_before.status = 'active' and p_before.current_period_end > v_now) is not true
      or p_before.status = 'active' and p_before.tier <> v_source.tier
    then
      return v_source.tier;
    elsif not v_has_access and v_source.ended_reason = 'refunded' and p_before.current_period_end > v_now then
      return 'free';
    end if;
  elsif p_is_cancelled or v_source.id is not null and p_before.id is null or p_before.status = 'active' then
    return 'free';
  end if;
  return null;
end $$;

-- Writes only values that differ. The caller holds the lock on the user.
create function billing.settle_access(
  p_user_id uuid,
  p_email text, -- of the user; null: sends no mail, and a new profile gets the default username
  p_new_source_id text default null, -- a source that was just created: if it rules, its tier is written in any case
  p_is_cancelled boolean default false, -- subscription.cancelled: without a running source the tier becomes free
  p_mail jsonb default null, -- payload of the success mail for the new source; sent to a user who has a profile
  p_ruling billing.ruling default null -- the ruling source, if the caller knows it and that nothing else is billed
)
returns boolean -- whether the subscription row changed; null: the user has no source
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
  v_ruling billing.ruling := p_ruling;
  v_source billing.sources;
  v_before public.subscriptions;
  v_reason text; -- why access ended
  v_cancelled_at timestamptz;
  v_tier text;
  v_due_at timestamptz;
  v_is_changed boolean := false;
  v_ended_at text;
  v_end jsonb; -- see billing.announce_access
begin
  if p_ruling.is_live is null then
    -- First, since what is to end with its cycle has no days of grace.
    if exists (select from billing.gateway_subscriptions m where m.user_id = p_user_id) then
      perform billing.plan(p_user_id);
    end if;
    v_ruling := billing.find_shown(p_user_id);
    if v_ruling.is_live and (v_ruling.source).kind = 'payment' and billing.await_periods(p_user_id) then
      v_ruling := billing.find_shown(p_user_id);
    end if;
  end if;
  if (v_ruling.source).id is not null then
    v_source := v_ruling.source;
    v_before := v_ruling.shown;
    if not v_ruling.is_live then
      v_reason := case
        when v_ruling.is_ended_by_gateway then 'cancelled'
        when v_source.ended_at is not null then v_source.ended_reason
        else coalesce(v_source.ended_reason, 'lapsed')
      end;
      v_cancelled_at := case
        when v_before.status = 'cancelled' and v_before.cancelled_at is not null then v_before.cancelled_at
        when v_reason = 'lapsed' then v_source.ends_at
        -- Cancelled for that day.
        when v_reason = 'cancelled' and v_source.cancel_at_period_end and v_source.ends_at <= least(v_now, v_source.ended_at)
          then v_source.ends_at
        else v_now
      end;
    end if;
    v_due_at := least(
      case when v_ruling.is_live then billing.next_check(
        v_source.ends_at, v_source.lapses_at,
        v_source.gateway_subscription_id is not null
          and not (v_source.cancel_at_period_end or v_source.is_failing)
          and coalesce(p_ruling.is_live, billing.is_sole(p_user_id, v_source.gateway_subscription_id))
      ) end,
      case when v_ruling.upcoming > 0 then billing.next_start(p_user_id) end
    );
    insert into public.subscriptions as s (
      user_id, plan_id, tier, status, current_period_start, current_period_end, cancelled_at, cancel_at_period_end,
      ended_reason, gateway_subscription_id, price_key, price_amount, currency, duration_months, entitlements, revision, created_at,
      updated_at, due_at
    )
    values (
      p_user_id, v_source.plan_id, v_source.tier, case when v_ruling.is_live then 'active' else 'cancelled' end,
      v_source.starts_at, v_source.ends_at, v_cancelled_at, v_source.cancel_at_period_end,
      v_reason, v_source.gateway_subscription_id, (v_source.sold).lookup_key, (v_source.sold).amount,
      (v_source.sold).currency, (v_source.sold).months, v_source.entitlements, 1, v_now, greatest(v_now, v_source.since), v_due_at
    )
    on conflict (user_id) do update
    set plan_id = excluded.plan_id, tier = excluded.tier, status = excluded.status,
      current_period_start = excluded.current_period_start, current_period_end = excluded.current_period_end,
      cancelled_at = excluded.cancelled_at, cancel_at_period_end = excluded.cancel_at_period_end,
      ended_reason = excluded.ended_reason, gateway_subscription_id = excluded.gateway_subscription_id,
      price_key = excluded.price_key, price_amount = excluded.price_amount, currency = excluded.currency, duration_months = excluded.duration_months,
      entitlements = excluded.entitlements,
      revision = s.revision + 1,
      updated_at = excluded.updated_at,
      due_at = case when excluded.status = 'active' then least(s.due_at, excluded.due_at) else excluded.due_at end
    -- updated_at is never before a known since, so billing.lock_purchase finds the newest act by updated_at.
    where s.updated_at < v_source.since
      or (
        s.plan_id, s.tier, s.status, s.current_period_start, s.current_period_end, s.cancelled_at, s.cancel_at_period_end,
        s.ended_reason, s.gateway_subscription_id, s.price_key, s.price_amount, s.currency, s.duration_months, s.entitlements
      ) is distinct from (
        excluded.plan_id, excluded.tier, excluded.status, excluded.current_period_start, excluded.current_period_end,
        excluded.cancelled_at, excluded.cancel_at_period_end, excluded.ended_reason, excluded.gateway_subscription_id,
        excluded.price_key, excluded.price_amount, excluded.currency, excluded.duration_months, excluded.entitlements
      );
    v_is_changed := found;
    if not found and v_due_at < coalesce(v_before.due_at, 'infinity') then
      update public.subscriptions s set due_at = v_due_at where s.user_id = p_user_id;
    end if;
  end if;

  v_tier := billing.tier_to_write(v_ruling, v_before, p_new_source_id, p_is_cancelled);
  -- The mail about a cancellation names the end, too.
  if v_before.status = 'active' and not v_ruling.is_live
    and current_setting('subscriptions.cause', true) is distinct from 'cancellation'
  then
    v_ended_at := billing.iso_time(v_cancelled_at);
    v_end := jsonb_build_object(
      'key', format('subscription-ended/%s/%s', v_before.id, v_ended_at),
      'plan_name', coalesce((select p.name from public.plans p where p.id = v_source.plan_id), v_source.tier),
      'ends_at', v_ended_at
    ) || case
      when v_reason = 'refunded'
        then billing.refund_of(v_source) || jsonb_build_object('next_charge', billing.next_charge_answer(p_user_id))
      -- After the days of grace, as the mail about the failed charge says.
      when v_reason = 'lapsed' and v_source.lapses_at > v_source.ends_at and v_source.lapses_at <= v_now
        then jsonb_build_object('access_ended_at', billing.iso_time(v_source.lapses_at))
      else '{}'
    end;
  end if;
  if num_nonnulls(v_tier, p_mail, v_end) > 0 then
    perform billing.announce_access(p_user_id, p_email, v_tier, p_new_source_id, p_mail, v_end);
  end if;
  if v_is_changed and v_source.cancel_at_period_end then perform billing.release_cancellation_mail(p_user_id); end if;
  return case when v_source.id is not null then v_is_changed end;
end $$;

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
        case when not p_is_renewed and p_ends_at - interval '7 days' > v_now then p_ends_at - interval '7 days' end
      )
    when p_lapses_at > v_now and p_lapses_at < 'infinity' then p_lapses_at
    else v_now + interval '1 hour'
  end;
end $$;

-- Returns whether a user has, and had, nothing that gives access beside a gateway subscription.
create function billing.is_sole(p_user_id uuid, p_gateway_subscription_id text)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return not exists (
    select from billing.gateway_subscriptions m
    where m.user_id = p_user_id
      and m.gateway_subscription_id is distinct from p_gateway_subscription_id
      and billing.is_known(m)
  )
  and not exists (select from billing.grants g where g.user_id = p_user_id)
  and not exists (select from billing.manual_subscriptions w where w.user_id = p_user_id)
  and not exists (select from public.payments p where p.user_id = p_user_id and p.fulfilled_at is not null);
end $$;

create view billing.starts with (security_invoker = true) as
select p.user_id, p.settle_at as at, p.gateway_payment_id as reference
from public.payments p
where p.settle_at is not null and p.ended_at is null
union all
select m.user_id, m.starts_at, m.gateway_subscription_id
from billing.gateway_subscriptions m
where m.starts_at is not null and m.period_end is not null and not m.is_trial;

grant select on billing.starts to service_role;

create function billing.next_start(p_user_id uuid)
returns timestamptz -- null: nothing waits for its start
language plpgsql stable set search_path = pg_catalog, pg_temp
as $$ begin return (select min(s.at) from billing.starts s where s.user_id = p_user_id and s.at > billing.clock()); end $$;

-- Enqueues the mail about an access that ends soon, one for each end of a period.
create function billing.announce_end(p_user_id uuid)
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
    -- No mail if the gateway renews the subscription.
    and (s.gateway_subscription_id is null or s.cancel_at_period_end)
    -- No mail for a period that is shorter than the notice: the mail would follow the purchase at once.
    and (s.current_period_start is null or s.current_period_end - s.current_period_start >= interval '7 days')
    -- No mail if a subscription is authorised that the gateway charges from then on.
    and not exists (
      select from billing.gateway_subscriptions m
      where m.user_id = s.user_id
        and m.gateway_status = 'authenticated'
        and m.stops_at is null
        and m.charge_at <= s.current_period_end + interval '1 day'
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
create function billing.settle_due()
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

-- Tells the gateway to stop billing a subscription 48 hours before a time, since it debits up to 36 hours before a cycle.
-- What may have been sent is final, except that a stop at once may follow one for the end of the cycle, and one for a later
-- cycle follows one that the gateway did not obey.
create or replace function billing.send_stop(
  p_gateway_subscription_id text,
  p_stop billing.stop,
  p_before timestamptz default null -- the stop that was planned before; null: none
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  insert into billing.outbox as o (key, destination, kind, payload, queued_at, next_attempt_at)
  select
    'cancel-subscription/' || p_gateway_subscription_id,
    'gateway',
    'cancel-subscription',
    jsonb_build_object('gateway_subscription_id', p_gateway_subscription_id, 'at_cycle_end', p_stop.at_cycle_end),
    send.at,
    send.at
  from (select greatest(p_stop.stops_at - interval '48 hours', billing.clock()) as at) send
  on conflict (key) do update
  set payload = excluded.payload,
    queued_at = excluded.queued_at,
    next_attempt_at = excluded.next_attempt_at,
    attempts = 0,
    -- The end of a call that is under way does not count for another message.
    claims = case when o.payload = excluded.payload and excluded.next_attempt_at <= billing.clock() then o.claims else '{}' end,
    parked_at = null, last_error = null, delivered_at = null, told_at = null
  where case
    when o.told_at is null and o.delivered_at is null
      then o.parked_at is not null
        or o.payload <> excluded.payload
        or o.next_attempt_at <> excluded.next_attempt_at and (
          excluded.next_attempt_at > billing.clock()
          -- A claimed row, or one that waits for its next try, is due already.
          or o.attempts = 0 and o.next_attempt_at > billing.clock()
        )
    else o.payload @> '{"at_cycle_end": true}' and not p_stop.at_cycle_end
      or num_nonnulls(o.delivered_at, o.parked_at) > 0
        and excluded.next_attempt_at > billing.clock()
        and coalesce(p_stop.stops_at > p_before, true)
  end;
end $$;

-- Derives what the gateway must be told about the subscriptions of a user, and writes what differs. The caller holds the lock
-- on the user.
create function billing.plan(p_user_id uuid)
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
    select s as each, (
      select row(p.*)::billing.sources from billing.purchases p where p.user_id = p_user_id order by p.since desc, p.id desc limit 1
    ) as newest
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

-- Writes the end that is known by now into the mail about a cancellation that waits for it, and sends it. The caller has
-- settled the user's access.
create or replace function billing.release_cancellation_mail(p_user_id uuid)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update billing.outbox o
  set payload = o.payload || billing.cancellation_terms(p_user_id, true, true), next_attempt_at = billing.clock()
  where o.key = any (array(select 'subscription-cancelled/' || w.id from billing.wishes w where w.user_id = p_user_id))
    and o.next_attempt_at > billing.clock()
    and o.attempts = 0
    and num_nonnulls(o.delivered_at, o.parked_at) = 0;
end $$;

-- Withdraws the mails that say what is charged next, for an act of the user that makes them untrue.
create or replace function billing.withdraw_outlook(
  p_user_id uuid,
  p_kept text default null -- the key of the mail about this act
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform billing.withdraw_mails(array(
    select 'subscription-resumed/' || w.id from billing.wishes w where w.user_id = p_user_id and w.at_period_end
    union all
    select k.key
    from billing.gateway_subscriptions m
    cross join unnest(array['change-scheduled/' || m.gateway_subscription_id, 'change-undone/' || m.id]) k (key)
    where m.user_id = p_user_id and m.asked_plan_id is not null and k.key is distinct from p_kept
  ));
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
    -- What was not charged in time has lapsed, until it is charged.
    and (
      greatest(b.ends_at, b.charge_at) > v_now
      or exists (
        select from billing.sources s
        where s.user_id = p_user_id and s.kind = 'gateway_subscription' and s.id = b.id and s.is_running
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

-- Enqueues the mail about a change that was authorised, and that the gateway has cancelled before its start without being told
-- to: what the customer pays for goes on. The caller has settled the user's access.
create function billing.announce_lost_change(
  p_subscription billing.gateway_subscriptions, -- after the event
  p_email text -- of the user
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if p_subscription.authenticated_at is null
    or num_nonnulls(p_subscription.undone_at, p_subscription.stops_at) > 0
    or (p_subscription.starts_at > billing.clock()) is not true
    or not exists (
      select from billing.find_billed(p_subscription.user_id) b where b.id = p_subscription.replaces and b.goes_on
    )
  then
    return;
  end if;
  perform billing.withdraw_outlook(p_subscription.user_id);
  perform billing.announce_going_on(p_subscription.user_id, p_email, 'change-undone', p_subscription.id::text);
end $$;

create or replace function public.preview_change(
  p_user_id uuid,
  p_tier text,
  p_when text, -- now or period_end
  p_price text default null -- the lookup key of the price; null: the default price of the tier
)
returns jsonb
-- {outcome: change | undo, order_start: now | after_current | null, is_billed, change: {amount_due, due_at, credit, currency,
-- starts_at, ends_at, from, to, from_price, to_price, renews, next_charge: {at, amount} | null}},
-- {outcome: plan_not_found | price_conflict | already_subscribed | subscription_not_found},
-- {outcome: not_now, reason: currency | downgrade | credit}, {outcome: too_late, possible_from}
language plpgsql stable set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
declare
  v_change constant billing.change := billing.plan_change(p_user_id, p_tier, p_when, p_price);
begin
  if v_change.outcome not in ('change', 'undo') then
    return jsonb_strip_nulls(jsonb_build_object(
      'outcome', v_change.outcome,
      'reason', v_change.reason,
      'possible_from', case when v_change.outcome = 'too_late' then billing.iso_time(v_change.starts_at) end
    ));
  end if;
  return jsonb_build_object(
    'outcome', v_change.outcome, 'order_start', v_change.order_start, 'is_billed', v_change.is_billed,
    'change', jsonb_build_object(
      'amount_due', v_change.amount_due, 'due_at', billing.iso_time(v_change.due_at), 'credit', v_change.credit,
      'currency', (v_change.plan).currency,
      'starts_at', billing.iso_time(v_change.starts_at),
      'ends_at', billing.iso_time(v_change.ends_at),
      'from', v_change.from_tier,
      'to', (v_change.plan).tier,
      'from_price', v_change.from_price,
      'to_price', coalesce((v_change.plan).lookup_key, (v_change.plan).tier),
      'renews', v_change.goes_on,
      'next_charge', case
        when v_change.next_charge_at is not null
          then jsonb_build_object('at', billing.iso_time(v_change.next_charge_at), 'amount', v_change.next_amount)
      end
    )
  );
end $$;

-- Stores the payment of a charged cycle, once. Without a user it waits for billing.adopt_charges. A payment id that another
-- row has is reused, as in a test account: then nothing is stored.
create or replace function billing.record_charge(
  p_subscription billing.gateway_subscriptions, -- after the event
  p_gateway_plan_id text, -- of the charge; null: the event named none
  p_period_start timestamptz,
  p_period_end timestamptz,
  p_payment jsonb, -- null, or without an id and an amount: the gateway named no payment, and none is stored
  p_charged_at timestamptz
)
returns boolean -- whether the payment is new
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_gateway_payment_id constant text := billing.json_text(p_payment -> 'id');
  v_user_id constant uuid := (select p_subscription.user_id from billing.find_user(p_subscription.user_id));
  v_billed record;
begin
  -- Without a user and without an id nothing tells later whose charge it is.
  if v_gateway_payment_id is null or v_user_id is null and p_subscription.gateway_subscription_id = '' then
    return false;
  end if;
  select * into v_billed
  from billing.find_billed_price(p_gateway_plan_id, p_subscription.gateway_subscription_id)
  where p_gateway_plan_id is distinct from p_subscription.gateway_plan_id;
  if not found then select p_subscription.plan_id, p_subscription.sold into v_billed; end if;
  insert into public.payments (
    user_id, amount, currency, status, tier, plan_id, price_key, duration_months, gateway_key_id, gateway_payment_id, gateway_subscription_id,
    captured_at, confirmed_at, period_start, period_end, refunded_amount, next_reconcile_at, created_at, user_deleted_at,
    base_amount
  )
  select
    v_user_id, charge.amount, -- the currency may differ from that of the plan
    billing.charged_currency(p_payment, (v_billed.sold).currency), 'captured',
    (select p.tier from public.plans p where p.id = v_billed.plan_id), v_billed.plan_id, (v_billed.sold).lookup_key,
    (v_billed.sold).months, p_subscription.gateway_key_id,
    v_gateway_payment_id, p_subscription.gateway_subscription_id, p_charged_at, p_charged_at, p_period_start, p_period_end,
    billing.refunded_amount(v_gateway_payment_id), null, p_charged_at,
    case when v_user_id is null then (
      select d.deleted_at
      from billing.deleted_users d
      where d.user_id in (p_subscription.user_id, billing.hash_user_id(p_subscription.user_id))
    ) end,
    billing.json_integer(p_payment -> 'base_amount')
  from (select billing.json_integer(p_payment -> 'amount') as amount) charge
  where charge.amount >= 0
  on conflict (gateway_payment_id) do nothing;
  if found then return true; end if;
  update public.payments c
  set captured_at = p_charged_at, confirmed_at = p_charged_at, created_at = p_charged_at
  where c.gateway_payment_id = v_gateway_payment_id
    and c.gateway_subscription_id = p_subscription.gateway_subscription_id
    and c.captured_at > p_charged_at;
  return false;
end $$;

-- Applies the usual charge: the next cycle, in order, of the only subscription of a user that is not over. It reads the event
-- inline: a body of another shape is left to the general way, also by the error of a cast, and so is a delivery whose ledger
-- row exists. The values are those that billing.merge_gateway_subscription, billing.record_charge, billing.settle_access and
-- billing.announce_charge would write.
create or replace function billing.apply_next_charge(
  p_body_sha256 bytea,
  p_event_id text, -- from the header, not signed
  p_body jsonb
)
returns boolean -- false: it is not the usual charge. Then, as after an error, the caller undoes what was written
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_entity constant jsonb := p_body #> '{payload,subscription,entity}';
  v_payment constant jsonb := p_body #> '{payload,payment,entity}';
  v_id constant text := v_entity ->> 'id';
  v_payment_id constant text := v_payment ->> 'id';
  v_page constant text := v_entity ->> 'short_url';
  v_types constant text[] := array[
    jsonb_typeof(v_entity -> 'id'), jsonb_typeof(v_entity -> 'plan_id'), jsonb_typeof(v_entity #> '{notes,user_id}'),
    jsonb_typeof(v_payment -> 'id'), jsonb_typeof(v_payment -> 'currency'),
    coalesce(nullif(jsonb_typeof(v_entity -> 'short_url'), 'null'), 'string'),
    jsonb_typeof(p_body -> 'created_at'), jsonb_typeof(v_entity -> 'current_start'), jsonb_typeof(v_entity -> 'current_end'),
    jsonb_typeof(v_payment -> 'amount'), jsonb_typeof(v_entity -> 'paid_count'),
    coalesce(jsonb_typeof(v_entity -> 'remaining_count'), 'number'),
    -- Null: the gateway charges no more, or names no amount of its own.
    replace(jsonb_typeof(v_entity -> 'charge_at'), 'null', 'number'),
    coalesce(nullif(jsonb_typeof(v_payment -> 'base_amount'), 'null'), 'number')
  ];
  v_now constant timestamptz := billing.clock();
  v_user_id uuid;
  v_amount bigint;
  v_at timestamptz;
  v_start timestamptz;
  v_end timestamptz;
  v_charge_at timestamptz;
  v_charged_at timestamptz;
  v_email text;
  v_billed record;
  v_shown record;
begin
  if v_types <> '{string,string,string,string,string,string,number,number,number,number,number,number,number,number}'
    or array_position(v_types, null) is not null
    or length(v_id) not between 1 and 200
    or v_page not like 'https://%'
    or length(v_page) > 500
  then
    return false;
  end if;
  v_user_id := v_entity #>> '{notes,user_id}';
  v_amount := v_payment ->> 'amount';
  v_at := to_timestamp((p_body ->> 'created_at')::bigint);
  v_start := to_timestamp((v_entity ->> 'current_start')::bigint);
  v_end := to_timestamp((v_entity ->> 'current_end')::bigint);
  v_charge_at := to_timestamp((v_entity ->> 'charge_at')::bigint);
  v_charged_at := least(v_at + interval '999999 microseconds', v_now);
  -- As billing.json_time and billing.json_integer.
  if least(v_start, v_charge_at) < 'epoch'
    or greatest(v_at, v_start, v_end, v_charge_at) >= '10000-01-01'
    or greatest(v_amount, (v_payment ->> 'base_amount')::bigint, (v_entity ->> 'paid_count')::bigint) > 9007199254740991
    or v_end <= v_now
  then
    return false;
  end if;
  -- As billing.next_charge_at.
  if (v_entity ->> 'remaining_count')::bigint = 0 and v_entity ->> 'status' is distinct from 'pending' then
    v_charge_at := null;
  elsif v_charge_at <= v_charged_at then
    v_charge_at := v_end;
  end if;
  v_email := billing.lock_charge(v_payment_id, v_user_id);

  update billing.gateway_subscriptions m
  set period_start = v_start, period_end = v_end, period_event_at = v_at,
    paid_period_start = v_start, paid_period_end = v_end, paid_period_event_at = v_charged_at,
    plan_event_at = v_at, gateway_status = 'active', gateway_status_event_at = v_at,
    charge_at = v_charge_at, short_url = greatest(m.short_url, v_page), arrived_at = v_now,
    paid_count = greatest(m.paid_count, (v_entity ->> 'paid_count')::bigint)
  where m.user_id = v_user_id
    and m.gateway_subscription_id = v_id
    and m.gateway_plan_id = v_entity ->> 'plan_id'
    -- It goes on, and it was charged before. This charge is the newest event.
    and m.status = 'active'
    -- After another state the charge may be the cause of a stop, or older than the reconciliation.
    and m.gateway_status = 'active'
    and m.first_halted_at is null
    and m.first_charged_at is not null
    and m.stops_at is null
    and m.ended_at is null
    and not m.has_refunds
    and not m.cancel_at_period_end
    and greatest(m.plan_event_at, m.period_event_at, m.gateway_status_event_at) < v_at
    and greatest(m.asked_at, m.first_charged_at, m.paid_period_event_at) < v_charged_at
    and coalesce(m.paid_count <= (v_entity ->> 'paid_count')::bigint, true)
    and m.period_end < v_end
    and m.next_check_at <= v_end - interval '1 day'
    and not exists (
      select from billing.gateway_subscriptions other
      where other.user_id = v_user_id
        and other.id <> m.id
        -- One that is over gives nothing and is not billed, nor does one that was only asked for.
        and num_nonnulls(other.arrived_at, other.written_at) > 0
        and (other.gateway_status in ('cancelled', 'completed', 'expired') and other.period_end < v_now) is not true
    )
    and not exists (select from billing.refunds b where b.gateway_payment_id = v_payment_id)
    -- Its user keeps it, and a finding about its notes is over.
    and m.noted_user_id is null
    and not exists (
      select from billing.gateway_subscriptions other where other.gateway_subscription_id = v_id and other.id <> m.id
    )
  returning m.plan_id, (m.sold).lookup_key, (m.sold).months, m.gateway_key_id, m.asked_plan_id is not null as is_asked
  into v_billed;
  if not found then return false; end if;
  -- It rules. If access begins again, the tier is to be written.
  update public.subscriptions s
  set current_period_start = v_start, current_period_end = v_end, revision = s.revision + 1,
    updated_at = greatest(s.updated_at, v_now)
  from public.plans p, billing.profiles f
  where s.user_id = v_user_id
    and p.id = v_billed.plan_id
    and f.user_id = v_user_id
    and (s.gateway_subscription_id, s.plan_id, s.tier) = (v_id, p.id, p.tier)
    and s.status = 'active'
    and s.revision > 0
    -- Null: the row was written by hand since.
    and s.price_amount is not null
    and not s.cancel_at_period_end
    and (s.current_period_end > v_now or f.subscription_tier = p.tier)
  returning p.tier, p.name as plan_name, coalesce(nullif(f.display_name, ''), f.username, '') as display_name
  into v_shown;
  if not found then return false; end if;
  insert into public.payments (
    user_id, amount, currency, status, tier, plan_id, price_key, duration_months, gateway_key_id, gateway_payment_id,
    gateway_subscription_id, captured_at, confirmed_at, period_start, period_end, next_reconcile_at, created_at, base_amount
  )
  values (
    v_user_id, v_amount, v_payment ->> 'currency', 'captured', v_shown.tier, v_billed.plan_id, v_billed.lookup_key,
    v_billed.months, v_billed.gateway_key_id, v_payment_id, v_id, v_charged_at, v_charged_at, v_start, v_end, null,
    v_charged_at, (v_payment ->> 'base_amount')::bigint
  );
  insert into billing.gateway_events (
    body_sha256, event_id, event, subject_id, event_at, payload, outcome, deliveries, attempts, received_at
  )
  values (p_body_sha256, p_event_id, 'subscription.charged', v_id, v_at, p_body, 'applied', 1, 1, v_now);
  if v_billed.is_asked and v_email <> '' then
    insert into billing.outbox (key, destination, kind, payload, created_at, queued_at, next_attempt_at)
    select
      k.kind || '/' || v_payment_id, case k.kind when 'payment-success' then 'email' else 'notice' end, k.kind,
      jsonb_build_object(
        'to', v_email, 'display_name', v_shown.display_name, 'plan_name', v_shown.plan_name, 'amount', v_amount,
        'currency', v_payment -> 'currency', 'transaction_id', v_payment_id, 'valid_until', billing.iso_time(v_end),
        'next_charge_at', billing.iso_time(v_charge_at)
      ),
      v_now, v_now, v_now
    from (
      select case when (v_entity ->> 'paid_count')::bigint > 1 then 'subscription-renewed' else 'payment-success' end as kind
    ) k;
  end if;
  return true;
end $$;

-- Returns what rules after the first activation of a user who has nothing else. A ranking and a plan would take half of the time.
create function billing.first_ruling(p_subscription billing.gateway_subscriptions)
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
  v_source.arrived_at := p_subscription.arrived_at;
  v_source.cancel_at_period_end := false;
  v_source.gateway_subscription_id := nullif(p_subscription.gateway_subscription_id, '');
  v_source.is_upcoming := false;
  v_source.sold := p_subscription.sold;
  v_source.is_failing := false;
  v_source.is_running := true;
  v_source.is_in_grace := false;
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

-- Completes the gateway subscriptions of a user, and their charges, that arrived before the user or a plan was known.
create function billing.adopt_subscriptions(p_user_id uuid)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update billing.gateway_subscriptions m
  set plan_id = coalesce(m.plan_id, own.plan_id), sold = coalesce(m.sold, own.sold), awaits_user = false,
    next_check_at = least(m.next_check_at, m.period_end - interval '1 day')
  from billing.gateway_subscriptions w
  left join lateral billing.find_billed_price(w.gateway_plan_id, w.gateway_subscription_id) own on w.plan_id is null
  where w.user_id = p_user_id and m.id = w.id;
  perform billing.adopt_charges(p_user_id);
end $$;

-- Settles the access of a new user, because events may arrive before their user exists.
-- Security definer: the auth server's role inserts users and has no rights on the mirror.
create or replace function billing.settle_new_user()
returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off
as $$
begin
  -- A backup or an import may restore a deleted user.
  delete from billing.deleted_users d where d.user_id in (new.id, billing.hash_user_id(new.id));
  if exists (select from billing.gateway_subscriptions m where m.user_id = new.id) then
    perform billing.note_cause('subscription of a new user', null);
    perform billing.adopt_subscriptions(new.id);
    perform billing.settle_access(new.id, new.email);
  end if;
  return null;
exception
  -- A sign-up must not fail because of its gateway subscription. The sweep settles the user later.
  when others then
    raise warning 'access of user % was not settled: %', new.id, sqlstate;
    return null;
end $$;

-- Settles users whose gateway subscriptions waited for a plan or for the user, and the plan or the user now exists.
create or replace function billing.settle_waiting_subscriptions()
returns integer -- how many subscriptions were settled; call again until it is 0
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_waiting record;
  v_settled integer := 0;
begin
  for v_waiting in
    select m.user_id, m.gateway_subscription_id, u.email
    from (
      select w.user_id, w.gateway_subscription_id
      from public.plans o
      join billing.gateway_subscriptions w on w.gateway_plan_id = o.gateway_plan_id
      where w.plan_id is null
      union
      select w.user_id, w.gateway_subscription_id
      from billing.gateway_subscriptions w
      where w.awaits_user
    ) m
    join auth.users u on u.id = m.user_id
    where not exists (select from billing.recent_failures f where f.user_id = m.user_id::text)
    order by m.user_id
    limit 50
    for no key update of u skip locked
  loop
    begin
      perform billing.note_cause('plan', v_waiting.gateway_subscription_id);
      perform billing.adopt_subscriptions(v_waiting.user_id);
      perform billing.settle_access(v_waiting.user_id, v_waiting.email);
      v_settled := v_settled + 1;
    exception
      -- The error may come from an app's trigger on the profile. It must not stop the other users.
      when others then
        perform billing.note_settle_failure(v_waiting.user_id, sqlstate);
    end;
  end loop;
  return v_settled;
end $$;

-- Runs one batch of the first job that has work. Each call is a transaction, so a request waits for one batch at most.
create or replace function billing.sweep()
returns integer -- what the job returned, such as its number of rows; 0: no work is left
language plpgsql set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_job text;
  v_done integer;
  v_results jsonb := '{}'; -- the jobs that ran, each with its error or null
begin
  foreach v_job in array array[
    'replay_missed_events', 'settle_waiting_subscriptions', 'settle_due', 'reduce_payloads', 'empty_payloads',
    'delete_messages', 'erase_deleted_users', 'create_profiles', 'issue_documents', 'run_passes'
  ] loop
    -- A failed job must not stop the other jobs.
    begin
      execute format('select billing.%I()', v_job) into v_done;
      v_results := v_results || jsonb_build_object(v_job, null);
    exception when others then
      raise warning 'sweep: % failed: %', v_job, sqlerrm;
      v_done := 0;
      v_results := v_results || jsonb_build_object(v_job, left(format('%s: %s', sqlstate, sqlerrm), 200));
    end;
    exit when v_done > 0;
  end loop;
  if v_done = 0 then
    perform billing.read_answers();
    perform pg_notify('outbox', '');
    perform billing.call_function('/api/internal/outbox');
  end if;
  -- Last, because another transaction may have locked the table.
  begin
    delete from billing.scheduled_jobs j where v_results -> j.name = 'null';
    insert into billing.scheduled_jobs (name, error)
    select r.key, r.value from jsonb_each_text(v_results) r where r.value is not null
    on conflict (name) do update
    set error = excluded.error;
    update billing.scheduled_jobs j
    set done_at = now(),
      replayed_until = case when v_results ->> 'replay_missed_events' is null then billing.clock() else j.replayed_until end
    where j.name = 'sweep' and v_done = 0;
  exception when lock_not_available then
    raise warning 'sweep: its end was not recorded: %', sqlerrm;
  end;
  return v_done;
end $$;

-- Access may lapse now that the gateway was asked: the sweep looks at it again.
create or replace function billing.check_again(p_user_id uuid)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update public.subscriptions s
  set due_at = billing.clock()
  where s.user_id = p_user_id and s.status = 'active' and s.current_period_end < billing.clock() and s.due_at > billing.clock();
end $$;

-- Returns in one sentence why a user has the tier: the source that rules.
create function billing.why_text(p_ruling billing.ruling)
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
    when v_source.ended_at is null or (p_ruling.shown).cancelled_at < v_source.ended_at then v_until || case
      when v_source.lapses_at > v_source.ends_at and v_source.lapses_at < 'infinity'
        then format(', and days of grace until %s.', billing.day_text(v_source.lapses_at))
      else '.'
    end
    else format(
      ' and ended on %s: %s.',
      -- As the row and the mail say, which are settled when the end becomes known.
      billing.day_text(coalesce((p_ruling.shown).cancelled_at, v_source.ended_at)), coalesce(replace(v_source.ended_reason, '_', ' '), 'ended')
    )
  end;
end $$;

create view billing.customers with (security_invoker = true) as
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
    when live.kind is not null and s.gateway_subscription_id is not null then 'billed'
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
left join public.subscriptions s on s.user_id = u.user_id and s.status = 'active'
-- One call for each user, for the columns that read it.
left join lateral (select billing.find_shown(u.user_id) as ruling offset 0) found on true
left join lateral (select ((found.ruling).source).* where (found.ruling).is_live) live on true;

create or replace view billing.timeline with (security_invoker = true) as
select u.user_id, u.email, line.at, line.what, line.reference, line.detail, line.link, line.rank
from billing.users u
cross join lateral (
  select u.signed_up_at as at, 'signed_up' as what, u.user_id::text as reference, 'Signed up.' as detail, null as link,
    0 as rank
  union all
  select l.at, l.what, l.reference, l.detail, billing.gateway_link(p.gateway_key_id, l.kind, l.id), l.rank
  from public.payments p
  cross join lateral (
    values
      (
        case when num_nonnulls(p.gateway_subscription_id, p.extra_of, p.failed_subscription_id) = 0 then p.created_at end, 'order',
        coalesce(p.gateway_order_id, p.id::text),
        format('Order of %s for %s.', billing.amount_text(p.amount, p.currency), p.tier)
          || coalesce(' Credit: ' || billing.amount_text(p.credit, p.currency) || '.', ''),
        'orders', p.gateway_order_id, 1
      ),
      (
        case when p.failed_subscription_id is not null then p.created_at end, 'attempt_failed', p.failed_subscription_id,
        format('The renewal of %s for %s failed.', billing.amount_text(p.amount, p.currency), p.tier),
        'subscriptions', p.failed_subscription_id, 3
      ),
      (p.uncaptured_at, 'attempt_failed', p.gateway_payment_id, 'The gateway did not capture the payment.', 'payments',
        p.gateway_payment_id, 3)
  ) l (at, what, reference, detail, kind, id, rank)
  where p.user_id = u.user_id
  union all
  select
    e.received_at,
    case
      when e.event = 'payment.failed' then 'attempt_failed'
      when e.deliveries = 0 then 'reconciliation'
      else 'webhook'
    end,
    e.subject_id,
    format('%s: %s', e.event, billing.outcome_now(e))
      || coalesce('. ' || nullif(rtrim(e.payload #>> '{payload,payment,entity,error_description}', '.'), ''), '')
      || case when e.deliveries > 1 then format('. Delivered %s times', e.deliveries) else '' end
      || '.',
    -- The payment of the attempt, if the ledger still has it.
    case
      when e.event = 'payment.failed' and e.payload #>> '{payload,payment,entity,id}' is not null
        then billing.gateway_link(subject.gateway_key_id, 'payments', e.payload #>> '{payload,payment,entity,id}')
      else billing.gateway_link(subject.gateway_key_id, subject.kind, subject.subject_id)
    end,
    2
  from (
    select left(s.subject_id, 200) as subject_id, min(s.kind) as kind, max(s.gateway_key_id) as gateway_key_id
    from billing.subjects s
    where s.user_id = u.user_id
    group by left(s.subject_id, 200)
  ) subject
  join billing.gateway_events e on e.subject_id = subject.subject_id
  union all
  select r.received_at, 'captured', coalesce(r.gateway_payment_id, r.id::text),
    billing.amount_text(r.amount, r.currency) || case
      when r.extra_of is not null then ': a further payment on the order.'
      when r.period_end is null then ' captured. It gave no tier.'
      else format(
        ' captured for %s, %s to %s.', coalesce(r.tier, 'a cycle'), billing.day_text(r.period_start),
        billing.day_text(r.period_end)
      )
    end,
    billing.gateway_link(r.gateway_key_id, 'payments', r.gateway_payment_id), 3
  from billing.received r
  where r.user_id = u.user_id
  union all
  select f.created_at, 'refunded', f.refund_id,
    format('%s of payment %s: %s.', billing.amount_text(f.amount, r.currency), r.gateway_payment_id, f.status),
    billing.gateway_link(r.gateway_key_id, 'payments', r.gateway_payment_id), 3
  from billing.received r
  join billing.refunds f on f.gateway_payment_id = r.gateway_payment_id
  where r.user_id = u.user_id
  union all
  select coalesce(d.event_at, d.arrived_at), 'dispute', d.dispute_id,
    format('%s of payment %s', coalesce(billing.amount_text(d.amount, p.currency), 'All'), p.gateway_payment_id)
      || coalesce(', ' || replace(d.phase, '_', ' '), '') || format(': %s.', replace(d.status, '_', ' '))
      || coalesce(' Deducted: ' || billing.amount_text(d.amount_deducted, p.currency) || '.', ''),
    billing.gateway_link(p.gateway_key_id, 'payments', p.gateway_payment_id), 3
  from public.payments p
  join billing.disputes d on d.gateway_payment_id = p.gateway_payment_id
  where p.user_id = u.user_id
  union all
  select g.at, 'grant', g.id::text,
    format('%s until %s: %s.', g.tier, billing.day_text(g.until), rtrim(coalesce(g.reason, 'no reason'), '.')), null, 4
  from billing.grants g
  where g.user_id = u.user_id
  union all
  select g.ended_at, 'grant_ended', g.id::text, coalesce(g.ended_reason, 'ended') || '.', null, 4
  from billing.grants g
  where g.user_id = u.user_id
  union all
  select a.created_at, 'support_action', coalesce(a.reference, a.id::text),
    format('%s by %s: %s Reason: %s.', a.action, coalesce(a.actor_email, a.actor), a.result, rtrim(a.reason, '.')), null, 2
  from billing.support_actions a
  where a.user_id = u.user_id
  union all
  select w.at, 'written_by_hand', w.gateway_subscription_id,
    format('The subscription row: %s', w.tier) || coalesce(' until ' || billing.day_text(w.period_end), '')
      || case w.status when 'active' then '.' else format(', %s.', w.status) end, null, 4
  from billing.manual_subscriptions w
  where w.user_id = u.user_id
  union all
  select c.at, 'tier_changed', c.reference,
    format(
      '%s to %s: %s.', coalesce(c.from_tier, 'free'), coalesce(c.to_tier, 'free'),
      case c.cause when 'direct' then 'the profile was written by hand' else c.cause end
    ), null, 5
  from billing.tier_changes c
  where c.user_id = u.user_id
  union all
  select o.created_at, 'mail', o.id::text,
    format('%s: %s', o.kind, billing.outbox_text(o)), null, 6
  from billing.outbox o
  where o.payload ->> 'to' = u.email and o.destination in ('email', 'notice')
  union all
  select o.created_at, 'event', o.id::text,
    format('%s: %s', o.kind, billing.outbox_text(o)), null, 6
  from billing.outbox o
  where o.payload #>> '{data,user_id}' = u.user_id::text and o.destination = 'event'
  union all
  select w.at, 'cancelled', null,
    case when w.at_period_end then 'By the customer, for the end of the period.' else 'By the customer, at once.' end, null, 2
  from billing.wishes w
  where w.user_id = u.user_id
  union all
  select w.withdrawn_at, 'resumed', null, 'By the customer.', null, 2
  from billing.wishes w
  where w.user_id = u.user_id
  union all
  select m.asked_at, 'change', m.gateway_subscription_id,
    format('To %s from %s.', m.asked_tier, billing.day_text(coalesce(m.starts_at, m.asked_at)))
      || coalesce(' Undone on ' || billing.day_text(m.undone_at) || '.', ''),
    billing.gateway_link(m.gateway_key_id, 'subscriptions', m.gateway_subscription_id), 1
  from billing.gateway_subscriptions m
  where m.user_id = u.user_id and num_nonnulls(m.replaces, m.payment_id) > 0
  union all
  select o.queued_at, 'cancellation', m.gateway_subscription_id,
    concat(
      case when o.payload @> '{"at_cycle_end": true}' then 'At the end of the cycle' else 'At once' end,
      ', to the gateway: ', billing.outbox_text(o)
    ),
    null, 6
  from billing.gateway_subscriptions m
  join billing.outbox o on o.key = 'cancel-subscription/' || m.gateway_subscription_id
  where m.user_id = u.user_id
) line
where line.at is not null;

create or replace view billing.customer_payments with (security_invoker = true) as
select
  p.user_id, p.gateway_order_id, p.gateway_payment_id,
  coalesce(p.captured_at, p.created_at) as at,
  p.tier, p.amount, p.currency,
  case when p.extra_of is not null and p.confirmed_at is null then 'created' else p.status end as status,
  (
    select count(*)
    from billing.gateway_events e
    where e.subject_id = p.gateway_order_id and e.event = 'payment.failed'
  ) + num_nonnulls(p.captured_at, p.failed_subscription_id) as attempts,
  coalesce(p.meta ->> 'error_description', p.meta ->> 'error_reason', p.meta ->> 'error_code') as last_error,
  p.refunded_amount,
  p.dispute_status,
  (
    select jsonb_agg(
      jsonb_build_object('id', d.dispute_id, 'phase', d.phase, 'amount', d.amount, 'amount_deducted', d.amount_deducted, 'status', d.status)
      order by d.event_at, d.dispute_id
    )
    from billing.disputes d
    where d.gateway_payment_id = p.gateway_payment_id
  ) as disputes,
  case
    when p.extra_of is not null then 'extra_payment'
    when num_nonnulls(p.gateway_subscription_id, p.failed_subscription_id) > 0 then 'cycle'
    else 'order'
  end as kind,
  coalesce(p.gateway_subscription_id, p.failed_subscription_id, p.extra_of::text, p.id::text) as source_id,
  billing.refundable_amount(p) as refundable_amount,
  coalesce(p.price_key, p.tier) as price_key,
  p.duration_months as months
from public.payments p;

-- Revenue by month, summed up in passes over all customers. Operations: "Revenue".

create view billing.periods with (security_invoker = true) as
select
  u.user_id, line.kind, line.source_id, line.tier, line.starts_at, line.ends_at, line.ended_at,
  coalesce(
    (line.kind, line.source_id) = (live.kind, live.id) and line.starts_at < live.ends_at and line.ends_at >= live.ends_at,
    false
  ) as is_ruling
from billing.users u
cross join lateral (select billing.find_shown(u.user_id) as ruling offset 0) found
left join lateral (select ((found.ruling).source).* where (found.ruling).is_live) live on true
cross join lateral (
  select
    s.kind, s.id as source_id, s.tier,
    case
      when s.kind = 'payment' then (select p.period_start from public.payments p where p.id = s.id::uuid)
      else s.starts_at
    end as starts_at,
    s.ends_at, s.ended_at
  from billing.sources s
  where s.user_id = u.user_id
    and (
      s.kind <> 'gateway_subscription'
      -- A trial, or a first cycle that was announced by its activation alone.
      or not exists (
        select from public.payments c
        where (c.user_id, c.gateway_subscription_id) = (s.user_id, s.id) and c.period_end = s.ends_at
      )
    )
  union all
  select
    'gateway_subscription', c.gateway_subscription_id, s.tier, c.period_start, c.period_end,
    case
      when bool_and(billing.is_refunded(c)) then least(c.period_end, max(f.created_at))
      when max(s.ended_at) < c.period_end then greatest(max(s.ended_at), c.period_start)
    end
  from public.payments c
  left join billing.sources s
    on s.user_id = c.user_id
    and s.kind = 'gateway_subscription'
    and s.id = c.gateway_subscription_id
  left join billing.refunds f on f.gateway_payment_id = c.gateway_payment_id and f.status = 'processed'
  where c.user_id = u.user_id and c.gateway_subscription_id is not null
  group by c.gateway_subscription_id, s.tier, c.period_start, c.period_end
) line;

comment on column billing.customers.billing is 'billed (a cycle follows), paused, halted, ending, one-time or complimentary. Null: none, or by hand.';

comment on column billing.customers.grace_until is 'After until: the end of the days of grace. Null: the gateway is asked for a charge first.';

comment on column billing.customers.lifetime_amounts is 'For each currency captured minus refunded and lost in disputes, minor units.';

comment on column billing.customers.next_charge is 'What the gateway charges next: at, amount in minor units, currency. Null: nothing.';

comment on column billing.customers.source_kind is 'payment, gateway_subscription, grant or manual (by hand). Null: none runs.';

comment on column billing.customers.until is 'End of the period, without the days of grace. Null: nothing runs, or no end.';

comment on column billing.periods.ended_at is 'When its access ended early, such as by a refund in full. Null: it did not.';

comment on column billing.periods.ends_at is 'End of the period, without the days of grace. Null: no end.';

comment on column billing.periods.kind is 'payment, gateway_subscription, grant or manual (a row written by hand).';

comment on column public.payments.settle_at is 'When this period begins, if that was not at once.';

comment on column public.subscriptions.due_at is 'When the sweep settles it next, or earlier. A renewal does not write it.';

comment on view billing.customers is 'One row for each user: tier, why, and what was paid. Filter it by email or user_id.';

comment on view billing.periods is 'The paid, granted and written periods of each customer, and the cycles; overlaps included. Filter it by user_id.';

comment on view billing.purchases is 'The acts of users that bought a tier. The newest one replaced what is older and still billed, also after it lapsed, failed or was cancelled. Only its refund, a lost dispute, or that it was never captured takes that back, and of a subscription only once the gateway bills it no more. A grant or a row that was written by hand replaces nothing, unless the row is the first to name a gateway subscription. A change of plan that was undone is none.';

comment on view billing.starts is 'When what was paid before its start begins, or began: purchases, and changes of the plan.';

do $do$
begin
  if exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_support') then
    perform billing.set_up_support();
  end if;
end $do$;

REVOKE ALL ON FUNCTION "billing"."adopt_subscriptions"(uuid) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."adopt_subscriptions"(uuid) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."announce_end"(uuid) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."announce_end"(uuid) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."announce_lost_change"(billing.gateway_subscriptions, text) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."announce_lost_change"(billing.gateway_subscriptions, text) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."attach_gateway_subscription"(billing.ruling) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."attach_gateway_subscription"(billing.ruling) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."find_ruling"(uuid, boolean) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."find_ruling"(uuid, boolean) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."find_shown"(uuid) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."find_shown"(uuid) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."first_ruling"(billing.gateway_subscriptions) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."first_ruling"(billing.gateway_subscriptions) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."is_shown"(text, timestamp WITH time zone, public.subscriptions) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."is_shown"(text, timestamp WITH time zone, public.subscriptions) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."is_sole"(uuid, text) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."is_sole"(uuid, text) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."keep_end"(billing.ruling) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."keep_end"(billing.ruling) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."next_start"(uuid) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."next_start"(uuid) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."plan"(uuid) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."plan"(uuid) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."settle_access"(uuid, text, text, boolean, jsonb, billing.ruling) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."settle_access"(uuid, text, text, boolean, jsonb, billing.ruling) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."settle_due"() FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."settle_due"() TO "service_role";

REVOKE ALL ON FUNCTION "billing"."sole_ruling"(billing.sources) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."sole_ruling"(billing.sources) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."tier_to_write"(billing.ruling, public.subscriptions, text, boolean) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."tier_to_write"(billing.ruling, public.subscriptions, text, boolean) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."why_text"(billing.ruling) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."why_text"(billing.ruling) TO "service_role";

GRANT SELECT ON TABLE "billing"."starts" TO "service_role";

revoke execute on all functions in schema billing from public;

-- What a user bought for later is settled by the row of the user from now on, also where its start has passed since the last
-- sweep. Of the rows that are over no other one is due.
update public.subscriptions s
set due_at = least(case when s.status = 'active' then s.due_at end, own.starts_at)
from (
  select r.id, waiting.starts_at
  from public.subscriptions r
  left join (
    select p.user_id, min(p.settle_at) as starts_at
    from public.payments p
    where p.settle_at is not null and p.ended_at is null
    group by p.user_id
  ) waiting on waiting.user_id = r.user_id
  where waiting.starts_at is not null or r.status <> 'active' and r.due_at is not null
) own
where s.id = own.id;
