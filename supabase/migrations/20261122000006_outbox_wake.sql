-- Wakes the dispatcher when a row is enqueued outside of a request, such as by an admin's edit or a batch job: on a hosted
-- project with pg_net and Vault, on a local stack with NOTIFY, both after the commit. Also private.requeue, and the deletion
-- of old mails.

-- Marks the transaction as a request of the function, and sets the cause of its tier changes. A request does not wake the
-- dispatcher: the function dispatches after its answer.
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
  -- Assignments instead of perform, which would start the executor each time.
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
  'Calls of the function''s internal endpoints within the last day, with their answers. The times are those of now(), not '
  'of private.clock().';
comment on column private.function_calls.request_id is 'The request id of pg_net. These ids start again after a restore.';
comment on column private.function_calls.error is 'Why no answer arrived: the message of pg_net.';

-- Calls an internal endpoint of the function over HTTP. Does nothing without the extension pg_net, or without the Vault
-- secrets `subscriptions_url` (the functions' address) and `subscriptions_internal_key`. Adds no call while one to the same
-- endpoint is queued; the queue has the calls that are committed but not sent. pg_net waits 5 s for an answer, and the work
-- may take longer, so the function answers at once. Never fails.
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
  -- A broken Vault secret must not stop a payment. The schedule calls again within minutes.
  when others then
    raise warning '% was not called: %', p_path, sqlerrm;
end
$$;

-- Stores the answers that pg_net received, and deletes calls that are older than a day. Never fails.
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

-- Wakes the dispatcher, at most once in a transaction. Never fails.
-- Security definer: a role that enqueues has no rights on Vault and pg_net.
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
  -- A rollback of the subtransaction undoes the setting together with the call.
  perform set_config('subscriptions.woken', 'on', true);
  perform pg_notify('outbox', '');
  perform private.call_function('/api/internal/outbox');
exception
  when others then
    raise warning 'the dispatcher was not woken: %', sqlerrm;
end
$$;

-- Security definer: service_role enqueues, but may not execute private.wake.
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

-- For an admin who repaired the cause: retries a parked side effect for another 24 hours.
create function private.requeue(
  p_id bigint
)
returns boolean -- false: no such row, or it is delivered
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

-- Deletes up to 1,000 of the oldest rows of a table, without those that another transaction has locked.
create function private.delete_oldest(
  p_table regclass,
  p_time text, -- the column with the time of a row; indexed
  p_before timestamptz,
  p_condition text default 'true' -- a further condition on the row, whose alias is r
)
returns integer -- how many rows were deleted; call again until it is 0
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

-- Deletes a batch of the mails that were enqueued more than 90 days ago, delivered or not. A mail holds the name and the
-- address of a user who may be deleted by now. A mail that was not sent by then is useless.
create function private.delete_mails()
returns integer -- how many rows were deleted; call again until it is 0
language plpgsql
set search_path = ''
as $$
begin
  return private.delete_oldest(
    'private.outbox', 'created_at', private.clock() - interval '90 days', 'r.destination in (''email'', ''notice'')'
  );
end
$$;
