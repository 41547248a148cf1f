-- Everything that needs an admin, one view for each kind. Operations: "Findings". Those about customers are read for ranges of
-- customers: a difference of times keeps the planner off the index on payments.period_end, which knows no customers.

create view billing.paid_not_entitled with (security_invoker = true) as
select
  paid.user_id, paid.since, paid.payment_id, paid.tier, paid.reference as gateway_payment_id, paid.period_end,
  s.status as subscription_status, s.ended_reason
from (
  select
    p.user_id, p.fulfilled_at as since, p.id::text as payment_id, p.tier, p.gateway_payment_id as reference, p.period_end
  from public.payments p
  where p.fulfilled_at is not null
    and p.period_end - billing.clock() > interval '0'
    and p.ended_at is null
    and not exists (select from public.subscriptions a where a.user_id = p.user_id and a.status = 'active')
    -- Its period has begun, and no purchase replaced it.
    and (p.settle_at > billing.clock()) is not true
    and not exists (select from billing.replacements r where r.kind = 'payment' and r.id = p.id::text)
  union all
  select m.user_id, g.arrived_at, g.gateway_subscription_id, g.tier, g.gateway_subscription_id, g.ends_at
  from billing.gateway_subscriptions m
  cross join lateral (
    select o.*
    from billing.sources o
    where (o.user_id, o.kind, o.id) = (m.user_id, 'gateway_subscription', m.gateway_subscription_id)
      and o.ends_at > (select billing.clock())
      and o.ended_at is null
    offset 0
  ) g
  where not exists (select from public.subscriptions a where a.user_id = m.user_id and a.status = 'active')
) paid
left join public.subscriptions s on s.user_id = paid.user_id;
comment on view billing.paid_not_entitled is
  'Users with a running paid period and without an active subscription, although they did not cancel it. A grant until '
  'period_end, or a refund, ends the finding.';

create view billing.entitled_not_paid with (security_invoker = true) as
select
  holder.user_id,
  coalesce(
    case when holder.is_over then holder.ends_at end,
    (select max(c.at) from billing.tier_changes c where c.user_id = holder.user_id),
    holder.updated_at
  ) as since,
  case
    when holder.is_over and holder.current_period_end is null then 'the gateway does not bill it'
    when holder.is_over then 'its period is over'
    else 'nothing pays for it'
  end as reason,
  holder.profile_tier, holder.subscription_tier, holder.current_period_end, holder.gateway_subscription_id
from (
  select
    a.user_id,
    case when pr.subscription_tier <> 'free' then pr.subscription_tier end as profile_tier,
    a.tier as subscription_tier, a.current_period_end, a.gateway_subscription_id, a.updated_at,
    -- The sweep runs each minute. The reconciliation of a subscription that the gateway bills may take a day.
    ends.at as ends_at,
    ends.at < (select billing.clock()) as is_over
  from public.subscriptions a
  left join billing.profiles pr on pr.user_id = a.user_id
  left join public.plans pl on pl.id = a.plan_id
  cross join lateral (
    select coalesce(
      a.current_period_end + make_interval(
        hours => 24 * (billing.grace_days(pl.grace_days, false) + (a.gateway_subscription_id is not null)::integer) + 1
      ),
      -- A row by hand without an end, and what was read does not run.
      (
        select m.checked_at
        from billing.gateway_subscriptions m
        where m.user_id = a.user_id
          and m.gateway_subscription_id = a.gateway_subscription_id
          and m.gateway_status in ('created', 'pending', 'halted', 'paused', 'expired', 'unknown')
      )
    ) as at
  ) ends
  where a.status = 'active'
  union all
  select p.user_id, p.subscription_tier, null, null, null, null, null, null
  from billing.profiles p
  where p.subscription_tier <> 'free'
    and not exists (select from public.subscriptions s where s.user_id = p.user_id and s.status = 'active')
) holder
where holder.is_over
  or holder.gateway_subscription_id is null
  and not exists (
    select from billing.sources o
    where o.user_id = holder.user_id
      and o.kind <> 'manual'
      and o.tier = coalesce(holder.subscription_tier, holder.profile_tier)
      and o.ended_at is null
      and o.lapses_at + interval '1 hour' > (select billing.clock())
  );
