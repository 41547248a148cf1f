-- Applies a delivery of the gateway once, repeats included, and reduces payloads. Contract: POST /api/webhooks/gateway.

-- Reduces an event's body to the fields that the rules read, without the customer's e-mail address, phone number, VPA and
-- name. The ledger keeps only these of an event about a deleted user, and after 90 days of an event that still waits.
create function private.stored_payload(
  p_body jsonb,
  p_outcome text
)
returns jsonb -- null: the ledger keeps no field
language plpgsql
stable
set search_path = ''
as $$
declare
  v_event constant text := private.json_text(p_body -> 'event');
  v_payload constant jsonb := private.json_object(p_body -> 'payload');
  v_fields text[] := array[
    'id', 'order_id', 'payment_id', 'receipt', 'plan_id', 'amount', 'currency', 'status', 'current_start', 'current_end',
    'error_code', 'error_reason'
  ];
  v_is_waiting constant boolean := private.is_waiting(v_event, p_outcome);
  v_entities jsonb;
begin
  if jsonb_typeof(p_body) is distinct from 'object' then
    return null;
  end if;
  -- An event that waits is kept, also for a deleted user: it cancels the subscription at the gateway.
  if v_event like 'subscription.%'
    and not v_is_waiting
    and private.is_deleted(private.json_uuid(v_payload #> '{subscription,entity,notes,user_id}'))
  then
    return null;
  end if;
  -- The bank's text is kept until the event has its effect, but not for a payment without a user.
  if v_event = 'payment.failed'
    and v_is_waiting
    and not exists (
      select
      from public.payments p
      where p.gateway_order_id = v_payload #>> '{payment,entity,order_id}'
        and p.user_id is null
    )
  then
    v_fields := v_fields || 'error_description'::text;
  end if;

  select jsonb_object_agg(entity.name, jsonb_build_object('entity', entity.kept))
  into v_entities
  from (
    select
      e.key as name,
      coalesce(
        (
          select jsonb_object_agg(f.key, f.value)
          from jsonb_each(private.json_object(e.value -> 'entity')) f
          where f.key = any (v_fields)
            and jsonb_typeof(f.value) not in ('object', 'array')
        ),
        '{}'
      )
      || case
        when e.key = 'subscription' and e.value #> '{entity,notes,user_id}' is not null
          then jsonb_build_object('notes', jsonb_build_object('user_id', e.value #> '{entity,notes,user_id}'))
        else '{}'
      end as kept
    from jsonb_each(v_payload) e
    where e.key = any (array['payment', 'order', 'refund', 'dispute', 'subscription'])
      and jsonb_typeof(e.value -> 'entity') = 'object'
  ) entity;
  return jsonb_build_object('reduced', true, 'event', v_event, 'payload', coalesce(v_entities, '{}'))
    || case
      when private.event_time(p_body) is null then '{}'
      else jsonb_build_object('created_at', extract(epoch from private.event_time(p_body)))
    end;
end
$$;
grant execute on function private.stored_payload(jsonb, text) to service_role;

-- Returns whether an event is about a deleted user. For failed events: their rollback undoes private.note_missing_user.
create function private.is_about_deleted_user(
  p_body jsonb,
  p_subject_id text
)
returns boolean
language plpgsql
stable
set search_path = ''
as $$
begin
  return private.is_deleted(private.json_uuid(p_body #> '{payload,subscription,entity,notes,user_id}'))
    or exists (
      select
      from public.payments p
      where p.user_id is null
        and p.gateway_order_id = p_subject_id
    )
    or exists (
      select
      from public.payments p
      where p.user_id is null
        and p.gateway_payment_id = p_subject_id
    );
end
$$;
grant execute on function private.is_about_deleted_user(jsonb, text) to service_role;

create type private.delivery as (
  outcome text, -- as in the ledger
  is_applied boolean -- true: this call applied the event; false: an earlier call did
);

-- Applies an event and writes its ledger row, once. Effect and row commit together. Of two deliveries at once, the second
-- waits for the first. Then its effect is undone, and it returns the stored outcome.
create function private.apply_delivery(
  p_body_sha256 bytea,
  p_event_id text, -- from the header, not signed
  p_body jsonb, -- null: nested too deep to read
  p_deliveries integer -- 0: the event comes from reconciliation, not from the gateway
)
returns private.delivery
language plpgsql
set search_path = ''
as $$
declare
  v_now constant timestamptz := private.clock();
  v_subject_id text;
  v_event private.gateway_events;
  v_error text;
  v_set text;
  v_delivery private.delivery;
begin
  v_delivery.is_applied := true;
  select * into v_event from private.gateway_events e where e.body_sha256 = p_body_sha256;
  if found and p_deliveries > 0 then
    update private.gateway_events e
    set deliveries = e.deliveries + p_deliveries
    where e.body_sha256 = p_body_sha256
    returning * into v_event;
  end if;

  if v_event.body_sha256 is null then
    v_subject_id := left(
      coalesce(
        p_body #>> '{payload,subscription,entity,id}',
        p_body #>> '{payload,payment,entity,order_id}',
        p_body #>> '{payload,order,entity,id}',
        p_body #>> '{payload,dispute,entity,payment_id}',
        p_body #>> '{payload,payment,entity,id}',
        p_body #>> '{payload,refund,entity,payment_id}'
      ),
      200
    );
    v_set := set_config('subscriptions.cause', coalesce(p_body ->> 'event', ''), true);
    v_set := set_config('subscriptions.reference', coalesce(v_subject_id, encode(p_body_sha256, 'hex')), true);
    v_set := set_config('subscriptions.user_deleted', '', true);
    begin
      v_delivery.outcome := private.apply_event(p_body, p_body_sha256, v_now);
      insert into private.gateway_events (
        body_sha256, event_id, event, subject_id, event_at, payload, reduce_at, outcome, deliveries, attempts, received_at
      )
      values (
        p_body_sha256, p_event_id, private.json_text(p_body -> 'event'), v_subject_id,
        case when p_body ->> 'event' like 'subscription.%' then private.event_time(p_body) end,
        case
          when current_setting('subscriptions.user_deleted') = 'on' then private.stored_payload(p_body, v_delivery.outcome)
          else p_body
        end,
        case
          when v_delivery.outcome = 'unmatched' or v_delivery.outcome like 'ignored: %' then v_now + interval '1 day'
        end,
        v_delivery.outcome, p_deliveries, 1, v_now
      )
      on conflict (body_sha256) do nothing;
      if not found then
        raise exception 'delivered twice at once' using errcode = 'PS409';
      end if;
      if v_delivery.outcome <> 'applied' and private.can_be_reapplied(p_body ->> 'event', v_delivery.outcome) then
        perform private.note_unsettled(p_body_sha256, true);
      end if;
      return v_delivery;
    exception
      when others then
        if not private.is_error_of_event(sqlstate) then
          raise;
        end if;
        v_error := nullif(sqlstate, 'PS409');
    end;

    -- The effect was undone: the event failed, or another delivery of the same body committed first.
    insert into private.gateway_events as e (
      body_sha256, event_id, event, subject_id, event_at, payload, outcome, error, deliveries, attempts, received_at
    )
    values (
      p_body_sha256, p_event_id, private.json_text(p_body -> 'event'), v_subject_id, private.event_time(p_body),
      case
        when private.is_about_deleted_user(p_body, v_subject_id) then private.stored_payload(p_body, 'failed: ' || v_error)
        else p_body
      end,
      'failed: ' || v_error, v_error, p_deliveries, 1, v_now
    )
    on conflict (body_sha256) do update
    set deliveries = e.deliveries + excluded.deliveries
    returning * into v_event;
    if v_error is not null and v_event.error is not distinct from v_error then
      perform private.note_unsettled(p_body_sha256, true);
      v_delivery.outcome := v_event.outcome;
      return v_delivery;
    end if;
  end if;

  -- A repeated event that had no effect is applied again. An unmatched subscription event waits in the mirror instead.
  if v_event.outcome like 'failed: %'
    or v_event.outcome = 'plan_not_found'
    or v_event.outcome = 'unmatched' and v_event.event not like 'subscription.%'
  then
    -- The payload in the ledger may be deleted by now.
    v_event.payload := coalesce(v_event.payload, p_body);
    v_delivery.outcome := private.apply_recorded_event(v_event);
  else
    v_delivery.outcome := v_event.outcome;
    v_delivery.is_applied := false;
  end if;
  return v_delivery;
end
$$;
grant execute on function private.apply_delivery(bytea, text, jsonb, integer) to service_role;

-- Applies a signed webhook. API: service_role only.
create function public.apply_gateway_event(
  p_body_sha256 text, -- of the raw bytes, hex
  p_event_id text default null, -- from the header, not signed
  p_body text default null, -- JSON that jsonb accepts; null: nested too deep to read
  p_account_id text default null -- the gateway account whose events are applied; null: all accounts
)
returns jsonb -- {outcome}: see private.gateway_events.outcome; for "failed: …" the gateway must retry
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_body constant jsonb := p_body::jsonb;
  v_set text;
  v_outcome text;
begin
  if v_body ->> 'account_id' <> p_account_id then
    -- The payload is not stored: it holds personal data of another business's customers.
    insert into private.gateway_events as e (body_sha256, event_id, event, outcome, attempts)
    values (decode(p_body_sha256, 'hex'), p_event_id, private.json_text(v_body -> 'event'), 'ignored: account', 1)
    on conflict (body_sha256) do update
    set deliveries = e.deliveries + excluded.deliveries
    returning e.outcome into v_outcome;
    return jsonb_build_object('outcome', v_outcome);
  end if;
  -- Same as private.begin_request, but private.apply_delivery sets the cause.
  v_set := set_config('subscriptions.request', 'on', true);
  v_outcome := (private.apply_delivery(decode(p_body_sha256, 'hex'), p_event_id, v_body, 1)).outcome;
  return jsonb_build_object('outcome', v_outcome);
end
$$;
comment on function public.apply_gateway_event(text, text, text, text) is
  'Applies the event of a signed delivery and records it in the ledger. A repeat returns the stored outcome.';
revoke execute on function public.apply_gateway_event(text, text, text, text) from public, anon, authenticated;
grant execute on function public.apply_gateway_event(text, text, text, text) to service_role;
