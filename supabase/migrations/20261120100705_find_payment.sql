-- Which of our payments an event of the gateway is about. SPEC 6.
-- Depends on: _gateway_events, _extra_payments.

-- The payment that a gateway's payment entity is about: by its own id, also where another payment pays for the order, else
-- by its order, else by the order's receipt, which is our id without dashes and known before the order's id is. Never by
-- its notes: the browser sets them. Ids can be reused by a test account, so where the order is known it must agree.
create function private.find_payment(
  p_entity jsonb,
  p_order jsonb -- the order's entity, where the event brings it
)
returns public.payments -- all null: none. Not locked: read it again under the lock
language plpgsql -- which keeps its plans
stable
set search_path = ''
as $$
declare
  v_gateway_payment_id constant text := private.json_text(p_entity -> 'id');
  v_gateway_order_id constant text := coalesce(
    private.json_text(p_entity -> 'order_id'),
    private.json_text(p_order -> 'id')
  );
  v_of_order public.payments;
  v_payment public.payments;
begin
  -- Usually the order is known, and no other payment on it.
  if v_gateway_order_id is not null then
    select * into v_of_order from public.payments p where p.gateway_order_id = v_gateway_order_id;
    if found and (v_of_order.gateway_payment_id is null or v_of_order.gateway_payment_id = v_gateway_payment_id) then
      return v_of_order;
    end if;
  end if;
  select * into v_payment from public.payments p where p.gateway_payment_id = v_gateway_payment_id;
  if found then
    return v_payment;
  end if;
  select p.* into v_payment
  from private.extra_payments x
  join public.payments p on p.id = x.payment_id
  where x.gateway_payment_id = v_gateway_payment_id
  order by p.gateway_order_id = v_gateway_order_id desc nulls last, x.payment_id
  limit 1;
  if found then
    return v_payment;
  end if;
  if v_of_order.id is not null then
    return v_of_order;
  end if;
  if private.json_text(p_order -> 'receipt') ~ '^[0-9a-f]{32}$' then
    select * into v_payment
    from public.payments p
    where p.id = private.json_text(p_order -> 'receipt')::uuid
      and p.gateway_order_id is null;
  end if;
  return v_payment;
end
$$;
revoke execute on function private.find_payment(jsonb, jsonb) from public;
grant execute on function private.find_payment(jsonb, jsonb) to service_role;
