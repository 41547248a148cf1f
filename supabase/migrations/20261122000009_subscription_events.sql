-- What an event does to a gateway subscription, also of a deleted user.

-- Deletion of a user. The gateway subscriptions of a deleted user must not go on charging: also where their events arrive
-- after the deletion. 90 days later nothing of the user is left.
-- A user that is unknown here may belong to another app of the same gateway account: that subscription is left alone.

create table private.deleted_users (
  user_id uuid primary key,
  deleted_at timestamptz not null default private.clock(),
  erased_at timestamptz
);
create index deleted_users_deleted_at_idx on private.deleted_users (deleted_at)
where erased_at is null;
alter table private.deleted_users enable row level security;
grant select on private.deleted_users to service_role;
comment on table private.deleted_users is
  'The deletions of users. Kept without a limit: a mandate at the gateway may charge for decades, and a charge for a user '
  'who is not listed here is taken for one of another app and goes on.';
comment on column private.deleted_users.user_id is
  'The id of the user; after 90 days its hash, private.hash_user_id. By then no other table holds the id.';
comment on column private.deleted_users.erased_at is 'When everything else about the user was erased.';

-- An id from which the user''s id can''t be computed: the start of its SHA-256.
create function private.hash_user_id(
  p_user_id uuid
)
returns uuid
language plpgsql
immutable
set search_path = ''
as $$
begin
  return encode(substr(sha256(uuid_send(p_user_id)), 1, 16), 'hex')::uuid;
end
$$;
grant execute on function private.hash_user_id(uuid) to service_role;

create function private.is_deleted(
  p_user_id uuid
)
returns boolean
language plpgsql
stable
set search_path = ''
as $$
begin
  return exists (
    select
    from private.deleted_users d
    where d.user_id in (p_user_id, private.hash_user_id(p_user_id))
  );
end
$$;
grant execute on function private.is_deleted(uuid) to service_role;

-- Security definer: the role that deletes a user has no rights on the mirror and the outbox.
create function private.note_deleted_user()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  insert into private.deleted_users (user_id)
  values (old.id)
  on conflict (user_id) do nothing;
  perform private.enqueue_cancellation(m.gateway_subscription_id)
  from private.gateway_subscriptions m
  where m.user_id = old.id
    and m.gateway_subscription_id <> ''
    and m.status is distinct from 'cancelled';
  return null;
end
$$;

create trigger note_deleted_user
after delete on auth.users
for each row execute function private.note_deleted_user();

alter table public.payments add column user_deleted_at timestamptz;
create index payments_user_deleted_at_idx on public.payments (user_deleted_at)
where user_deleted_at is not null;
comment on column public.payments.user_deleted_at is
  'When its user was deleted. Null after 90 days, when the payloads of its events are emptied.';

-- A payment that loses its user keeps what accounting needs. Texts of the bank and data of the app are erased at once.
create function private.erase_payment_meta()
returns trigger
language plpgsql
set search_path = ''
as $$
begin
  new.meta := case
    when new.meta ? 'tier' then jsonb_build_object('tier', new.meta -> 'tier')
    else '{}'
  end;
  new.user_deleted_at := private.clock();
  return new;
end
$$;

create trigger erase_payment_meta
before update of user_id on public.payments
for each row
when (old.user_id is not null and new.user_id is null)
execute function private.erase_payment_meta();

-- Notes that the event of this transaction is about a deleted user, where it is: private.apply_delivery then keeps no
-- personal data of it.
create function private.note_missing_user(
  p_payment_id uuid, -- that has no user; null: the event is about no payment of ours
  p_gateway_payment_id text -- which may be of a cycle
)
returns void
language plpgsql
set search_path = ''
as $$
begin
  if p_payment_id is not null or exists (
    select
    from private.gateway_charges c
    join private.deleted_users d on d.user_id = c.user_id
    where c.gateway_payment_id = p_gateway_payment_id
      and c.gateway_payment_id <> ''
  ) then
    perform set_config('subscriptions.user_deleted', 'on', true);
  end if;
end
$$;
grant execute on function private.note_missing_user(uuid, text) to service_role;

-- Serializes what an event stores about a user that does not exist with private.erase_deleted_users: such a user has no
-- row to lock.
create function private.lock_missing_user(
  p_user_id uuid
)
returns boolean -- whether the user was erased: nothing may be stored about it
language plpgsql
set search_path = ''
as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('missing user ' || p_user_id, 0));
  -- A separate statement after the lock, which sees all that was committed before.
  return exists (
    select
    from private.deleted_users d
    where d.user_id = private.hash_user_id(p_user_id)
  );
