-- Applies events of the ledger again: when their order or payment is stored, when their plan exists, or when an admin
-- requests it.

-- Applies the events that wait for an order, when the order is stored.
-- Security definer: the role with which an app inserts its own payments has no rights on the ledger.
create function private.replay_order_events()
returns trigger
language plpgsql
security definer
set search_path = ''
set enable_seqscan = off
as $$
declare
  v_subject_id constant text := left(new.gateway_order_id, 200);
  v_event private.gateway_events;
begin
  -- Usually no event waits, and this test costs a third of what the loop costs.
  if not exists (
    select
    from private.gateway_events e
    where e.subject_id = v_subject_id
      and e.outcome = 'unmatched'
  ) then
    return null;
  end if;
  for v_event in
    select e.*
    from private.gateway_events e
    where e.subject_id = v_subject_id
      and e.outcome = 'unmatched'
      and e.event not like 'subscription.%'
      and e.payload is not null
    order by e.received_at
    -- A transaction that has locked an event waits for this payment and then finds it.
    for update skip locked
  loop
    perform private.apply_recorded_event(v_event);
  end loop;
  return null;
end
$$;

create trigger replay_order_events
after insert on public.payments
for each row
when (new.gateway_order_id is not null)
execute function private.replay_order_events();

create trigger replay_events_of_new_order
after update of gateway_order_id on public.payments
for each row
when (new.gateway_order_id is distinct from old.gateway_order_id and new.gateway_order_id is not null)
execute function private.replay_order_events();

-- Applies events that arrived while their order was being stored. Neither transaction saw the other's row, so the trigger
-- did not find these events. None of them is older than a day. Also applies events that waited for their plan or, like
-- disputes, for their payment.
create function private.replay_missed_events()
returns integer -- how many events were applied
language plpgsql
set search_path = ''
as $$
declare
  v_missed record;
  v_applied integer := 0;
begin
  for v_missed in
    select e as event, missed.user_id
    from (
      select u.body_sha256, p.user_id
      from private.gateway_events u
      join public.payments p on u.subject_id in (p.gateway_order_id, p.gateway_payment_id)
      where u.received_at > private.clock() - interval '1 day'
        and u.payload is not null
        and u.outcome = 'unmatched'
        and u.event not like 'subscription.%'
        and u.attempts < 3
      union
      select w.body_sha256, p.user_id
      from private.unsettled_events t
      join private.gateway_events w on w.body_sha256 = t.body_sha256
      join public.payments p on w.subject_id in (p.gateway_order_id, p.gateway_payment_id)
      where w.payload is not null
        and (
          w.outcome = 'plan_not_found'
          and p.fulfilled_at is null
          and (private.plan_bought(p)).id is not null
          or w.outcome = 'unmatched'
        )
    ) missed
    join private.gateway_events e on e.body_sha256 = missed.body_sha256
    order by missed.user_id, e.received_at
    limit 100
    for update of e skip locked
  loop
    begin
      perform from auth.users u where u.id = v_missed.user_id for no key update nowait;
      perform private.apply_recorded_event(v_missed.event);
      v_applied := v_applied + 1;
    exception
      -- Another transaction has locked the user: the next run applies the event.
      when lock_not_available then
        null;
    end;
  end loop;
  return v_applied;
end
$$;

-- For an admin who repaired the cause: applies an event of the ledger again.
create function private.replay_event(
  p_body_sha256 bytea
)
returns text -- the outcome; null: no such event
language plpgsql
set search_path = ''
as $$
declare
  v_event private.gateway_events;
begin
  select * into v_event from private.gateway_events e where e.body_sha256 = p_body_sha256 for update;
  if not found then
    return null;
  end if;
  -- A subscription event that had its effect is not applied again: without a time it would count as the newest event.
  if v_event.payload is null or v_event.event like 'subscription.%' and v_event.outcome in ('applied', 'stale') then
    return v_event.outcome;
  end if;
  return private.apply_recorded_event(v_event);
end
$$;
