-- Applies a delivery of the gateway, once however often it comes. SPEC 4, POST /api/webhooks/gateway, and SPEC 6.
-- Depends on: _gateway_events, _apply_event, _stored_payload, _wake.

-- What became of a delivery.
create type private.delivery as (
  outcome text, -- as in the ledger
  is_applied boolean -- whether it was applied now, not before
);

-- Applies an event and writes its ledger row, once: effect and row commit together. Of two deliveries at once the second
-- waits for the first, is undone and gets the stored outcome.
create function private.apply_delivery(
  p_body_sha256 bytea,
  p_event_id text, -- from the header, unsigned
  p_body jsonb, -- null: nested too deep to be read
  p_early_renewal text,
  p_deliveries integer -- 0: reconciliation asked for it, the gateway did not deliver it
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
        body_sha256, event_id, event, subject_id, event_at, payload, early_renewal, outcome, deliveries, attempts,
        received_at
      )
      values (
        p_body_sha256, p_event_id, private.json_text(p_body -> 'event'), v_subject_id, private.event_time(p_body),
        case
          when current_setting('subscriptions.user_deleted') = 'on' then private.stored_payload(p_body, v_delivery.outcome)
          else p_body
        end,
        p_early_renewal, v_delivery.outcome, p_deliveries, 1, v_now
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

    -- The effect was undone: the event failed, or another delivery of it came first.
    insert into private.gateway_events as e (
      body_sha256, event_id, event, subject_id, event_at, payload, early_renewal, outcome, error, deliveries, attempts,
      received_at
    )
    values (
      p_body_sha256, p_event_id, private.json_text(p_body -> 'event'), v_subject_id, private.event_time(p_body),
      case
        when private.is_about_deleted_user(p_body, v_subject_id) then private.stored_payload(p_body, 'failed: ' || v_error)
        else p_body
      end,
      p_early_renewal, 'failed: ' || v_error, v_error, p_deliveries, 1, v_now
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

  -- What had no effect yet is tried again. A subscription event that is unmatched waits in the mirror.
  if v_event.outcome like 'failed: %'
    or v_event.outcome = 'plan_not_found'
    or v_event.outcome = 'unmatched' and v_event.event not like 'subscription.%'
  then
    -- The ledger's copy may be emptied.
    v_event.payload := coalesce(v_event.payload, p_body);
    v_delivery.outcome := private.apply_recorded_event(v_event);
  else
    v_delivery.outcome := v_event.outcome;
    v_delivery.is_applied := false;
  end if;
  return v_delivery;
end
$$;
revoke execute on function private.apply_delivery(bytea, text, jsonb, text, integer) from public;
grant execute on function private.apply_delivery(bytea, text, jsonb, text, integer) to service_role;

-- API: service_role only.
create function public.apply_gateway_event(
  p_body_sha256 text, -- of the raw bytes, hex
  p_event_id text default null, -- from the header, unsigned
  p_body text default null, -- JSON that jsonb accepts; null: nested too deep to be read
  p_early_renewal text default 'replace', -- as in verify_payment
  p_account_id text default null -- the account whose events count; null: all
)
returns jsonb -- {outcome}: see private.gateway_events.outcome; "failed: …" asks for another delivery
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
    -- Without its payload: those are customers of somebody else.
    insert into private.gateway_events as e (body_sha256, event_id, event, outcome, attempts)
    values (decode(p_body_sha256, 'hex'), p_event_id, private.json_text(v_body -> 'event'), 'ignored: account', 1)
    on conflict (body_sha256) do update
    set deliveries = e.deliveries + excluded.deliveries
    returning e.outcome into v_outcome;
    return jsonb_build_object('outcome', v_outcome);
  end if;
  -- As private.begin_request; the event is the cause.
  v_set := set_config('subscriptions.request', 'on', true);
  v_set := set_config('subscriptions.early_renewal', p_early_renewal, true);
  v_outcome := (private.apply_delivery(decode(p_body_sha256, 'hex'), p_event_id, v_body, p_early_renewal, 1)).outcome;
  return jsonb_build_object('outcome', v_outcome);
end
$$;
comment on function public.apply_gateway_event(text, text, text, text, text) is
  'Records a signed delivery in the ledger and applies its event; a repeat answers the first one''s outcome.';
revoke execute on function public.apply_gateway_event(text, text, text, text, text) from public, anon, authenticated;
grant execute on function public.apply_gateway_event(text, text, text, text, text) to service_role;