end
$$;
grant execute on function private.lock_missing_user(uuid) to service_role;

-- An activation or a charge for a user that does not exist.
create function private.apply_event_for_missing_user(
  p_user_id uuid,
  p_gateway_subscription_id text
)
returns text -- the outcome for the ledger
language plpgsql
set search_path = ''
as $$
begin
  if p_gateway_subscription_id = '' or not private.is_deleted(p_user_id) then
    return 'unmatched';
  end if;
  perform private.enqueue_cancellation(p_gateway_subscription_id);
  return 'applied';
end
$$;
grant execute on function private.apply_event_for_missing_user(uuid, text) to service_role;

-- subscription.activated, .charged and .cancelled in any order: merged into the mirror, then settled. Contract: "Gateway
-- subscriptions".

-- The usual charge: the next cycle, in order, of the gateway subscription that rules. One statement does what merging the
-- event and ranking the sources would.
create function private.apply_next_charge(
  p_user_id uuid,
  p_gateway_subscription_id text,
  p_gateway_plan_id text,
  p_start timestamptz,
  p_end timestamptz,
  p_gateway_payment_id text, -- null: the gateway named none
  p_amount bigint, -- of that payment, minor currency units
  p_created_at timestamptz, -- of the event; null: another case
  p_arrived_at timestamptz,
  out merged private.gateway_subscriptions, -- as it is now; all null: another case, and nothing was written
  out ruling private.ruling, -- all null: to be worked out
  out subscription public.subscriptions -- locked
)
language plpgsql
set search_path = ''
as $$
declare
  -- As private.merge_gateway_subscription has it.
  v_charged_at constant timestamptz := least(p_created_at + interval '999999 microseconds', p_arrived_at);
  v_next record;
begin
  with next as (
    update private.gateway_subscriptions m
    set period_start = p_start,
      period_end = p_end,
      period_event_at = p_created_at,
      plan_event_at = p_created_at,
      arrived_at = p_arrived_at
    where m.user_id = p_user_id
      and m.gateway_subscription_id = p_gateway_subscription_id
      and m.plan_id is not null
      and m.gateway_plan_id = p_gateway_plan_id
      and m.plan_event_at < p_created_at
      and m.period_event_at < p_created_at
      and m.first_charged_at <= v_charged_at
      and m.next_check_at <= p_end - interval '1 day'
      and m.ended_at is null
      and not m.has_refunds
      and not exists (
        select
        from private.refunds r
        where r.gateway_payment_id = p_gateway_payment_id
          and r.status = 'processed'
      )
    returning m.*
  ),
  charge as (
    insert into private.gateway_charges (
      user_id, gateway_subscription_id, period_end, period_start, gateway_payment_id, amount, charged_at
    )
    select p_user_id, p_gateway_subscription_id, p_end, p_start, coalesce(p_gateway_payment_id, ''), p_amount, v_charged_at
    from next n
    on conflict do nothing
  )
  select n as merged, ruled.subscription, ruled.tier
  into v_next
  from next n
  left join lateral (
    select s as subscription, p.tier
    from public.subscriptions s
    join public.plans p on p.id = n.plan_id
    where s.user_id = n.user_id
      and s.gateway_subscription_id = n.gateway_subscription_id
      and s.status = 'active'
      and s.revision > 0
      and n.status = 'active'
      and n.period_end > private.clock()
      and not n.is_replaced
      and not exists (
        select
        from private.gateway_subscriptions o
        where o.user_id = n.user_id
          and o.gateway_subscription_id <> n.gateway_subscription_id
      )
    for update of s
  ) ruled on true;
  merged := v_next.merged;
  if v_next.tier is null then
    return;
  end if;
  subscription := v_next.subscription;
  -- As private.sources and private.mirrored will have it.
  ruling := row(
    row(
      p_user_id, 'gateway_subscription', p_gateway_subscription_id, merged.plan_id, v_next.tier, p_start, p_end, p_end,
      coalesce(merged.activated_at, merged.first_charged_at), p_arrived_at, null, null, merged.cancel_at_period_end,
      p_gateway_subscription_id
    )::private.sources,
    true, false, 1, 0, 0
  )::private.ruling;
end
$$;
grant execute on function
  private.apply_next_charge(uuid, text, text, timestamptz, timestamptz, text, bigint, timestamptz, timestamptz)
  to service_role;

