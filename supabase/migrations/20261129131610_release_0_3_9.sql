-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

comment on column billing.support_actions.action is null;

comment on view billing.outbox_stuck is null;

ALTER TABLE "public"."receipts"
  DROP CONSTRAINT "receipts_dispute_id_key";

ALTER TABLE "billing"."support_actions"
  ADD COLUMN "corrects_seller" boolean;

ALTER TABLE "billing"."support_actions"
  ADD CONSTRAINT "support_actions_corrects_seller_check" CHECK (((corrects_seller IS NULL) OR (action = 'reissue'::billing.support_action)));

CREATE INDEX receipts_dispute_id_idx ON public.receipts USING btree (dispute_id)
  WHERE (dispute_id IS NOT NULL);

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

-- Row level security stays on: the policies let the role, and each login role in it, read all rows of these tables.
create or replace function billing.set_up_support()
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_name text;
begin
  -- No login is possible: an admin gives it a password, or makes a login role for each person in it.
  begin
    if not exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_support') then
      create role subscriptions_support nologin;
      alter role subscriptions_support set statement_timeout = '60s';
      -- An open support action locks the customer, whose orders wait.
      alter role subscriptions_support set idle_in_transaction_session_timeout = '60s';
    end if;
  exception
    -- Roles belong to the whole server: another of its databases was set up at the same time.
    when duplicate_object or unique_violation then
      null;
  end;
  grant usage on schema billing, public to subscriptions_support;
  foreach v_name in array billing.support_tables() loop
    execute format('grant select on %s to subscriptions_support', v_name);
    if (select c.relkind = 'r' from pg_catalog.pg_class c where c.oid = v_name::regclass)
      and not billing.has_policy(v_name::regclass, 'Support reads all rows')
    then
      execute format(
        'create policy "Support reads all rows" on %s for select to subscriptions_support using (true)', v_name
      );
    end if;
  end loop;
  -- The functions that the views call: those that write nothing.
  for v_name in
    select p.oid::regprocedure::text
    from pg_catalog.pg_proc p
    where p.pronamespace = 'billing'::regnamespace
      and p.provolatile <> 'v'
  loop
    execute format('grant execute on function %s to subscriptions_support', v_name);
  end loop;
  grant insert (action, email, tier, until, reference, entitlements, amount, at_period_end, corrects_seller, reason)
  on billing.support_actions to subscriptions_support;
  if not billing.has_policy('billing.support_actions', 'Support acts') then
    create policy "Support acts" on billing.support_actions for insert to subscriptions_support with check (true);
  end if;
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

-- Issues the receipt of a payment. The caller holds the lock of the numbers.
create or replace function billing.issue_receipt(
  p_payment public.payments,
  p_settings billing.settings,
  p_replaced public.receipts default null -- that the new receipt replaces
)
returns public.receipts language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_total constant bigint := coalesce(
    -- Of what is replaced the rest that no note took before.
    (p_replaced.totals ->> 'total')::bigint - billing.noted_total(p_replaced.id),
    least(coalesce(p_payment.paid_amount, p_payment.amount), p_payment.amount)
  );
  v_buyer constant jsonb := case
    when p_payment.user_id is null then coalesce(
      p_replaced.buyer, (select d.buyer from billing.documents_due d where d.payment_id = p_payment.id), billing.buyer_of(null)
    )
    else billing.buyer_of(p_payment.user_id)
  end;
  v_place constant text := case
    when p_settings.seller_gstin is not null then coalesce(v_buyer ->> 'state', p_settings.seller_state)
  end;
  v_heads constant jsonb := billing.tax_heads(p_settings, v_place);
  v_item constant text := coalesce(
    p_replaced.lines #>> '{0,item}', (select p.name from public.plans p where p.id = p_payment.plan_id), p_payment.tier, 'Payment'
  );
  v_rupees bigint;
  v_document public.receipts;
