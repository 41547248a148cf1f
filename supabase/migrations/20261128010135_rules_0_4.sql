-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

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
  elsif v_is_waiting and billing.is_superseded(v_subscription) then
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
      -- A row that was written by hand before the change began makes what it follows no newer purchase.
      or p_newest.gateway_subscription_id = v_subscription.replaces and p_newest.since <= v_subscription.starts_at
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
        then least(billing.cancelled_by_user_at(m.user_id, m.asked_at), m.undone_at)
    end as cancelled_at,
    exists (
      select from billing.gateway_subscriptions o
      where o.user_id = m.user_id and o.id <> m.id and billing.is_known(o)
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
        -- A change replaces nothing before its start. The gateway's clock may be ahead of ours.
        and (s.replaces = m.gateway_subscription_id and s.payment_id is null and s.starts_at > c.period_start) is not true
        -- A change follows it, as in billing.find_stop.
        and (newer.id = m.replaces and newer.since <= m.starts_at) is not true
        -- The renewal of a purchase follows it, as in billing.sources.
        and there.since > (
          select greatest(billing.since_of(m), max(renewed.since))
          from public.payments renewed
          where renewed.id = m.payment_id
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
        and not billing.is_refunded(n)
        and n.period_start < c.period_end
        and n.period_end > c.period_start
        -- Of two in one second the one that goes on is the newer one.
        and (n.captured_at, newer.status is distinct from 'cancelled', newer.gateway_subscription_id)
          > (c.captured_at, m.status is distinct from 'cancelled', m.gateway_subscription_id)
        -- The customer may start another one after a cancellation.
        and coalesce(known.cancelled_at > n.captured_at, true)
        and coalesce(m.cancelled_at > n.captured_at, true)
        -- Subscriptions that the app makes itself may overlap on purpose.
        and num_nonnulls(m.asked_plan_id, newer.asked_plan_id) > 0
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

revoke execute on all functions in schema billing from public;