create function private.apply_subscription_event(
  p_event text, -- subscription.activated, subscription.charged or subscription.cancelled
  p_entity jsonb,
  p_payment jsonb, -- of the cycle, where the event carries it
  p_created_at timestamptz, -- of the event; null: it carries none
  p_arrived_at timestamptz
)
returns text -- the outcome for the ledger
language plpgsql
set search_path = ''
as $$
declare
  v_cancelled constant boolean := p_event = 'subscription.cancelled';
  v_id text := coalesce(private.json_text(p_entity -> 'id'), '');
  v_user_id constant uuid := private.json_uuid(p_entity -> 'notes' -> 'user_id');
  v_start constant timestamptz := case when not v_cancelled then private.json_time(p_entity -> 'current_start') end;
  v_end constant timestamptz := case when not v_cancelled then private.json_time(p_entity -> 'current_end') end;
  -- The payment of the cycle.
  v_payment_id constant text := case when p_event = 'subscription.charged' then private.json_text(p_payment -> 'id') end;
  v_amount constant bigint := private.json_integer(p_payment -> 'amount');
  v_gateway_plan_id constant text := private.json_text(p_entity -> 'plan_id');
  v_email text;
  v_merged private.gateway_subscriptions;
  v_next record;
  v_is_changed boolean;
begin
  if char_length(v_id) > 200 then
    -- No real id is that long, and an index can't hold it.
    v_id := '';
  end if;
  if v_user_id is null then
    return 'ignored: subscription.entity.notes.user_id';
  end if;
  if not v_cancelled
    and (v_start is null or v_end is null)
    -- Before its first cycle it has none.
    and (
      p_event = 'subscription.activated'
      and p_entity -> 'current_start' = 'null'
      and p_entity -> 'current_end' = 'null'
    ) is not true
  then
    return 'ignored: subscription.entity.current_start, current_end';
  end if;

  if v_payment_id is not null then
    perform private.lock_gateway_payment(v_payment_id);
  end if;
  v_email := private.lock_user(v_user_id);
  if v_email is null and private.is_deleted(v_user_id) then
    perform set_config('subscriptions.user_deleted', 'on', true);
  end if;
  if v_email is null and private.lock_missing_user(v_user_id) then
    -- Nothing is stored about an erased user, but the subscription is cancelled at the gateway.
    return case when v_cancelled then 'unmatched' else private.apply_event_for_missing_user(v_user_id, v_id) end;
  end if;
  if p_event = 'subscription.charged' then
    v_next := private.apply_next_charge(
      v_user_id, v_id, v_gateway_plan_id, v_start, v_end, v_payment_id, v_amount, p_created_at, p_arrived_at
    );
    v_merged := v_next.merged;
  end if;
  if v_merged.user_id is null then
    v_merged := private.merge_gateway_subscription(
      v_user_id, v_id, p_event, v_gateway_plan_id, v_start, v_end, v_payment_id, v_amount, p_created_at, p_arrived_at
    );
  end if;
  if v_email is null then
    update private.gateway_subscriptions m
    set is_waiting = true
    where m.user_id = v_user_id
      and m.gateway_subscription_id = v_id
      and not m.is_waiting;
    return case when v_cancelled then 'unmatched' else private.apply_event_for_missing_user(v_user_id, v_id) end;
  end if;
  if v_merged.user_id is null then
    return 'stale';
  end if;
  if v_cancelled and v_merged.status = 'cancelled' then
    -- The planned cancellation has happened.
    perform private.withdraw_cancellation(v_id, 'cancelled at the gateway');
    update private.gateway_subscriptions m
    set is_replaced = false
    where m.user_id = v_user_id
      and m.gateway_subscription_id = v_id
      and m.is_replaced;
  end if;
  if p_event = 'subscription.charged' then
    v_is_changed := private.settle_access(
      v_user_id, v_email, p_ruling => v_next.ruling, p_before => v_next.subscription
    );
  else
    v_is_changed := private.settle_access(v_user_id, v_email, p_is_cancelled => v_cancelled);
  end if;
  return case
    -- It waits: for a plan of ours, for a cycle, or for a purchase to attach to.
    when v_is_changed is null then 'unmatched'
    -- Older than what is known.
    when not v_is_changed
      and p_created_at < greatest(v_merged.period_event_at, v_merged.status_event_at)
      and v_merged.plan_id is null
      then 'stale'
    -- About another gateway subscription than the one that is attached.
    when not v_is_changed and v_merged.plan_id is null and v_merged.activated_at is null then 'mismatch'
    else 'applied'
  end;
