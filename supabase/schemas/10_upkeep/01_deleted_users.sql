-- Deleted users, and gateway subscriptions that wait for their user or plan. Contract: "Deleted users".

-- When a user is deleted, the service cancels the user's gateway subscriptions, also if their events arrive after the
-- deletion. 90 days later the user's data is erased. An unknown user may belong to another app with the same gateway
-- account, so the service does not cancel the subscriptions of unknown users.

create table billing.deleted_users (
  -- The id of the user. After 90 days its hash by billing.hash_user_id: then no other table has the id.
  user_id uuid primary key,
  deleted_at timestamptz not null default billing.clock(),
  erased_at timestamptz -- when the other data of the user was erased
);
create index deleted_users_deleted_at_idx on billing.deleted_users (deleted_at) where erased_at is null;
alter table billing.deleted_users enable row level security;
grant select on billing.deleted_users to service_role;
comment on table billing.deleted_users is
  'The deleted users. Rows are kept without a limit: a mandate at the gateway may charge for decades. An unknown user who '
  'is not in this table counts as a user of another app, whose subscriptions the service does not cancel.';

-- Returns a hash from which the user's id cannot be computed: the first 16 bytes of its SHA-256.
create function billing.hash_user_id(p_user_id uuid)
returns uuid language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$ begin return encode(substr(sha256(uuid_send(p_user_id)), 1, 16), 'hex')::uuid; end $$;

create function billing.is_deleted(p_user_id uuid)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return exists (select from billing.deleted_users d where d.user_id in (p_user_id, billing.hash_user_id(p_user_id)));
end $$;

-- Security definer: the role that deletes a user has no rights on the mirror, the marks and the outbox.
create function billing.note_deleted_user()
returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  insert into billing.deleted_users (user_id)
  values (old.id)
  on conflict (user_id) do nothing;
  delete from billing.marks m where m.kind = 'settle_failure' and m.key = old.id::text;
  perform billing.send_stop(s.gateway_subscription_id, row(billing.clock(), false, false, 'deleted')::billing.stop)
  from billing.stoppable s
  where s.user_id = old.id and s.is_open;
  delete from billing.gateway_subscriptions m where m.user_id = old.id and not billing.is_known(m);
  return null;
end $$;

select billing.lock_users();

create trigger note_deleted_user
after delete on auth.users
for each row execute function billing.note_deleted_user();

-- When its user is deleted, a payment keeps the data for accounting, its credit included. The texts of the bank, the data of
-- the app, its idempotency keys and the ids of other records are erased at once.
create function billing.erase_payment_meta()
returns trigger language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  new.meta := case when new.meta ? 'tier' then jsonb_build_object('tier', new.meta -> 'tier') else '{}' end;
  new.idempotency_keys := '{}';
  new.credited_id := null;
  new.settle_at := null;
  new.user_deleted_at := billing.clock();
  return new;
end $$;

create trigger erase_payment_meta
before update of user_id on public.payments
for each row
when (old.user_id is not null and new.user_id is null)
execute function billing.erase_payment_meta();

-- Marks an event about a deleted user: billing.apply_delivery then stores none of its personal data.
create function billing.note_missing_user(p_payment public.payments) -- all null: the event is about no payment of ours
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if p_payment.user_id is null and p_payment.id is not null then
    perform set_config('subscriptions.user_deleted', 'on', true);
  end if;
end $$;

-- Serializes an event about a user that does not exist, who has no row to lock, with billing.erase_deleted_users.
create function billing.lock_missing_user(p_user_id uuid)
returns boolean -- true: the user was erased, and nothing may be stored about the user
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform pg_advisory_xact_lock(hashtextextended('missing user ' || p_user_id, 0));
  -- A separate statement: after the lock it sees all rows that were committed before.
  return exists (select from billing.deleted_users d where d.user_id = billing.hash_user_id(p_user_id));
end $$;

-- Applies an activation or a charge for a user that does not exist: cancels the subscription if the user was deleted.
create function billing.apply_event_for_missing_user(p_user_id uuid, p_gateway_subscription_id text)
returns text -- the outcome for the ledger
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if p_gateway_subscription_id = '' or not billing.is_deleted(p_user_id) then return 'unmatched'; end if;
  perform billing.send_stop(p_gateway_subscription_id, row(billing.clock(), false, false, 'deleted')::billing.stop);
  return 'applied';
end $$;

-- Completes the gateway subscriptions of a user, and their charges, that arrived before the user or a plan was known.
create function billing.adopt_subscriptions(p_user_id uuid)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update billing.gateway_subscriptions m
  set plan_id = coalesce(m.plan_id, own.plan_id),
    sold = coalesce(m.sold, billing.price_of_units(own.sold, m.quantity)), awaits_user = false,
    next_check_at = least(m.next_check_at, m.period_end - interval '1 day')
  from billing.gateway_subscriptions w
  left join lateral billing.find_billed_price(w.gateway_plan_id, w.gateway_subscription_id) own on w.plan_id is null
  where w.user_id = p_user_id and m.id = w.id;
  perform billing.adopt_charges(p_user_id);