begin
  v_rupees := case
    when p_payment.currency = 'INR' then v_total
    -- What the gateway booked is the whole payment.
    else round(p_payment.base_amount::numeric * v_total / nullif(coalesce(p_payment.paid_amount, p_payment.amount), 0))
  end;
  v_document.kind := 'receipt';
  v_document.title := case when p_settings.seller_gstin is null then 'Receipt' else 'Tax invoice' end;
  v_document.issued_at := case when p_replaced.id is null then p_payment.confirmed_at else billing.clock() end;
  v_document.reissue_of := p_replaced.id;
  v_document.payment_id := p_payment.id;
  v_document.user_id := p_payment.user_id;
  v_document.place_of_supply := v_place;
  v_document.currency := p_payment.currency;
  v_document.seller := jsonb_build_object(
    'name', p_settings.seller_name, 'address', p_settings.seller_address, 'gstin', p_settings.seller_gstin,
    'state', p_settings.seller_state
  ) || case when v_place = '96' and p_settings.export_lut is not null then jsonb_build_object('lut', p_settings.export_lut) else '{}' end;
  v_document.buyer := v_buyer;
  v_document.totals := billing.split_tax(v_total, v_heads);
  v_document.category := case
    when p_settings.seller_gstin is null then 'none'
    when v_place = '96' then case when v_heads = '[]' then 'expwop' else 'expwp' end
    when v_buyer ->> 'gstin' is not null then 'b2b'
    when v_place <> p_settings.seller_state and v_rupees > 10000000 then 'b2cl'
    else 'b2cs'
  end;
  v_document.lines := jsonb_build_array(jsonb_build_object(
    'description', concat_ws(
      ', ', v_item,
      billing.document_day(billing.day_in_india(p_payment.period_start)) || ' – '
        || billing.document_day(billing.day_in_india(p_payment.period_end))
    ),
    'item', v_item, 'sac', p_settings.sac, 'quantity', 1, 'amount', v_total
  ));
  if p_payment.currency <> 'INR' and v_rupees is not null then
    v_document.rupees := billing.split_tax(v_rupees, v_heads) || jsonb_build_object(
      'rate', trim_scale(round(
        v_rupees / 100.0 / (nullif(v_total, 0) / 10::numeric ^ billing.minor_units(p_payment.currency)), 10
      ))::text,
      'source', 'gateway'
    );
  end if;
  return billing.issue_document(v_document, p_settings.receipt_prefix);
end $$;

-- Returns what the notes of a dispute took, in minor units: it may take more later.
create function billing.noted_of_dispute(
  p_dispute_id text,
  p_until uuid default null -- the last one of them that counts. Null: all do
)
returns bigint language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return coalesce((
    select sum((n.totals ->> 'total')::bigint)
    from public.receipts n
    left join public.receipts u on u.id = p_until
    where n.dispute_id = p_dispute_id and (u.id is null or (n.issued_at, n.number, n.id) <= (u.issued_at, u.number, u.id))
  ), 0);
end $$;

create or replace view billing.notes_above with (security_invoker = true) as
select
  n.*, exists (
    select from billing.settled_documents s where s.document_number = n.document_number and s.settled_at >= n.at
  ) as is_settled
from (
  select
    r.document_number, r.payment_id, (r.totals ->> 'total')::bigint as excess, f.failed_at as at,
    'note_of_failed_refund' as problem, 'The refund failed afterwards: the note stands.' as detail
  from public.receipts r
  join billing.refunds f on f.refund_id = r.refund_id
  where f.status = 'failed'
  union all
  select
    r.document_number, r.payment_id, (r.totals ->> 'total')::bigint, coalesce(d.event_at, d.arrived_at),
    'note_of_won_dispute', 'The dispute was won afterwards: the note stands.'
  from public.receipts r
  join billing.disputes d on d.dispute_id = r.dispute_id
  where d.status in ('won', 'closed')
  union all
  select
    r.document_number, r.payment_id, least((r.totals ->> 'total')::bigint, billing.noted_of_dispute(r.dispute_id, r.id) - l.amount), l.at,
    'note_above_dispute', 'The dispute took less afterwards: the note stands.'
  from public.receipts r
  join billing.lost_disputes l on l.dispute_id = r.dispute_id
  where billing.noted_of_dispute(r.dispute_id, r.id) > l.amount
) n;

-- Returns the note of a refund: its own, else the one that stands above what its refund or dispute took, and is counted for this.
create function billing.note_of_refund(p_refund_id text, p_payment_id uuid)
returns text -- the number; null: there is none
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return coalesce(
    (select r.document_number from public.receipts r where r.refund_id = p_refund_id),
    (
      select n.document_number
      from billing.notes_above n
      join billing.refunds f on f.refund_id = p_refund_id and f.status = 'processed'
      where n.payment_id = p_payment_id and not n.is_settled
      order by abs(n.excess - f.amount), n.document_number
      limit 1
    )
  );
