-- What the ledger keeps of an event's body.
-- Depends on: _gateway_events, _deleted_users, _apply_event.

-- The fields that the rules read, without the e-mail address, phone number, VPA and name of the customer: what the ledger
-- keeps of an event about a deleted user, and after 90 days of one that still waits.
create function private.stored_payload(
  p_body jsonb,
  p_outcome text
)
returns jsonb -- null: nothing
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
  -- One that failed is still needed: it has the gateway stop billing.
  if v_event like 'subscription.%'
    and not v_is_waiting
    and private.is_deleted(private.json_uuid(v_payload #> '{subscription,entity,notes,user_id}'))
  then
    return null;
  end if;
  -- The bank's words are needed until the event has its effect, and for a payment that has a user.
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
revoke execute on function private.stored_payload(jsonb, text) from public;
grant execute on function private.stored_payload(jsonb, text) to service_role;

-- Whether an event is about a deleted user, asked after its effect failed.
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
revoke execute on function private.is_about_deleted_user(jsonb, text) from public;
grant execute on function private.is_about_deleted_user(jsonb, text) to service_role;