end $$;

-- Settles the access of a new user, because events may arrive before their user exists.
-- Security definer: the auth server's role inserts users and has no rights on the mirror.
create function billing.settle_new_user()
returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp set enable_seqscan = off set jit = off
as $$
begin
  -- A backup or an import may restore a deleted user.
  delete from billing.deleted_users d where d.user_id in (new.id, billing.hash_user_id(new.id));
  if exists (select from billing.gateway_subscriptions m where m.user_id = new.id) then
    perform billing.note_cause('subscription of a new user', null);
    perform billing.adopt_subscriptions(new.id);
    perform billing.settle_access(new.id, new.email);
  end if;
  return null;
exception
  -- A sign-up must not fail because of its gateway subscription. The sweep settles the user later.
  when others then
    raise warning 'access of user % was not settled: %', new.id, sqlstate;
    return null;
end $$;

create trigger settle_new_user
after insert on auth.users
for each row execute function billing.settle_new_user();

-- Settles users whose gateway subscriptions waited for a plan or for the user, and the plan or the user now exists.
create function billing.settle_waiting_subscriptions()
returns integer -- how many subscriptions were settled; call again until it is 0
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_waiting record;
  v_settled integer := 0;
begin
  for v_waiting in
    select m.user_id, m.gateway_subscription_id, u.email
    from (
      select w.user_id, w.gateway_subscription_id
      from public.plans o
      join billing.gateway_subscriptions w on w.gateway_plan_id = o.gateway_plan_id
      where w.plan_id is null
      union
      select w.user_id, w.gateway_subscription_id
      from billing.gateway_subscriptions w
      where w.awaits_user
    ) m
    join auth.users u on u.id = m.user_id
    where not exists (select from billing.recent_failures f where f.user_id = m.user_id::text)
    order by m.user_id
    limit 50
    for no key update of u skip locked
  loop
    begin
      perform billing.note_cause('plan', v_waiting.gateway_subscription_id);
      perform billing.adopt_subscriptions(v_waiting.user_id);
      perform billing.settle_access(v_waiting.user_id, v_waiting.email);
      v_settled := v_settled + 1;
    exception
      -- The error may come from an app's trigger on the profile. It must not stop the other users.
      when others then
        perform billing.note_settle_failure(v_waiting.user_id, sqlstate);
    end;
  end loop;
  return v_settled;
end $$;

-- Erases the remaining data of users who were deleted more than 90 days ago: the mirror, tier changes, support actions,
-- the payloads of events, and the id. Foreign keys, billing.erase_payment_meta, billing.empty_payloads and
-- billing.delete_messages erase the rest. Payments remain for accounting, with amounts, times and the gateway's ids.
create function billing.erase_deleted_users()
returns integer -- how many users and payments were processed; call again until it is 0
language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_gone public.payments[];
  v_deleted record;
  v_done integer;
begin
  -- Some events about their payments arrived after the deletion, so billing.empty_payloads would keep them for longer.
  v_gone := array(
    select p
    from public.payments p
    where p.user_deleted_at < billing.clock() - interval '90 days'
      -- A later charge remains a finding.
      and (p.captured_at < billing.clock() - interval '90 days') is not false
    order by p.user_deleted_at
    limit 1000
    for no key update skip locked
  );
  perform billing.erase_events(array_agg(p.gateway_order_id) || array_agg(p.gateway_payment_id)) from unnest(v_gone) p;
  update public.payments p
  set user_deleted_at = null
  where p.id in (select gone.id from unnest(v_gone) gone);
  v_done := cardinality(v_gone);

  for v_deleted in
    select d.user_id, d.deleted_at
    from billing.deleted_users d
    where d.erased_at is null and d.deleted_at < billing.clock() - interval '90 days'
    order by d.deleted_at
    limit 100
    for update skip locked
  loop
    v_done := v_done + 1;
    perform billing.lock_missing_user(v_deleted.user_id);
    delete from billing.deleted_users d where d.user_id = v_deleted.user_id;
    -- A user who was restored, from a backup or by an import, is not erased.
    continue when exists (select from auth.users u where u.id = v_deleted.user_id);

    perform billing.erase_events(array_agg(m.gateway_subscription_id))
    from billing.gateway_subscriptions m
    where m.user_id = v_deleted.user_id;
    delete from billing.gateway_subscriptions m where m.user_id = v_deleted.user_id;
    delete from billing.tier_changes c where c.user_id = v_deleted.user_id;
    update billing.support_actions a
    set email = null, user_id = null, reason = 'erased with the user'
    where a.user_id = v_deleted.user_id;

    insert into billing.deleted_users (user_id, deleted_at, erased_at)
    values (billing.hash_user_id(v_deleted.user_id), v_deleted.deleted_at, billing.clock())
    on conflict (user_id) do nothing;
  end loop;
  return v_done;
end $$;
