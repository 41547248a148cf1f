-- For an admin and a monitor: health, support, entitlement, findings.

-- For a monitor: whether the database answers, the oldest undelivered side effect, the newest webhook and sweep.
-- API: service_role only.

create function public.get_health(
  p_destinations text default null -- those that are configured, comma-separated; null: all
)
returns jsonb -- {oldest_undelivered_at, last_webhook_at, last_sweep_at}: ISO 8601 or null
language sql
stable
security invoker
set search_path = ''
as $$
  select jsonb_build_object(
    'oldest_undelivered_at', (
      -- Since when it is due: a cancellation may be planned for next year.
      select private.iso_time(min(o.queued_at))
      from private.outbox o
      where o.delivered_at is null
        and o.parked_at is null
        and o.queued_at <= private.clock()
        and (p_destinations is null or o.destination = any (string_to_array(p_destinations, ',')))
    ),
    'last_webhook_at', (select private.iso_time(max(e.received_at)) from private.gateway_events e where e.deliveries > 0),
    'last_sweep_at', (select private.iso_time(j.done_at) from private.scheduled_jobs j where j.name = 'sweep')
  )
$$;
comment on function public.get_health(text) is
  'The oldest side effect that is due, the newest webhook and the newest sweep; no customer data.';
revoke execute on function public.get_health(text) from public, anon, authenticated;
grant execute on function public.get_health(text) to service_role;

-- For an admin: complimentary tiers, and why a user has the tier that they have.

