-- Gateway subscriptions that replace another one at the end of its cycle: a change of plan.
-- Contract: "Gateway subscriptions", POST /api/subscriptions/change.

-- Notes which subscription replaces another one when that ends: from its authorisation on, until it is cancelled.
create function private.note_successor(
  p_subscription private.gateway_subscriptions -- after an event
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_successor constant text := case
    when p_subscription.status is distinct from 'cancelled' then p_subscription.gateway_subscription_id
  end;
begin
  update private.gateway_subscriptions m
  set replaced_by = v_successor
  from private.subscription_orders o
  where o.gateway_subscription_id = p_subscription.gateway_subscription_id
    and o.user_id = p_subscription.user_id
    and m.user_id = o.user_id
    and m.gateway_subscription_id = o.replaces
    and m.replaced_by is distinct from v_successor;
end
$$;
grant execute on function private.note_successor(private.gateway_subscriptions) to service_role;

-- Undoes a change of plan that waits for the end of a cycle: its subscription is cancelled before it starts. The caller
-- holds the lock on the user.
create function private.undo_change(
  p_user_id uuid
)
returns boolean -- whether there was one
language plpgsql
set search_path = ''
as $$
declare
  v_order record;
  v_is_undone boolean := false;
begin
  for v_order in
    update private.subscription_orders o
    set replaces = null
    where o.user_id = p_user_id
      and o.replaces is not null
      and o.starts_at > private.clock()
    returning o.gateway_subscription_id
  loop
    update private.gateway_subscriptions m
    set replaced_by = null
    where m.user_id = p_user_id
      and m.replaced_by = v_order.gateway_subscription_id;
    if v_order.gateway_subscription_id is not null then
      perform private.enqueue_cancellation(v_order.gateway_subscription_id);
    end if;
    v_is_undone := true;
  end loop;
  return v_is_undone;
end
$$;
grant execute on function private.undo_change(uuid) to service_role;

revoke execute on all functions in schema private from public;
