-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

comment on view billing.outbox_stuck is null;

-- Returns how long a side effect is tried. Of a stop null, until the gateway has it: else it charges what was cancelled, once it
-- answers again.
create or replace function billing.tried_for(p_kind text)
returns interval language sql immutable set search_path = pg_catalog, pg_temp
return case when p_kind <> 'cancel-subscription' then interval '24 hours' end;

-- After the lease, rows that were neither completed nor failed may be claimed again.
create or replace function public.claim_outbox(p_destinations text) -- comma-separated
returns jsonb
-- {token, rows: [{id, destination, key, kind, payload}], at most 20 of a destination with the parked ones, parked (how many),
-- more: the destinations that may have further due rows, next_attempt_at: of the rows that are due later, ISO 8601 in UTC}
language plpgsql volatile
set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off
set plan_cache_mode = force_generic_plan as $$
declare
  v_now constant timestamptz := billing.clock();
  v_token constant uuid := gen_random_uuid();
  v_destinations constant text[] := string_to_array(p_destinations, ',');
  v_next timestamptz := billing.next_attempt(v_destinations);
  v_result jsonb;
begin
  -- Most claims find nothing, and need no more than this.
  if (v_next <= v_now) is not true then
    return jsonb_build_object(
      'token', v_token, 'rows', '[]'::jsonb, 'parked', 0, 'more', '[]'::jsonb, 'next_attempt_at', billing.iso_time(v_next)
    );
  end if;
  v_next := billing.next_attempt(v_destinations, v_now);
  with due as materialized (
    select first.*
    from unnest(v_destinations) d (destination)
    cross join lateral (
      select
        o.id,
        -- Too old: tried for a day, or a mail that waited for a day. Then the provider no longer knows the idempotency key.
        o.queued_at <= v_now - billing.tried_for(o.kind)
          and (o.attempts > 0 or o.destination in ('email', 'notice')) as is_over,
        o.kind = 'refund' and not billing.may_refund(o) as is_void
      from billing.outbox o
      where o.destination = d.destination
        and o.delivered_at is null
        and o.parked_at is null
        and o.next_attempt_at <= v_now
      order by o.next_attempt_at
      limit 20
      for update skip locked
    ) first
    where not exists (select from billing.marks m where m.kind = 'pause' and m.key = d.destination and m.at > v_now)
  ),
  claimed as (
    update billing.outbox o
    -- Of the tokens the newest 20 remain: no older claim still runs, and repeated pauses must not grow the row.
    set claims = (o.claims || v_token)[greatest(cardinality(o.claims) - 18, 1):],
      next_attempt_at = v_now + interval '60 seconds',
      attempts = o.attempts + 1,
      parked_at = case when due.is_over or due.is_void then v_now end,
      last_error = case
        when due.is_void then 'no longer refundable'
        when due.is_over then coalesce(o.last_error, 'not delivered within 24 hours')
        else o.last_error
      end
    from due
    where o.id = due.id
    returning o.id, o.destination, o.key, o.kind, o.payload, o.parked_at
  )
  select jsonb_build_object(
    'token', v_token,
    'rows', coalesce(
      jsonb_agg(
        jsonb_build_object('id', c.id, 'destination', c.destination, 'key', c.key, 'kind', c.kind, 'payload', c.payload)
        order by c.id
      ) filter (where c.parked_at is null),
      '[]'
    ),
    'parked', count(c.parked_at),
    'more', coalesce(
      (select jsonb_agg(f.destination) from (select destination from claimed group by destination having count(*) = 20) f), '[]'
    ),
    'next_attempt_at', billing.iso_time(v_next)
  )
  into v_result
  from claimed c;
  return v_result;
end $$;

-- What the gateway must be told: for each subscription that it may still charge, whether it must stop, and when. Derived from
-- facts by billing.find_stop; only differences are written. The requests of the customer to cancel and to resume.
-- Contract: POST /api/subscriptions/cancel, POST /api/subscriptions/resume.

-- Returns when the newest act of a user was. The next one is not before it, also where others wrote while it waited for the
-- lock, or the clock was set back. The caller holds the lock on the user.
create function billing.last_act_at(p_user_id uuid)
returns timestamptz -- null: none
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return greatest(
    (select max(greatest(m.asked_at, m.arrived_at)) from billing.gateway_subscriptions m where m.user_id = p_user_id),
    (select max(p.since) from public.payments p where p.user_id = p_user_id),
    (select max(w.at) from billing.wishes w where w.user_id = p_user_id)
  );
end $$;

