-- The findings as the one place for what needs an admin: with the customer's address, what to do in one sentence, missed
-- webhooks and payments without a mail. Operations: "Findings".

-- New: a query for one user reads the rows of that user only.
create or replace view private.entitled_not_paid
with (security_invoker = true)
as
select
  holder.user_id,
  coalesce(
    case when holder.is_over then holder.ends_at end,
    (select max(c.at) from private.tier_changes c where c.user_id = holder.user_id),
    holder.updated_at
  ) as since,
  case when holder.is_over then 'its period is over' else 'nothing pays for it' end as reason,
  holder.profile_tier,
  holder.subscription_tier,
  holder.current_period_end,
  holder.gateway_subscription_id
from (
  select
    a.user_id,
    case when pr.subscription_tier <> 'free' then pr.subscription_tier end as profile_tier,
    a.tier as subscription_tier,
    a.current_period_end,
    a.gateway_subscription_id,
    a.updated_at,
    -- The sweep runs each minute. The reconciliation of a subscription that the gateway bills may take a day.
    ends.at as ends_at,
    ends.at < (select private.clock()) as is_over
  from public.subscriptions a
  left join public.profiles pr on pr.user_id = a.user_id
  left join public.plans pl on pl.id = a.plan_id
  cross join lateral (
    select a.current_period_end
      + make_interval(
        days => coalesce(pl.grace_days, 3) + case when a.gateway_subscription_id is null then 0 else 1 end,
        hours => 1
      ) as at
  ) ends
  where a.status = 'active'
  union all
  select p.user_id, p.subscription_tier, null, null, null, null, null, null
  from public.profiles p
  where p.subscription_tier <> 'free'
    and not exists (select from public.subscriptions s where s.user_id = p.user_id and s.status = 'active')
) holder
where holder.is_over
  or holder.gateway_subscription_id is null
  and not exists (
    select
    from private.sources o
    where o.user_id = holder.user_id
      and o.kind <> 'manual'
      and o.tier = coalesce(holder.subscription_tier, holder.profile_tier)
      and o.ended_at is null
      and o.lapses_at + interval '1 hour' > (select private.clock())
  );

-- New: the customer of a mail or a cancellation.
create or replace view private.outbox_stuck
with (security_invoker = true)
as
select
  case o.destination
    when 'gateway' then (
      select m.user_id
      from private.gateway_subscriptions m
      where m.gateway_subscription_id = o.payload ->> 'gateway_subscription_id'
      limit 1
    )
    else (select u.user_id from private.users u where u.email = o.payload ->> 'to' limit 1)
  end as user_id,
  coalesce(o.parked_at, o.next_attempt_at) as since,
  o.id,
  o.key,
  o.destination,
  case when o.parked_at is null then 'due' else 'parked' end as state,
  o.attempts,
  o.last_error,
  p.until as paused_until
from private.outbox o
left join private.outbox_pauses p on p.destination = o.destination
where o.delivered_at is null
  and o.parked_at is null
  and o.next_attempt_at < (select private.clock()) - interval '15 minutes'
  or o.delivered_at is null
  and o.parked_at is not null
  -- Skips withdrawn cancellations, which are parked without a claim.
  and o.claims <> '{}';

-- New: ends with a note about the payment; reads the index on running periods.
create or replace view private.unmailed_payments
with (security_invoker = true)
as
select p.id as payment_id, p.user_id, u.email, p.gateway_payment_id, p.fulfilled_at
from public.payments p
cross join lateral private.find_user(p.user_id) u
-- Older payments are not listed: mail rows are kept for at least 30 days after their delivery.
where p.fulfilled_at > private.clock() - interval '30 days'
  and p.period_end > private.clock() - interval '30 days'
  and u.email <> ''
  and not exists (select from private.outbox o where o.key = 'payment-success/' || p.id)
  and not exists (
    select
    from private.support_actions a
    where a.action = 'note'
      and a.reference in (p.id::text, p.gateway_payment_id)
  );
comment on view private.unmailed_payments is
  'Payments that were fulfilled within the last 30 days without a success mail, although the user has an e-mail address. '
  'The user had no profile at that time. A support action note about the payment ends the finding.';

