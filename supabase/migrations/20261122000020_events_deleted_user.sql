-- Deleted users, and gateway subscriptions that wait for their user or plan. Contract: "Deleted users".

-- When a user is deleted, the service cancels the user's gateway subscriptions, also if their events arrive after the
-- deletion. 90 days later the user's data is erased. An unknown user may belong to another app with the same gateway
-- account, so the service does not cancel the subscriptions of unknown users.

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
  'The deleted users. Rows are kept without a limit: a mandate at the gateway may charge for decades. An unknown user who '
  'is not in this table counts as a user of another app, whose subscriptions the service does not cancel.';
comment on column private.deleted_users.user_id is
  'The id of the user. After 90 days its hash by private.hash_user_id: then no other table has the id.';
comment on column private.deleted_users.erased_at is 'When the other data of the user was erased.';

-- Returns a hash from which the user's id cannot be computed: the first 16 bytes of its SHA-256.
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
  'When the user of the payment was deleted. Null after 90 days, when the payloads of its events are deleted.';

-- When its user is deleted, a payment keeps the data for accounting. The texts of the bank and the data of the app are
-- erased at once.
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

-- Marks this transaction if its event is about a deleted user. private.apply_delivery then stores no personal data of the
-- event.
create function private.note_missing_user(
  p_payment_id uuid, -- a payment without a user; null: the event is about no payment of ours
  p_gateway_payment_id text -- may have paid a cycle
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

-- Serializes an event about a user that does not exist with private.erase_deleted_users. An advisory lock, because such a
-- user has no row to lock.
create function private.lock_missing_user(
  p_user_id uuid
)
returns boolean -- true: the user was erased, and nothing may be stored about the user
language plpgsql
set search_path = ''
as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('missing user ' || p_user_id, 0));
  -- A separate statement: after the lock it sees all rows that were committed before.
  return exists (
    select
    from private.deleted_users d
    where d.user_id = private.hash_user_id(p_user_id)
  );
end
$$;
grant execute on function private.lock_missing_user(uuid) to service_role;

-- Applies an activation or a charge for a user that does not exist: cancels the subscription if the user was deleted.
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

-- Settles the access of a new user, because events may arrive before their user exists.
-- Security definer: the auth server's role inserts users and has no rights on the mirror.
create function private.settle_new_user()
returns trigger
language plpgsql
security definer
set search_path = ''
set enable_seqscan = off
as $$
begin
  -- A backup or an import may restore a deleted user.
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
  -- A sign-up must not fail because of its gateway subscription. The sweep settles the user later.
  when others then
    raise warning 'access of user % was not settled: %', new.id, sqlstate;
    return null;
end
$$;

create trigger settle_new_user
after insert on auth.users
for each row execute function private.settle_new_user();

-- Settles users whose gateway subscriptions waited for a plan or for the user, and the plan or the user now exists.
create function private.settle_waiting_subscriptions()
returns integer -- how many subscriptions were settled; call again until it is 0
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
      -- The error may come from an app's trigger on the profile. It must not stop the other users.
      when others then
        perform private.note_settle_failure(v_waiting.user_id, sqlstate);
    end;
  end loop;
  return v_settled;
end
$$;
