-- Side effects: the outbox, its dispatchers, the history of tiers, and the call that wakes the function.

-- The outbox: every side effect, written in the transaction of its cause. Contract: "E-mails", "Cached pages".

create table private.outbox (
  id bigint generated always as identity primary key,
  key text not null constraint outbox_key_key unique,
  destination text not null
    constraint outbox_destination_check check (destination in ('email', 'notice', 'revalidation', 'gateway')),
  kind text not null,
  payload jsonb not null,
  created_at timestamptz not null default private.clock(),
  queued_at timestamptz not null default private.clock(),
  next_attempt_at timestamptz not null default private.clock(),
  attempts integer not null default 0,
  claims uuid[] not null default '{}',
  last_error text,
  delivered_at timestamptz,
  parked_at timestamptz
);
alter table private.outbox enable row level security;
grant select, insert, update on private.outbox to service_role;
create index outbox_pending_idx on private.outbox (destination, next_attempt_at)
where delivered_at is null and parked_at is null;
create index outbox_delivered_at_idx on private.outbox (delivered_at)
where delivered_at is not null;
create index outbox_mails_created_at_idx on private.outbox (created_at)
where destination in ('email', 'notice');
comment on table private.outbox is 'Side effects to deliver at least once, each under a key that names the fact behind it.';
comment on column private.outbox.key is 'Names the fact, once: payment-success/<payment id>. Also the idempotency key towards the receiver.';
comment on column private.outbox.destination is
  'notice: mails to many users at once, in a queue of their own, so that they never delay a mail about a payment.';
comment on column private.outbox.payload is 'Recipient and data, fixed when the fact happened. Amounts in minor currency units, times in UTC.';
comment on column private.outbox.queued_at is 'Start of the 24 hours in which delivery is tried; private.requeue starts them again.';
comment on column private.outbox.next_attempt_at is 'When the row may be claimed; while it is claimed, the end of the lease.';
comment on column private.outbox.last_error is
  'Why the newest attempt failed; where a row counts as delivered and nothing was sent, why not.';
comment on column private.outbox.claims is 'The tokens of the newest claims, the newest last; null at the end: that claim is over.';

-- Notes a side effect; the same fact twice is one row.
create function private.enqueue(
  p_key text,
  p_destination text,
  p_kind text,
  p_payload jsonb
)
returns void
language plpgsql
set search_path = ''
as $$
begin
  insert into private.outbox (key, destination, kind, payload)
  values (p_key, p_destination, p_kind, p_payload)
  on conflict (key) do nothing;
end
$$;
grant execute on function private.enqueue(text, text, text, jsonb) to service_role;

-- Every write of a tier refreshes the app's cached pages, also one by an admin; one row a transaction, since an upsert fires
-- the triggers of insert and of update. The time is in the key because a restored database counts transactions anew.
create function private.revalidation_key()
returns text
language plpgsql
stable
set search_path = ''
as $$
begin
  return format('revalidation/%s-%s', extract(epoch from now()), pg_current_xact_id());
end
$$;
grant execute on function private.revalidation_key() to service_role;

-- Security definer: an admin's or the app's own role may write tiers without rights on the outbox.
create function private.enqueue_revalidation()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  perform private.enqueue(
    private.revalidation_key(),
    'revalidation',
    'revalidation',
    '{"paths": ["/subscription", "/pricing", "/analytics", "/dashboard"]}'
  );
  return null;
end
$$;

-- A request enqueues all its side effects in one statement: private.settle_access.
create trigger enqueue_revalidation
after insert or update of subscription_tier on public.profiles
for each statement
when (current_setting('subscriptions.request', true) is distinct from 'on')
execute function private.enqueue_revalidation();