create view private.missed_webhooks
with (security_invoker = true)
as
select
  min(a.raised_at) as since,
  count(*) as alerts,
  (array_agg(a.subject_id order by a.raised_at desc))[:10] as newest
from private.alerts a
where a.raised_at > private.clock() - interval '30 days'
  and a.raised_at > coalesce(
    (select max(e.received_at) from private.gateway_events e where e.deliveries > 0), '-infinity'
  )
  and not exists (
    select
    from private.support_actions n
    where n.action = 'note'
      and n.reference = 'webhooks'
      and n.created_at >= a.raised_at
  )
having count(*) > 0;
comment on view private.missed_webhooks is
  'What reconciliation found since the newest webhook arrived, in one row: the endpoint is probably switched off at the '
  'gateway. The next webhook ends the finding, or a support action note with the reference webhooks, or 30 days.';
comment on column private.missed_webhooks.since is 'When the first of them was found.';
comment on column private.missed_webhooks.alerts is 'How many were found.';
comment on column private.missed_webhooks.newest is 'The gateway''s ids of the ten newest orders and subscriptions.';

-- Returns what to do about a finding, in one sentence.
create function private.remedy(
  p_finding text,
  p_detail jsonb
)
returns text
language plpgsql
immutable
set search_path = ''
as $$
begin
  return coalesce(p_detail ->> 'remedy', case p_finding
    when 'paid_not_entitled' then
      'Read the timeline; then grant the tier until the end of the period, or refund the payment at the gateway.'
    when 'entitled_not_paid' then
      'Grant the tier to make it complimentary, or set the subscription to cancelled and the profile to free.'
    when 'tier_mismatch' then 'Read in the timeline what wrote the tier, then set the tier of the profile.'
    when 'captured_not_fulfilled' then case p_detail ->> 'reason'
      when 'no plan of this tier' then 'Add the plan, then replay the webhook of the payment.'
      when 'paid, user gone' then 'Refund the payment at the gateway.'
      else 'Look the payment up at the gateway, and refund it if it is not the amount of the order.'
    end
    when 'paid_twice' then 'Refund the payment at the gateway, or grant the customer the time.'
    when 'unearned_credit' then 'Refund the payment at the gateway, or accept the loss: the finding ends with the period.'
    when 'charged_after_cancellation' then
      'Cancel the subscription at the gateway, and refund the charge if the customer asks for it.'
    when 'charged_after_replacement' then
      'Cancel the subscription at the gateway, and refund the charge if the customer asks for it.'
    when 'charged_twice' then 'Refund the charge at the gateway; the service cancels the subscription.'
    when 'never_captured' then 'Look the payment up at the gateway: access has ended until it is captured.'
    when 'dispute_lost' then case
      when p_detail ->> 'payment_id' is null then 'Cancel the subscription at the gateway.'
      else 'End the access of the payment.'
    end
    when 'expiry_failed' then
      'Repair what raises the SQLSTATE, usually a trigger of the app on profiles; the sweep retries each hour.'
    when 'outbox_stuck' then case p_detail ->> 'state'
      when 'parked' then 'Repair the cause in last_error, then requeue the message.'
      else 'Check that the schedule runs and that the destination of the message is configured.'
    end
    when 'failed_events' then case p_detail ->> 'outcome'
      when 'plan_not_found' then 'Add the plan, then replay the webhook.'
      when 'mismatch' then 'Refund the payment at the gateway: its amount is not that of the order. Or ignore the webhook.'
      else 'Repair the cause of the error, then replay the webhook, or ignore it.'
    end
    when 'reconciliation_backlog' then
      'Raise RECONCILE_CALLS_PER_SECOND if the gateway allows more calls, else wait until fewer periods end at once.'
    when 'unmailed_payment' then 'Write to the customer that the payment arrived, then insert a note about the payment.'
    when 'missed_webhook' then
      'Switch the webhook endpoint on at the gateway; the next webhook ends the finding, or a note about "webhooks".'
  end);
end
$$;

