-- Made by npm run migration. Renames and data are written by hand.

comment on view billing.purchases is null;

-- Finds the row of a gateway subscription and locks it. A new one that the user ended before its first event is ended.
create or replace function billing.lock_mirrored(
  p_user_id uuid,
  p_gateway_subscription_id text,
  p_seen_at timestamptz -- by its first event
)
returns billing.gateway_subscriptions language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_mirrored billing.gateway_subscriptions;
begin
  -- Its newest event names the user. For another one, whom its notes or a row by hand named before, nothing follows.
  with handed_over as (
    update billing.gateway_subscriptions m
    set gateway_status = 'completed', gateway_status_event_at = p_seen_at, next_check_at = null
    where m.gateway_subscription_id = p_gateway_subscription_id
      and m.user_id <> p_user_id
      and m.gateway_status is distinct from 'completed'
      and coalesce(greatest(m.period_event_at, m.gateway_status_event_at) < p_seen_at, true)
      and p_gateway_subscription_id <> ''
  )
  insert into billing.gateway_subscriptions (user_id, gateway_subscription_id, asked_at, ended_at, ended_reason)
  select
    p_user_id, p_gateway_subscription_id, asked.at, max(w.at), case when max(w.at) is not null then 'cancelled' end
  from (
    select coalesce(min(o.created_at), p_seen_at) as at
    from billing.subscription_orders o
    where o.gateway_subscription_id = p_gateway_subscription_id and o.user_id = p_user_id
  ) asked
  left join billing.wishes w on w.user_id = p_user_id and not w.at_period_end and w.at > asked.at
  group by asked.at
  on conflict on constraint gateway_subscriptions_pkey do nothing
  returning * into v_mirrored;
  if not found then
    select * into v_mirrored
    from billing.gateway_subscriptions m
    where m.user_id = p_user_id and m.gateway_subscription_id = p_gateway_subscription_id
    for update;
  end if;
  return v_mirrored;
