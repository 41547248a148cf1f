-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

ALTER TYPE "billing"."ruling" ADD ATTRIBUTE "may_stop" boolean CASCADE;

-- When each customer last cancelled for the end of the period. It covers what was bought before, also below a source that ruled.
create view billing.ends_wished with (security_invoker = true) as
select w.user_id, max(w.at) as at
from billing.wishes w
where w.at_period_end and w.withdrawn_at is null
group by w.user_id;

grant select on billing.ends_wished to service_role;

create or replace function billing.is_cancelled_for_end(p_user_id uuid, p_since timestamptz)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp
as $$ begin return exists (select from billing.ends_wished w where w.user_id = p_user_id and w.at >= p_since); end $$;

create or replace view billing.sources with (security_invoker = true) as
select s.*, s.ended_at is null and s.lapses_at > billing.clock() as is_running
from (
  select
    p.user_id, 'payment' as kind, p.id::text as id, p.plan_id, p.tier,
    coalesce(p.chain_start, p.period_start) as starts_at,
    p.period_end as ends_at,
    -- No days of grace for what the customer cancelled, also below a source that ruled then.
    p.period_end + make_interval(hours => 24 * billing.grace_days(
      pl.grace_days, p.cancel_at_period_end or wished.at >= coalesce(p.since, p.fulfilled_at)
    )) as lapses_at,
    -- An import by the app may leave since empty.
    coalesce(p.since, p.fulfilled_at) as since,
    greatest(p.fulfilled_at, p.verified_at) as arrived_at,
    coalesce(p.ended_at, replaced.at) as ended_at,
    coalesce(p.ended_reason, case when p.ended_at is null and replaced.at is not null then 'replaced' end)
      as ended_reason,
    p.cancel_at_period_end,
    null::text as gateway_subscription_id,
    p.ended_at is null and coalesce(p.settle_at > billing.clock(), false) as is_upcoming,
    billing.price_sold(p) as sold,
    null::jsonb as entitlements
  from public.payments p
  left join public.plans pl on pl.id = p.plan_id
  left join billing.ends_wished wished on wished.user_id = p.user_id
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
    -- The renewal of a purchase follows it, also where the customer authorised it first.
    greatest(billing.since_of(m), renewed.since + interval '1 microsecond'),
    m.arrived_at,
    coalesce(own.ended_at, replaced.at),
    coalesce(own.ended_reason, case when own.ended_at is null and replaced.at is not null then 'replaced' end),
    m.cancel_at_period_end,
    nullif(m.gateway_subscription_id, ''),
    -- Debited before it starts.
    coalesce(o.starts_at > billing.clock() and not o.is_trial, false),
    m.sold,
    null
  from billing.gateway_subscriptions m
  join public.plans pl on pl.id = m.plan_id
  left join billing.subscription_orders o
    on o.gateway_subscription_id = m.gateway_subscription_id
    and o.user_id = m.user_id
  left join public.payments renewed on renewed.id = o.payment_id
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
    g.at, g.at, g.ended_at, g.ended_reason, g.cancel_at_period_end, null, false, null, g.entitlements
  from billing.grants g
  left join public.plans pl on pl.tier = g.tier and pl.lookup_key is null
  union all
  select
    w.user_id, 'manual', w.user_id::text, w.plan_id, w.tier, w.period_start, w.period_end,
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
    w.entitlements
  from billing.manual_subscriptions w
  left join public.plans pl on pl.id = w.plan_id
  cross join lateral (select billing.grace_days(pl.grace_days, w.cancel_at_period_end) as days) grace
  left join billing.gateway_subscriptions m
    on m.user_id = w.user_id
    and m.gateway_subscription_id = w.gateway_subscription_id
  -- Skips rows whose gateway subscription is itself a source with newer facts.
  where (m.plan_id is not null and m.period_end is not null and m.arrived_at >= w.at) is not true
) s;