comment on view billing.entitled_not_paid is
  'Users with a tier or an active subscription but no running source for it, and users whose period is long over, or has no '
  'end while the gateway does not bill it. A grant makes the tier a complimentary one. A report: it reads all users.';

create view billing.tier_mismatch with (security_invoker = true) as
select
  s.user_id,
  coalesce((select max(c.at) from billing.tier_changes c where c.user_id = s.user_id), s.updated_at) as since,
  pr.subscription_tier as profile_tier, s.tier as subscription_tier, s.status as subscription_status, s.ended_reason
from public.subscriptions s
left join billing.profiles pr on pr.user_id = s.user_id
where coalesce(pr.subscription_tier, 'free') <> case when s.status = 'active' then s.tier else 'free' end
  -- A subscription that was activated for a past period gives no access until it is charged.
  and (
    s.status = 'active'
    and s.current_period_end <= (select billing.clock())
    and coalesce(pr.subscription_tier, 'free') = 'free'
  ) is not true;
comment on view billing.tier_mismatch is
  'Profiles whose tier is not that of the active subscription, or stayed after its end. A report: it reads all subscriptions.';

create view billing.captured_not_fulfilled with (security_invoker = true) as
select
  p.user_id, p.captured_at as since, p.id as payment_id, p.tier, p.amount, p.gateway_payment_id,
  case
    when p.user_id is null then 'paid, user gone'
    when not exists (select from public.plans pl where billing.is_bought(pl, p)) then 'no plan of this tier'
    else 'not confirmed with its amount'
  end as reason
from public.payments p
where p.status = 'captured'
  and p.fulfilled_at is null
  and p.gateway_subscription_id is null
  and p.extra_of is null
  and not billing.is_refunded(p);
comment on view billing.captured_not_fulfilled is
  'Captured payments that granted no tier. A verification, a replay after the plan was added, or a refund ends the finding.';

create view billing.paid_twice with (security_invoker = true) as
with running as not materialized (
  select p.*
  from public.payments p
  where p.fulfilled_at is not null
    and p.ended_at is null
    and p.period_end - billing.clock() > interval '0'
    and not exists (select from billing.replacements r where r.kind = 'payment' and r.id = p.id::text)
)
select
  x.user_id, x.created_at as since, x.extra_of as payment_id, x.gateway_payment_id,
  'a further payment on the order' as reason
from public.payments x
where x.extra_of is not null
  and billing.kept(x) > 0
  -- The gateway refunds a payment that was verified but not captured within five days.
  and (x.confirmed_at is not null or x.captured_at > (select billing.clock()) - interval '5 days')
union all
select
  p.user_id, p.fulfilled_at, p.id, p.gateway_payment_id,
  (array[
    'another payment for the same time', 'the gateway bills the same time', 'captured after a newer purchase',
    'ordered before another purchase for the same time was paid'
  ])[overlap.reason]
from running p
-- For each payment, so that a condition on the user comes before all of it.
cross join lateral (
  select min(case
    when o.tier = p.tier and o.reason is not null then o.reason
    -- Only a webhook announced this older order, after a newer purchase.
    when p.verified_at is null and o.since > p.since and o.at < p.fulfilled_at then 3
    -- Such as in another tab: the order could credit nothing.
    when p.credit is null and o.is_paid and o.at > p.created_at and o.at < p.fulfilled_at then 4
  end) as reason
  from (
    select
      other.tier, other.since, other.fulfilled_at as at, true as is_paid,
      case when (other.fulfilled_at, other.since, other.id) < (p.fulfilled_at, p.since, p.id) then 1 end as reason
    from running other
    where other.user_id = p.user_id
      and other.id <> p.id
      and other.period_start < p.period_end
      and other.period_end > p.period_start
    union all
    select billed.tier, began.at, began.at, began.is_paid, case when began.is_paid then 2 end
    from billing.sources billed
    join billing.gateway_subscriptions m on m.user_id = billed.user_id and m.gateway_subscription_id = billed.id
    cross join lateral (
      select
        -- A later activation, after the payment, changes nothing.
        billing.authorised_at(m) as at,
        -- A trial is not paid for.
        num_nonnulls(m.activated_at, m.first_charged_at) > 0 as is_paid
    ) began
    where billed.user_id = p.user_id
      and billed.kind = 'gateway_subscription'
      and billed.ended_at is null
      and billed.ends_at > billing.clock()
      and billed.starts_at < p.period_end
      and billed.ends_at > p.period_start
  ) o
) overlap
where overlap.reason is not null;
comment on view billing.paid_twice is
  'Payments for something that was already paid: a further payment on an order, or one whose period overlaps another paid '
  'period that still runs. A refund ends the finding. With early_renewal = extend renewals do not overlap.';