-- Tells the gateway to stop billing a subscription, at once or at the end of its cycle. A cancellation that was planned for
-- later may become immediate, and one that was withdrawn may be enqueued again; a delivered one is final.
create function private.enqueue_cancellation(
  p_gateway_subscription_id text,
  p_at_cycle_end boolean default false,
  p_at timestamptz default private.clock() -- when to tell the gateway
)
returns void
language sql
set search_path = ''
as $$
  insert into private.outbox as o (key, destination, kind, payload, queued_at, next_attempt_at)
  values (
    'cancel-subscription/' || p_gateway_subscription_id,
    'gateway',
    'cancel-subscription',
    jsonb_build_object('gateway_subscription_id', p_gateway_subscription_id, 'at_cycle_end', p_at_cycle_end),
    p_at,
    p_at
  )
  on conflict (key) do update
  set payload = excluded.payload,
    queued_at = excluded.queued_at,
    next_attempt_at = excluded.next_attempt_at,
    attempts = case when o.parked_at is null and o.delivered_at is null then o.attempts else 0 end,
    parked_at = null,
    delivered_at = null
  where o.delivered_at is null
    -- A cancellation at the cycle's end that was delivered is followed by an immediate one, where the user asks for it.
    or o.payload @> '{"at_cycle_end": true}' and not p_at_cycle_end
$$;
grant execute on function private.enqueue_cancellation(text, boolean, timestamptz) to service_role;

-- Withdraws a cancellation that was not sent yet. One that was claimed may have arrived.
create function private.withdraw_cancellation(
  p_gateway_subscription_id text,
  p_why text
)
returns boolean -- whether the gateway will not be told; false: it was told, or may have been
language plpgsql
set search_path = ''
as $$
declare
  v_row private.outbox;
begin
  select * into v_row
  from private.outbox o
  where o.key = 'cancel-subscription/' || p_gateway_subscription_id
  for update;
  if v_row.attempts > 0 or v_row.delivered_at is not null then
    return false;
  end if;
  update private.outbox o
  set parked_at = private.clock(),
    last_error = 'withdrawn: ' || p_why
  where o.id = v_row.id
    and o.parked_at is null;
  return true;
end
$$;
grant execute on function private.withdraw_cancellation(text, text) to service_role;

-- Claims rows of the outbox. Any number of dispatchers run at once, and each of them may die.

create table private.outbox_pauses (
  destination text primary key,
  until timestamptz not null
);
alter table private.outbox_pauses enable row level security;
grant select, insert, update on private.outbox_pauses to service_role;
comment on table private.outbox_pauses is 'Destinations that asked to be left alone for a while.';

-- Rows of one destination for one dispatcher to deliver, under a lease of 60 seconds: when it runs out they are claimed
-- again. API: service_role only.
create function public.claim_outbox(
  p_destination text
)
returns jsonb -- {token, rows: [{id, key, kind, payload}], parked}: at most 20 in all; none: nothing is due
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
as $$
declare
  v_token constant uuid := gen_random_uuid();
  v_result jsonb;
begin
  if exists (
    select
    from private.outbox_pauses p
    where p.destination = p_destination
      and p.until > private.clock()
  ) then
    return jsonb_build_object('token', v_token, 'rows', '[]'::jsonb, 'parked', 0);
  end if;

  with due as materialized (
    select
      o.id,
      -- Tried for a day, or a mail that waited for a day: it is too late, and the provider has dropped its idempotency key.
      o.queued_at <= private.clock() - interval '24 hours' and (o.attempts > 0 or o.destination in ('email', 'notice')) as is_over
    from private.outbox o
    where o.destination = p_destination
      and o.delivered_at is null
      and o.parked_at is null
      and o.next_attempt_at <= private.clock()
    order by o.next_attempt_at
    limit 20
    for update skip locked
  ),
  claimed as (
    update private.outbox o
    -- The newest twenty: no older claim is still running, and pauses of a destination must not grow the row.
    set claims = (o.claims || v_token)[greatest(cardinality(o.claims) - 18, 1):],
      next_attempt_at = private.clock() + interval '60 seconds',
      attempts = o.attempts + 1,
      parked_at = case when due.is_over then private.clock() end,
      last_error = case
        when due.is_over then coalesce(o.last_error, 'not delivered within 24 hours')
        else o.last_error
      end
    from due
    where o.id = due.id
    returning o.id, o.key, o.kind, o.payload, o.parked_at
  )
  select jsonb_build_object(
    'token', v_token,
    'rows', coalesce(
      jsonb_agg(
        jsonb_build_object('id', c.id, 'key', c.key, 'kind', c.kind, 'payload', c.payload)
        order by c.id
      ) filter (where c.parked_at is null),
      '[]'
    ),
    'parked', count(c.parked_at)
  )
  into v_result
  from claimed c;
  return v_result;