-- Finds the ruling source: the running source with the greatest since. If no source is running, the one that ended last.
-- A purchase that begins when another source ends does not rule before.
create or replace function billing.find_ruling(p_user_id uuid)
returns billing.ruling -- source is null: the user has no source
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_ruling billing.ruling;
begin
  with mirrored as materialized (
    select
      count(*) as known,
      count(*) filter (where m.plan_id is null or m.period_end is null) as attaching,
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
    shown, g.known > 0 or exists (select from billing.subscription_orders o where o.user_id = p_user_id)
  into v_ruling
  from mirrored g
  left join public.subscriptions shown on shown.user_id = p_user_id
  left join billing.manual_subscriptions w on w.user_id = p_user_id
  -- Without offset 0 each use of a column would compute it again.
  left join (select s.* from billing.sources s where s.user_id = p_user_id offset 0) s on true
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
    rank.generation desc,
    case when live.is_live then s.since when not s.is_upcoming then least(s.ended_at, s.lapses_at) end desc nulls last,
    s.since desc,
    s.id desc
  limit 1;
  return v_ruling;
end $$;

-- Writes only values that differ. The caller holds the lock on the user.
create or replace function billing.settle_access(
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
    v_ruling := billing.find_shown(p_user_id);
    if v_ruling.may_stop and billing.plan(p_user_id) then v_ruling := billing.find_shown(p_user_id); end if;
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
        else v_now
      end;
    end if;
    v_due_at := case
      when v_ruling.is_live then billing.next_look(
        v_source.ends_at, v_source.lapses_at, v_source.gateway_subscription_id is not null and not v_source.cancel_at_period_end
      )
    end;
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
      due_at = case when excluded.status = 'active' then least(s.due_at, excluded.due_at) end
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
    v_ended_at := billing.iso_time(case when v_reason = 'lapsed' then v_source.ends_at else v_now end);
    v_end := jsonb_build_object(
      'key', format('subscription-ended/%s/%s', v_before.id, v_ended_at),
      'plan_name', coalesce((select p.name from public.plans p where p.id = v_source.plan_id), v_source.tier),
      'ends_at', v_ended_at
    ) || case
      when v_reason = 'refunded' then billing.refund_of(v_source)
      -- After the days of grace, as the mail about the failed charge says.
      when v_reason = 'lapsed' and v_source.lapses_at > v_source.ends_at and v_source.lapses_at < v_now
        then jsonb_build_object('access_ended_at', billing.iso_time(v_source.lapses_at))
      else '{}'
    end;
  end if;
  if num_nonnulls(v_tier, p_mail, v_end) > 0 then
    perform billing.announce_access(p_user_id, p_email, v_tier, p_new_source_id, p_mail, v_end);
  end if;
  return case when v_source.id is not null then v_is_changed end;
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
  v_ruling billing.ruling;
begin
  -- Its row of billing.sources. A ranking would take half of the time.
  if p_rules then
    v_ruling := row(
      row(
        p_payment.user_id, 'payment', p_payment.id::text, v_plan.id, p_tier,
        coalesce(p_payment.chain_start, p_payment.period_start), p_payment.period_end, p_payment.period_end,
        p_payment.since, billing.clock(), null, null, p_payment.cancel_at_period_end, null, false,
        billing.price_sold(p_payment), null, true
      )::billing.sources,
      true, false, 0, 0, p_purchase.shown, false
    )::billing.ruling;
  end if;
  perform billing.settle_access(
    p_payment.user_id, p_email, p_payment.id::text, p_ruling => v_ruling, p_mail => jsonb_build_object(
      'plan_name', v_plan.name, 'amount', coalesce(p_payment.paid_amount, p_payment.amount), 'currency', p_payment.currency,
      'transaction_id', p_payment.gateway_payment_id, 'valid_until', billing.iso_time(p_payment.period_end)
    )
  );
end $$;

-- What the role reads: the views of an admin, and below them the tables that they read with the rights of the caller.
create or replace function billing.support_tables()
returns text[] language sql stable set search_path = pg_catalog, pg_temp
return '{public.plans, public.subscriptions, public.payments}'::text[] || billing.profiles_table()::text || array(
  select 'billing.' || name
  from unnest('{
    users, customers, timeline, periods, findings, webhooks, messages, customer_payments, service_state,
    revenue_monthly, active_monthly, paid_periods, revenue_sums, customer_findings, service_findings,
    checked_findings, passes, received_by_hour, receipts, subjects, sources, replacements, support_actions,
    paid_not_entitled, entitled_not_paid, captured_not_fulfilled, tier_mismatch, paid_twice, unexpected_charges,
    unearned_credits, dispute_lost, outbox_stuck, failed_events, unmailed_payments, reconciliations,
    profiles, settings, gateway_subscriptions, subscription_orders, wishes, ends_wished, stoppable,
    purchases, manual_subscriptions, grants, refunds, disputes, lost_disputes, tier_changes,
    gateway_events, unsettled_events, outbox, marks, expected_triggers, scheduled_jobs, statement, statement_windows
  }'::text[]) name
);

do $do$
begin
  if exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_support') then
    perform billing.set_up_support();
  end if;
end $do$;

revoke execute on all functions in schema billing from public;