create view billing.unexpected_charges with (security_invoker = true) as
select
  m.user_id, c.captured_at as since, found.finding, m.gateway_subscription_id, c.gateway_payment_id, c.amount,
  c.period_start, c.period_end
from billing.gateway_subscriptions m
-- Of most subscriptions no charge but the newest is read: the rest would take most of the time of this view.
cross join lateral (
  select
    least(
      case when m.status = 'cancelled' then m.cancelled_at end,
      case
        when m.cancel_at_period_end or m.status = 'cancelled' or m.gateway_status in ('completed', 'expired')
          or num_nonnulls(m.stops_at, m.ended_at) > 0
          then least(billing.cancelled_by_user_at(m.user_id, m.asked_at), m.undone_at)
      end
    ) as cancelled_at,
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
      known.is_one_of_several or known.is_charged_twice or known.cancelled_at is not null
      or p.period_end > (select billing.clock())
    )
  offset 0
) c
cross join lateral (
  select
    case when known.cancelled_at < c.captured_at then 'charged_after_cancellation' else 'charged_after_replacement' end as finding
  where known.cancelled_at < c.captured_at
    or known.is_one_of_several and exists (
      select from billing.purchases newer
      left join billing.gateway_subscriptions s
        on (s.user_id, s.gateway_subscription_id) = (newer.user_id, newer.id)
      -- Checks the authorisation, too, because a later activation moves newer.since past the charge.
      cross join lateral (values (newer.since), (billing.authorised_at(s))) there (since)
      where newer.user_id = m.user_id
        and newer.kind in ('payment', 'gateway_subscription')
        and newer.id <> m.gateway_subscription_id
        -- A change replaces nothing before its start. The gateway's clock may be ahead of ours.
        and (s.replaces = m.gateway_subscription_id and s.payment_id is null and s.starts_at > c.period_start) is not true
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
        and coalesce(least(known.cancelled_at, m.cancelled_at) > n.captured_at, true)
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
    and (
      c.currency <> (m.sold).currency
      -- The quantity may have been edited after the charge: that is a finding of its own.
      or c.amount not in ((m.sold).amount, (m.sold).amount / coalesce(m.quantity, 1))
    )
) found
where billing.kept(c.payment) > 0;
comment on view billing.unexpected_charges is
  'Charges of a gateway subscription after its user cancelled it or a newer purchase replaced it; a second charge of one '
  'cycle, or of one plan for the same time (charged_twice: the service cancels the older subscription); charges of '
  'another amount or currency than the price that was sold (mismatch). A refund of the charge ends the finding.';

-- Returns whether support noted something about a payment since then, which ends some findings about it.
create function billing.is_noted(p_payment public.payments, p_since timestamptz)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return exists (
    select from billing.support_actions a
    where a.action = 'note'
      and a.reference in (p_payment.id::text, p_payment.gateway_payment_id)
      and a.created_at >= p_since
  );
end $$;

create view billing.dispute_lost with (security_invoker = true) as
select
  p.user_id,
  p.captured_at as since,
  case when p.gateway_subscription_id is null then p.id end as payment_id,
  p.tier, p.amount, lost.amount as lost, billing.kept(p) as kept, p.gateway_payment_id
from public.payments p
cross join lateral (select billing.lost_amount(p.gateway_payment_id) as amount offset 0) lost
where p.dispute_status is not null
  and lost.amount > 0
  -- An admin accepted that a part was lost.
  and not (billing.kept(p) > 0 and billing.is_noted(p, coalesce(p.dispute_event_at, p.captured_at)))
  and (
    p.period_end > (select billing.clock()) and exists (
      select from billing.sources s
      where (s.user_id, s.id) = (p.user_id, coalesce(p.gateway_subscription_id, p.id::text)) and s.is_running
    )
    or exists (select from billing.purchases_on_credit(p))
  );
comment on view billing.dispute_lost is
  'Payments of which something was lost in disputes, until the support action end_access, or until the period is over or the '
  'gateway subscription is cancelled (a cycle has no payment_id); also while a purchase runs that was paid for with the credit of the payment. '
  'If a part was kept, a support action note about the payment ends it, too.';

create view billing.returned_too_much with (security_invoker = true) as
select
  p.user_id, coalesce(p.dispute_event_at, p.captured_at, p.created_at) as since, p.gateway_payment_id, p.currency,
  coalesce(p.paid_amount, p.amount) as paid, p.refunded_amount as refunded, lost.amount as lost
from public.payments p
cross join lateral (select billing.lost_amount(p.gateway_payment_id) as amount offset 0) lost
where p.refunded_amount > 0
  and p.refunded_amount + lost.amount > coalesce(p.paid_amount, p.amount)
  and not billing.is_noted(p, coalesce(p.dispute_event_at, p.captured_at, p.created_at));
comment on view billing.returned_too_much is
  'Payments of which more was refunded and lost in disputes than was paid, in minor units. A support action note about the '
  'payment ends the finding, or a refund that fails.';

create view billing.outbox_stuck with (security_invoker = true) as
select
  billing.user_of_message(o) as user_id,
  coalesce(o.parked_at, least(o.next_attempt_at, o.queued_at)) as since,
  o.id, o.key, o.destination,
  case when o.parked_at is null then 'due' else 'parked' end as state,
  o.attempts, o.last_error, p.at as paused_until
from billing.outbox o
left join billing.marks p on p.kind = 'pause' and p.key = o.destination
-- Three parts, each of which reads a range of an index: of all that wait most are due later.
where o.delivered_at is null
  and o.parked_at is null
  and o.next_attempt_at < (select billing.clock()) - interval '15 minutes'
  -- It is tried until the gateway has it.
  or o.delivered_at is null
  and o.parked_at is null
  and o.destination = 'gateway'
  and o.kind = 'cancel-subscription'
  and o.queued_at < (select billing.clock()) - interval '48 hours'
  or o.delivered_at is null
  and o.parked_at is not null
  and o.last_error is distinct from 'withdrawn'
  and (
    o.kind <> 'refund'
    or not exists (
      select from billing.refunds r
      where r.gateway_payment_id = o.payload ->> 'gateway_payment_id'
        and r.support_action_id = billing.number_of(o.payload ->> 'support_action')
    )
    and (
      not billing.is_refused(o)
      or billing.is_refund_owed(o.payload ->> 'gateway_payment_id', (o.payload ->> 'amount')::bigint, o.parked_at)
    )
  );
comment on view billing.outbox_stuck is
  'Side effects that are due for more than 15 minutes (the destination is not configured, or paused until paused_until), stops '
  'that the gateway did not get for 48 hours, or parked, with the cause in last_error. billing.requeue(id) retries one. A refund that the gateway made is not listed, nor '
  'one that was refused if the payment was refunded since, or has a newer support action note.';

create view billing.failed_refunds with (security_invoker = true) as
select p.user_id, r.failed_at as since, r.refund_id, r.gateway_payment_id, r.amount, p.currency
from billing.refunds r
join public.payments p using (gateway_payment_id)
where r.status = 'failed' and billing.is_refund_owed(r.gateway_payment_id, r.amount, r.failed_at);
comment on view billing.failed_refunds is
  'Refunds that failed at the gateway, also after they were processed: the customer did not get the money. A further refund '
  'of the payment, or a support action note about it, ends the finding.';

create view billing.failed_events with (security_invoker = true) as
select
  coalesce(p.user_id, billing.json_uuid(e.payload #> '{payload,subscription,entity,notes,user_id}')) as user_id,
  e.received_at as since, e.body_sha256, e.event, e.subject_id, e.outcome, e.attempts, p.id as payment_id
from billing.unsettled_events u
-- By its key: few events are unsettled, and many are stored.
cross join lateral (select g.* from billing.gateway_events g where g.body_sha256 = u.body_sha256 offset 0) e
left join public.payments p on p.gateway_order_id = e.subject_id
cross join lateral (
  select
    billing.json_text(e.payload #> '{payload,payment,entity,id}') as id,
    billing.json_integer(e.payload #> '{payload,payment,entity,amount}') as amount
) paid
where e.outcome <> 'unmatched' -- such as a dispute that waits for its payment
  -- An event without its payload cannot be applied again.
  and e.payload is not null
  and case e.outcome
    -- Until the payment is fulfilled or refunded.
    when 'plan_not_found' then p.fulfilled_at is null and not billing.is_refunded(p)
    when 'mismatch' then
      case e.event
        -- It is normal of a gateway subscription that is not attached.
        when 'subscription.cancelled' then false
        -- The activation may still arrive.
        when 'subscription.charged' then e.received_at < (select billing.clock()) - interval '15 minutes'
        else true
      end
      and (p.gateway_payment_id = paid.id and p.fulfilled_at is not null and e.event not like 'refund.%') is not true
      and (paid.amount > 0 and billing.refunded_amount(paid.id) >= paid.amount) is not true
    else true
  end;
comment on view billing.failed_events is
  'Webhooks that should have had an effect but had none (mismatch: not the amount or currency of the order, or a refund '
  'that is known with another payment or amount). A replay, a '
  'refund, or the end of the payload after 90 days ends the finding.';

create view billing.unearned_credits with (security_invoker = true) as
select
  p.user_id, p.fulfilled_at as since, p.id as payment_id, p.gateway_payment_id, p.amount, p.currency, p.credit, p.credited_kind,
  p.credited_id,
  case
    when twice.is_second then 'another payment has the same credit'
    when paid.is_less then 'the credited payment was refunded or lost'
    else 'paid more than a day after the order'
  end as reason
from public.payments p
join billing.replacements r on r.payment_id = p.id
cross join lateral (
  select exists (
    select from billing.replacements first
    where first.id = r.id
      and first.kind = r.kind
      and first.user_id = r.user_id
      and (r.kind = 'payment' or first.until = r.until)
      and (first.fulfilled_at, first.since, first.payment_id) < (r.fulfilled_at, r.since, r.payment_id)
  ) as is_second
) twice
cross join lateral (
  select billing.paid_for(r.user_id, r.kind, r.id, r.until, p.currency) < p.credited_amount as is_less
) paid
where p.credited_id is not null
  and (p.period_end - billing.clock() > interval '0' or exists (select from billing.purchases_on_credit(p)))
  and (twice.is_second or paid.is_less or p.fulfilled_at > p.created_at + interval '1 day');
comment on view billing.unearned_credits is
  'Payments whose credit was not covered when they were fulfilled. An order is what was sold, so the payment gives its tier. '
  'The finding ends with the period, and with those of the purchases that it was credited to.';

create view billing.unmailed_payments with (security_invoker = true) as
select p.user_id, p.fulfilled_at as since, p.id as payment_id, p.gateway_payment_id
from public.payments p
cross join lateral billing.find_user(p.user_id) u
-- Older payments are not listed: mail rows are kept for at least 30 days after their delivery. A payment that is captured
-- long after it was verified was mailed when it was verified.
where least(p.fulfilled_at, p.verified_at) > billing.clock() - interval '30 days'
  and p.period_end - billing.clock() > interval '-30 days'
  and u.email <> ''
  and not exists (select from billing.outbox o where o.key = 'payment-success/' || p.id)
  and not billing.is_noted(p, '-infinity');
comment on view billing.unmailed_payments is
  'Payments of the last 30 days without a success mail, although the user has an address: the user had no profile then. A '
  'support action note about the payment ends the finding.';