end
$$;
comment on function public.claim_outbox(text) is 'Claims up to 20 due side effects of one destination for 60 seconds.';
revoke execute on function public.claim_outbox(text) from public, anon, authenticated;
grant execute on function public.claim_outbox(text) to service_role;

-- When the next row of these destinations may be claimed. API: service_role only.
create function public.next_outbox_attempt(
  p_destinations text -- comma-separated
)
returns jsonb -- {next_attempt_at}: ISO 8601 in UTC, or null when nothing is left to do
language sql
stable
security invoker
set search_path = ''
as $$
  select jsonb_build_object(
    'next_attempt_at',
    private.iso_time(min(greatest(first.next_attempt_at, p.until)))
  )
  from unnest(string_to_array(p_destinations, ',')) d (destination)
  cross join lateral (
    select o.next_attempt_at
    from private.outbox o
    where o.destination = d.destination
      and o.delivered_at is null
      and o.parked_at is null
    order by o.next_attempt_at
    limit 1
  ) first
  left join private.outbox_pauses p on p.destination = d.destination
$$;
comment on function public.next_outbox_attempt(text) is 'When the next side effect of these destinations is due.';
revoke execute on function public.next_outbox_attempt(text) from public, anon, authenticated;
grant execute on function public.next_outbox_attempt(text) to service_role;

-- Records the result of a claim: delivered, or failed.

-- Marks rows as delivered, also after the lease and after another claim: the delivery did happen.
-- API: service_role only.
create function public.complete_outbox(
  p_token uuid, -- of the claim
  p_ids text, -- comma-separated
  p_note text default null -- where nothing was sent: why
)
returns jsonb -- {completed}
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
as $$
declare
  v_completed integer;
begin
  -- In the order of their ids, here and in fail_outbox: two dispatchers that settle the same rows must not deadlock.
  with delivered as materialized (
    select o.id
    from private.outbox o
    where o.id = any (string_to_array(p_ids, ',')::bigint[])
      and p_token = any (o.claims)
      and o.delivered_at is null
    order by o.id
    for no key update
  )
  update private.outbox o
  set delivered_at = private.clock(),
    last_error = coalesce(p_note, o.last_error),
    parked_at = null
  from delivered
  where o.id = delivered.id;
  get diagnostics v_completed = row_count;
  return jsonb_build_object('completed', v_completed);
end
$$;
comment on function public.complete_outbox(uuid, text, text) is 'Notes claimed side effects as delivered.';
revoke execute on function public.complete_outbox(uuid, text, text) from public, anon, authenticated;
grant execute on function public.complete_outbox(uuid, text, text) to service_role;

-- How long to wait before the next attempt, by the number of failed attempts.
create function private.retry_delay(
  p_attempts integer
)
returns interval
language sql
immutable
set search_path = ''
return case p_attempts
  when 1 then interval '5 seconds'
  when 2 then interval '30 seconds'
  when 3 then interval '2 minutes'
  when 4 then interval '10 minutes'
  else interval '1 hour'
end;
grant execute on function private.retry_delay(integer) to service_role;

-- Marks rows as failed: they are retried later, or parked where a retry can't help or 24 hours have passed.
-- Only during the lease, and once: later the row belongs to another claim. API: service_role only.
create function public.fail_outbox(
  p_token uuid, -- of the claim
  p_ids text, -- comma-separated
  p_error text,
  p_final boolean default false, -- trying again can't help
  p_pause_seconds integer default null -- the destination asked for a pause: the attempt does not count
)
returns jsonb -- {retried, parked}
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
as $$
declare
  v_now constant timestamptz := private.clock();
  v_pause_until constant timestamptz := v_now + make_interval(secs => p_pause_seconds);
  v_result jsonb;