end $$;

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
    -- The renewal of a purchase follows it, also where the customer authorised it first. A change of plan that was undone, and
    -- charged all the same, ranks below what was kept.
    greatest(coalesce(billing.since_of(kept) - interval '1 microsecond', billing.since_of(m)), renewed.since + interval '1 microsecond'),
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
  left join billing.gateway_subscriptions kept
    on kept.user_id = o.user_id
    and kept.gateway_subscription_id = o.replaces
    and o.undone_at is not null
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
      and not billing.is_refunded(coalesce(p.paid_amount, p.amount), p.refunded_amount)
  )
  when 'gateway_subscription' then exists (
    select from billing.gateway_subscriptions m
    where (m.user_id, m.gateway_subscription_id) = (s.user_id, s.id)
      and not exists (
        select from billing.subscription_orders o
        where o.user_id = s.user_id and o.gateway_subscription_id = s.id and o.undone_at is not null
      )
      and (
        m.paid_until is null and not exists (
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
  when 'manual' then s.gateway_subscription_id is not null
  else false
end;

-- Returns whether the purchase goes on that a subscription renews, or may still be paid.
create or replace function billing.renews_purchase(p_order billing.subscription_orders)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return exists (
    select from public.payments p
    where p.id = p_order.payment_id
      and p.ended_at is null
      and not billing.is_lost(p)
      and (p.fulfilled_at is not null or p_order.created_at >= billing.clock() - interval '5 days')
      -- Paid later than it was ordered, it would be renewed before it ends.
      and coalesce(p.period_end <= p_order.starts_at + interval '1 day', true)
  );
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
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off as $$
declare
  v_now constant timestamptz := billing.clock();
  v_entity constant jsonb := p_entity::jsonb;
  v_id constant text := (select o.payload ->> 'gateway_subscription_id' from billing.outbox o where o.id = p_id);
  v_user_id uuid := (
    select m.user_id
    from billing.gateway_subscriptions m
    where m.gateway_subscription_id = v_id
    order by m.gateway_status is distinct from 'completed' desc, m.user_id
    limit 1
  );
  v_order billing.subscription_orders;
  v_email text;
begin
  perform billing.begin_request('reconciliation', v_id);
  -- Locks the payments, whose locks come before that of the user.
  if p_invoices is not null then perform public.apply_invoices(v_id, p_invoices); end if;
  select * into v_order from billing.subscription_orders o where o.gateway_subscription_id = v_id;
  v_user_id := coalesce(v_user_id, v_order.user_id);
  v_email := billing.lock_user(v_user_id);
  if v_email is not null and v_entity is not null then
    if exists (
      select from billing.gateway_subscriptions m where (m.user_id, m.gateway_subscription_id) = (v_user_id, v_id)
    ) then
      perform billing.apply_subscription_read(v_user_id, v_id, v_entity, false);
    else
      perform billing.apply_order_state(v_order, v_entity, null, false);
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
    perform billing.settle_access(v_user_id, v_email);
  end if;
  -- What no plan wants any more: of a subscription that was resumed, or whose user is back.
  if v_email is not null and not exists (
    select from billing.stoppable s
    where (s.user_id, s.gateway_subscription_id) = (v_user_id, v_id) and s.stops_at is not null
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
    and o.parked_at is null;
  return jsonb_build_object('outcome', case when found then 'stands' else 'changed' end);
end $$;

create or replace function billing.perform_requeue_mail(p_action billing.support_actions)
returns billing.support_actions language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_row billing.outbox;
begin
  select * into v_row
  from billing.outbox o
  where o.id = billing.number_of(p_action.reference) or o.key = p_action.reference
  for update;
  perform billing.require(
    v_row.id is not null, 'PS404', format('requeue_mail needs reference: no message "%s"', p_action.reference)
  );
  perform billing.require(
    v_row.delivered_at is null, 'PS409',
    format('message %s was delivered at %s', v_row.id, billing.iso_time(v_row.delivered_at))
  );
  perform billing.require(
    v_row.parked_at is null or v_row.claims <> '{}' and v_row.last_error is distinct from 'withdrawn', 'PS409',
    format('message %s was withdrawn: %s', v_row.id, v_row.last_error)
  );
  perform billing.require(
    v_row.parked_at is not null or v_row.attempts > 0, 'PS409',
    format('message %s is queued already, for %s', v_row.id, billing.iso_time(v_row.next_attempt_at))
  );
  perform billing.requeue(v_row.id);
  p_action.reference := v_row.id;
  p_action.user_id := coalesce(p_action.user_id, billing.user_of_message(v_row));
  p_action.result := format('Message %s (%s) is queued again.', v_row.id, v_row.kind);
  return p_action;
end $$;

create or replace view billing.unexpected_charges with (security_invoker = true) as
select
  m.user_id, c.captured_at as since, found.finding, m.gateway_subscription_id, c.gateway_payment_id, c.amount,
  c.period_start, c.period_end
from billing.gateway_subscriptions m
-- Of most subscriptions no charge but the newest is read: the rest would take most of the time of this view.
cross join lateral (
  select
    case
      when m.cancel_at_period_end or m.status = 'cancelled' or m.gateway_status in ('completed', 'expired')
        or num_nonnulls(m.stops_at, m.ended_at) > 0
        then least(billing.cancelled_by_user_at(m.user_id, m.asked_at), (
          select o.undone_at
          from billing.subscription_orders o
          where o.user_id = m.user_id and o.gateway_subscription_id = m.gateway_subscription_id
        ))
    end as cancelled_at,
    exists (
      select from billing.gateway_subscriptions o
      where o.user_id = m.user_id and o.gateway_subscription_id <> m.gateway_subscription_id
    )
    or exists (select from public.payments p where p.user_id = m.user_id and p.fulfilled_at is not null) as is_one_of_several,
    (
      select count(*) > count(distinct d.period_end)
      from public.payments d
      where d.user_id = m.user_id and d.gateway_subscription_id = m.gateway_subscription_id
    ) as is_charged_twice
  offset 0
) known
cross join lateral (
  select p as payment, p.*
  from public.payments p
  where (p.user_id, p.gateway_subscription_id) = (m.user_id, m.gateway_subscription_id)
    and (
      known.is_one_of_several or known.is_charged_twice or known.cancelled_at is not null or m.status = 'cancelled'
      or p.period_end > (select billing.clock())
    )
  offset 0
) c
cross join lateral (
  select known.cancelled_at < c.captured_at or m.status = 'cancelled' and m.cancelled_at < c.captured_at as is_before
) cancelled
cross join lateral (
  select case when cancelled.is_before then 'charged_after_cancellation' else 'charged_after_replacement' end as finding
  where cancelled.is_before
    or known.is_one_of_several and exists (
      select from billing.purchases newer
      left join billing.gateway_subscriptions s
        on (s.user_id, s.gateway_subscription_id) = (newer.user_id, newer.id)
        and newer.kind = 'gateway_subscription'
      -- Checks the authorisation, too, because a later activation moves newer.since past the charge.
      cross join lateral (values (newer.since), (billing.authorised_at(s))) there (since)
      where newer.user_id = m.user_id
        and newer.kind in ('payment', 'gateway_subscription')
        and newer.id <> m.gateway_subscription_id
        -- The renewal of a purchase follows it, as in billing.sources.
        and there.since > (
          select greatest(billing.since_of(m), max(renewed.since))
          from billing.subscription_orders o
          join public.payments renewed on renewed.id = o.payment_id
          where o.user_id = m.user_id and o.gateway_subscription_id = m.gateway_subscription_id
        )
        and there.since < c.captured_at
        -- It is known a day after it was paid at the latest. Its order may be older.
        and (newer.kind <> 'payment' or newer.arrived_at - interval '1 day' < c.captured_at)
        and coalesce(newer.ended_at > c.captured_at, true)
    )
  union all
  select 'charged_twice'
  where c.period_end > (select billing.clock())
    and m.ended_at is null
    and known.is_one_of_several
    and exists (
      select from billing.gateway_subscriptions newer
      join public.payments n using (user_id, gateway_subscription_id)
      where newer.user_id = m.user_id
        and newer.plan_id = m.plan_id
        and newer.gateway_subscription_id <> m.gateway_subscription_id
        and newer.ended_at is null
        and not billing.is_refunded(coalesce(n.paid_amount, n.amount), n.refunded_amount)
        and n.period_start < c.period_end
        and n.period_end > c.period_start
        -- Of two in one second the one that goes on is the newer one.
        and (n.captured_at, newer.status is distinct from 'cancelled', newer.gateway_subscription_id)
          > (c.captured_at, m.status is distinct from 'cancelled', m.gateway_subscription_id)
        -- The customer may start another one after a cancellation.
        and coalesce(known.cancelled_at > n.captured_at, true)
        and coalesce(m.cancelled_at > n.captured_at, true)
        -- Subscriptions that the app makes itself may overlap on purpose.
        and exists (
          select from billing.subscription_orders o
          where o.user_id = m.user_id
            and o.gateway_subscription_id in (m.gateway_subscription_id, newer.gateway_subscription_id)
        )
        -- The customer changed to another plan in between, and back.
        and not exists (
          select from billing.sources other
          where other.user_id = m.user_id
            and other.plan_id is distinct from m.plan_id
            and other.kind in ('payment', 'gateway_subscription')
            and other.since between c.captured_at and n.captured_at
        )
    )
  union
  select 'charged_twice'
  where known.is_charged_twice and exists (
    select from public.payments first
    where first.gateway_subscription_id = c.gateway_subscription_id
      and first.user_id = c.user_id
      and first.period_end = c.period_end
      and (first.captured_at, first.gateway_payment_id) < (c.captured_at, c.gateway_payment_id)
      and billing.kept(first) > 0
  )
  union all
  select 'mismatch'
  where c.period_end > (select billing.clock())
    and c.plan_id = m.plan_id
    and c.price_key is not distinct from (m.sold).lookup_key
    and (c.amount, c.currency) <> ((m.sold).amount, (m.sold).currency)
) found
where billing.kept(c.payment) > 0;

comment on view billing.purchases is 'The acts of users that bought a tier. The newest one replaced what is older and still billed, also after it lapsed, failed or was cancelled. Only its refund, a lost dispute, or that it was never captured takes that back. A grant or a row that was written by hand replaces nothing, unless the row names a gateway subscription. A change of plan that was undone is none.';

revoke execute on all functions in schema billing from public;
