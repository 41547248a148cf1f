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

-- Calls an internal endpoint of the function over HTTP, if this database can: extension pg_net, and in Vault
-- `subscriptions_url` (the functions' address) and `subscriptions_internal_key`. Not while the same call is queued: pg_net
-- shows calls that are committed and not sent yet. Never fails.
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
    select net.http_post(
      url := rtrim(btrim(url.decrypted_secret, E' \t\r\n'), '/') || $1,
      body := '{}'::jsonb,
      headers := jsonb_build_object('content-type', 'application/json', 'x-internal-key', btrim(key.decrypted_secret, E' \t\r\n')),
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
