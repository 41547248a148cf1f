-- Wakes the dispatcher, and what an admin and the schedule do with the outbox.

-- Wakes the dispatcher when a row is enqueued outside of a request, such as by an admin's edit or a batch job. With pg_net and Vault on a hosted project, with NOTIFY on a local stack; both after the commit.

-- The RPCs of the function do not wake the dispatcher: the request dispatches after its answer.
create function private.begin_request(
  p_cause text,
  p_reference text
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_set text;
begin
  -- Assignments: as a statement each would be run by the executor.
  v_set := set_config('subscriptions.request', 'on', true);
  v_set := set_config('subscriptions.cause', coalesce(p_cause, ''), true);
  v_set := set_config('subscriptions.reference', coalesce(p_reference, ''), true);
end
$$;
grant execute on function private.begin_request(text, text) to service_role;

create table private.function_calls (
  id bigint generated always as identity primary key,
  path text not null,
  request_id bigint not null,
  called_at timestamptz not null default now(),
  answered_at timestamptz,
  status_code integer,
  error text
);
alter table private.function_calls enable row level security;
create index function_calls_path_id_idx on private.function_calls (path, id desc);
create index function_calls_unanswered_idx on private.function_calls (request_id)
where answered_at is null;
comment on table private.function_calls is
  'The calls of the last day to internal endpoints of the function, and how they were answered. Times of the server''s own clock.';
comment on column private.function_calls.request_id is 'pg_net''s. It counts anew after a restore.';
comment on column private.function_calls.error is 'Why there was no answer, as pg_net says it.';

-- Calls an internal endpoint of the function over HTTP, if this database can: extension pg_net, and in Vault
-- `subscriptions_url` (the functions' address) and `subscriptions_internal_key`. Not while the same call is queued: pg_net
-- shows calls that are committed and not sent yet. pg_net waits 5 s for an answer, less than the work may take: the
-- function answers at once. Never fails.
create function private.call_function(
  p_path text
)
returns void
language plpgsql
set search_path = ''
as $$
begin
  if to_regclass('vault.decrypted_secrets') is null or to_regnamespace('net') is null then
    return;
  end if;
  execute $call$
    insert into private.function_calls (path, request_id)
    select $1, net.http_post(
      url := rtrim(btrim(url.decrypted_secret, E' \t\r\n'), '/') || $1,
      body := '{}'::jsonb,
      headers := jsonb_build_object(
        'content-type', 'application/json',
        'prefer', 'respond-async',
        'x-internal-key', btrim(key.decrypted_secret, E' \t\r\n')
      ),
      timeout_milliseconds := 5000
    )
    from vault.decrypted_secrets url
    join vault.decrypted_secrets key on key.name = 'subscriptions_internal_key'
    where url.name = 'subscriptions_url'
      and not exists (
        select
        from net.http_request_queue q
        where q.url = rtrim(btrim(url.decrypted_secret, E' \t\r\n'), '/') || $1
      )
  $call$
  using p_path;
exception
  -- A broken Vault entry must not stop a payment; the schedule tries again within minutes.
  when others then
    raise warning '% was not called: %', p_path, sqlerrm;
end
$$;

-- Reads the answers that pg_net got since, and deletes calls that are older than a day. Never fails.
create function private.read_answers()
returns void
language plpgsql
set search_path = ''
as $$
begin
  if to_regclass('net._http_response') is not null then
    execute $read$
      update private.function_calls c
      set answered_at = r.created,
        status_code = r.status_code,
        error = case when r.timed_out then 'no answer within 5 s' else left(r.error_msg, 200) end
      from net._http_response r
      where r.id = c.request_id
        and r.created > c.called_at - interval '1 minute'
        and c.answered_at is null
    $read$;
  end if;
  delete from private.function_calls c where c.called_at < now() - interval '1 day';
exception
  when others then
    raise warning 'the answers of internal calls were not read: %', sqlerrm;
end
$$;

-- Wakes the dispatcher, once in a transaction. Never fails.
-- Security definer: the caller that enqueues has no rights on Vault and pg_net.
create function private.wake()
returns void
language plpgsql
security definer
set search_path = ''
as $$
begin
  if current_setting('subscriptions.request', true) = 'on' or current_setting('subscriptions.woken', true) = 'on' then
    return;
  end if;
  -- Undone with the subtransaction whose call is undone.
  perform set_config('subscriptions.woken', 'on', true);
  perform pg_notify('outbox', '');
  perform private.call_function('/api/internal/outbox');
exception
  when others then
    raise warning 'the dispatcher was not woken: %', sqlerrm;
end
$$;

-- Security definer: the service enqueues, and may not wake by itself.
create function private.wake_dispatcher()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  perform private.wake();
  return null;
end
$$;

create trigger wake_dispatcher
after insert on private.outbox
for each statement
when (current_setting('subscriptions.request', true) is distinct from 'on')
execute function private.wake_dispatcher();

-- What an admin and the schedule do with the outbox.

-- For an admin who repaired the cause: retries a parked side effect, for another 24 hours.
create function private.requeue(
  p_id bigint
)
returns boolean -- whether there was such a row to try again
language plpgsql
set search_path = ''
as $$
begin
  update private.outbox o
  set queued_at = private.clock(),
    next_attempt_at = private.clock(),
    -- A claim that is still running may complete the row, but not fail it.
    claims = o.claims || null::uuid,
    attempts = 0,
    parked_at = null
  where o.id = p_id
    and o.delivered_at is null;
  if not found then
    return false;
  end if;
  perform private.wake();
  return true;
end
$$;

-- Deletes up to 1,000 of a table's oldest rows that no other transaction has locked.
create function private.delete_oldest(
  p_table regclass,
  p_time text, -- the column by which they are old; indexed
  p_before timestamptz,
  p_condition text default 'true' -- what else holds for a row, which is called r
)
returns integer -- how many were deleted; call again until it is 0
language plpgsql
set search_path = ''
as $$
declare
  v_deleted integer;
begin
  execute format(
    $delete$
      delete from %1$s
      where ctid = any (
        array(
          select r.ctid
          from %1$s r
          where r.%2$I < $1
            and %3$s
          order by r.%2$I
          limit 1000
          for update skip locked
        )
      )
    $delete$,
    p_table, p_time, p_condition
  )
  using p_before;
  get diagnostics v_deleted = row_count;
  return v_deleted;
end
$$;

-- Deletes mails 90 days after they were enqueued, delivered or not, a batch at a time: they hold the name and the address
-- of a user who may have been deleted since. A mail that was not sent by then is of no use.
create function private.delete_mails()
returns integer -- how many were deleted; call again until it is 0
language plpgsql
set search_path = ''
as $$
begin
  return private.delete_oldest(
    'private.outbox', 'created_at', private.clock() - interval '90 days', 'r.destination in (''email'', ''notice'')'
  );
end
$$;
