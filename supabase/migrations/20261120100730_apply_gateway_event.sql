-- Applies a delivery of the gateway, once however often it comes. SPEC 4, POST /api/webhooks/gateway, and SPEC 6.
-- Depends on: _apply_payment_event, _apply_refund_event, _apply_subscription_event, _wake.

-- The effect of one event, by its name.
create function private.apply_event(
  p_body jsonb,
  p_body_sha256 bytea
)
returns text -- the outcome for the ledger
language plpgsql
set search_path = ''
as $$
declare
  v_event constant text := private.json_text(p_body -> 'event');
  v_payment constant jsonb := private.json_object(p_body #> '{payload,payment,entity}');
  v_order constant jsonb := private.json_object(p_body #> '{payload,order,entity}');
  v_dispute constant jsonb := private.json_object(p_body #> '{payload,dispute,entity}');
  v_subscription constant jsonb := private.json_object(p_body #> '{payload,subscription,entity}');
begin
  if p_body is null then
    return 'ignored: nested too deep';
  end if;
  if jsonb_typeof(p_body) <> 'object' then
    return 'ignored: not an object';
  end if;
  if v_event is null then
    return 'ignored: event';
  end if;

  if v_event in ('subscription.activated', 'subscription.charged', 'subscription.cancelled') then
    if v_subscription is null then
      return 'ignored: subscription.entity';
    end if;
    return private.apply_subscription_event(v_event, v_subscription, private.event_time(p_body));
  end if;
  if v_event like 'payment.dispute.%' then
    if v_dispute is null then
      return 'ignored: dispute.entity';
    end if;
    return private.apply_dispute(v_dispute, v_payment);
  end if;
  if v_event not in ('payment.captured', 'order.paid', 'payment.failed', 'refund.processed') then
    return 'ignored: not handled';
  end if;
  if v_payment is null then
    return 'ignored: payment.entity';
  end if;
  return case v_event
    when 'payment.failed' then private.apply_payment_failed(v_payment, p_body_sha256)
    when 'refund.processed' then private.apply_refund(v_payment)
    else private.apply_payment_captured(v_payment, v_order)
  end;
end
$$;
revoke execute on function private.apply_event(jsonb, bytea) from public;
grant execute on function private.apply_event(jsonb, bytea) to service_role;

-- Notes whether an event is to have another turn. One about an order that is not there has it when that is stored.
create function private.note_unsettled(
  p_event private.gateway_events, -- as it was before this turn
  p_outcome text
)
returns void
language plpgsql
set search_path = ''
as $$
begin
  if p_outcome in ('plan_not_found', 'mismatch', 'parked')
    or p_outcome like 'failed: %'
    or p_outcome = 'unmatched' and p_event.event like 'subscription.%'
  then
    insert into private.unsettled_events (body_sha256, user_id)
    values (
      p_event.body_sha256,
      private.json_uuid(p_event.payload #> '{payload,subscription,entity,notes,user_id}')
    )
    on conflict (body_sha256) do nothing;
  elsif p_event.attempts > 0 then
    delete from private.unsettled_events u where u.body_sha256 = p_event.body_sha256;
  end if;
end
$$;
revoke execute on function private.note_unsettled(private.gateway_events, text) from public;
grant execute on function private.note_unsettled(private.gateway_events, text) to service_role;

-- Applies an event of the ledger and notes what became of it, unless somebody else is about to: who holds its row.
create function private.apply_recorded_event(
  p_event private.gateway_events
)
returns text -- the outcome for the ledger
language plpgsql
set search_path = ''
as $$
declare
  v_outcome text;
  v_error text;
begin
  perform set_config('subscriptions.early_renewal', p_event.early_renewal, true);
  perform private.note_cause(p_event.event, coalesce(p_event.subject_id, encode(p_event.body_sha256, 'hex')));
  begin
    v_outcome := private.apply_event(p_event.payload, p_event.body_sha256);
  exception
    -- This event's own data is at fault: only its effect is undone. After six hours it is set aside, so that the
    -- gateway does not switch the endpoint off for everybody.
    when data_exception or integrity_constraint_violation then
      v_error := sqlstate;
      v_outcome := case
        when p_event.received_at > private.clock() - interval '6 hours' then 'failed: ' || v_error
        else 'parked'
      end;
  end;

  update private.gateway_events e
  set outcome = v_outcome,
    error = v_error,
    attempts = e.attempts + 1
  where e.body_sha256 = (
    select l.body_sha256
    from private.gateway_events l
    where l.body_sha256 = p_event.body_sha256
    for update skip locked
  );
  if found then
    perform private.note_unsettled(p_event, v_outcome);
  end if;
  return v_outcome;
end
$$;
revoke execute on function private.apply_recorded_event(private.gateway_events) from public;
grant execute on function private.apply_recorded_event(private.gateway_events) to service_role;

-- Notes a delivery in the ledger and holds its row: the second of two at once waits here for the first and finds its
-- outcome, or, if it rolled back, no row.
create function private.record_event(
  p_body_sha256 bytea,
  p_event_id text, -- from the header, unsigned
  p_body jsonb, -- null: nested too deep to be read
  p_early_renewal text,
  p_deliveries integer default 1 -- 0: the gateway did not bring it, it was asked
)
returns private.gateway_events -- its outcome is null when the event is to be applied
language plpgsql
set search_path = ''
as $$
declare
  v_event private.gateway_events;
begin
  insert into private.gateway_events as e (body_sha256, event_id, event, subject_id, payload, early_renewal, deliveries)
  values (
    p_body_sha256,
    p_event_id,
    private.json_text(p_body -> 'event'),
    left(
      coalesce(
        private.json_text(p_body -> 'payload' -> 'subscription' -> 'entity' -> 'id'),
        private.json_text(p_body -> 'payload' -> 'payment' -> 'entity' -> 'order_id'),
        private.json_text(p_body -> 'payload' -> 'order' -> 'entity' -> 'id'),
        private.json_text(p_body -> 'payload' -> 'dispute' -> 'entity' -> 'payment_id'),
        private.json_text(p_body -> 'payload' -> 'payment' -> 'entity' -> 'id')
      ),
      200
    ),
    p_body,
    p_early_renewal,
    p_deliveries
  )
  -- What had no effect yet has another try. A cancellation had one on the profile: a repeat must not end a later purchase.
  on conflict (body_sha256) do update
  set deliveries = e.deliveries + excluded.deliveries,
    outcome = case
      when e.outcome like 'failed: %'
        or e.outcome = 'plan_not_found'
        or e.outcome = 'unmatched' and e.event not like 'subscription.%'
      then null
      else e.outcome
    end
  returning * into v_event;
  return v_event;
end
$$;
revoke execute on function private.record_event(bytea, text, jsonb, text, integer) from public;
grant execute on function private.record_event(bytea, text, jsonb, text, integer) to service_role;

-- API: service_role only.
create function public.apply_gateway_event(
  p_body_sha256 text, -- of the raw bytes, hex
  p_event_id text default null, -- from the header, unsigned
  p_body text default null, -- JSON that jsonb accepts; null: nested too deep to be read
  p_early_renewal text default 'replace' -- as in verify_payment
)
returns jsonb -- {outcome}: as in the ledger
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
as $$
declare
  v_event private.gateway_events;
begin
  perform private.begin_request('webhook', p_body_sha256, p_early_renewal);
  v_event := private.record_event(decode(p_body_sha256, 'hex'), p_event_id, p_body::jsonb, p_early_renewal);
  return jsonb_build_object('outcome', coalesce(v_event.outcome, private.apply_recorded_event(v_event)));
end
$$;
comment on function public.apply_gateway_event(text, text, text, text) is
  'Records a signed delivery in the ledger and applies its event; a repeat answers the first one''s outcome.';
revoke execute on function public.apply_gateway_event(text, text, text, text) from public, anon, authenticated;
grant execute on function public.apply_gateway_event(text, text, text, text) to service_role;