begin
  with leased as materialized (
    select o.id
    from private.outbox o
    where o.id = any (string_to_array(p_ids, ',')::bigint[])
      and o.claims[cardinality(o.claims)] = p_token
      and o.next_attempt_at > v_now
      and o.delivered_at is null
      and o.parked_at is null
    order by o.id
    for no key update
  ),
  failed as (
    update private.outbox o
    set last_error = p_error,
      claims = o.claims || null::uuid,
      attempts = o.attempts - case when v_pause_until is null then 0 else 1 end,
      next_attempt_at = coalesce(v_pause_until, v_now + private.retry_delay(o.attempts)),
      parked_at = case when p_final or o.queued_at <= v_now - interval '24 hours' then v_now end
    from leased
    where o.id = leased.id
    returning o.destination, o.parked_at
  ),
  paused as (
    insert into private.outbox_pauses as p (destination, until)
    select distinct f.destination, v_pause_until
    from failed f
    where v_pause_until is not null
    on conflict (destination) do update set until = greatest(p.until, excluded.until)
  )
  select jsonb_build_object(
    'retried', count(*) filter (where f.parked_at is null),
    'parked', count(*) filter (where f.parked_at is not null)
  )
  into v_result
  from failed f;
  -- The scheduler learns the new time of the next attempt.
  perform pg_notify('outbox', '');
  return v_result;
end
$$;
comment on function public.fail_outbox(uuid, text, text, boolean, integer) is
  'Notes claimed side effects as not delivered: to be tried again, or parked.';
revoke execute on function public.fail_outbox(uuid, text, text, boolean, integer) from public, anon, authenticated;
grant execute on function public.fail_outbox(uuid, text, text, boolean, integer) to service_role;

-- The history of tiers: which tier a user had when, and why.

create table private.tier_changes (
  id bigint generated always as identity primary key,
  user_id uuid not null,
  from_tier text,
  to_tier text,
  cause text not null,
  reference text,
  at timestamptz not null default private.clock()
);
alter table private.tier_changes enable row level security;
create index tier_changes_user_id_idx on private.tier_changes (user_id);
create index tier_changes_at_idx on private.tier_changes (at);
comment on table private.tier_changes is 'Every real change of a profile''s tier. Kept for TIER_HISTORY_RETENTION_DAYS, of a deleted user for 90 days.';
comment on column private.tier_changes.cause is 'payment, the gateway event''s name, or direct: the profile was written by hand or by the app.';
comment on column private.tier_changes.reference is 'The payment, order or subscription behind it, as the gateway calls it.';

-- Sets the cause of later changes of tiers in this transaction.
create function private.note_cause(
  p_cause text,
  p_reference text
)
returns void
language plpgsql
set search_path = ''
as $$
begin
  perform
    set_config('subscriptions.cause', coalesce(p_cause, ''), true),
    set_config('subscriptions.reference', coalesce(p_reference, ''), true);
end
$$;
grant execute on function private.note_cause(text, text) to service_role;

-- Security definer: an admin's or the app's own role may write tiers without rights here.
create function private.note_tier_change()
returns trigger
language plpgsql
security definer
set search_path = ''
as $$
begin
  insert into private.tier_changes (user_id, from_tier, to_tier, cause, reference)
  values (
    new.user_id,
    case when tg_op = 'UPDATE' then old.subscription_tier end,
    new.subscription_tier,
    coalesce(nullif(current_setting('subscriptions.cause', true), ''), 'direct'),
    nullif(current_setting('subscriptions.reference', true), '')
  );
  return null;
end
$$;

create trigger note_tier_change
after update of subscription_tier on public.profiles
for each row
when (coalesce(old.subscription_tier, 'free') <> coalesce(new.subscription_tier, 'free'))
execute function private.note_tier_change();

create trigger note_first_tier
after insert on public.profiles
for each row
when (new.subscription_tier <> 'free')
execute function private.note_tier_change();

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