end $$;

-- Returns the day whose year limits how long a tax is adjusted: that of the first receipt, not of one that replaces it.
create function billing.supply_day(p_payment_id uuid)
returns date language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return (
    select r.document_date
    from public.receipts r
    where r.payment_id = p_payment_id and r.kind = 'receipt' and r.reissue_of is null
  );
end $$;

-- Issues a credit note of at most the rest of a receipt. The caller holds the lock of the numbers.
create or replace function billing.issue_note(
  p_receipt public.receipts,
  p_settings billing.settings,
  p_amount bigint, -- minor units
  p_refund_id text,
  p_dispute_id text
)
returns public.receipts -- all null: nothing is left
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_total constant bigint := least(p_amount, (p_receipt.totals ->> 'total')::bigint - billing.noted_total(p_receipt.id));
  v_is_commercial constant boolean := p_receipt.seller ->> 'gstin' is not null and (
    billing.day_in_india(billing.clock()) > billing.last_note_day(billing.supply_day(p_receipt.payment_id))
    or p_dispute_id is not null and not p_settings.dispute_notes
  );
  v_noted jsonb[];
  v_noted_rupees jsonb[];
  v_rupees bigint;
  v_note public.receipts := p_receipt;
begin
  if v_total <= 0 then return null; end if;
  select array_agg(n.totals order by n.issued_at, n.number), array_agg(n.rupees order by n.issued_at, n.number)
  into v_noted, v_noted_rupees
  from public.receipts n
  where n.receipt_id = p_receipt.id and n.title = 'Credit note';
  v_note.kind := 'credit_note';
  v_note.title := case when v_is_commercial then 'Credit note without GST' else 'Credit note' end;
  v_note.issued_at := billing.clock();
  v_note.receipt_id := p_receipt.id;
  v_note.reissue_of := null;
  v_note.refund_id := p_refund_id;
  v_note.dispute_id := p_dispute_id;
  v_note.lines := jsonb_build_array((p_receipt.lines -> 0) || jsonb_build_object(
    'description', format(
      '%s, %s %s of %s',
      case when p_refund_id is not null then 'Refund' when p_dispute_id is not null then 'Lost dispute' else 'Correction' end,
      lower(p_receipt.title), p_receipt.document_number, billing.document_day(p_receipt.document_date)
    ),
    'amount', v_total
  ));
  if v_is_commercial then
    v_note.category := 'none';
    v_note.totals := billing.split_tax(v_total, '[]');
    v_note.rupees := null;
  else
    v_note.totals := billing.split_note(p_receipt.totals, v_noted, v_total);
    if p_receipt.rupees is not null then
      v_rupees := round(
        (p_receipt.rupees ->> 'total')::numeric
          * (v_total + (select coalesce(sum((n ->> 'total')::bigint), 0) from unnest(v_noted) n)) / (p_receipt.totals ->> 'total')::bigint
      ) - (select coalesce(sum((n ->> 'total')::bigint), 0) from unnest(v_noted_rupees) n);
      v_note.rupees := billing.split_note(p_receipt.rupees, v_noted_rupees, v_rupees)
        || jsonb_build_object('rate', p_receipt.rupees -> 'rate', 'source', p_receipt.rupees -> 'source');
    end if;
  end if;
  return billing.issue_document(
    v_note, case when v_is_commercial then p_settings.commercial_note_prefix else p_settings.credit_note_prefix end
  );
end $$;

-- Issues what a payment lacks: its receipt, then a note for each processed refund and for what each lost dispute took.
create or replace function billing.issue_documents_of(p_payment public.payments, p_settings billing.settings)
returns timestamptz -- when to look again; null: nothing is left
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_receipt public.receipts := billing.find_receipt(p_payment.id);
  v_given record;
