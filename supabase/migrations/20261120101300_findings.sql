-- For an admin: what is not as it ought to be, a view a kind, and all of them in private.findings.
-- Depends on: _fulfil_payment, _gateway_events, _settle_outbox, _entitlement.

-- What goes well never gets into these: they stay small.
create index payments_captured_not_fulfilled_idx on public.payments (captured_at)
where status = 'captured' and fulfilled_at is null;
create index outbox_parked_at_idx on private.outbox (parked_at)
where parked_at is not null and delivered_at is null;

create view private.captured_not_fulfilled
with (security_invoker = true)
as
select
  p.user_id,
  p.captured_at as since,
  p.id as payment_id,
  p.tier,
  p.amount,
  p.gateway_payment_id,
  case
    when p.user_id is null then 'paid, user gone'
    when not exists (select from public.plans pl where pl.tier = private.tier_bought(p)) then 'no plan of this tier'
    else 'not confirmed with its amount'
  end as reason
from public.payments p
where p.status = 'captured'
  and p.fulfilled_at is null
  and (p.amount = 0 or p.refunded_amount < p.amount);
comment on view private.captured_not_fulfilled is
  'Money that granted nothing, and why. "no plan of this tier": add the plan, then private.replay_event or verify '
  'again. "not confirmed with its amount": look the payment up at the gateway. "paid, user gone": give it back '
  'there.';

create view private.paid_twice
with (security_invoker = true)
as
select
  p.user_id,
  x.created_at as since,
  p.id as payment_id,
  x.gateway_payment_id,
  'a further payment on the order' as reason
from private.extra_payments x
join public.payments p on p.id = x.payment_id
where x.paid_at is not null
  and x.refunded_amount < p.amount
union all
select
  p.user_id,
  p.fulfilled_at,
  p.id,
  p.gateway_payment_id,
  'another payment for the same time'
from public.payments p
where p.fulfilled_at is not null
  and p.period_end > private.clock()
  and (p.amount = 0 or p.refunded_amount < p.amount)
  and exists (
    select
    from public.payments before
    where before.user_id = p.user_id
      and before.tier = p.tier
      and before.fulfilled_at is not null
      and before.period_end > private.clock()
      and (before.fulfilled_at, before.id) < (p.fulfilled_at, p.id)
      and (before.amount = 0 or before.refunded_amount < before.amount)
      and before.period_start < p.period_end
      and before.period_end > p.period_start
  );
comment on view private.paid_twice is
  'Payments too many. "a further payment on the order": give it back at the gateway, whose refund.processed ends '
  'the finding. "another payment for the same time": the user renewed a tier while it was paid for, and both '
  'periods still run; give it back, or lengthen the period with private.grant_tier. EARLY_RENEWAL=extend prevents '
  'these. Reads the payments whose period runs.';

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
  -- Parked before anybody claimed it, it was withdrawn on purpose, not given up.
  and o.claims <> '{}';
comment on view private.outbox_stuck is
  'Side effects that nobody delivers: due for more than 15 minutes, or given up (parked). Due ones: does the '
  'schedule run, is the destination configured (RESEND_API_KEY, GATEWAY_API_URL), did it ask for a pause? Parked '
  'ones: mend what last_error says, then private.requeue(id).';

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
  and case e.outcome
    -- Verified or given back since.
    when 'plan_not_found' then p.fulfilled_at is null and (p.amount = 0 or p.refunded_amount < p.amount)
    when 'mismatch' then
      case e.event
        -- Billed under a second subscription. Its activation may be on its way.
        when 'subscription.charged' then e.received_at < (select private.clock()) - interval '15 minutes'
        -- Refunds and disputes of what does not count, and cancellations of it, are as they ought to be.
        else e.event in ('payment.captured', 'order.paid')
      end
      and e.payload is not null
      and (
        p.gateway_payment_id = private.json_text(e.payload #> '{payload,payment,entity,id}')
        and (
          p.fulfilled_at is not null
          or p.refunded_amount >= private.json_integer(e.payload #> '{payload,payment,entity,amount}')
        )
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
  'Webhooks that had no effect and should have had one. failed, parked: the error of the data is in the ledger; '
  'plan_not_found: add the plan; then private.replay_event(body_sha256). mismatch: money of another amount or '
  'currency than the order''s, or a charge of a gateway subscription that does not count: give it back or cancel it '
  'at the gateway; shown as long as its payload is kept, 90 days.';

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
select 'outbox_stuck', v.key, v.user_id, v.since, to_jsonb(v) - '{user_id, since}'::text[]
from private.outbox_stuck v
union all
select 'failed_events', encode(v.body_sha256, 'hex'), v.user_id, v.since, to_jsonb(v) - '{user_id, since}'::text[]
from private.failed_events v;
comment on view private.findings is
  'Everything that is not as it ought to be: the view that says more, what it is about, whose it is, and since '
  'when. Nothing here: nothing to do.';
