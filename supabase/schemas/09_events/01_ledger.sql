-- The ledger of webhook deliveries: each is applied once, and again when its order, payment or plan is stored.
-- Contract: POST /api/webhooks/gateway, "Failing events".

create table billing.gateway_events (
  body_sha256 bytea primary key,
  -- From the delivery's header. It is not signed, so no rule reads it. Of what was read from the gateway: its key.
  event_id text,
  event text,
  subject_id text, -- subscription or order, else payment: 200 characters of its id
  event_at timestamptz, -- created_at of a subscription event. Null: none, or another event
  reduce_at timestamptz, -- when the payload is reduced, since no user is known. Null: never
  -- The event's body, as billing.stored_payload keeps it. Null after 90 days, unless the event still waits.
  payload jsonb,
  -- applied, already, stale, mismatch, unmatched, plan_not_found, parked, ignored: <why>, or failed: <SQLSTATE>.
  outcome text,
  error text,
  deliveries integer not null default 1,
  attempts integer not null default 0,
  received_at timestamptz not null default billing.clock()
) with (fillfactor = 90, autovacuum_vacuum_scale_factor = 0.02); -- for HOT updates: one of the outcome writes no index
alter table billing.gateway_events enable row level security;
grant select, insert, update on billing.gateway_events to service_role;
create index gateway_events_received_at_idx on billing.gateway_events (received_at);
create index gateway_events_reduce_at_idx on billing.gateway_events (reduce_at) where reduce_at is not null;
-- For the job that deletes payloads.
create index gateway_events_with_payload_idx on billing.gateway_events (received_at) where payload is not null;
create index gateway_events_subject_id_idx on billing.gateway_events (subject_id);
comment on table billing.gateway_events is
  'The ledger: one row for each signed body that the gateway delivered. The hash of the body is the key, because the '
  'gateway signs nothing else. Rows are kept for LEDGER_RETENTION_DAYS.';

-- A separate table instead of an index on outcome: an update of an indexed column writes every index.
create table billing.unsettled_events (
  body_sha256 bytea primary key references billing.gateway_events (body_sha256) on delete cascade
);
alter table billing.unsettled_events enable row level security;
grant select, insert, delete on billing.unsettled_events to service_role;
comment on table billing.unsettled_events is
  'Events that had no effect but may have one later: when their plan exists, or when an admin applies them again.';

create type billing.delivery as (
  outcome text, -- as in the ledger
  is_applied boolean -- true: this call applied the event; false: an earlier call did
);

-- Returns whether the event's data, or an app's trigger, caused an error. Any other error may not occur again when the
-- gateway retries: connection, conflict, resources, lock time-out, shutdown, system.
create function billing.is_error_of_event(p_sqlstate text)
returns boolean language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$ begin return left(p_sqlstate, 2) not in ('08', '40', '53', '57', '58') and p_sqlstate <> '55P03'; end $$;

-- Returns whether an event belongs in billing.unsettled_events. An unmatched event about an order does not, since storing
-- the order applies it. A dispute does: it waits for its payment.
create function billing.can_be_reapplied(p_event text, p_outcome text)
returns boolean language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return p_outcome ~ '^(plan_not_found|mismatch|parked|failed: .*)$'
    or p_outcome = 'unmatched' and p_event like 'payment.dispute.%';
end $$;

-- Returns whether an event still waits for its effect and needs its payload. An unmatched subscription event does not need
-- it: its facts are in the mirror.
create function billing.awaits_effect(p_event text, p_outcome text)
returns boolean language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return p_outcome ~ '^(plan_not_found|parked|failed: .*)$'
    or p_outcome = 'unmatched' and (p_event like 'subscription.%') is not true;
end $$;