begin
  -- Also one that is not confirmed any more, since another payment on its order exchanged its row with it.
  if p_payment.status <> 'captured' or (p_payment.confirmed_at >= p_settings.receipts_from) is not true then return null; end if;
  if v_receipt.id is null then
    -- The gateway may book it in rupees some days later.
    if p_payment.currency <> 'INR' and p_payment.base_amount is null and p_settings.seller_gstin is not null
      and p_payment.confirmed_at > billing.clock() - interval '72 hours'
    then
      return p_payment.confirmed_at + interval '72 hours';
    end if;
    v_receipt := billing.issue_receipt(p_payment, p_settings);
  end if;
  for v_given in
    select r.refund_id, null::text as dispute_id, r.amount, r.created_at as at
    from billing.refunds r
    where r.gateway_payment_id = p_payment.gateway_payment_id
      and r.status = 'processed'
      and not exists (select from public.receipts n where n.refund_id = r.refund_id)
    union all
    select null, l.dispute_id, l.amount - billing.noted_of_dispute(l.dispute_id), l.at
    from billing.lost_disputes l
    where l.gateway_payment_id = p_payment.gateway_payment_id
    order by at, refund_id, dispute_id
  loop
    -- A refund that repeats a failed one has the note of that one.
    perform billing.issue_note(
      v_receipt, p_settings, least(v_given.amount, -billing.noted_excess(p_payment.id)), v_given.refund_id, v_given.dispute_id
    );
  end loop;
  return null;
end $$;

