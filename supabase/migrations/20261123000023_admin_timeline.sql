-- What happened to a customer, in one list, and the paid periods. Operations: "Customers".

-- For the mails of one customer. Costs one more index entry for each write of a mail's row; mails are kept for 90 days.
create index outbox_recipient_idx on private.outbox ((payload ->> 'to'))
where payload ->> 'to' is not null;

-- Returns the address of a record in the gateway's dashboard.
create function private.gateway_link(
  p_key_id text, -- the API key of the record; its name tells the mode
  p_kind text, -- payments, orders or subscriptions
  p_id text
)
returns text -- null: the mode or the address of the dashboard is not known
language plpgsql
stable
set search_path = ''
as $$
declare
  v_mode constant text := substring(p_key_id from '_(test|live)_');
begin
  if v_mode is null or coalesce(p_id, '') = '' then
    return null;
  end if;
  return (
    select replace(replace(replace(s.gateway_dashboard, '{mode}', v_mode), '{kind}', p_kind), '{id}', p_id)
    from private.settings s
    where s.is_only
  );
end
$$;

-- The state of a side effect: queued, delivered or parked.
create function private.outbox_state(
  p_delivered_at timestamptz,
  p_parked_at timestamptz
)
returns text
language sql
immutable
set search_path = ''
return case when p_delivered_at is not null then 'delivered' when p_parked_at is not null then 'parked' else 'queued' end;

-- The gateway's ids by which events name a customer's records. An event is found by them.
create view private.subjects
with (security_invoker = true)
as
select p.user_id, p.gateway_order_id as subject_id, 'orders' as kind, p.gateway_key_id
from public.payments p
where p.gateway_order_id is not null
union all
select p.user_id, p.gateway_payment_id, 'payments', p.gateway_key_id
from public.payments p
where p.gateway_payment_id is not null
union all
select p.user_id, x.gateway_payment_id, 'payments', p.gateway_key_id
from public.payments p
join private.extra_payments x on x.payment_id = p.id
union all
select m.user_id, m.gateway_subscription_id, 'subscriptions', o.gateway_key_id
from private.gateway_subscriptions m
left join private.subscription_orders o on o.gateway_subscription_id = m.gateway_subscription_id
where m.gateway_subscription_id <> ''
union all
select c.user_id, c.gateway_payment_id, 'payments', o.gateway_key_id
from private.gateway_charges c
left join private.subscription_orders o on o.gateway_subscription_id = c.gateway_subscription_id
where c.gateway_payment_id <> '';
comment on view private.subjects is 'The gateway''s ids of each customer''s orders, payments and subscriptions.';
comment on column private.subjects.user_id is 'The customer. Null: the user was deleted.';
comment on column private.subjects.subject_id is 'The gateway''s id.';
comment on column private.subjects.kind is 'orders, payments or subscriptions.';
comment on column private.subjects.gateway_key_id is 'The API key under which it was made, if known.';

