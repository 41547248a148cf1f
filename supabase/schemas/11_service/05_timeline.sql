-- What happened to a customer in one list, and the views behind the pages of a console. Operations: "Customers".

-- Returns the address of a record in the gateway's dashboard.
create function billing.gateway_link(
  p_key_id text, -- the API key of the record; its name tells the mode
  p_kind text, -- payments, orders or subscriptions
  p_id text
)
returns text -- null: the mode or the address of the dashboard is not known
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return (
    select replace(replace(replace(s.gateway_dashboard, '{mode}', mode.name), '{kind}', p_kind), '{id}', p_id)
    from billing.settings s
    cross join substring(p_key_id from '_(test|live)_') mode (name)
    where s.is_only and p_id <> ''
  );
end $$;

-- The dispatcher completes a mail of a kind that is off with the note why it was not sent.
create function billing.outbox_state(p_message billing.outbox)
returns text language sql stable set search_path = pg_catalog, pg_temp
return case
  when p_message.delivered_at is not null and starts_with(p_message.last_error, 'not sent: ') then 'not sent'
  when p_message.delivered_at is not null then 'delivered'
  when p_message.parked_at is not null then 'parked'
  else 'queued'
end;

-- Returns the state of a message, and why, in sentences.
create function billing.outbox_text(p_message billing.outbox)
returns text language sql stable set search_path = pg_catalog, pg_temp
return concat(
  billing.outbox_state(p_message), '. ' || rtrim(regexp_replace(p_message.last_error, '^not sent: ', ''), '.'), '.'
);

create view billing.subjects with (security_invoker = true) as
select p.user_id, p.gateway_order_id as subject_id, 'orders' as kind, p.gateway_key_id
from public.payments p
where p.gateway_order_id is not null
union all
select p.user_id, p.gateway_payment_id, 'payments', p.gateway_key_id
from public.payments p
where p.gateway_payment_id is not null
union all
select m.user_id, m.gateway_subscription_id, 'subscriptions', m.gateway_key_id
from billing.gateway_subscriptions m
where m.gateway_subscription_id <> '' and billing.is_known(m);
comment on view billing.subjects is 'The gateway''s ids of each customer''s orders, payments and subscriptions (kind).';

create function billing.user_of_subject(p_subject_id text)
returns uuid -- null: of no customer
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return (select s.user_id from billing.subjects s where s.subject_id = p_subject_id and s.user_id is not null limit 1);
end $$;

-- Returns who cancelled or resumed at a time. Support acts for the customer, in one transaction with its row.
create function billing.actor_of(p_user_id uuid, p_action billing.support_action, p_at timestamptz)
returns text language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return case when exists (
    select from billing.support_actions a where a.user_id = p_user_id and a.action = p_action and a.created_at = p_at
  ) then 'support' else 'the customer' end;
end $$;

create view billing.timeline with (security_invoker = true) as
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
        'Order of ' || billing.amount_text(p.amount, p.currency) || coalesce(' for ' || p.tier, '') || '.'
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
comment on view billing.timeline is 'What happened to each customer. Filter it by email or user_id, and sort it by at and rank.';
comment on column billing.timeline.reference is 'The gateway''s id of the record, or our id of the grant, mail or action.';
comment on column billing.timeline.link is 'The record in the gateway''s dashboard. Null: its address or mode is not known.';
comment on column billing.timeline.rank is 'Sorts rows of the same time: a cause before its effect.';