-- Returns the settings with the seller of a receipt: its registration, state, letter and rate are those of the day of the supply.
create function billing.settings_of(p_receipt public.receipts, p_settings billing.settings)
returns billing.settings language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_taxes constant jsonb := p_receipt.totals -> 'taxes';
begin
  p_settings.seller_name := p_receipt.seller ->> 'name';
  p_settings.seller_address := p_receipt.seller ->> 'address';
  p_settings.seller_gstin := p_receipt.seller ->> 'gstin';
  p_settings.seller_state := p_receipt.seller ->> 'state';
  p_settings.sac := coalesce(p_receipt.lines #>> '{0,sac}', p_settings.sac);
  p_settings.tax_name := coalesce(v_taxes #>> '{0,name}', p_settings.tax_name);
  -- A tax invoice without a tax names no rate, and a sale inside India no letter: those of today.
  if p_settings.seller_gstin is null or v_taxes <> '[]' then
    p_settings.tax_rate := (select sum((t ->> 'rate')::numeric) from jsonb_array_elements(v_taxes) t);
  end if;
  if p_receipt.place_of_supply = '96' then p_settings.export_lut := p_receipt.seller ->> 'lut'; end if;
  return p_settings;
end $$;

-- Replaces a receipt: a note of its rest, and a new one with the buyer's details of today, of a deleted user with those of then.
-- The seller stays, unless the settings of then had a mistake.
create or replace function billing.perform_reissue(p_action billing.support_actions)
returns billing.support_actions language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_settings constant billing.settings := (select s from billing.settings s where s.is_only);
  v_receipt public.receipts;
  v_payment public.payments;
  v_note public.receipts;
  v_new public.receipts;
begin
  perform billing.lock_numbers();
  select * into v_receipt from public.receipts r where r.document_number = p_action.reference and r.kind = 'receipt';
  perform billing.require(
    v_receipt.id is not null and coalesce(v_receipt.user_id = p_action.user_id, p_action.user_id is null), 'PS404',
    format('reissue needs reference: no receipt "%s" of this customer', p_action.reference)
  );
  perform billing.require(
    not exists (select from public.receipts r where r.reissue_of = v_receipt.id), 'PS409',
    format('receipt %s was reissued before', v_receipt.document_number)
  );
  perform billing.require(
    billing.noted_total(v_receipt.id) < (v_receipt.totals ->> 'total')::bigint, 'PS409',
    format('receipt %s was cancelled in full', v_receipt.document_number)
  );
  perform billing.require(
    v_receipt.seller ->> 'gstin' is null
      or billing.day_in_india(billing.clock()) <= billing.last_note_day(billing.supply_day(v_receipt.payment_id)),
    'PS409', format('receipt %s is too old: its tax cannot be adjusted any more', v_receipt.document_number)
  );
  select * into v_payment from public.payments p where p.id = v_receipt.payment_id;
  v_new := billing.issue_receipt(
    v_payment, case when p_action.corrects_seller then v_settings else billing.settings_of(v_receipt, v_settings) end, v_receipt
  );
  v_note := billing.issue_note(v_receipt, v_settings, (v_receipt.totals ->> 'total')::bigint, null, null);
  p_action.user_id := v_receipt.user_id;
  p_action.result := format(
    '%s cancels %s, and %s replaces it.', v_note.document_number, v_receipt.document_number, v_new.document_number
  );
  return p_action;
end $$;

-- Returns what a line has beyond the price of its payment: the fee that the customer paid on top, below zero where refunds reach
-- it. No document has it.
create function billing.fee_on_top(p_line billing.settlement_lines, p_payment public.payments)
returns bigint -- paise
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return case p_line.type
    when 'payment' then p_line.amount - round(p_line.amount::numeric * p_payment.amount / p_payment.paid_amount)
    when 'refund' then coalesce((
      select round(
        p_line.amount::numeric
          * (greatest(f.before - p_payment.amount, 0) - greatest(f.before + f.amount - p_payment.amount, 0)) / f.amount
      )
      from (
        select r.refund_id, r.amount, sum(r.amount) over (order by r.created_at, r.refund_id) - r.amount as before
        from billing.refunds r
        where r.gateway_payment_id = p_payment.gateway_payment_id and r.status = 'processed'
      ) f
      where f.refund_id = p_line.entity_id
    ), 0)
    else 0
  end;
end $$;

create or replace view billing.bank_lines with (security_invoker = true) as
select
  s.settlement_id, s.utr, billing.day_in_india(s.created_at) as settled_on, s.status, s.amount, sums.payments, sums.fees,
  sums.gst_on_fees, sums.refunds, sums.adjustments, sums.transfers, sums.other, s.fees as settlement_fees,
  s.amount + s.fees - sums.net as difference, sums.fees_from_credits, sums.lines, s.lines_complete_at,
  sums.fees_on_top
from billing.settlements s
cross join lateral (
  select
    coalesce(sum(l.credit - l.debit), 0)::bigint as net,
    coalesce(sum(l.credit - l.debit + taken.fee) filter (where l.type = 'payment'), 0)::bigint as payments,
    coalesce(sum(l.debit - l.credit - taken.fee) filter (where l.type = 'refund'), 0)::bigint as refunds,
    coalesce(sum(l.credit - l.debit + taken.fee) filter (where l.type = 'adjustment'), 0)::bigint as adjustments,
    coalesce(sum(l.debit - l.credit - taken.fee) filter (where l.type = 'transfer'), 0)::bigint as transfers,
    coalesce(sum(l.credit - l.debit + taken.fee) filter (
      where l.type not in ('payment', 'refund', 'adjustment', 'transfer')
    ), 0)::bigint as other,
    coalesce(sum(taken.fee - taken.tax), 0)::bigint as fees,
    coalesce(sum(taken.tax), 0)::bigint as gst_on_fees,
    coalesce(sum(l.fee - taken.fee), 0)::bigint as fees_from_credits,
    coalesce(sum(case when p.paid_amount > p.amount then billing.fee_on_top(l, p) end), 0)::bigint as fees_on_top,
    count(*) as lines
  from billing.settlement_lines l
  left join public.payments p on p.gateway_payment_id = coalesce(l.payment_id, l.entity_id)
  -- A fee that credits paid was not taken from the line.
  cross join lateral (select l.fee > 0 and greatest(l.credit, l.debit) = l.amount as is_from_credits) paid
  cross join lateral (
    select
      case when paid.is_from_credits then 0 else l.fee end as fee,
      case when paid.is_from_credits then 0 else l.tax end as tax
  ) taken
  where l.settlement_id = s.settlement_id
) sums;

create or replace view billing.settled_payments with (security_invoker = true) as
select
  entity.kind, entity.entity_id, entity.payment_id, entity.at, entity.amount, entity.currency, entity.document_number,
  l.fee - l.tax as fee, l.tax as gst_on_fee, l.settlement_id, l.utr, billing.day_in_india(l.created_at) as settled_on,
  case when l.status = 'processed' then 'settled' else 'waiting' end as state
from (
  select
    'payment' as kind, p.gateway_payment_id as entity_id, p.id as payment_id, p.captured_at as at,
    coalesce(p.paid_amount, p.amount) as amount, p.currency, r.document_number
  from public.payments p
  left join billing.standing_receipts r on r.payment_id = p.id
  where p.status = 'captured' and p.gateway_payment_id is not null
  union all
  select 'refund', f.refund_id, p.id, f.created_at, f.amount, p.currency, billing.note_of_refund(f.refund_id, p.id)
  from billing.refunds f
  left join public.payments p on p.gateway_payment_id = f.gateway_payment_id
  where f.status = 'processed'
) entity
left join lateral (
  select v.* from billing.standing_lines v where v.entity_id = entity.entity_id
) l on l.type = entity.kind;

create or replace view billing.book_problems with (security_invoker = true) as
select d.tax_period as month, doubt.problem, d.document_number, d.payment_id, doubt.detail, d.issued_at as since
from billing.book_documents d
cross join lateral (
  select 'state_missing' as problem, 'The buyer''s state is not known: the seller''s was taken.' as detail
  where d.category = 'b2cs' and d.kind = 'receipt' and d.buyer ->> 'state' is null
  union all
  select 'buyer_incomplete', 'The invoice needs the name and the address of its buyer.'
  where d.kind = 'receipt'
    and (d.category in ('b2b', 'expwp', 'expwop') or d.category in ('b2cl', 'b2cs') and d.taxable >= 5000000)
    and (d.buyer ->> 'name' is null or d.buyer ->> 'address' is null)
  union all
  select 'rupees_missing', 'Its value in rupees is not known: the return lacks it.'
  where d.category <> 'none' and d.taxable is null
  union all
  select 'export_paid_in_rupees', 'Abroad, but not paid in foreign exchange: no export.'
  where d.category in ('expwp', 'expwop') and d.kind = 'receipt' and d.currency = 'INR'
  union all
  select 'sac_missing', 'The setting sac was not made.'
  where d.category <> 'none' and d.sac is null
  union all
  select 'tax_missing', 'The setting tax_rate was not made: the invoice has no GST.'
  where d.category in ('b2b', 'b2cl', 'b2cs') and d.rate = 0 and d.taxable is not null
  union all
  select 'einvoice_needed', 'Without the number of an e-invoice it does not count.'
  where d.category in ('b2b', 'expwp', 'expwop') and (select s.over_5_crore from billing.settings s)
  union all
  select 'note_too_late', 'Its tax cannot be adjusted any more.'
  where d.title = 'Credit note without GST' and d.document_date > billing.last_note_day(billing.supply_day(d.payment_id))
) doubt
where not exists (select from public.receipts n where n.reissue_of = d.id)
  -- Only a receipt can be reissued, and not after notes took all of it.
  and (
    doubt.problem not in ('state_missing', 'buyer_incomplete', 'sac_missing', 'tax_missing')
    or d.kind = 'receipt' and billing.noted_total(d.id) < d.total
  )
  and not exists (
    select from billing.settled_documents s where s.document_number = d.document_number and s.settled_at >= d.issued_at
  )
union all
-- Of the month in which the tax is due again. Not where a later refund has used the note up.
select
  date_trunc('month', billing.day_in_india(n.at))::date, n.problem, n.document_number, n.payment_id, n.detail, n.at
from billing.notes_above n
-- The case: else the function is called for each document, before its refund or dispute is looked up.
where not n.is_settled and case when n.at is not null then billing.noted_excess(n.payment_id) > 0 end
union all
select
  date_trunc('month', billing.day_in_india(d.confirmed_at))::date, 'document_waiting', null, d.payment_id,
  'The payment has no document yet.', d.due_at
from billing.documents_due d
where not exists (select from public.receipts r where r.payment_id = d.payment_id)
union all
select v.month, v.problem, null, null, v.settlement_id, v.since
from billing.settlement_problems v
union all
select
  date_trunc('month', billing.day_in_india(p.captured_at))::date, 'payment_unsettled', null, p.id, p.gateway_payment_id,
  p.captured_at
from public.payments p
where p.status = 'captured'
  and p.gateway_payment_id is not null
  -- Since settlements are read.
  and p.captured_at >= (select min(s.created_at) from billing.settlements s)
  and p.captured_at < (select billing.clock()) - interval '240 hours'
  and not exists (
    select from billing.standing_lines l where l.entity_id = p.gateway_payment_id and l.status <> 'failed'
  );

-- Of the last two months: later ones are in a return.
create or replace view billing.book_findings with (security_invoker = true) as
select
  v.problem as finding, coalesce(v.document_number, v.detail) as subject, v.payment_id, v.since,
  jsonb_build_object(
    'document_number', v.document_number, 'payment_id', v.payment_id, 'month', to_char(v.month, 'YYYY-MM'), 'detail', v.detail
  ) as detail,
  case v.problem
    when 'state_missing' then 'Ask the customer for the state, then reissue the receipt.'
    when 'buyer_incomplete' then 'Ask the customer for name and address, then reissue the receipt.'
    when 'rupees_missing' then 'Look the rupees up at the gateway, and add the document to the return by hand.'
    when 'export_paid_in_rupees' then 'Ask an accountant: the tax of a sale inside India may be due.'
    when 'sac_missing' then 'Set sac in billing.settings, then reissue the receipt.'
    when 'tax_missing' then 'Set tax_rate in billing.settings, then reissue the receipt.'
    when 'einvoice_needed' then 'Make the e-invoice at the portal: without its number this is no invoice.'
    when 'note_too_late' then 'Tell the accountant: the refund does not reduce the tax.'
    when 'note_of_failed_refund' then 'Refund the payment again: the note stands for that, too. Or ask the accountant for a debit note.'
    when 'note_of_won_dispute' then 'Ask the accountant for a debit note: the money is back, and the note stands.'
    when 'note_above_dispute' then 'Ask the accountant for a debit note: the dispute took less than the note.'
    when 'payment_unsettled' then 'Look at the gateway why it holds the payment back, and ask it when it settles.'
  end || case when v.document_number is not null then ' A support action note about the document ends the finding.' else '' end
  as remedy
from billing.book_problems v
where v.payment_id is not null
  and v.problem <> 'document_waiting'
  -- A deleted user can't be asked any more.
  and (
    v.problem not in ('state_missing', 'buyer_incomplete')
    or not exists (select from public.payments p where p.id = v.payment_id and p.user_deleted_at is not null)
  )
  and v.month >= (select date_trunc('month', billing.clock() - interval '1 month'))::date;

comment on column billing.bank_lines.fees_on_top is 'What customers paid beyond the price, for the fee: in payments and refunds, and in no document.';

comment on column billing.support_actions.action is 'grant (tier, until, perhaps entitlements), revoke_grant (reference: id of the grant), end_access (reference: payment), refund (reference: payment, perhaps amount), cancel (perhaps at_period_end) and resume all that the customer pays for, reissue (reference: number of a receipt, perhaps corrects_seller), requeue_mail (reference: id of the message), replay_event and ignore_event (reference: body_sha256 of the webhook), reconcile_now (reference: order, payment or subscription; without one all of the customer), note.';

comment on column billing.support_actions.corrects_seller is 'Of a reissue: true: the settings had a mistake, and those of today are right; false or null: they were right then.';

comment on view billing.outbox_stuck is 'Side effects that are due for more than 15 minutes (the destination is not configured, or paused until paused_until), stops that the gateway did not get for 48 hours, or parked, with the cause in last_error. billing.requeue(id) retries one. A refund that the gateway made is not listed, nor one that was refused if the payment was refunded since, or has a newer support action note.';

do $do$
begin
  if exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_support') then
    perform billing.set_up_support();
  end if;
end $do$;

REVOKE ALL ON FUNCTION "billing"."fee_on_top"(billing.settlement_lines, public.payments) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."fee_on_top"(billing.settlement_lines, public.payments) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."last_act_at"(uuid) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."last_act_at"(uuid) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."note_of_refund"(text, uuid) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."note_of_refund"(text, uuid) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."noted_of_dispute"(text, uuid) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."noted_of_dispute"(text, uuid) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."settings_of"(public.receipts, billing.settings) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."settings_of"(public.receipts, billing.settings) TO "service_role";

REVOKE ALL ON FUNCTION "billing"."supply_day"(uuid) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."supply_day"(uuid) TO "service_role";

revoke execute on all functions in schema billing from public;

-- Disputes that took more after their note get a note of the rest.
insert into billing.documents_due (payment_id, confirmed_at)
select p.id, p.confirmed_at
from billing.lost_disputes l
join public.payments p using (gateway_payment_id)
where p.confirmed_at is not null
  and exists (select from public.receipts n where n.dispute_id = l.dispute_id)
  and l.amount > billing.noted_of_dispute(l.dispute_id)
on conflict (payment_id) do nothing;
