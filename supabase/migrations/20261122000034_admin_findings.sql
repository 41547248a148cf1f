-- The other findings, one view for each kind, and private.findings with all of them. Operations: "Findings".

create view private.unexpected_charges
with (security_invoker = true)
as
select
  m.user_id,
  c.charged_at as since,
  case
    when m.user_cancelled_at < c.charged_at or m.status = 'cancelled' and m.cancelled_at < c.charged_at
      then 'charged_after_cancellation'
    else 'charged_after_replacement'
  end as finding,
  m.gateway_subscription_id,
  c.gateway_payment_id,
  c.amount,
  c.period_start,
  c.period_end
from private.gateway_subscriptions m
join private.gateway_charges c
  on c.user_id = m.user_id
  and c.gateway_subscription_id = m.gateway_subscription_id
where (c.amount is null or c.refunded_amount < c.amount)
  and (
    m.user_cancelled_at < c.charged_at
    or m.status = 'cancelled' and m.cancelled_at < c.charged_at
    or exists (
      select
      from private.sources newer
      left join private.gateway_subscriptions s
        on s.user_id = newer.user_id
        and s.gateway_subscription_id = newer.id
        and newer.kind = 'gateway_subscription'
      -- Checks the first activation, too, because a later activation moves newer.since past the charge.
      cross join lateral (
        values (newer.since), (least(s.first_activated_at, s.first_charged_at))
      ) there (since)
      where newer.user_id = m.user_id
        and newer.kind in ('payment', 'gateway_subscription')
        and newer.id <> m.gateway_subscription_id
        and there.since > coalesce(m.activated_at, m.first_charged_at)
        and there.since < c.charged_at
        and coalesce(newer.ended_at > c.charged_at, true)
    )
  );
comment on view private.unexpected_charges is
  'Charges of a gateway subscription after its user cancelled it, or after a newer purchase replaced it. The paid cycle '
  'gives access. Cancel the subscription at the gateway. If the customer asks for it, refund the charge at the gateway, '
  'which ends the finding.';

create view private.never_captured
with (security_invoker = true)
as
select p.user_id, p.uncaptured_at as since, p.id as payment_id, p.tier, p.amount, p.gateway_payment_id
from public.payments p
where p.uncaptured_at is not null;
comment on view private.never_captured is
  'Payments that a customer verified but the gateway did not capture. Their access has ended. Look the payment up at the '
  'gateway. A later capture fulfils the payment and ends the finding.';

create view private.dispute_lost
with (security_invoker = true)
as
select p.user_id, p.captured_at as since, p.id as payment_id, p.tier, p.amount, p.gateway_payment_id
from public.payments p
where p.dispute_status = 'lost'
  and p.fulfilled_at is not null
  and p.ended_at is null
union all
select c.user_id, c.charged_at, null, m.tier, c.amount, c.gateway_payment_id
from private.gateway_charges c
join private.sources m
  on m.user_id = c.user_id
  and m.kind = 'gateway_subscription'
  and m.id = c.gateway_subscription_id
where c.dispute_status = 'lost'
  and m.ended_at is null
  and m.lapses_at > (select private.clock());