-- Reads what an event is about, and why it can have no effect.
create function billing.classify_event(
  p_body jsonb,
  out event text,
  out kind text, -- the name of its entity; null: such an event is not handled
  out ignored text -- the outcome for the ledger; null: it may have an effect
)
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  event := billing.json_text(p_body -> 'event');
  kind := case
    when event in (
      'subscription.authenticated', 'subscription.activated', 'subscription.charged', 'subscription.pending',
      'subscription.halted', 'subscription.paused', 'subscription.resumed', 'subscription.cancelled',
      'subscription.completed', 'subscription.updated'
    ) then 'subscription'
    when event in ('refund.created', 'refund.processed', 'refund.failed') then 'refund'
    when event like 'payment.dispute.%' then 'dispute'
    when event in ('payment.captured', 'order.paid', 'payment.failed') then 'payment'
    when event = 'settlement.processed' then 'settlement'
  end;
  ignored := case
    when p_body is null then 'ignored: nested too deep'
    when jsonb_typeof(p_body) <> 'object' then 'ignored: not an object'
    when event is null then 'ignored: event'
    when kind is null then 'ignored: not handled'
    when billing.json_object(p_body #> array['payload', kind, 'entity']) is null then 'ignored: ' || kind || '.entity'
  end;
end $$;

-- Returns the gateway's id of the payment that an event of a dispute is about.
create function billing.disputed_payment_id(p_body jsonb)
returns text -- null: the event names none
language plpgsql immutable set search_path = pg_catalog, pg_temp as $$
begin
  return coalesce(
    billing.json_text(p_body #> '{payload,dispute,entity,payment_id}'),
    billing.json_text(p_body #> '{payload,payment,entity,id}')
  );
end $$;

-- Returns when the gateway's newest webhook arrived. The doctor's own says nothing about the gateway.
create function billing.last_webhook_at()
returns timestamptz -- null: none yet
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return (
    select max(e.received_at)
    from billing.gateway_events e
    where e.deliveries > 0 and e.event is distinct from 'doctor.ping'
  );
end $$;

-- Applies an event, or undoes the effect of one that fails. After six hours it is parked, so that the gateway does not
-- switch the endpoint off.
create function billing.try_event(p_event billing.gateway_events, out outcome text, out error text)
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform billing.note_cause(p_event.event, coalesce(p_event.subject_id, encode(p_event.body_sha256, 'hex')));
  outcome := billing.apply_event(p_event.payload, p_event.body_sha256, p_event.received_at);
exception when others then
  if not billing.is_error_of_event(sqlstate) then raise; end if;
  error := sqlstate;
  outcome := 'failed: ' || error;
  if p_event.received_at <= billing.clock() - interval '6 hours' then outcome := 'parked'; end if;
end $$;

-- Applies an event of the ledger again. Stores the outcome, unless another transaction has locked the ledger row to do so.
create function billing.apply_recorded_event(p_event billing.gateway_events)
returns text -- the outcome for the ledger
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_result constant record := billing.try_event(p_event);
begin
  update billing.gateway_events e
  set outcome = v_result.outcome, error = v_result.error, attempts = e.attempts + 1
  where e.body_sha256 = (
    select l.body_sha256
    from billing.gateway_events l
    where l.body_sha256 = p_event.body_sha256
    for update skip locked
  );
  if found and billing.can_be_reapplied(p_event.event, v_result.outcome) then
    insert into billing.unsettled_events (body_sha256) values (p_event.body_sha256) on conflict do nothing;
  elsif found then
    delete from billing.unsettled_events u where u.body_sha256 = p_event.body_sha256;
  end if;
  return v_result.outcome;
end $$;

-- Reduces an event's body to the fields that the rules read, without personal data of the customer. The ledger keeps only
-- these of an event about a deleted user, and after 90 days of an event that still waits.
create function billing.stored_payload(p_body jsonb, p_outcome text)
returns jsonb -- null: the ledger keeps no field
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_event constant text := billing.json_text(p_body -> 'event');
  v_payload constant jsonb := billing.json_object(p_body -> 'payload');
  v_fields text[] := '{id, order_id, payment_id, receipt, plan_id, amount, currency, status, current_start, current_end,
    phase, amount_deducted, error_code, error_reason}';
  v_awaits_effect constant boolean := billing.awaits_effect(v_event, p_outcome);
  v_entities jsonb;
begin
  -- An event that waits is kept, also for a deleted user: it cancels the subscription at the gateway.
  if jsonb_typeof(p_body) is distinct from 'object'
    or v_event like 'subscription.%'
      and not v_awaits_effect
      and billing.is_deleted(billing.json_uuid(v_payload #> '{subscription,entity,notes,user_id}'))
  then
    return null;
  end if;
  -- The bank's text is kept until the event has its effect, but not for a payment without a user.
  if v_event = 'payment.failed'
    and v_awaits_effect
    and not exists (
      select from public.payments p
      where p.gateway_order_id = v_payload #>> '{payment,entity,order_id}' and p.user_id is null
    )
  then
    v_fields := v_fields || 'error_description'::text;
  end if;

  select jsonb_object_agg(e.key, jsonb_build_object('entity', coalesce(kept.fields, '{}')))
  into v_entities
  from jsonb_each(v_payload) e
  cross join lateral (
    select jsonb_object_agg(f.key, case f.key when 'notes' then jsonb_build_object('user_id', id) else f.value end) as fields
    from jsonb_each(billing.json_object(e.value -> 'entity')) f
    cross join lateral (select f.value -> 'user_id') user_id (id)
    where f.key = any (v_fields) and jsonb_typeof(f.value) not in ('object', 'array')
      or f.key = 'notes' and e.key = 'subscription' and id is not null
  ) kept
  where e.key in ('payment', 'order', 'refund', 'dispute', 'subscription')
    and jsonb_typeof(e.value -> 'entity') = 'object';
  return jsonb_build_object('reduced', true, 'event', v_event, 'payload', coalesce(v_entities, '{}'))
    || jsonb_strip_nulls(jsonb_build_object('created_at', extract(epoch from billing.event_time(p_body))));
end $$;

-- Applies an event, once. Its ledger row is written first: of two deliveries at once, the second waits there for the first,
-- and then returns the stored outcome. Row and effect commit together.
create function billing.apply_delivery(
  p_body_sha256 bytea,
  p_event_id text, -- from the header, not signed
  p_body jsonb, -- null: nested too deep to read
  p_deliveries integer -- 0: the event comes from reconciliation, not from the gateway
)
returns billing.delivery language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_event billing.gateway_events;
  v_known billing.gateway_events;
  v_is_gone boolean; -- whether it is about a deleted user
begin
  v_event.body_sha256 := p_body_sha256;
  v_event.event_id := p_event_id;
  select c.event, coalesce(c.ignored, 'applied') into v_event.event, v_event.outcome from billing.classify_event(p_body) c;
  v_event.subject_id := left(coalesce(
    case when v_event.event like 'payment.dispute.%' then billing.disputed_payment_id(p_body) end,
    p_body #>> '{payload,subscription,entity,id}', p_body #>> '{payload,payment,entity,order_id}',
    p_body #>> '{payload,order,entity,id}',
    p_body #>> '{payload,payment,entity,id}', p_body #>> '{payload,refund,entity,payment_id}',
    p_body #>> '{payload,settlement,entity,id}'
  ), 200);
  v_event.event_at := case when v_event.event like 'subscription.%' then billing.event_time(p_body) end;
  v_event.payload := p_body;
  v_event.deliveries := p_deliveries;
  v_event.attempts := 1;
  v_event.received_at := billing.clock();
  if v_event.outcome <> 'applied' then v_event.reduce_at := v_event.received_at + interval '1 day'; end if;

  insert into billing.gateway_events select v_event.* on conflict (body_sha256) do nothing;
  if found then
    if v_event.outcome = 'applied' then
      perform set_config('subscriptions.user_deleted', '', true);
      select t.outcome, t.error into v_event.outcome, v_event.error from billing.try_event(v_event) t;
      v_is_gone := current_setting('subscriptions.user_deleted') = 'on';
      -- The rollback of an event that fails undid billing.note_missing_user.
      if v_event.error is not null and not v_is_gone then
        v_is_gone := billing.is_deleted(billing.json_uuid(p_body #> '{payload,subscription,entity,notes,user_id}'))
          or exists (
            select from public.payments p
            where p.user_id is null and v_event.subject_id in (p.gateway_order_id, p.gateway_payment_id)
          );
      end if;
    end if;
    if v_event.outcome <> 'applied' and v_event.reduce_at is null or v_is_gone then
      update billing.gateway_events e
      set outcome = v_event.outcome,
        error = v_event.error,
        payload = case when v_is_gone then billing.stored_payload(p_body, v_event.outcome) else e.payload end,
        reduce_at = case when v_event.outcome ~ '^(unmatched$|ignored: )' then e.received_at + interval '1 day' end
      where e.body_sha256 = p_body_sha256;
    end if;
    if billing.can_be_reapplied(v_event.event, v_event.outcome) then
      insert into billing.unsettled_events (body_sha256) values (p_body_sha256);
    end if;
    return (v_event.outcome, true);
  end if;

  select * into v_known from billing.gateway_events e where e.body_sha256 = p_body_sha256;
  if p_deliveries > 0 then
    update billing.gateway_events e
    set deliveries = e.deliveries + p_deliveries
    where e.body_sha256 = p_body_sha256
    returning * into v_known;
  end if;
  if v_known.outcome = 'ignored: subscription.entity.notes.user_id'
    and (billing.find_subscription(v_known.subject_id)).id is not null
  then
    -- An import has named its subscription since: it arrives now.
    v_known.received_at := billing.clock();
  -- A repeated event that had no effect is applied again. An unmatched subscription event waits in the mirror instead.
  elsif v_known.outcome = 'parked' or not billing.awaits_effect(v_known.event, v_known.outcome) then
    return (v_known.outcome, false);
  end if;
  v_known.payload := p_body; -- the stored one may be reduced or deleted by now
  return (billing.apply_recorded_event(v_known), true);
end $$;

create function public.apply_gateway_event(
  p_body_sha256 text, -- of the raw bytes, hex
  p_event_id text default null, -- from the header, not signed
  p_body text default null, -- JSON that jsonb accepts; null: nested too deep to read
  p_account_id text default null -- the gateway account whose events are applied; null: all accounts
)
returns jsonb -- {outcome, enqueued}: see billing.gateway_events.outcome; for "failed: …" the gateway must retry. enqueued:
-- whether there is a side effect to dispatch. With an order to read at once also {read: {payment_id, order_id, amount}}
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_body constant jsonb := p_body::jsonb;
  v_outcome text;
  v_read jsonb;
begin
  if v_body ->> 'account_id' <> p_account_id then
    -- The payload is not stored: it holds personal data of another business's customers.
    insert into billing.gateway_events as e (body_sha256, event_id, event, outcome, attempts)
    values (decode(p_body_sha256, 'hex'), p_event_id, billing.json_text(v_body -> 'event'), 'ignored: account', 1)
    on conflict (body_sha256) do update
    set deliveries = e.deliveries + excluded.deliveries
    returning e.outcome into v_outcome;
    return jsonb_build_object('outcome', v_outcome, 'enqueued', false);
  end if;
  perform billing.begin_request(v_body ->> 'event', null); -- but for the usual renewal, billing.try_event sets the cause
  if v_body ->> 'event' = 'subscription.charged' then
    begin
      if not billing.apply_next_charge(decode(p_body_sha256, 'hex'), p_event_id, v_body) then
        raise exception using errcode = 'PS409'; -- undoes what it wrote
      end if;
      v_outcome := 'applied';
    exception when others then
      -- In the general way billing.try_event meets an error of the event again, and its outcome is stored.
      if not billing.is_error_of_event(sqlstate) then raise; end if;
    end;
  end if;
  -- The general way.
  v_outcome := coalesce(v_outcome, (billing.apply_delivery(decode(p_body_sha256, 'hex'), p_event_id, v_body, 1)).outcome);
  if v_outcome = 'mismatch' then
    -- Another amount than was sold: if its order is due, the caller reads it at once, and the schedule if that fails.
    select jsonb_build_object('read', jsonb_build_object('payment_id', p.id, 'order_id', p.gateway_order_id, 'amount', p.amount))
    into v_read
    from public.payments p
    where p.gateway_order_id = coalesce(v_body #>> '{payload,payment,entity,order_id}', v_body #>> '{payload,order,entity,id}')
      and p.status <> 'captured'
      and p.next_reconcile_at <= billing.clock();
  end if;
  return jsonb_build_object(
    'outcome', v_outcome, 'enqueued', coalesce(current_setting('subscriptions.enqueued', true) = 'on', false)
  ) || coalesce(v_read, '{}');
end $$;
comment on function public.apply_gateway_event is 'Applies a signed event once. A repeat returns the stored outcome.';

-- Applies the events that wait for an order, when the order is stored.
-- Security definer: the role with which an app inserts its own payments has no rights on the ledger.
create function billing.replay_order_events()
returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off as $$
begin
  perform billing.apply_recorded_event(waiting)
  from (
    select e.*
    from billing.gateway_events e
    where e.subject_id = left(new.gateway_order_id, 200)
      and e.outcome = 'unmatched'
      and e.event not like 'subscription.%'
      and e.payload is not null
    order by e.received_at
    -- A transaction that has locked an event waits for this payment and then finds it.
    for update skip locked
  ) waiting;
  return null;
end $$;

create trigger replay_order_events after insert or update of gateway_order_id on public.payments for each row
when (new.gateway_order_id is not null)
execute function billing.replay_order_events();

-- Applies events that arrived while their order was being stored: the trigger did not find them, since neither transaction saw
-- the other's row. It reads those since five minutes before the last sweep, for transactions that were open then. Also events
-- that waited for their plan or, like disputes, for their payment.
create function billing.replay_missed_events()
returns integer -- how many events were applied
-- It holds the locks of many users, so it waits for no request.
language plpgsql set search_path = pg_catalog, pg_temp set lock_timeout = '50ms' as $$
declare
  v_since constant timestamptz := (
    select least(j.replayed_until, billing.clock()) from billing.scheduled_jobs j where j.name = 'sweep'
  ) - interval '5 minutes';
  v_missed record;
  v_applied integer := 0;
begin
  for v_missed in
    select e as event, p.user_id
    from (
      select t.body_sha256 from billing.unsettled_events t
      union
      select u.body_sha256
      from billing.gateway_events u
      where u.received_at > v_since
        and u.outcome = 'unmatched'
        and u.event not like 'subscription.%'
        and u.attempts < 3
    ) waiting
    join billing.gateway_events e on e.body_sha256 = waiting.body_sha256
    join public.payments p on e.subject_id in (p.gateway_order_id, p.gateway_payment_id)
    where e.payload is not null
      and (
        e.outcome = 'unmatched'
        or e.outcome = 'plan_not_found'
          and p.fulfilled_at is null
          and exists (select from public.plans pl where billing.is_bought(pl, p))
      )
    order by p.user_id, e.received_at
    limit 100
    for update of e skip locked
  loop
    begin
      perform from auth.users u where u.id = v_missed.user_id for no key update nowait;
      perform billing.apply_recorded_event(v_missed.event);
      v_applied := v_applied + 1;
    exception when lock_not_available then null; -- by a request: the next run applies the event
    end;
  end loop;
  return v_applied;
end $$;

-- For an admin who repaired the cause: applies an event of the ledger again.
create function billing.replay_event(p_body_sha256 bytea)
returns text -- the outcome; null: no such event
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_event billing.gateway_events;
begin
  select * into v_event from billing.gateway_events e where e.body_sha256 = p_body_sha256 for update;
  -- A subscription event that had its effect is not applied again: without a time it would count as the newest event.
  if v_event.payload is null or v_event.event like 'subscription.%' and v_event.outcome in ('applied', 'stale') then
    return v_event.outcome;
  end if;
  return billing.apply_recorded_event(v_event);
end $$;
revoke execute on function billing.replay_event(bytea) from service_role;

-- Returns the outcome of an event as it is now: the payment of a known charge has no order to wait for.
create function billing.outcome_now(p_event billing.gateway_events)
returns text language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return case
    when p_event.outcome = 'unmatched' and p_event.event in ('payment.captured', 'order.paid') and exists (
      select from public.payments c
      where c.gateway_payment_id = p_event.payload #>> '{payload,payment,entity,id}'
        and c.gateway_subscription_id is not null
    ) then 'already'
    else p_event.outcome
  end;
end $$;

revoke execute on function public.apply_gateway_event from public, anon, authenticated;
grant execute on function public.apply_gateway_event to service_role;
