-- What an event of the gateway does, and what the ledger keeps of it. SPEC 6.
-- Depends on: _gateway_events, _apply_payment_event, _apply_refund_event, _apply_subscription_event.

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