comment on view private.dispute_lost is
  'Payments whose dispute was lost. The user keeps access until you call private.end_payment_access(payment_id, '
  '''dispute_lost''), which also ends the finding. The payment of a cycle has no payment_id: cancel the subscription at the '
  'gateway.';

create view private.expiry_failed
with (security_invoker = true)
as
select f.user_id, f.failed_at as since, f.error
from private.settle_failures f
left join public.subscriptions s on s.user_id = f.user_id
where f.error <> 'PS500'
  and (
    s.status = 'active' and s.current_period_end < (select private.clock())
    or exists (select from private.gateway_subscriptions m where m.user_id = f.user_id and m.is_waiting)
  );
comment on view private.expiry_failed is
  'Users whose lapsed subscription could not be ended, or whose waiting gateway subscription could not be settled. error is '
  'the SQLSTATE, usually from an app''s trigger on the profile. Repair the cause. The job retries the user each hour.';

create view private.outbox_stuck
with (security_invoker = true)
as
select
  null::uuid as user_id,
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
comment on view private.outbox_stuck is
  'Side effects that were not delivered: due for more than 15 minutes, or parked. Due: check that the schedule runs, that '
  'the destination is configured (RESEND_API_KEY, GATEWAY_API_URL), and that it did not ask for a pause (paused_until). '
  'Parked: repair the cause in last_error, then call private.requeue(id).';

create view private.failed_events
with (security_invoker = true)
as
select
  coalesce(p.user_id, private.json_uuid(e.payload #> '{payload,subscription,entity,notes,user_id}')) as user_id,
  e.received_at as since,
  e.body_sha256,
  e.event,
  e.subject_id,
  e.outcome,
  e.attempts,
  p.id as payment_id
from private.unsettled_events u
join private.gateway_events e on e.body_sha256 = u.body_sha256
left join public.payments p on p.gateway_order_id = e.subject_id
where (
    e.outcome like 'failed: %'
    or e.outcome in ('parked', 'plan_not_found', 'mismatch')
  )
  -- An event without its payload cannot be applied again.
  and e.payload is not null
  and case e.outcome
    -- Until the payment is fulfilled or refunded.
    when 'plan_not_found' then p.fulfilled_at is null and (p.amount = 0 or p.refunded_amount < p.amount)
    when 'mismatch' then
      -- A mismatch is normal for refunds and disputes of an extra payment, and for cancellations of a gateway subscription
      -- that is not attached. After a charge the activation may still arrive within 15 minutes.
      case e.event
        when 'subscription.charged' then e.received_at < (select private.clock()) - interval '15 minutes'
        else e.event in ('payment.captured', 'order.paid')
      end
      and (
        p.gateway_payment_id = private.json_text(e.payload #> '{payload,payment,entity,id}')
        and (
          p.fulfilled_at is not null
          or p.refunded_amount >= private.json_integer(e.payload #> '{payload,payment,entity,amount}')
        )
      ) is not true
      and (
        private.json_integer(e.payload #> '{payload,payment,entity,amount}') > 0
        and private.refunded_amount(private.json_text(e.payload #> '{payload,payment,entity,id}'))
          >= private.json_integer(e.payload #> '{payload,payment,entity,amount}')
      ) is not true
      and not exists (
        select
        from private.extra_payments x
        where x.payment_id = p.id
          and x.gateway_payment_id = private.json_text(e.payload #> '{payload,payment,entity,id}')
          and x.refunded_amount >= private.json_integer(e.payload #> '{payload,payment,entity,amount}')
      )
    else true
  end;
comment on view private.failed_events is
  'Webhooks that should have had an effect but had none. failed, parked: repair the cause of the error in the ledger. '
  'plan_not_found: add the plan. Then call private.replay_event(body_sha256). mismatch: the payment has another amount or '
  'currency than its order. Refund it at the gateway. The finding ends after 90 days, when the payload is deleted.';

-- Postgres lets PUBLIC execute each new function. The migrations keep this default, because a revoke would close functions
-- of the app, too.
create view private.open_functions
with (security_invoker = true)
as
select
  signature.text as name,
  format(
    'Run "revoke execute on function %s from public, anon;", or mark it as meant: '
    '"comment on function %1$s is ''Open to everybody: why'';"',
    signature.text
  ) as remedy
from pg_catalog.pg_proc p
cross join lateral (
  select format('public.%I(%s)', p.proname, pg_get_function_identity_arguments(p.oid)) as text
) signature
where p.pronamespace = 'public'::regnamespace
  and p.prosecdef
  and p.prorettype not in ('trigger'::regtype, 'event_trigger'::regtype)
  and has_function_privilege('anon', p.oid, 'execute')
  and coalesce(obj_description(p.oid, 'pg_proc'), '') not like 'Open to everybody%'
  and not exists (
    select
    from pg_catalog.pg_depend d
    where d.classid = 'pg_catalog.pg_proc'::regclass
      and d.objid = p.oid
      and d.deptype = 'e'
  );
comment on view private.open_functions is
  'Functions of schema public that run with the rights of their owner (security definer) and that anon may execute. Revoke '
  'that right, or state in a comment that it is intended: remedy has the statements.';

create view private.findings
with (security_invoker = true)
as
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
select 'missing_part', m.part, null, null, jsonb_build_object('remedy', m.remedy)
from private.missing_parts() m
union all
select f.finding, f.subject, null, f.since, f.detail
from private.schedule_faults() f
union all
select 'open_function', o.name, null, null, to_jsonb(o) - 'name'
from private.open_functions o;
comment on view private.findings is
  'All findings, each with its kind, subject, user, start and details. The view of that kind has a comment with the remedy. '
  'No rows: nothing needs an admin''s attention.';

-- Postgres lets PUBLIC execute each new function. Before this statement only the rights on the schema close them.
revoke execute on all functions in schema private from public;
