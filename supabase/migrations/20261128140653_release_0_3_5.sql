-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

-- Returns what a refund of all that is left of a payment changes of what the gateway charges.
create function billing.refund_effect(p_payment public.payments)
returns text -- ends_renewal; resumes_replaced: a subscription that it replaced is charged again; null: nothing
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return case
    when num_nonnulls(p_payment.extra_of::text, p_payment.gateway_subscription_id) > 0 then null
    when exists (
      select from billing.next_charge(p_payment.user_id) n
      join billing.gateway_subscriptions m
        on m.user_id = n.user_id
        and m.gateway_subscription_id = n.id
        and m.payment_id = p_payment.id
      where n.kind <> 'subscription'
    ) then 'ends_renewal'
    when exists (
      select from billing.commitments(p_payment.user_id) c
      join billing.gateway_subscriptions m
        on m.user_id = p_payment.user_id
        and m.gateway_subscription_id = c.id
      where c.stop_reason = 'replaced'
        and not billing.is_stop_sent(c.id)
        -- Nothing else replaced it.
        and not exists (
          select from billing.purchases o
          where o.user_id = m.user_id
            and o.id <> p_payment.id::text
            and o.gateway_subscription_id is distinct from c.id
            and o.since > billing.since_of(m)
        )
    ) then 'resumes_replaced'
  end;
end $$;

-- Asks the gateway for a refund: of all that is left, or of a part. Access follows from the refund, as from any other.
create or replace function billing.perform_refund(p_action billing.support_actions)
returns billing.support_actions language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_id constant uuid := billing.payment_id_of(p_action.reference);
  v_payment public.payments;
  v_left bigint;
  v_most bigint;
  v_effect text;
begin
  perform billing.require(p_action.reference is not null, 'PS400', 'refund needs reference: the payment');
  perform billing.require((p_action.amount > 0) is not false, 'PS400', 'refund needs an amount above 0');
  select * into v_payment
  from public.payments p
  where p.id = v_id and p.user_id is not distinct from coalesce(p_action.user_id, p.user_id);
  perform billing.require(
    v_payment.id is not null, 'PS404', format('refund needs reference: no payment "%s" of this customer', p_action.reference)
  );
  perform billing.require(
    v_payment.status = 'captured' and v_payment.gateway_payment_id is not null, 'PS409',
    format('payment %s was not captured', p_action.reference)
  );
  -- Two at once would each find all of it left. Read again by the gateway's id: of two payments on an order the other one
  -- may count by now.
  perform billing.lock_gateway_payment(v_payment.gateway_payment_id);
  select * into v_payment from public.payments p where p.gateway_payment_id = v_payment.gateway_payment_id;
  v_left := billing.refundable_amount(v_payment);
  p_action.amount := coalesce(p_action.amount, v_left);
  perform billing.require(
    p_action.amount between 1 and v_left, 'PS409',
    format(
      'of payment %s %s can be refunded: the rest was refunded or asked for before', v_payment.gateway_payment_id,
      billing.amount_text(v_left, v_payment.currency)
    )
  );
  perform billing.require(
    p_action.amount >= 100, 'PS400',
    format('the gateway refunds %s at least', billing.amount_text(100, v_payment.currency))
  );
  if not billing.acts_as_owner(p_action) then
    select s.support_refund_amount into v_most from billing.settings s;
    perform billing.require(
      v_most is null or v_most >= p_action.amount + (
        select coalesce(sum(r.amount), 0)
        from billing.refund_requests r
        where r.payment_id = v_payment.id and r.status <> 'failed'
      ),
      'PS403', format(
        'support may refund %s of a payment at most: the setting support_refund_amount',
        billing.amount_text(v_most, v_payment.currency)
      )
    );
  end if;
  p_action.reference := v_payment.gateway_payment_id;
  p_action.user_id := v_payment.user_id;
  v_effect := billing.refund_effect(v_payment);
  perform billing.enqueue(
    'refund-' || gen_random_uuid(), 'gateway', 'refund',
    jsonb_build_object(
      'gateway_payment_id', v_payment.gateway_payment_id, 'amount', p_action.amount, 'currency', v_payment.currency,
      'support_action', p_action.id::text
    )
  );
  p_action.result := format(
    'The gateway is asked to refund %s of payment %s. %s%s',
    billing.amount_text(p_action.amount, v_payment.currency), v_payment.gateway_payment_id,
    (
      select format('Dispute %s of it is open: if it is lost, the money is gone twice. ', min(d.dispute_id))
      from billing.disputes d
      where d.gateway_payment_id = v_payment.gateway_payment_id and billing.decision_rank(d.status) = 0
      having count(*) > 0
    ),
    case
      when v_payment.extra_of is not null then 'Access does not depend on it.'
      when p_action.amount < v_left then 'Access stays.'
      when v_payment.gateway_subscription_id is not null
        then 'The paid time of its cycle ends when the refund is processed. '
          || coalesce(billing.next_charge_text(v_payment.user_id), '')
      when v_effect = 'ends_renewal' then 'Its access and its renewal end when the refund is processed.'
      when v_effect = 'resumes_replaced' then 'Its access ends when the refund is processed, and what it replaced goes on.'
      else 'Its access ends when the refund is processed. ' || coalesce(billing.next_charge_text(v_payment.user_id), '')
    end
  );
  return p_action;
end $$;

-- Returns who cancelled or resumed at a time. Support acts for the customer, in one transaction with its row.
create function billing.actor_of(p_user_id uuid, p_action billing.support_action, p_at timestamptz)
returns text language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return case when exists (
    select from billing.support_actions a where a.user_id = p_user_id and a.action = p_action and a.created_at = p_at
  ) then 'support' else 'the customer' end;
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
    format(
      'By %s, %s.', billing.actor_of(u.user_id, 'cancel', w.at),
      case when w.at_period_end then 'for the end of the period' else 'at once' end
    ), null, 2
  from billing.wishes w
  where w.user_id = u.user_id
  union all
  select w.withdrawn_at, 'resumed', null, format('By %s.', billing.actor_of(u.user_id, 'resume', w.withdrawn_at)), null, 2
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
  p.duration_months as months,
  billing.refund_effect(p) as refund_effect
from public.payments p;

comment on column billing.customer_payments.refund_effect is 'What a refund of all that is left changes of the next charges: ends_renewal, resumes_replaced. Null: nothing.';

do $do$
begin
  if exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_support') then
    perform billing.set_up_support();
  end if;
end $do$;

REVOKE ALL ON FUNCTION "billing"."actor_of"(uuid, billing.support_action, timestamp WITH time zone) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."actor_of"(uuid, billing.support_action, timestamp WITH time zone) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."refund_effect"(public.payments) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."refund_effect"(public.payments) TO "service_role";

revoke execute on all functions in schema billing from public;
