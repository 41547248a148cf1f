-- Applies an event by its name, and applies events of the ledger again. Contract: "Events", "Failing events".

-- Applies one event, by its name.
create function private.apply_event(
  p_body jsonb,
  p_body_sha256 bytea,
  p_arrived_at timestamptz -- the time of the first delivery
)
returns text -- the outcome for the ledger
language plpgsql
set search_path = ''
as $$
declare
  v_event constant text := private.json_text(p_body -> 'event');
  v_payment constant jsonb := private.json_object(p_body #> '{payload,payment,entity}');
  v_order jsonb;
  v_other jsonb;
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
    v_other := private.json_object(p_body #> '{payload,subscription,entity}');
    if v_other is null then
      return 'ignored: subscription.entity';
    end if;
    return private.apply_subscription_event(v_event, v_other, v_payment, private.event_time(p_body), p_arrived_at);
  end if;
  if v_event in ('refund.created', 'refund.processed', 'refund.failed') then
    v_other := private.json_object(p_body #> '{payload,refund,entity}');
    if v_other is null then
      return 'ignored: refund.entity';
    end if;
    -- If the entity has no status, the name of the event gives it.
    return private.apply_refund(
      jsonb_build_object('status', case v_event
        when 'refund.created' then 'pending'
        when 'refund.failed' then 'failed'
        else 'processed'
      end) || v_other,
      v_payment
    );
  end if;
  if v_event like 'payment.dispute.%' then
    v_other := private.json_object(p_body #> '{payload,dispute,entity}');
    if v_other is null then
      return 'ignored: dispute.entity';
    end if;
    return private.apply_dispute(v_other, v_payment, private.event_time(p_body));
  end if;
  if v_event not in ('payment.captured', 'order.paid', 'payment.failed') then
    return 'ignored: not handled';
  end if;
  if v_payment is null then
    return 'ignored: payment.entity';
  end if;
  if v_event = 'payment.failed' then
    return private.apply_payment_failed(v_payment, p_body_sha256);
  end if;
  return private.apply_payment_captured(v_payment, private.json_object(p_body #> '{payload,order,entity}'));
end
$$;
grant execute on function private.apply_event(jsonb, bytea, timestamptz) to service_role;

-- Returns whether the event's data, or an app's trigger, caused an error. Any other error (connection, conflict, resources,
-- lock time-out, shutdown, system) may not occur again when the gateway retries.
create function private.is_error_of_event(
  p_sqlstate text
)
returns boolean
language plpgsql
immutable
set search_path = ''
as $$
begin
  return left(p_sqlstate, 2) not in ('08', '40', '53', '57', '58') and p_sqlstate <> '55P03';
end
$$;
grant execute on function private.is_error_of_event(text) to service_role;

-- Returns whether an event belongs in private.unsettled_events: it had no effect and may have one later. An unmatched event
-- about an order does not belong there, since storing the order applies it. A dispute does, since it names no order.
create function private.can_be_reapplied(
  p_event text,
  p_outcome text
)
returns boolean
language plpgsql
immutable
set search_path = ''
as $$
begin
  return p_outcome in ('plan_not_found', 'mismatch', 'parked')
    or p_outcome like 'failed: %'
    or p_outcome = 'unmatched' and p_event like 'payment.dispute.%';
end
$$;
grant execute on function private.can_be_reapplied(text, text) to service_role;

-- Returns whether an event still waits for its effect and needs its payload. An unmatched subscription event does not need
-- it: its facts are in the mirror.
create function private.is_waiting(
  p_event text,
  p_outcome text
)
returns boolean
language plpgsql
immutable
set search_path = ''
as $$
begin
  return p_outcome in ('plan_not_found', 'parked')
    or p_outcome like 'failed: %'
    or p_outcome = 'unmatched' and (p_event like 'subscription.%') is not true;
end
$$;
grant execute on function private.is_waiting(text, text) to service_role;

-- Adds an event to private.unsettled_events, or removes it.
create function private.note_unsettled(
  p_body_sha256 bytea,
  p_is_unsettled boolean
)
returns void
language plpgsql
set search_path = ''
as $$
begin
  if p_is_unsettled then
    insert into private.unsettled_events (body_sha256)
    values (p_body_sha256)
    on conflict (body_sha256) do nothing;
  else
    delete from private.unsettled_events u where u.body_sha256 = p_body_sha256;
  end if;
end
$$;
grant execute on function private.note_unsettled(bytea, boolean) to service_role;

-- Applies an event of the ledger again. Stores the outcome, unless another transaction that does the same has locked the
-- ledger row.
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
  perform private.note_cause(p_event.event, coalesce(p_event.subject_id, encode(p_event.body_sha256, 'hex')));
  begin
    v_outcome := private.apply_event(p_event.payload, p_event.body_sha256, p_event.received_at);
  exception
    when others then
      if not private.is_error_of_event(sqlstate) then
        raise;
      end if;
      -- Only the effect of this event is undone. After six hours the event is parked, so that the gateway does not switch
      -- the endpoint off.
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
    perform private.note_unsettled(p_event.body_sha256, private.can_be_reapplied(p_event.event, v_outcome));
  end if;
  return v_outcome;
end
$$;
grant execute on function private.apply_recorded_event(private.gateway_events) to service_role;