create view billing.webhooks with (security_invoker = true) as
select
  e.body_sha256, e.received_at, e.event, e.subject_id,
  coalesce(subject.user_id, billing.json_uuid(e.payload #> '{payload,subscription,entity,notes,user_id}')) as user_id,
  (select u.email from billing.find_user(subject.user_id) u) as email,
  e.deliveries, e.attempts, billing.outcome_now(e) as outcome, e.payload
from billing.gateway_events e
cross join lateral (select billing.user_of_subject(e.subject_id) as user_id offset 0) subject;
comment on view billing.webhooks is
  'The ledger, with the customer. Filter it by received_at, body_sha256 or subject_id; for one customer read billing.timeline.';
comment on column billing.webhooks.body_sha256 is 'The hash of the body: the reference of replay_event and ignore_event.';
comment on column billing.webhooks.outcome is 'As it is now: a charge whose subscription named it later is already known.';
comment on column billing.webhooks.deliveries is 'How often it was delivered. 0: reconciliation read it from the gateway.';

create view billing.messages with (security_invoker = true) as
select
  o.id, o.kind, o.destination,
  o.payload ->> 'to' as recipient,
  billing.user_of_message(o) as user_id,
  billing.outbox_state(o) as state,
  o.attempts, o.last_error, o.created_at, o.delivered_at,
  case when o.delivered_at is null and o.parked_at is null then o.next_attempt_at end as next_attempt_at,
  o.payload
from billing.outbox o;
comment on view billing.messages is 'Mails and other side effects. Filter it by id, recipient or created_at.';
comment on column billing.messages.id is 'The number of the message: the reference of requeue_mail.';
comment on column billing.messages.destination is 'email, notice, revalidation (of cached pages), gateway (a cancellation or a refund) or event.';
comment on column billing.messages.user_id is 'The user who has this address now, or whom the message is about.';
comment on column billing.messages.state is 'queued, delivered, not sent (its kind is off) or parked: an admin repairs the cause and requeues it.';
comment on column billing.messages.last_error is 'Why the newest attempt failed, it was withdrawn, or no mail was sent.';

create view billing.refund_requests with (security_invoker = true) as
select
  a.id as action_id, p.id as payment_id, r.refund_id, a.amount, p.currency,
  coalesce(r.status, case when billing.is_refused(o) then 'failed' else 'pending' end) as status,
  o.last_error, a.created_at
from billing.support_actions a
left join public.payments p on p.gateway_payment_id = a.reference
left join billing.refunds r on r.gateway_payment_id = a.reference and r.support_action_id = a.id
left join billing.outbox o
  on o.kind = 'refund'
  and o.payload ->> 'gateway_payment_id' = a.reference
  and o.payload ->> 'support_action' = a.id::text
where a.action = 'refund';
comment on view billing.refund_requests is
  'Refunds that were asked for here: pending, processed or failed, which may be asked for again. refund_id: once the gateway '
  'named it. last_error: of the newest try.';

create view billing.customer_payments with (security_invoker = true) as
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
comment on view billing.customer_payments is 'Orders, paid or not, further payments, cycles and their failed renewals. Minor units. Filter by user_id.';
comment on column billing.customer_payments.attempts is 'The known attempts: failed ones, and the one that succeeded.';
comment on column billing.customer_payments.disputes is 'Each dispute about it, the newest last. Null: none.';
comment on column billing.customer_payments.kind is 'order, extra_payment (a further payment on an order) or cycle.';
comment on column billing.customer_payments.refund_effect is
  'What a refund of all that is left changes: uncovers_credit, or of the next charges ends_renewal, resumes_replaced. Null: nothing.';
comment on column billing.customer_payments.refundable_amount is 'What may still be asked back.';
comment on column billing.customer_payments.source_id is 'Our id of the payment, or the subscription: for actions.';

create view billing.service_state with (security_invoker = true) as
select
  billing.last_webhook_at() as last_webhook_at,
  -- By billing.clock(), as all else.
  (select j.done_at + (billing.clock() - now()) from billing.scheduled_jobs j where j.name = 'sweep') as last_sweep_at,
  (select j.done_at + (billing.clock() - now()) from billing.scheduled_jobs j where j.name = 'reconciliation')
    as last_reconciliation_at,
  (
    select min(o.queued_at)
    from billing.outbox o
    where o.destination in ('email', 'notice')
      and o.delivered_at is null
      and o.parked_at is null
      and o.queued_at <= billing.clock()
  ) as oldest_undelivered_mail_at,
  (select p.complete_as_of from billing.passes p where p.name = 'findings') as findings_as_of,
  (select p.complete_as_of from billing.passes p where p.name = 'revenue') as revenue_as_of,
  (select case when s.completed_at is not null then to_jsonb(s) end from billing.statement s) as statement,
  (select m.detail::integer from billing.marks m where m.kind = 'kept_days' and m.key = 'outbox') as messages_kept_days,
  today.payments as payments_today,
  today.revenue as revenue_today
from (
  select coalesce(sum(r.payments), 0)::bigint as payments,
    coalesce(jsonb_object_agg(r.currency, r.amount) filter (where r.currency is not null), '{}') as revenue
  from (
    select h.currency, sum(h.payments) as payments, sum(h.amount) as amount
    from billing.received_by_hour h
    where h.hour >= date_trunc('day', billing.clock(), billing.time_zone())
    group by h.currency
  ) r
) today;
comment on column billing.service_state.messages_kept_days is 'How long delivered messages are kept. Null: not known yet.';
comment on view billing.service_state is 'The state of the service in one row. Days are those of the seller''s time zone. Payments of today are those of the last sweep.';