create view private.timeline
with (security_invoker = true)
as
select u.user_id, u.email, line.at, line.what, line.reference, line.detail, line.link, line.rank
from private.users u
cross join lateral (
  select u.signed_up_at as at, 'signed_up' as what, u.user_id::text as reference, 'Signed up.' as detail, null as link,
    0 as rank
  union all
  select
    p.created_at, 'order', coalesce(p.gateway_order_id, p.id::text),
    format('Order of %s for %s.', private.amount_text(p.amount, p.currency), p.tier)
      || coalesce(' Credit: ' || private.amount_text(p.credit, p.currency) || '.', ''),
    private.gateway_link(p.gateway_key_id, 'orders', p.gateway_order_id), 1
  from public.payments p
  where p.user_id = u.user_id
  union all
  select
    p.uncaptured_at, 'attempt_failed', p.gateway_payment_id, 'The gateway did not capture the payment.',
    private.gateway_link(p.gateway_key_id, 'payments', p.gateway_payment_id), 3
  from public.payments p
  where p.user_id = u.user_id
    and p.uncaptured_at is not null
  union all
  select
    e.received_at,
    case
      when e.event = 'payment.failed' then 'attempt_failed'
      when e.deliveries = 0 then 'reconciliation'
      else 'webhook'
    end,
    e.subject_id,
    format('%s: %s', e.event, e.outcome)
      || coalesce('. ' || nullif(rtrim(e.payload #>> '{payload,payment,entity,error_description}', '.'), ''), '')
      || case when e.deliveries > 1 then format('. Delivered %s times', e.deliveries) else '' end
      || '.',
    -- The payment of the attempt, if the ledger still has it.
    case
      when e.event = 'payment.failed' and e.payload #>> '{payload,payment,entity,id}' is not null
        then private.gateway_link(subject.gateway_key_id, 'payments', e.payload #>> '{payload,payment,entity,id}')
      else private.gateway_link(subject.gateway_key_id, subject.kind, subject.subject_id)
    end,
    2
  from (
    select left(s.subject_id, 200) as subject_id, min(s.kind) as kind, max(s.gateway_key_id) as gateway_key_id
    from private.subjects s
    where s.user_id = u.user_id
    group by left(s.subject_id, 200)
  ) subject
  join private.gateway_events e on e.subject_id = subject.subject_id
  union all
  select
    r.received_at, 'captured', coalesce(nullif(r.gateway_payment_id, ''), r.source_id),
    private.amount_text(r.amount, r.currency) || case
      when r.kind = 'extra_payment' then ': a further payment on the order.'
      when r.period_end is null then ' captured. It gave no tier.'
      else format(
        ' captured for %s, %s to %s.', coalesce(r.tier, 'a cycle'), private.day_text(r.period_start),
        private.day_text(r.period_end)
      )
    end,
    private.gateway_link(r.gateway_key_id, 'payments', r.gateway_payment_id), 3
  from private.receipts r
  where r.user_id = u.user_id
  union all
  select
    f.created_at, 'refunded', f.refund_id,
    format('%s of payment %s: %s.', private.amount_text(f.amount, r.currency), r.gateway_payment_id, f.status),
    private.gateway_link(r.gateway_key_id, 'payments', r.gateway_payment_id), 3
  from private.receipts r
  join private.refunds f on f.gateway_payment_id = r.gateway_payment_id
  where r.user_id = u.user_id
  union all
  select
    coalesce(p.dispute_event_at, p.captured_at), 'dispute', p.gateway_payment_id, format('Dispute: %s.', p.dispute_status),
    private.gateway_link(p.gateway_key_id, 'payments', p.gateway_payment_id), 3
  from public.payments p
  where p.user_id = u.user_id
    and p.dispute_status is not null
  union all
  select
    coalesce(c.dispute_event_at, c.charged_at), 'dispute', c.gateway_payment_id, format('Dispute: %s.', c.dispute_status),
    null, 3
  from private.gateway_charges c
  where c.user_id = u.user_id
    and c.dispute_status is not null
  union all
  select
    g.at, 'grant', g.id::text,
    format('%s until %s: %s.', g.tier, private.day_text(g.until), rtrim(coalesce(g.reason, 'no reason'), '.')), null, 4
  from private.grants g
  where g.user_id = u.user_id
  union all
  select g.ended_at, 'grant_ended', g.id::text, coalesce(g.ended_reason, 'ended') || '.', null, 4
  from private.grants g
  where g.user_id = u.user_id
    and g.ended_at is not null
  union all
  select
    a.created_at, 'support_action', coalesce(a.reference, a.id::text),
    format('%s by %s: %s Reason: %s.', a.action, coalesce(a.actor_email, a.actor), a.result, rtrim(a.reason, '.')), null, 2
  from private.support_actions a
  where a.user_id = u.user_id
  union all
  select
    c.at, 'tier_changed', c.reference,
    format('%s to %s: %s.', coalesce(c.from_tier, 'free'), coalesce(c.to_tier, 'free'), c.cause), null, 5
  from private.tier_changes c
  where c.user_id = u.user_id
  union all
  select
    o.created_at, 'mail', o.id::text,
    o.kind || ': ' || private.outbox_state(o.delivered_at, o.parked_at) || coalesce('. ' || rtrim(o.last_error, '.'), '') || '.',
    null, 6
  from private.outbox o
  where o.payload ->> 'to' = u.email
    and o.destination in ('email', 'notice')
  union all
  select
    o.queued_at, 'cancellation', m.gateway_subscription_id,
    case when o.payload @> '{"at_cycle_end": true}' then 'At the end of the cycle' else 'At once' end
      || ', to the gateway: ' || private.outbox_state(o.delivered_at, o.parked_at)
      || coalesce('. ' || rtrim(o.last_error, '.'), '') || '.',
    null, 6
  from private.gateway_subscriptions m
  join private.outbox o on o.key = 'cancel-subscription/' || m.gateway_subscription_id
  where m.user_id = u.user_id
) line;
comment on view private.timeline is
  'What happened to each customer: orders, attempts, money, events, tiers, mails, grants and support actions. Filter it by '
  'email or user_id, and sort it by at and rank.';
comment on column private.timeline.user_id is 'The id of the user.';
comment on column private.timeline.email is 'The e-mail address, in lower case.';
comment on column private.timeline.at is 'When it happened. For a mail: when it was queued.';
comment on column private.timeline.what is
  'signed_up, order, attempt_failed, webhook, reconciliation, captured, refunded, dispute, grant, grant_ended, '
  'support_action, tier_changed, mail or cancellation (of a gateway subscription).';
comment on column private.timeline.reference is
  'The gateway''s id of the order, payment, refund or subscription, or our id of the grant, mail or action.';
comment on column private.timeline.detail is 'What happened, in words.';
comment on column private.timeline.link is
  'The record in the gateway''s dashboard. Null: the setting gateway_dashboard or the mode of the API key is not known.';
comment on column private.timeline.rank is 'Sorts rows of the same time: a cause before its effect.';

create view private.periods
with (security_invoker = true)
as
select
  u.user_id, line.kind, line.source_id, line.tier, line.starts_at, line.ends_at, line.ended_at,
  coalesce(
    (found.ruling).is_live and line.kind = ((found.ruling).source).kind and line.source_id = ((found.ruling).source).id
      and line.starts_at < ((found.ruling).source).ends_at and line.ends_at >= ((found.ruling).source).ends_at,
    false
  ) as is_ruling
from private.users u
cross join lateral (select private.find_ruling(u.user_id) as ruling offset 0) found
cross join lateral (
  select
    s.kind, s.id as source_id, s.tier,
    case when s.kind = 'payment' then (select p.period_start from public.payments p where p.id = s.id::uuid) else s.starts_at end
      as starts_at,
    s.ends_at, s.ended_at
  from private.sources s
  where s.user_id = u.user_id
    and (
      s.kind <> 'gateway_subscription'
      -- A trial, or a first cycle that was announced by its activation alone.
      or not exists (
        select
        from private.gateway_charges c
        where c.user_id = s.user_id
          and c.gateway_subscription_id = s.id
          and c.period_end = s.ends_at
      )
    )
  union all
  select
    'gateway_subscription', c.gateway_subscription_id, s.tier, c.period_start, c.period_end,
    case
      when bool_and(c.amount > 0 and c.refunded_amount >= c.amount) then least(c.period_end, max(f.created_at))
      when max(s.ended_at) < c.period_end then greatest(max(s.ended_at), c.period_start)
    end
  from private.gateway_charges c
  left join private.sources s
    on s.user_id = c.user_id
    and s.kind = 'gateway_subscription'
    and s.id = c.gateway_subscription_id
  left join private.refunds f
    on f.gateway_payment_id = c.gateway_payment_id
    and f.status = 'processed'
  where c.user_id = u.user_id
  group by c.gateway_subscription_id, s.tier, c.period_start, c.period_end
) line;
comment on view private.periods is
  'The paid, granted and written periods of each customer, and the cycles of gateway subscriptions; overlaps included. '
  'Filter it by user_id.';
comment on column private.periods.user_id is 'The id of the user.';
comment on column private.periods.kind is 'payment, gateway_subscription, grant or manual (a row written by hand).';
comment on column private.periods.source_id is 'The id of the payment, gateway subscription or grant, or of the user.';
comment on column private.periods.tier is 'The tier of the period. Null: a cycle of a subscription without a plan of ours.';
comment on column private.periods.starts_at is 'Start of the period. Null: a row written by hand without one.';
comment on column private.periods.ends_at is 'End of the period, without the days of grace. Null: no end.';
comment on column private.periods.ended_at is
  'When the access of the period ended early, such as by a refund in full. Null: it did not.';
comment on column private.periods.is_ruling is 'Whether the customer''s tier is that of this period now.';

revoke execute on all functions in schema private from public;
