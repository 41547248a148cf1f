-- Subscription events get another turn when it turns out which gateway subscription counts.
-- Depends on: _gateway_events, _supersede_subscription.

-- Whether an event may be judged anew. One whose time says nothing counted when it came, and a purchase since then
-- replaced it.
create function private.has_a_say(
  p_user_id uuid,
  p_event private.gateway_events
)
returns boolean
language sql
stable
set search_path = ''
return p_event.received_at > coalesce(private.last_purchase_at(p_user_id), '-infinity')
  or private.is_replaced(p_user_id, private.event_time(p_event.payload));
revoke execute on function private.has_a_say(uuid, private.gateway_events) from public;
grant execute on function private.has_a_say(uuid, private.gateway_events) to service_role;

-- The activations and charges of a user that nothing could be done with before there was a subscription. One without a
-- time counted when it came. The caller holds the user's lock, here and below: it makes applying an event again harmless. No row of
-- the ledger is waited for, since whoever holds one may be waiting for the user.
create function private.replay_waiting_events(
  p_user_id uuid,
  p_made_at timestamptz default null -- of the event that made the subscription: of one second it counts
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_event private.gateway_events;
begin
  for v_event in
    select e.*
    from private.unsettled_events u
    join private.gateway_events e on e.body_sha256 = u.body_sha256
    where u.user_id = p_user_id
      and e.event in ('subscription.activated', 'subscription.charged')
      and e.outcome = 'unmatched'
      and private.event_time(e.payload) <> coalesce(p_made_at, '-infinity')
      and private.has_a_say(p_user_id, e)
    order by e.received_at
  loop
    perform private.apply_recorded_event(v_event);
  end loop;
end
$$;
revoke execute on function private.replay_waiting_events(uuid, timestamptz) from public;
grant execute on function private.replay_waiting_events(uuid, timestamptz) to service_role;

-- The events of a gateway subscription that were judged while it did not count, or while nobody knew which one does.
create function private.replay_subscription_events(
  p_user_id uuid,
  p_gateway_subscription_id text
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_event private.gateway_events;
begin
  for v_event in
    select e.*
    from private.gateway_events e
    where e.subject_id = p_gateway_subscription_id
      and e.event in ('subscription.activated', 'subscription.charged', 'subscription.cancelled')
      and private.json_uuid(e.payload #> '{payload,subscription,entity,notes,user_id}') = p_user_id
      and (e.outcome = 'unmatched' or e.outcome in ('applied', 'stale', 'mismatch') and private.event_time(e.payload) is not null)
      and private.has_a_say(p_user_id, e)
    order by e.received_at
  loop
    perform private.apply_recorded_event(v_event);
  end loop;
end
$$;
revoke execute on function private.replay_subscription_events(uuid, text) from public;
grant execute on function private.replay_subscription_events(uuid, text) to service_role;
