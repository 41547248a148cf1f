-- Users who were deleted or are not known yet, and gateway subscriptions that wait for them.

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
