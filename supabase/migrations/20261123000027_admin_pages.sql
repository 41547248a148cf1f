-- Views behind the pages of a console: webhooks, messages, a customer's payments, and the state of the service.

-- For the payments of a day or a month. Cost: one index entry for each capture and each charged cycle.
create index payments_captured_at_idx on public.payments (captured_at)
where status = 'captured';
create index gateway_charges_charged_at_idx on private.gateway_charges (charged_at);

create view private.webhooks
with (security_invoker = true)
as
select
  e.body_sha256,
  e.received_at,
  e.event,
  e.subject_id,
  coalesce(
    (select s.user_id from private.subjects s where s.subject_id = e.subject_id and s.user_id is not null limit 1),
    private.json_uuid(e.payload #> '{payload,subscription,entity,notes,user_id}')
  ) as user_id,
  (
    select u.email
    from private.subjects s
    cross join lateral private.find_user(s.user_id) u
    where s.subject_id = e.subject_id
    limit 1
  ) as email,
  e.deliveries,
  e.attempts,
  e.outcome,
  e.payload
from private.gateway_events e;
comment on view private.webhooks is
  'The ledger: what the gateway delivered, and what reconciliation read (deliveries 0). Filter it by received_at, '
  'body_sha256 or subject_id; for one customer read private.timeline.';
comment on column private.webhooks.body_sha256 is 'The hash of the body: the reference of replay_event and ignore_event.';
comment on column private.webhooks.received_at is 'When it first arrived.';
comment on column private.webhooks.event is 'The name of the event.';
comment on column private.webhooks.subject_id is 'The gateway''s id of the order, payment or subscription.';
comment on column private.webhooks.user_id is 'The customer, where known.';
comment on column private.webhooks.email is 'The customer''s e-mail address, where known.';
comment on column private.webhooks.deliveries is 'How often it was delivered. 0: reconciliation read it from the gateway.';
comment on column private.webhooks.attempts is 'How often it was applied.';
comment on column private.webhooks.outcome is 'What became of it, as in private.gateway_events.';
comment on column private.webhooks.payload is 'The body. Null: deleted after 90 days.';

create view private.messages
with (security_invoker = true)
as
select
  o.id,
  o.kind,
  o.destination,
  o.payload ->> 'to' as recipient,
  case o.destination
    when 'gateway' then (
      select m.user_id
      from private.gateway_subscriptions m
      where m.gateway_subscription_id = o.payload ->> 'gateway_subscription_id'
      limit 1
    )
    else (select u.user_id from private.users u where u.email = o.payload ->> 'to' limit 1)
  end as user_id,
  private.outbox_state(o.delivered_at, o.parked_at) as state,
  o.attempts,
  o.last_error,
  o.created_at,
  o.delivered_at,
  case when o.delivered_at is null and o.parked_at is null then o.next_attempt_at end as next_attempt_at,
  o.payload
from private.outbox o;
comment on view private.messages is
  'Mails and other side effects, with their state of delivery. Filter it by id, recipient or created_at.';
comment on column private.messages.id is 'The number of the message: the reference of requeue_mail.';
comment on column private.messages.kind is 'What it is, such as payment-success. Contract: E-mails.';
comment on column private.messages.destination is 'email, notice, revalidation (of cached pages) or gateway (a cancellation).';
comment on column private.messages.recipient is 'The address of a mail. Null: it is no mail.';
comment on column private.messages.user_id is 'The user who has this address now, or whose subscription is cancelled.';
comment on column private.messages.state is 'queued, delivered or parked (an admin repairs the cause and requeues it).';
comment on column private.messages.attempts is 'How often delivery was tried.';
comment on column private.messages.last_error is
  'Why the newest attempt failed, why it was withdrawn or, if delivered, why no mail was sent.';
comment on column private.messages.created_at is 'When it was enqueued.';
comment on column private.messages.delivered_at is 'When the receiver accepted it.';
comment on column private.messages.next_attempt_at is 'When it is tried next. Null: it is delivered or parked.';
comment on column private.messages.payload is 'The data from which the mail is written.';

create view private.customer_payments
with (security_invoker = true)
as
select
  p.user_id,
  p.gateway_order_id,
  p.gateway_payment_id,
  coalesce(p.captured_at, p.created_at) as at,
  p.tier,
  p.amount,
  p.currency,
  p.status,
  (
    select count(*)
    from private.gateway_events e
    where e.subject_id = p.gateway_order_id
      and e.event = 'payment.failed'
  ) + case when p.captured_at is null then 0 else 1 end as attempts,
  coalesce(p.meta ->> 'error_description', p.meta ->> 'error_reason', p.meta ->> 'error_code') as last_error,
  p.refunded_amount,
  p.dispute_status,
  'order' as kind,
  p.id::text as source_id
from public.payments p
union all
select
  p.user_id, p.gateway_order_id, x.gateway_payment_id, x.paid_at, p.tier, p.amount, p.currency,
  case when x.confirmed_at is null then 'created' else 'captured' end, 1, null, x.refunded_amount, null, 'extra_payment',
  p.id::text
from public.payments p
join private.extra_payments x on x.payment_id = p.id
union all
select
  c.user_id, null, nullif(c.gateway_payment_id, ''), c.charged_at, pl.tier, c.amount,
  coalesce(pl.currency, (select min(shop.currency) from public.plans shop), 'INR'), 'captured', 1, null, c.refunded_amount,
  c.dispute_status, 'cycle', c.gateway_subscription_id
from private.gateway_charges c
left join private.gateway_subscriptions m
  on m.user_id = c.user_id
  and m.gateway_subscription_id = c.gateway_subscription_id
left join public.plans pl on pl.id = m.plan_id;
comment on view private.customer_payments is
  'The orders of each customer, paid or not, further payments on them, and charged cycles. Filter it by user_id.';
comment on column private.customer_payments.user_id is 'The customer. Null: the user was deleted.';
comment on column private.customer_payments.gateway_order_id is 'The gateway''s id of the order. Null: a cycle.';
comment on column private.customer_payments.gateway_payment_id is 'The gateway''s id of the payment. Null: not paid.';
comment on column private.customer_payments.at is 'When it was captured or charged, else when the order was made.';
comment on column private.customer_payments.tier is 'The tier that was sold.';
comment on column private.customer_payments.amount is 'The amount in minor currency units. Null: the gateway named none.';
comment on column private.customer_payments.currency is 'The currency of the amounts.';
comment on column private.customer_payments.status is 'created (not paid), captured or failed.';
comment on column private.customer_payments.attempts is
  'The attempts that are known: failed ones in the ledger, and the one that succeeded.';
comment on column private.customer_payments.last_error is 'Why the newest attempt failed, in the gateway''s words.';
comment on column private.customer_payments.refunded_amount is 'The sum of the processed refunds, minor currency units.';
comment on column private.customer_payments.dispute_status is 'The newest state of a dispute. Null: there is none.';
comment on column private.customer_payments.kind is 'order, extra_payment (a further payment on an order) or cycle.';
comment on column private.customer_payments.source_id is
  'The id of the payment or of the gateway subscription: the reference of end_access and reconcile_now.';

create view private.service_state
with (security_invoker = true)
as
select
  (select max(e.received_at) from private.gateway_events e where e.deliveries > 0) as last_webhook_at,
  (select j.done_at from private.scheduled_jobs j where j.name = 'sweep') as last_sweep_at,
  (select j.done_at from private.scheduled_jobs j where j.name = 'reconciliation') as last_reconciliation_at,
  (
    select min(o.queued_at)
    from private.outbox o
    where o.destination in ('email', 'notice')
      and o.delivered_at is null
      and o.parked_at is null
      and o.queued_at <= private.clock()
  ) as oldest_undelivered_mail_at,
  today.payments as payments_today,
  today.revenue as revenue_today
from (
  select coalesce(sum(r.payments), 0)::bigint as payments,
    coalesce(jsonb_object_agg(r.currency, r.amount) filter (where r.currency is not null), '{}') as revenue
  from (
    select p.currency, count(*) as payments, sum(p.amount) as amount
    from private.receipts p
    where p.received_at >= date_trunc('day', private.clock(), 'UTC')
    group by p.currency
  ) r
) today;
comment on view private.service_state is 'The state of the service in one row. Days begin at midnight UTC.';
comment on column private.service_state.last_webhook_at is 'When the gateway last delivered a webhook.';
comment on column private.service_state.last_sweep_at is 'When the sweep last left nothing to do. It runs each minute.';
comment on column private.service_state.last_reconciliation_at is 'When reconciliation last left nothing to do.';
comment on column private.service_state.oldest_undelivered_mail_at is
  'Since when the oldest mail waits that is neither delivered nor parked. Null: none waits.';
comment on column private.service_state.payments_today is 'The payments and cycles of today.';
comment on column private.service_state.revenue_today is
  'For each currency the amount of today, before refunds, in minor currency units.';

revoke execute on all functions in schema private from public;
