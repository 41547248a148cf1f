-- Wakes the dispatcher of the outbox when something was enqueued that no request is about to dispatch itself: an admin's
-- edit, a batch job. With pg_net and Vault on a hosted project, with NOTIFY on a local stack; both after the commit.
-- Depends on: _outbox, _tier_changes.

-- The RPCs of the function wake nobody: the request dispatches after its answer.
create function private.begin_request(
  p_cause text,
  p_reference text,
  p_early_renewal text default 'replace' -- what a purchase of the running tier does; see private.fulfil_payment
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
  v_set := set_config('subscriptions.early_renewal', p_early_renewal, true);
  v_set := set_config('subscriptions.cause', coalesce(p_cause, ''), true);
  v_set := set_config('subscriptions.reference', coalesce(p_reference, ''), true);
end
$$;
revoke execute on function private.begin_request(text, text, text) from public;
grant execute on function private.begin_request(text, text, text) to service_role;

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
revoke all on private.function_calls from public;
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
revoke execute on function private.call_function(text) from public;

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
revoke execute on function private.read_answers() from public;

-- Wakes the dispatcher, once in a transaction. Never fails.
-- Security definer: whoever enqueues has no rights on Vault and pg_net.
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
revoke execute on function private.wake() from public;

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
revoke execute on function private.wake_dispatcher() from public;

create trigger wake_dispatcher
after insert on private.outbox
for each statement
when (current_setting('subscriptions.request', true) is distinct from 'on')
execute function private.wake_dispatcher();