-- Grants a tier without a payment, until a given time. What is paid goes on below it.
create function private.grant_tier(
  p_user_id uuid,
  p_tier text,
  p_until timestamptz,
  p_reason text
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_email text;
begin
  v_email := private.lock_user(p_user_id);
  if v_email is null then
    raise exception 'no such user' using errcode = 'PS404';
  end if;
  if p_until is null or p_until <= private.clock() then
    raise exception 'the end of a grant lies in the future' using errcode = 'PS400';
  end if;
  perform private.note_cause('grant', p_reason);
  insert into private.grants (user_id, tier, until, reason, at)
  values (
    p_user_id, p_tier, date_trunc('milliseconds', p_until), p_reason,
    greatest(
      private.clock(),
      (select s.updated_at + interval '1 microsecond' from public.subscriptions s where s.user_id = p_user_id)
    )
  );
  perform private.settle_access(p_user_id, v_email);
end
$$;
revoke execute on function private.grant_tier(uuid, text, timestamptz, text) from public;

-- Ends a grant at once. Another source takes over, where there is one.
create function private.revoke_grant(
  p_grant_id bigint
)
returns boolean -- whether there was such a grant to revoke
language plpgsql
set search_path = ''
as $$
declare
  v_user_id uuid;
  v_email text;
begin
  select g.user_id into v_user_id from private.grants g where g.id = p_grant_id;
  v_email := private.lock_user(v_user_id);
  update private.grants g
  set ended_at = private.clock(),
    ended_reason = 'revoked'
  where g.id = p_grant_id
    and g.ended_at is null;
  if not found then
    return false;
  end if;
  perform private.note_cause('grant revoked', p_grant_id::text);
  perform private.settle_access(v_user_id, v_email);
  return true;
end
$$;
revoke execute on function private.revoke_grant(bigint) from public;

-- Ends the access that a payment gives, such as after a lost dispute. Another source takes over, where there is one.
create function private.end_payment_access(
  p_payment_id uuid,
  p_reason text -- such as dispute_lost
)
returns boolean -- whether the payment gave access
language plpgsql
set search_path = ''
as $$
declare
  v_payment public.payments;
  v_email text;
begin
  select * into v_payment from public.payments p where p.id = p_payment_id;
  v_email := private.lock_user(v_payment.user_id);
  update public.payments p
  set ended_at = private.clock(),
    ended_reason = p_reason
  where p.id = p_payment_id
    and p.fulfilled_at is not null
    and p.ended_at is null;
  if not found then
    return false;
  end if;
  perform private.note_cause(p_reason, v_payment.gateway_payment_id);
  if v_payment.chain_id is not null or v_payment.chain_start is not null then
    perform private.lay_out_chain(coalesce(v_payment.chain_id, v_payment.id));
  end if;
  perform private.settle_access(v_payment.user_id, v_email);
  return true;
end
$$;
revoke execute on function private.end_payment_access(uuid, text) from public;

-- The history behind a user's tier, oldest first.
create function private.explain_user(
  p_user_id uuid
)
returns table (at timestamptz, what text, reference text, detail jsonb)
language sql
stable
set search_path = ''
as $$
  select line.at, line.what, line.reference, line.detail
  from (
    select
      1 as rank,
      0 as id,
      p.created_at as at,
      'payment created' as what,
      p.gateway_order_id as reference,
      jsonb_build_object('amount', p.amount, 'tier', private.tier_bought(p)) as detail
    from public.payments p
    where p.user_id = p_user_id
    union all
    select
      2,
      0,
      e.received_at,
      e.event,
      e.subject_id,
      jsonb_build_object('outcome', e.outcome, 'deliveries', e.deliveries, 'created_at', e.event_at)
    from private.gateway_events e
    where e.subject_id in (
      select p.gateway_order_id from public.payments p where p.user_id = p_user_id
      union all
      select m.gateway_subscription_id from private.gateway_subscriptions m where m.user_id = p_user_id
    )
    union all
    select
      3,
      0,
      p.fulfilled_at,
      'payment fulfilled',
      p.gateway_payment_id,
      jsonb_build_object('tier', p.tier, 'period_end', p.period_end, 'refunded_amount', p.refunded_amount)
    from public.payments p
    where p.user_id = p_user_id
      and p.fulfilled_at is not null
    union all
    select
      4,
      g.id,
      g.at,
      'tier granted',
      g.reason,
      jsonb_build_object('tier', g.tier, 'until', g.until)
    from private.grants g
    where g.user_id = p_user_id
    union all
    select
      5,
      c.id,
      c.at,
      'tier ' || coalesce(c.from_tier, 'none') || ' to ' || coalesce(c.to_tier, 'none'),
      c.reference,
      jsonb_build_object('cause', c.cause)
    from private.tier_changes c
    where c.user_id = p_user_id
    union all
    -- Where each source stands now: the live one with the greatest since rules.
    select
      6,
      0,
      coalesce(s.ended_at, s.starts_at, s.since),
      'source: ' || s.kind,
      coalesce(s.gateway_subscription_id, s.id),
      jsonb_build_object(
        'tier', s.tier,
        'starts_at', s.starts_at,
        'ends_at', s.ends_at,
        'since', s.since,
        'ended_at', s.ended_at,
        'reason', s.ended_reason,
        'cancel_at_period_end', s.cancel_at_period_end,
        'live', s.ended_at is null and s.lapses_at > private.clock(),
        'rules', s.kind = (ruling.source).kind and s.id = (ruling.source).id and ruling.is_live
      )
    from private.sources s
    cross join (select (r).source, (r).is_live from (select private.find_ruling(p_user_id) as r offset 0) found) ruling
    where s.user_id = p_user_id
  ) line
  -- What one transaction did has one time: cause before effect.
  order by line.at, line.rank, line.id, line.reference
$$;
revoke execute on function private.explain_user(uuid) from public;

-- For an admin: every paying user has the tier, and no user has what is not paid for. Each row is a user of whom that is
-- not true. Where an index leads to the rows, the clock is called, so that the planner can estimate them; elsewhere the
-- clock is read once a query: a call for each row of a large table would take longer than the rest.

-- An entry a purchase.
create index payments_period_end_idx on public.payments (period_end)
where fulfilled_at is not null;

create view private.paid_not_entitled
with (security_invoker = true)
as
select
  paid.user_id,
  paid.since,
  paid.payment_id,
  paid.tier,
  paid.reference as gateway_payment_id,
  paid.period_end,
  s.status as subscription_status,
  s.ended_reason
from (
  select
    p.user_id, p.fulfilled_at as since, p.id::text as payment_id, p.tier, p.gateway_payment_id as reference, p.period_end
  from public.payments p
  where p.fulfilled_at is not null
    and p.period_end > private.clock()
    and p.ended_at is null
    and p.user_id is not null
  union all
  select
    g.user_id, g.arrived_at, g.gateway_subscription_id, g.tier, g.gateway_subscription_id, g.ends_at
  from private.sources g
  where g.kind = 'gateway_subscription'
    and g.ends_at > (select private.clock())
    and g.ended_at is null
) paid
left join public.subscriptions s on s.user_id = paid.user_id
where s.status is distinct from 'active'
  and exists (select from private.find_user(paid.user_id));
comment on view private.paid_not_entitled is
  'Users whose paid period runs and who have no active subscription, though they did not cancel it. Look at '
  'private.explain_user(user_id); private.grant_tier until period_end gives what was paid for, a refund at the '
  'gateway ends the finding, too. Reads the payments whose period runs.';

create view private.entitled_not_paid
with (security_invoker = true)
as
select
  holder.user_id,
  coalesce(
    case when s.is_over then s.ends_at end,
    (select max(c.at) from private.tier_changes c where c.user_id = holder.user_id),
    s.updated_at
  ) as since,
  case when s.is_over then 'its period is over' else 'nothing pays for it' end as reason,
  pr.subscription_tier as profile_tier,
  s.tier as subscription_tier,
  s.current_period_end,
  s.gateway_subscription_id
from (
  select p.user_id, p.subscription_tier
  from public.profiles p
  where p.subscription_tier <> 'free'
) pr
full join (
  select
    a.*,
    -- The sweep runs once a minute; reconciliation of what the gateway bills may take a day.
    ends.at as ends_at,
    ends.at < (select private.clock()) as is_over
  from public.subscriptions a
  left join public.plans pl on pl.id = a.plan_id
  cross join lateral (
    select a.current_period_end
      + make_interval(
        days => coalesce(pl.grace_days, 3) + case when a.gateway_subscription_id is null then 0 else 1 end,
        hours => 1
      ) as at
  ) ends
  where a.status = 'active'
) s on s.user_id = pr.user_id
cross join lateral (
  select coalesce(s.user_id, pr.user_id) as user_id, coalesce(s.tier, pr.subscription_tier) as tier
) holder
where s.is_over
  or s.gateway_subscription_id is null
  and not exists (
    select
    from private.sources o
    where o.user_id = holder.user_id
      and o.kind <> 'manual'
      and o.tier = holder.tier
      and o.ended_at is null
      and o.lapses_at + interval '1 hour' > (select private.clock())
  );
comment on view private.entitled_not_paid is
  'Users with a tier or an active subscription that no running payment, no gateway subscription and no grant '
  'carries, or whose period is long over. Look at private.explain_user(user_id); private.grant_tier makes it '
  'complimentary, else set the subscription to cancelled and the profile to free. A report: reads every active '
  'subscription and every profile.';

create view private.tier_mismatch
with (security_invoker = true)
as
select
  s.user_id,
  coalesce((select max(c.at) from private.tier_changes c where c.user_id = s.user_id), s.updated_at) as since,
  pr.subscription_tier as profile_tier,
  s.tier as subscription_tier,
  s.status as subscription_status,
  s.ended_reason
from public.subscriptions s
left join public.profiles pr on pr.user_id = s.user_id
where coalesce(pr.subscription_tier, 'free') <> case when s.status = 'active' then s.tier else 'free' end
  -- Activated for a period that is over, it gives no access until it is charged.
  and (
    s.status = 'active'
    and s.current_period_end <= (select private.clock())
    and coalesce(pr.subscription_tier, 'free') = 'free'
  ) is not true;
comment on view private.tier_mismatch is
  'Profiles with another tier than the active subscription''s, or with a tier though the subscription has ended. '
  'Look at private.explain_user(user_id) for who wrote it, then set the profile''s tier. A report: reads every '
  'subscription and its profile.';

-- For an admin: what needs attention, one view for each kind, and all of them in private.findings.

-- These indexes hold no normal payment, so they stay small.
create index payments_unsettled_idx on public.payments (captured_at)
where uncaptured_at is not null or dispute_status = 'lost' or status = 'captured' and fulfilled_at is null;
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
    when (private.plan_bought(p)).id is null then 'no plan of this tier'
    else 'not confirmed with its amount'
  end as reason
from public.payments p
where p.status = 'captured'
  and p.fulfilled_at is null
  and (p.amount = 0 or p.refunded_amount < p.amount);
comment on view private.captured_not_fulfilled is
  'Captured payments that granted nothing, and why. "no plan of this tier": add the plan, then private.replay_event or '
  'verify again. "not confirmed with its amount": look the payment up at the gateway. "paid, user gone": refund it '
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
where x.refunded_amount < p.amount
  -- One that was only verified and not captured within five days is refunded by the gateway.
  and (x.confirmed_at is not null or x.paid_at > (select private.clock()) - interval '5 days')
union all
select
  p.user_id,
  p.fulfilled_at,
  p.id,
  p.gateway_payment_id,
  case
    when exists (
      select
      from public.payments other
      where other.user_id = p.user_id
        and other.tier = p.tier
        and other.fulfilled_at is not null
        and other.ended_at is null
        and other.period_end > private.clock()
        and (other.fulfilled_at, other.since, other.id) < (p.fulfilled_at, p.since, p.id)
        and other.period_start < p.period_end
        and other.period_end > p.period_start
    ) then 'another payment for the same time'
    when exists (
      select
      from private.sources billed
      where billed.user_id = p.user_id
        and billed.kind = 'gateway_subscription'
        and billed.tier = p.tier
        and billed.ended_at is null
        and billed.ends_at > private.clock()
        and billed.starts_at < p.period_end
        and billed.ends_at > p.period_start
    ) then 'the gateway bills the same time'
    else 'captured after a newer purchase'
  end
from public.payments p
where p.fulfilled_at is not null
  and p.ended_at is null
  and p.period_end > private.clock()
  and (
    exists (
      select
      from public.payments other
      where other.user_id = p.user_id
        and other.id <> p.id
        and other.fulfilled_at is not null
        and other.ended_at is null
        and other.period_end > private.clock()
        and other.period_start < p.period_end
        and other.period_end > p.period_start
        and (
          other.tier = p.tier and (other.fulfilled_at, other.since, other.id) < (p.fulfilled_at, p.since, p.id)
          -- A webhook alone fulfilled an older order, after a newer purchase.
          or p.verified_at is null and other.since > p.since and other.fulfilled_at < p.fulfilled_at
        )
    )
    or exists (
      select
      from private.sources billed
      where billed.user_id = p.user_id
        and billed.kind = 'gateway_subscription'
        and billed.ended_at is null
        and billed.ends_at > private.clock()
        and billed.starts_at < p.period_end
        and billed.ends_at > p.period_start
        and (
          billed.tier = p.tier
          -- By its first activation: another one after the payment changes nothing.
          or p.verified_at is null and exists (
            select
            from private.gateway_subscriptions m
            where m.user_id = p.user_id
              and m.gateway_subscription_id = billed.id
              and least(m.first_activated_at, m.first_charged_at) > p.since
              and least(m.first_activated_at, m.first_charged_at) < p.fulfilled_at
          )
        )
    )
  );
comment on view private.paid_twice is
  'Payments too many. "a further payment on the order": refund it at the gateway, whose refund.processed ends the '
  'finding. The others name a payment whose period overlaps another paid one that still runs: refund it, or lengthen '
  'the access with private.grant_tier. early_renewal = extend prevents renewals that overlap. Reads the payments whose '
  'period runs.';

-- A charge that the customer no longer expected. Reads the charges of gateway subscriptions that were replaced or
-- cancelled.
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
      -- Also by its first activation: another one later changes nothing.
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
  'gives access; refund the charge at the gateway if the customer asks for it, which ends the finding, and cancel the '
  'subscription there.';

create view private.never_captured
with (security_invoker = true)
as
select p.user_id, p.uncaptured_at as since, p.id as payment_id, p.tier, p.amount, p.gateway_payment_id
from public.payments p
where p.uncaptured_at is not null;
comment on view private.never_captured is
  'Payments that a customer verified and the gateway never captured: their access was ended. Look the payment up at the '
  'gateway; a capture that arrives after all fulfils it and ends the finding.';

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
  'Payments that were lost to a dispute. Access stays until private.end_payment_access(payment_id, ''dispute_lost'') ends '
  'it, and the finding with it. A cycle of a gateway subscription has no payment_id: cancel the subscription there.';

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
  'Users whose lapsed subscription could not be ended, or whose waiting one could not be settled: error is the SQLSTATE, usually of an app''s own trigger on the '
  'profile. Repair the cause; it is tried again every hour.';

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
  -- A row that was parked without a claim was withdrawn, not given up.
  and o.claims <> '{}';
comment on view private.outbox_stuck is
  'Side effects that were not delivered: due for more than 15 minutes, or given up (parked). Due ones: does the '
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
  -- An emptied one can't be applied again.
  and e.payload is not null
  and case e.outcome
    -- Listed until it is fulfilled or refunded.
    when 'plan_not_found' then p.fulfilled_at is null and (p.amount = 0 or p.refunded_amount < p.amount)
    when 'mismatch' then
      -- Refunds and disputes of a payment that does not count, and cancellations of a gateway subscription that is not
      -- attached, are as they should be. The activation of one that is charged may be on its way.
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
  'Webhooks that had no effect and should have had one. failed, parked: the error is in the ledger; plan_not_found: '
  'add the plan; then private.replay_event(body_sha256). mismatch: a payment of another amount or currency than the '
  'order''s: refund it at the gateway; shown as long as its payload is kept, 90 days.';

-- The rights that Postgres itself gives on a new function, to everybody, stay: taking them away would close functions of
-- the app, too.
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
  'Functions of schema public that PUBLIC may call and that run with the rights of their owner. Close them, or say in a '
  'comment that they are meant: remedy has the statements.';

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
select 'dispute_lost', coalesce(v.payment_id::text, v.gateway_payment_id), v.user_id, v.since, to_jsonb(v) - '{user_id, since}'::text[]
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
  'Everything that needs an admin''s attention: the view that says more, its subject, its user, and since when. Empty: '
  'nothing to do.';