-- Contract: POST /api/subscriptions/cancel.
create or replace function public.cancel_subscription(
  p_user_id uuid,
  p_at_period_end boolean -- true: the tier stays until the paid period ends; false: access ends now
)
returns jsonb -- {outcome: cancelled | subscription_not_found, subscription}: null, if nothing gave access yet
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_email text;
  v_subscription public.subscriptions;
  v_wish billing.wishes;
  v_is_active boolean;
begin
  perform billing.begin_request('cancellation', null);
  v_email := billing.lock_user(p_user_id);
  select * into v_subscription from public.subscriptions s where s.user_id = p_user_id for update;
  v_is_active := coalesce(v_subscription.status = 'active', false);
  -- A deleted user's subscriptions are stopped in any case.
  if v_email is null or not v_is_active and not billing.may_be_charged(p_user_id) then
    return jsonb_build_object('outcome', 'subscription_not_found');
  end if;

  -- A repeated cancellation for the period's end writes nothing: one stands that covers everything.
  if not (
    p_at_period_end
    and (v_subscription.cancel_at_period_end or not v_is_active)
    and exists (
      select from billing.ends_wished w
      where w.user_id = p_user_id
        and w.at >= coalesce((select max(p.since) from public.payments p where p.user_id = p_user_id), '-infinity')
    )
    and not exists (
      select from billing.stoppable s where s.user_id = p_user_id and s.is_open and (s.is_wish is null or s.stops_at is null)
    )
  ) then
    insert into billing.wishes (user_id, at_period_end, at)
    values (p_user_id, p_at_period_end, greatest(billing.clock(), billing.last_act_at(p_user_id)))
    returning * into v_wish;
    if not p_at_period_end then
      perform billing.end_sources(p_user_id);
    elsif v_is_active then
      perform billing.mark_sources(p_user_id, true);
    end if;
    perform billing.settle_access(p_user_id, v_email);
    perform billing.announce_cancellation(v_wish, v_email, v_subscription);
  end if;
  return jsonb_build_object('outcome', 'cancelled', 'subscription', billing.subscription_answer(p_user_id));
end $$;

-- Returns the user's open request of a subscription at a price, else a new one to make at the gateway. The caller holds the
-- lock on the user.
create or replace function billing.request_subscription(
  p_user_id uuid,
  p_plan public.plans,
  p_request billing.gateway_subscriptions, -- that the idempotency key names
  p_idempotency_key text,
  p_gateway_key_id text,
  p_starts_at timestamptz default null, -- null: at the authorisation
  p_replaces text default null, -- the gateway subscription that ends when this one starts
  p_payment_id uuid default null -- pays for the time until p_starts_at
)
returns jsonb -- as public.create_subscription
language plpgsql volatile set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
  v_request billing.gateway_subscriptions := p_request;
  v_refusal jsonb;
  v_sold constant billing.price := billing.price_of(p_plan);
  v_is_trial boolean := false;
begin
  if v_request.id is null then
    select * into v_request
    from billing.gateway_subscriptions m
    where m.user_id = p_user_id
      and (m.asked_plan_id, m.asked_gateway_plan_id) = (p_plan.id, p_plan.gateway_plan_id)
      and m.asked_price is not distinct from v_sold
      and m.replaces is not distinct from p_replaces
      and m.payment_id is not distinct from p_payment_id
      and coalesce(m.gateway_key_id = p_gateway_key_id, true)
      and m.asked_at > v_now - interval '30 minutes'
      and num_nonnulls(m.undone_at, m.stops_at) = 0
      and not billing.is_known(m)
      and (m.gateway_subscription_id is not null or m.asked_at > v_now - interval '30 seconds')
    order by m.gateway_subscription_id is not null desc, m.asked_at desc
    limit 1;
  elsif v_request.gateway_subscription_id is null and v_request.asked_at <= v_now - interval '30 seconds' then
    -- It ended without an answer of the gateway. What it may have made there expires without an authorisation.
    perform billing.forget_request(v_request.id);
    v_request := null;
  end if;
  if v_request.id is not null then
    if v_request.gateway_subscription_id is null then return jsonb_build_object('outcome', 'in_flight'); end if;
    if p_idempotency_key is not null and p_idempotency_key <> all (v_request.idempotency_keys) then
      if cardinality(v_request.idempotency_keys) = 20 then
        return billing.rate_limited(v_request.asked_at + interval '30 minutes');
      end if;
      update billing.gateway_subscriptions m
      set idempotency_keys = m.idempotency_keys || p_idempotency_key
      where m.id = v_request.id;
    end if;
    return billing.requested_answer('existing', v_request, p_plan);
  end if;

  v_refusal := billing.rate_limited((
    select m.asked_at + interval '1 hour'
    from billing.gateway_subscriptions m
    where m.user_id = p_user_id and m.asked_plan_id is not null
    order by m.asked_at desc
    offset 9
    limit 1
  ));
  if v_refusal is not null then return v_refusal; end if;
  -- A trial is for a user who never paid.
  if p_starts_at is null
    and p_plan.trial_days > 0
    and not exists (select from public.payments p where p.user_id = p_user_id and p.captured_at is not null)
    and not exists (
      select from billing.gateway_subscriptions m
      where m.user_id = p_user_id
        and m.arrived_at is not null
        -- Else it was cancelled before its authorisation.
        and (
          m.status is distinct from 'cancelled'
          or num_nonnulls(m.authenticated_at, m.first_activated_at, m.first_charged_at, m.first_halted_at, m.period_end) > 0
        )
    )
  then
    p_starts_at := date_trunc('second', v_now) + make_interval(hours => 24 * p_plan.trial_days);
    v_is_trial := true;
  end if;
  insert into billing.gateway_subscriptions (
    user_id, asked_at, asked_plan_id, asked_tier, asked_gateway_plan_id, asked_price, gateway_key_id, idempotency_keys,
    expires_at, starts_at, is_trial, replaces, payment_id, next_check_at
  )
  values (
    p_user_id, greatest(v_now, billing.last_act_at(p_user_id) + interval '1 microsecond'),
    p_plan.id, p_plan.tier, p_plan.gateway_plan_id, v_sold, p_gateway_key_id,
    array_remove(array[p_idempotency_key], null), v_now + interval '24 hours', p_starts_at, v_is_trial, p_replaces, p_payment_id,
    v_now + interval '25 hours'
  )
  returning * into v_request;
  return billing.requested_answer('created', v_request, p_plan);