end
$$;
grant execute on function
  private.apply_subscription_event(text, jsonb, jsonb, timestamptz, timestamptz) to service_role;

-- Events may arrive before their user does.
-- Security definer: the auth server's role inserts users and has no rights here.
create function private.settle_new_user()
returns trigger
language plpgsql
security definer
set search_path = ''
set enable_seqscan = off
as $$
begin
  -- Restored, from a backup or by an import.
  delete from private.deleted_users d where d.user_id in (new.id, private.hash_user_id(new.id));
  if exists (select from private.gateway_subscriptions m where m.user_id = new.id) then
    perform private.note_cause('subscription of a new user', null);
    perform private.settle_access(new.id, new.email);
    update private.gateway_subscriptions m
    set is_waiting = false,
      next_check_at = least(m.next_check_at, m.period_end - interval '1 day')
    where m.user_id = new.id;
  end if;
  return null;
exception
  -- A sign-up must not fail because of this. The sweep settles the user later.
  when others then
    raise warning 'access of user % was not settled: %', new.id, sqlstate;
    return null;
end
$$;

create trigger settle_new_user
after insert on auth.users
for each row execute function private.settle_new_user();

-- Settles the users whose gateway subscriptions wait for a plan, or for the user, that is there now.
create function private.settle_waiting_subscriptions()
returns integer -- how many were settled; call again until it is 0
language plpgsql
set search_path = ''
as $$
declare
  v_waiting record;
  v_settled integer := 0;
begin
  for v_waiting in
    select m.user_id, m.gateway_subscription_id, coalesce(m.plan_id, waiting.plan_id) as plan_id, u.email
    from (
      select w.user_id, w.gateway_subscription_id, p.id as plan_id
      from private.gateway_subscriptions w
      join public.plans p on p.gateway_plan_id = w.gateway_plan_id
      where w.plan_id is null
      union
      select w.user_id, w.gateway_subscription_id, null
      from private.gateway_subscriptions w
      where w.is_waiting
    ) waiting
    join private.gateway_subscriptions m
      on m.user_id = waiting.user_id
      and m.gateway_subscription_id = waiting.gateway_subscription_id
    join auth.users u on u.id = m.user_id
    where not exists (
      select
      from private.settle_failures f
      where f.user_id = m.user_id
        and f.failed_at > private.clock() - interval '1 hour'
    )
    order by m.user_id
    limit 100
    for no key update of u skip locked
  loop
    begin
      perform private.note_cause('plan', v_waiting.gateway_subscription_id);
      update private.gateway_subscriptions m
      set plan_id = v_waiting.plan_id,
        is_waiting = false,
        next_check_at = least(m.next_check_at, m.period_end - interval '1 day')
      where m.user_id = v_waiting.user_id
        and m.gateway_subscription_id = v_waiting.gateway_subscription_id;
      perform private.settle_access(v_waiting.user_id, v_waiting.email);
      v_settled := v_settled + 1;
    exception
      -- For example an app's trigger on the profile. Other users must not wait for this one.
      when others then
        perform private.note_settle_failure(v_waiting.user_id, sqlstate);
    end;
  end loop;
  return v_settled;
end
$$;

-- The effect of an event, and the outcome for the ledger. Contract: "Events".

-- The effect of one event, by its name.
create function private.apply_event(
  p_body jsonb,
  p_body_sha256 bytea,
  p_arrived_at timestamptz -- when it was delivered first
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
    -- The event says what happened, where the entity carries no status.
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

-- Whether an error is the event's own: caused by its data or by an app's trigger on it. Any other (connection, conflict,
-- resources, lock time-out, shutdown, system) may be over when the gateway delivers again.
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

-- Whether an event had no effect and may have one later. One about an order that is not stored yet needs no entry in the
-- list: it is applied when the order is stored. A dispute names no order.
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

-- Whether an event needs its payload, since it may have its effect yet. A subscription event that is unmatched waits in
-- the mirror.
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

-- Adds an event to the list of those that may be applied again, or removes it.
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

-- Applies an event of the ledger again and stores the outcome, unless another transaction has locked its row for the same.
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
      -- Only this event's effect is undone. After six hours it is parked, so that the gateway does not switch the endpoint
      -- off for everything.
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