create or replace view private.findings
with (security_invoker = true)
as
select
  f.finding, f.subject, f.user_id, f.since, f.detail,
  private.remedy(f.finding, f.detail) as remedy,
  (select u.email from private.users u where u.user_id = f.user_id limit 1) as email
from (
  select
    'paid_not_entitled' as finding,
    v.payment_id::text as subject,
    v.user_id,
    v.since,
    to_jsonb(v) - '{user_id, since}'::text[] as detail
  from private.paid_not_entitled v
  union all
  select 'entitled_not_paid', v.user_id::text, v.user_id, v.since, to_jsonb(v) - '{user_id, since}'::text[]
  from private.entitled_not_paid v
  union all
  select 'captured_not_fulfilled', v.payment_id::text, v.user_id, v.since, to_jsonb(v) - '{user_id, since}'::text[]
  from private.captured_not_fulfilled v
  union all
  select 'tier_mismatch', v.user_id::text, v.user_id, v.since, to_jsonb(v) - '{user_id, since}'::text[]
  from private.tier_mismatch v
  union all
  select 'paid_twice', v.gateway_payment_id, v.user_id, v.since, to_jsonb(v) - '{user_id, since}'::text[]
  from private.paid_twice v
  union all
  select v.finding, coalesce(nullif(v.gateway_payment_id, ''), v.gateway_subscription_id), v.user_id, v.since,
    to_jsonb(v) - '{user_id, since, finding}'::text[]
  from private.unexpected_charges v
  union all
  select 'unearned_credit', v.payment_id::text, v.user_id, v.since, to_jsonb(v) - '{user_id, since}'::text[]
  from private.unearned_credits v
  union all
  select 'never_captured', v.payment_id::text, v.user_id, v.since, to_jsonb(v) - '{user_id, since}'::text[]
  from private.never_captured v
  union all
  select 'dispute_lost', coalesce(v.payment_id::text, v.gateway_payment_id), v.user_id, v.since,
    to_jsonb(v) - '{user_id, since}'::text[]
  from private.dispute_lost v
  union all
  select 'expiry_failed', v.user_id::text, v.user_id, v.since, to_jsonb(v) - '{user_id, since}'::text[]
  from private.expiry_failed v
  union all
  select 'outbox_stuck', v.key, v.user_id, v.since, to_jsonb(v) - '{user_id, since}'::text[]
  from private.outbox_stuck v
  union all
  select 'failed_events', encode(v.body_sha256, 'hex'), v.user_id, v.since, to_jsonb(v) - '{user_id, since}'::text[]
  from private.failed_events v
  union all
  select 'unmailed_payment', v.payment_id::text, v.user_id, v.fulfilled_at,
    to_jsonb(v) - '{user_id, fulfilled_at, email}'::text[]
  from private.unmailed_payments v
  union all
  select 'missed_webhook', 'webhooks', null, v.since, to_jsonb(v) - 'since'
  from private.missed_webhooks v
  union all
  select 'missing_part', m.part, null, null, jsonb_build_object('remedy', m.remedy)
  from private.missing_parts() m
  union all
  select f.finding, f.subject, null, f.since, f.detail
  from private.schedule_faults() f
  union all
  select 'reconciliation_backlog', v.kind, null, v.since, to_jsonb(v) - '{kind, since}'::text[]
  from private.reconciliation_backlog v
  union all
  select 'open_function', o.name, null, null, to_jsonb(o) - 'name'
  from private.open_functions o
) f;
comment on view private.findings is
  'Everything that needs an admin, with what to do in one sentence. The view of that kind has a comment that says more. No '
  'rows: nothing needs attention.';
comment on column private.findings.finding is 'The kind. Operations: Findings.';
comment on column private.findings.subject is 'What it is about: the id of a payment, user or event, the key of a message, a job.';
comment on column private.findings.user_id is 'The customer. Null: it is about no single customer.';
comment on column private.findings.since is 'Since when it needs attention, if known.';
comment on column private.findings.detail is 'The facts, as in the view of that kind.';
comment on column private.findings.remedy is 'What to do, in one sentence.';
comment on column private.findings.email is 'The customer''s e-mail address.';

revoke execute on all functions in schema private from public;