end $$;

-- Confirms that a claimed stop still stands, before the gateway is told what is final there: applies what was just read from
-- the gateway, plans again, and notes that the gateway may be told from now on. What was tried without an answer before, and
-- did not cancel it, is planned anew. API: service_role only.
create or replace function public.confirm_stop(
  p_id bigint, -- of the claimed row of the outbox
  p_at_cycle_end boolean, -- as the row was claimed
  p_entity text default null, -- the subscription at the gateway, JSON; null: the gateway has no such subscription
  p_invoices text default null -- its invoices, a JSON array; null: not read
)
returns jsonb -- {outcome: stands | changed | unnamed}. unnamed: a paid cycle is not known here, the invoices name it
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_now constant timestamptz := billing.clock();
  v_entity constant jsonb := p_entity::jsonb;
  v_id constant text := (select o.payload ->> 'gateway_subscription_id' from billing.outbox o where o.id = p_id);
  v_subscription billing.gateway_subscriptions;
  v_email text;
begin
  perform billing.begin_request('reconciliation', v_id);
  -- Locks the payments, whose locks come before that of the user.
  if p_invoices is not null then perform public.apply_invoices(v_id, p_invoices); end if;
  v_subscription := billing.find_subscription(v_id);
  if v_subscription.id is null and v_entity ->> 'status' not in ('created', 'expired', 'cancelled') then
    -- Authorised after its request was forgotten. Its notes name the user, as they do in its events.
    v_subscription.user_id := billing.json_uuid(v_entity #> '{notes,user_id}');
    v_subscription.gateway_subscription_id := v_id;
    -- Without one nothing paid is cut, and a finding asks an admin.
    if coalesce(billing.json_integer(v_entity -> 'paid_count') > 0, v_entity ->> 'current_end' is not null)
      and not billing.is_deleted(v_subscription.user_id)
      and not exists (select from billing.find_user(v_subscription.user_id))
    then
      return jsonb_build_object('outcome', 'changed');
    end if;
  end if;
  v_email := billing.lock_user(v_subscription.user_id);
  if v_email is not null and v_entity is not null then
    if exists (select from billing.gateway_subscriptions m where m.id = v_subscription.id and billing.is_known(m)) then
      perform billing.apply_subscription_read(v_subscription.id, v_entity, false);
    else
      perform billing.apply_request_state(v_subscription, v_entity, null, false);
    end if;
    if p_invoices is null and billing.json_integer(v_entity -> 'paid_count') > (
      select count(distinct p.period_end) from public.payments p where p.gateway_subscription_id = v_id
    ) then
      return jsonb_build_object('outcome', 'unnamed');
    end if;
    update billing.outbox o
    set told_at = null
    where o.id = p_id
      and o.payload @> '{"at_cycle_end": false}'
      and v_entity ->> 'status' is distinct from 'cancelled';
    perform billing.settle_access(v_subscription.user_id, v_email);
    perform billing.release_cancellation_mail(v_subscription.user_id);
  elsif v_entity is null and v_subscription.period_end is not null then
    perform billing.apply_subscription_read(v_subscription.id, null, false);
  end if;
  -- What no plan wants any more: of a subscription that was resumed, or whose user is back.
  if v_email is not null and not exists (
    select from billing.stoppable s where s.gateway_subscription_id = v_id and s.stops_at is not null
  ) then
    update billing.outbox o set parked_at = v_now, last_error = 'withdrawn' where o.id = p_id and o.delivered_at is null;
    return jsonb_build_object('outcome', 'changed');
  end if;
  update billing.outbox o
  set told_at = v_now
  where o.id = p_id
    and o.payload @> jsonb_build_object('at_cycle_end', p_at_cycle_end)
    and o.claims[cardinality(o.claims)] is not null
    and o.next_attempt_at > v_now
    and o.delivered_at is null
    and o.parked_at is null
    and v_entity is not null; -- else nothing is told
  return jsonb_build_object('outcome', case when found then 'stands' else 'changed' end);
end $$;

create or replace view billing.outbox_stuck with (security_invoker = true) as
select
  billing.user_of_message(o) as user_id,
  coalesce(o.parked_at, least(o.next_attempt_at, o.queued_at)) as since,
  o.id, o.key, o.destination,
  case when o.parked_at is null then 'due' else 'parked' end as state,
  o.attempts, o.last_error, p.at as paused_until
from billing.outbox o
left join billing.marks p on p.kind = 'pause' and p.key = o.destination
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

create or replace view billing.service_findings with (security_invoker = true) as
select 'captured_not_fulfilled' as finding, v.payment_id::text as subject, v.user_id, v.since, to_jsonb(v) as detail,
  case v.reason
    when 'no plan of this tier' then 'Add the plan, then replay the webhook of the payment.'
    when 'paid, user gone' then 'Refund the payment at the gateway.'
    else 'Look the payment up at the gateway, and refund it if it is not the amount of the order.'
  end as remedy
from billing.captured_not_fulfilled v
union all
select 'never_captured', p.id::text, p.user_id, p.uncaptured_at,
  jsonb_build_object(
    'payment_id', p.id, 'tier', p.tier, 'amount', p.amount, 'gateway_payment_id', p.gateway_payment_id
  ),
  'Look the payment up at the gateway: access has ended until it is captured.'
from public.payments p
where p.uncaptured_at is not null
union all
-- Until 90 days after the charge.
select 'charged_after_deletion', p.gateway_payment_id, null, p.captured_at,
  jsonb_build_object(
    'gateway_payment_id', p.gateway_payment_id, 'gateway_subscription_id', p.gateway_subscription_id,
    'amount', p.amount, 'currency', p.currency
  ),
  'Refund the payment, and check that the subscription is cancelled at the gateway.'
from public.payments p
where p.gateway_subscription_id is not null and p.captured_at > p.user_deleted_at and billing.kept(p) > 0
union all
-- PS500: the subscription still runs.
select 'expiry_failed', u.id::text, u.id, f.at, jsonb_build_object('error', f.detail),
  'Repair what raises the SQLSTATE, usually a trigger of the app on profiles; the sweep retries each hour.'
from billing.marks f
cross join billing.json_uuid(to_jsonb(f.key)) u (id)
left join public.subscriptions s on s.user_id = u.id
where f.kind = 'settle_failure'
  and f.detail <> 'PS500'
  and (
    s.status = 'active' and s.current_period_end < (select billing.clock())
    or exists (select from billing.gateway_subscriptions m where m.user_id = u.id and m.awaits_user)
  )
union all
select 'outbox_stuck', v.key, v.user_id, v.since, to_jsonb(v),
  case
    when v.state = 'parked' then 'Repair the cause in last_error, then requeue the message.'
    when v.last_error is not null then 'Repair the cause in last_error. The message is tried again by itself.'
    else 'Check that the schedule runs and that the destination of the message is configured.'
  end
from billing.outbox_stuck v
union all
select 'refund_failed', v.refund_id, v.user_id, v.since, to_jsonb(v),
  'Refund the payment again, or pay the customer in another way and insert a note about the payment.'
from billing.failed_refunds v
union all
select 'document_waiting', d.payment_id::text, p.user_id, d.due_at, jsonb_build_object('payment_id', d.payment_id),
  'Check that the schedule runs: billing.sweep() gives the numbers. If it runs, read its warning in the log of Postgres.'
from billing.documents_due d
left join public.payments p on p.id = d.payment_id
where d.due_at < (select billing.clock()) - interval '1 hour'
union all
-- It must stop within two hours, and the gateway is not told yet: it may charge it.
select 'untold_stop', g.gateway_subscription_id, g.user_id, o.queued_at,
  jsonb_build_object(
    'gateway_subscription_id', g.gateway_subscription_id, 'stops_at', g.stops_at, 'attempts', o.attempts,
    'last_error', o.last_error
  ),
  'Cancel the subscription in the dashboard of the gateway, then look at why the message fails.'
from (
  -- Two parts, each of which reads an index of few rows.
  select o.*
  from billing.outbox o
  where o.destination = 'gateway' and o.delivered_at is null and o.parked_at is null
  union all
  select o.*
  from billing.outbox o
  where o.destination = 'gateway' and o.delivered_at is null and o.parked_at is not null and o.told_at is not null
) o
join billing.gateway_subscriptions g
  on g.gateway_subscription_id = o.payload ->> 'gateway_subscription_id'
  and (billing.is_billed(g) or not billing.is_known(g))
where o.kind = 'cancel-subscription'
  and g.stops_at < billing.clock() + interval '2 hours'
  and o.queued_at < billing.clock() - interval '1 hour'
union all
select 'failed_events', encode(v.body_sha256, 'hex'), v.user_id, v.since, to_jsonb(v),
  case v.outcome
    when 'plan_not_found' then 'Add the plan, then replay the webhook.'
    when 'mismatch' then case
      when v.event like 'refund.%' then 'Compare the refund with the gateway''s dashboard, then ignore the webhook.'
      else 'Refund the payment at the gateway: its amount is not that of the order. Or ignore the webhook.'
    end
    else 'Repair the cause of the error, then replay the webhook, or ignore it.'
  end
from billing.failed_events v
union all
-- What was read from the gateway since the newest webhook.
select 'missed_webhook', 'webhooks', null, min(a.at),
  jsonb_build_object('alerts', count(*), 'newest', (array_agg(a.key order by a.at desc))[:10]),
  'Switch the webhook endpoint on at the gateway; the next webhook ends the finding, or a note about "webhooks".'
from billing.marks a
where a.kind = 'missed_webhook'
  and a.at > billing.clock() - interval '30 days'
  and a.at > coalesce((select max(e.received_at) from billing.gateway_events e where e.deliveries > 0), '-infinity')
  and not exists (
    select from billing.support_actions n
    where n.action = 'note' and n.reference = 'webhooks' and n.created_at >= a.at
  )
having count(*) > 0
union all
-- Due for two hours although the runs get answers. A run that used up its time counts as done, so billing.schedule_faults does
-- not see a backlog that grows.
select 'reconciliation_backlog', r.kind, null, min(r.at), jsonb_build_object('due', count(*)),
  'Raise RECONCILE_CALLS_PER_SECOND if the gateway allows more calls, else wait until fewer periods end at once.'
from billing.scheduled_jobs j
join billing.reconciliations r on r.at < billing.clock() - interval '2 hours'
where j.name = 'reconciliation' and j.done_at > now() - interval '15 minutes'
group by r.kind
union all
select 'missing_part', m.part, null, null, to_jsonb(m) - 'part', null
from billing.missing_parts() m
union all
-- Postgres lets PUBLIC execute each new function. To revoke this default would close functions of the app, too.
select 'open_function', signature.text, null, null,
  jsonb_build_object('remedy', format(
    'Run "revoke execute on function %s from public, anon;", or mark it as meant: '
    '"comment on function %1$s is ''Open to everybody: why'';"',
    signature.text
  )), null
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
    select from pg_catalog.pg_depend d
    where d.classid = 'pg_catalog.pg_proc'::regclass and d.objid = p.oid and d.deptype = 'e'
  )
union all
select f.finding, f.subject, null, f.since, f.detail, null
from billing.schedule_faults() f
union all
select f.finding, f.subject, null, f.since, f.detail,
  'Compare the settlement with its report at the gateway, and store the lines that are missing.'
from billing.settlement_faults() f;

comment on view billing.outbox_stuck is 'Side effects that are due for more than 15 minutes (the destination is not configured, or paused until paused_until), stops that the gateway did not get for 48 hours, or parked, with the cause in last_error. billing.requeue(id) retries one. A refund that the gateway made is not listed, nor one that was refused if the payment was refunded since, or has a newer support action note.';

do $do$
begin
  if exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_support') then
    perform billing.set_up_support();
  end if;
end $do$;

REVOKE ALL ON FUNCTION "billing"."last_act_at"(uuid) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."last_act_at"(uuid) TO "service_role";

revoke execute on all functions in schema billing from public;
