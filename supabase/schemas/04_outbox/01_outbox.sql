-- Side effects: enqueued with their cause, delivered at least once, also when several dispatchers run and may crash.
-- Contract: "E-mails", "Cached pages".

create table billing.outbox (
  id bigint generated always as identity primary key,
  key text not null unique, -- names the cause: payment-success/<payment id>. The receiver's idempotency key
  -- email, notice (mails to many users at once, in a queue of their own), revalidation, gateway or event
  destination text not null,
  kind text not null,
  payload jsonb not null, -- recipient and data when it was enqueued. Minor currency units, times in UTC
  created_at timestamptz not null default billing.clock(),
  -- Start of the 24 hours in which delivery is tried. billing.requeue renews it.
  queued_at timestamptz not null default billing.clock(),
  -- When the row may be claimed; while claimed, the end of the lease.
  next_attempt_at timestamptz not null default billing.clock(),
  attempts integer not null default 0,
  claims uuid[] not null default '{}', -- tokens of the newest claims, newest last. A null at the end: it is over
  last_error text, -- why the newest attempt failed. If delivered: why no message was sent
  delivered_at timestamptz,
  parked_at timestamptz,
  told_at timestamptz -- of a message that is final: when the receiver may have received it. Null: not yet
) with (autovacuum_vacuum_scale_factor = 0.02);
alter table billing.outbox enable row level security;
grant select, insert, update on billing.outbox to service_role;
create index outbox_pending_idx on billing.outbox (destination, next_attempt_at)
where delivered_at is null and parked_at is null;
create index outbox_delivered_at_idx on billing.outbox (delivered_at) where delivered_at is not null;
create index outbox_messages_created_at_idx on billing.outbox (created_at) where destination in ('email', 'notice', 'event');
comment on table billing.outbox is 'Side effects to deliver at least once, each with a unique key that names its cause.';
create index outbox_parked_at_idx on billing.outbox (parked_at) where parked_at is not null and delivered_at is null;
-- What was asked back of one payment.
create index outbox_refunds_idx on billing.outbox ((payload ->> 'gateway_payment_id')) where kind = 'refund';
-- For the mails of one customer.
create index outbox_recipient_idx on billing.outbox ((payload ->> 'to')) where payload ->> 'to' is not null;

-- Enqueues a side effect. A second call with the same key changes nothing.
create function billing.enqueue(p_key text, p_destination text, p_kind text, p_payload jsonb)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  insert into billing.outbox (key, destination, kind, payload)
  values (p_key, p_destination, p_kind, p_payload)
  on conflict (key) do nothing;
end $$;

-- Withdraws mails that are no longer true and not sent yet.
create function billing.withdraw_mails(p_keys text[])
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  with waiting as materialized (
    select o.id
    from billing.outbox o
    -- An expression leaves the planner the index on the key alone: that of all waiting rows grows with an outage.
    where o.key = any (p_keys) and num_nonnulls(o.delivered_at, o.parked_at) = 0
    order by o.id
    for no key update
  )
  update billing.outbox o
  set parked_at = billing.clock(), last_error = 'withdrawn'
  from waiting
  where o.id = waiting.id;
end $$;

create table billing.marks (
  -- pause: a destination of the outbox asked for it, until then. settle_failure: a scheduled job could not settle the
  -- access of a user, and retries after an hour. missed_webhook: reconciliation first found what no webhook announced.
  -- kept_days: of the delivered messages, as the function said last.
  kind text not null check (kind in ('pause', 'settle_failure', 'missed_webhook', 'kept_days')),
  key text not null,
  at timestamptz not null default billing.clock(),
  detail text, -- of a settle_failure: the SQLSTATE. PS500: the subscription still runs. Of kept_days: their number
  primary key (kind, key)
);
alter table billing.marks enable row level security;
grant select, insert, update on billing.marks to service_role;
comment on table billing.marks is 'Facts that are one time each, and what they are about: an id, or a destination.';

-- Returns how long a side effect is tried. Of a stop null, until the gateway has it: else it charges what was cancelled, once it
-- answers again.
create function billing.tried_for(p_kind text)
returns interval language sql immutable set search_path = pg_catalog, pg_temp
return case when p_kind <> 'cancel-subscription' then interval '24 hours' end;

-- Returns when the next row of destinations is due.
create function billing.next_attempt(
  p_destinations text[],
  p_after timestamptz default '-infinity' -- rows that are due by then do not count, unless their destination asked for a pause
)
returns timestamptz -- null: no row
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return (
    select min(greatest(first.next_attempt_at, m.at))
    from unnest(p_destinations) d (destination)
    left join billing.marks m on m.kind = 'pause' and m.key = d.destination
    cross join lateral (
      select o.next_attempt_at
      from billing.outbox o
      where o.destination = d.destination
        and o.delivered_at is null
        and o.parked_at is null
        and o.next_attempt_at > case when m.at > p_after then '-infinity' else p_after end
      order by o.next_attempt_at
      limit 1
    ) first
  );
end $$;

-- After the lease, rows that were neither completed nor failed may be claimed again.
create function public.claim_outbox(p_destinations text) -- comma-separated
returns jsonb
-- {token, rows: [{id, destination, key, kind, payload}], at most 20 of a destination with the parked ones, parked (how many),
-- more: the destinations that may have further due rows, next_attempt_at: of the rows that are due later, ISO 8601 in UTC}
language plpgsql volatile
set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off
set plan_cache_mode = force_generic_plan as $$
declare
  v_now constant timestamptz := billing.clock();
  v_token constant uuid := gen_random_uuid();
  v_destinations constant text[] := string_to_array(p_destinations, ',');
  v_next timestamptz := billing.next_attempt(v_destinations);
  v_result jsonb;
begin
  -- Most claims find nothing, and need no more than this.
  if (v_next <= v_now) is not true then
    return jsonb_build_object(
      'token', v_token, 'rows', '[]'::jsonb, 'parked', 0, 'more', '[]'::jsonb, 'next_attempt_at', billing.iso_time(v_next)
    );
  end if;
  v_next := billing.next_attempt(v_destinations, v_now);
  with due as materialized (
    select first.*
    from unnest(v_destinations) d (destination)
    cross join lateral (
      select
        o.id,
        -- Too old: tried for a day, or a mail that waited for a day. Then the provider no longer knows the idempotency key.
        o.queued_at <= v_now - billing.tried_for(o.kind)
          and (o.attempts > 0 or o.destination in ('email', 'notice')) as is_over,
        o.kind = 'refund' and not billing.may_refund(o) as is_void
      from billing.outbox o
      where o.destination = d.destination
        and o.delivered_at is null
        and o.parked_at is null
        and o.next_attempt_at <= v_now
      order by o.next_attempt_at
      limit 20
      for update skip locked
    ) first
    where not exists (select from billing.marks m where m.kind = 'pause' and m.key = d.destination and m.at > v_now)
  ),
  claimed as (
    update billing.outbox o
    -- Of the tokens the newest 20 remain: no older claim still runs, and repeated pauses must not grow the row.
    set claims = (o.claims || v_token)[greatest(cardinality(o.claims) - 18, 1):],
      next_attempt_at = v_now + interval '60 seconds',
      attempts = o.attempts + 1,
      parked_at = case when due.is_over or due.is_void then v_now end,
      last_error = case
        when due.is_void then 'no longer refundable'
        when due.is_over then coalesce(o.last_error, 'not delivered within 24 hours')
        else o.last_error
      end
    from due
    where o.id = due.id
    returning o.id, o.destination, o.key, o.kind, o.payload, o.parked_at
  )
  select jsonb_build_object(
    'token', v_token,
    'rows', coalesce(
      jsonb_agg(
        jsonb_build_object('id', c.id, 'destination', c.destination, 'key', c.key, 'kind', c.kind, 'payload', c.payload)
        order by c.id
      ) filter (where c.parked_at is null),
      '[]'
    ),
    'parked', count(c.parked_at),
    'more', coalesce(
      (select jsonb_agg(f.destination) from (select destination from claimed group by destination having count(*) = 20) f), '[]'
    ),
    'next_attempt_at', billing.iso_time(v_next)
  )
  into v_result
  from claimed c;
  return v_result;
end $$;
comment on function public.claim_outbox is 'Claims up to 20 due side effects of each destination, for 60 seconds.';
create function public.next_outbox_attempt(p_destinations text) -- comma-separated
returns jsonb -- {next_attempt_at}: ISO 8601 in UTC; null: no row waits
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return jsonb_build_object(
    'next_attempt_at', billing.iso_time(billing.next_attempt(string_to_array(p_destinations, ',')))
  );
end $$;
comment on function public.next_outbox_attempt is 'Returns when the next side effect of these destinations is due.';
-- Also after the lease, or after another claim: the receiver has accepted them.
create function public.complete_outbox(
  p_token uuid, -- of the claim
  p_ids text, -- comma-separated
  p_note text default null, -- why no message was sent
  p_refund text default null -- of a single row: the refund that the gateway made, its entity, JSON
)
returns jsonb -- {completed}
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set plan_cache_mode = force_generic_plan as $$
declare
  v_completed integer;
begin
  -- First, because it locks the payment and the user, whose locks come before those of messages.
  if p_refund is not null then
    perform billing.apply_refund_answer(o, p_refund::jsonb) from billing.outbox o where o.id = split_part(p_ids, ',', 1)::bigint;
  end if;
  -- Here and in fail_outbox the rows are locked in the order of their keys, as billing.plan does: no deadlock.
  with delivered as materialized (
    select o.id
    from billing.outbox o
    where o.id = any (string_to_array(p_ids, ',')::bigint[]) and p_token = any (o.claims) and o.delivered_at is null
    order by o.key
    for no key update
  )
  update billing.outbox o
  set delivered_at = billing.clock(), last_error = coalesce(p_note, o.last_error), parked_at = null
  from delivered
  where o.id = delivered.id;
  get diagnostics v_completed = row_count;
  return jsonb_build_object('completed', v_completed);
end $$;
comment on function public.complete_outbox is 'Marks claimed side effects as delivered.';

-- A row is parked where a retry is useless or 24 hours have passed. It is marked once, and only during its lease: afterwards
-- it may belong to another claim.
create function public.fail_outbox(
  p_token uuid, -- of the claim
  p_ids text, -- comma-separated
  p_error text,
  p_final boolean default false, -- a retry is useless
  p_pause_seconds integer default null -- the destination asked for this pause: the attempt does not count
)
returns jsonb -- {retried, parked}
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' as $$
declare
  v_now constant timestamptz := billing.clock();
  v_pause_until constant timestamptz := v_now + make_interval(secs => p_pause_seconds);
  v_result jsonb;
begin
  with leased as materialized (
    select o.id
    from billing.outbox o
    where o.id = any (string_to_array(p_ids, ',')::bigint[])
      and o.claims[cardinality(o.claims)] = p_token
      and o.next_attempt_at > v_now
      and o.delivered_at is null
      and o.parked_at is null
    order by o.key
    for no key update
  ),
  failed as (
    update billing.outbox o
    set last_error = p_error,
      claims = o.claims || null::uuid,
      attempts = o.attempts - case when v_pause_until is null then 0 else 1 end,
      next_attempt_at = coalesce(v_pause_until, v_now + coalesce(
        (array['5 seconds', '30 seconds', '2 minutes', '10 minutes']::interval[])[o.attempts], interval '1 hour'
      )),
      parked_at = case when p_final or o.queued_at <= v_now - billing.tried_for(o.kind) then v_now end
    from leased
    where o.id = leased.id
    returning o.destination, o.parked_at
  ),
  paused as (
    insert into billing.marks as m (kind, key, at)
    select distinct 'pause', f.destination, v_pause_until
    from failed f
    where v_pause_until is not null
    on conflict (kind, key) do update set at = greatest(m.at, excluded.at)
  )
  select jsonb_build_object('retried', count(*) - count(f.parked_at), 'parked', count(f.parked_at))
  into v_result
  from failed f;
  -- A listening scheduler then reads the new time of the next attempt.
  perform pg_notify('outbox', '');
  return v_result;
end $$;
comment on function public.fail_outbox is 'Marks claimed side effects as failed: they are retried or parked.';

-- For an admin who repaired the cause: retries a parked side effect for another 24 hours.
create function billing.requeue(p_id bigint)
returns boolean -- false: no such row, it is delivered, or it is a refund of more than is left
language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update billing.outbox o
  -- A claim that is still running may complete the row, but not fail it.
  set claims = o.claims || null::uuid,
    queued_at = billing.clock(), next_attempt_at = billing.clock(), attempts = 0, parked_at = null
  where o.id = p_id and o.delivered_at is null and (o.kind <> 'refund' or billing.may_refund(o));
  if found then perform billing.wake(); end if;
  return found;
end $$;
revoke execute on function billing.requeue(bigint) from service_role;

-- Returns the row that refreshes the app's cached pages, one for each transaction: an upsert fires the insert and the update
-- trigger. The key has the time, because transaction ids repeat in a restored database.
create function billing.page_refresh(out key text, out destination text, out kind text, out payload jsonb)
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  key := format('revalidation/%s-%s', extract(epoch from now()), pg_current_xact_id());
  destination := 'revalidation';
  kind := 'revalidation';
  payload := '{"paths": ["/subscription", "/pricing", "/analytics", "/dashboard"]}';
end $$;

-- Security definer: the role of an admin or of the app may write tiers but not the outbox.
create function billing.enqueue_revalidation()
returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  perform billing.enqueue(r.key, r.destination, r.kind, r.payload) from billing.page_refresh() r;
  return null;
end $$;

create table billing.tier_changes (
  id bigint generated always as identity primary key,
  user_id uuid not null,
  from_tier text,
  to_tier text,
  cause text not null, -- payment, a gateway event, or direct: an admin or the app wrote it
  reference text, -- the gateway's id of the payment, order or subscription behind it
  at timestamptz not null default billing.clock()
);
alter table billing.tier_changes enable row level security;
create index tier_changes_user_id_idx on billing.tier_changes (user_id);
create index tier_changes_at_idx on billing.tier_changes (at);
comment on table billing.tier_changes is
  'The changes of profiles'' tiers. Rows are kept for TIER_HISTORY_RETENTION_DAYS, those of a deleted user for 90 days.';

-- Sets the cause of the tier changes that follow in this transaction.
create function billing.note_cause(p_cause text, p_reference text)
returns text language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  return set_config('subscriptions.cause', coalesce(p_cause, ''), true)
    || set_config('subscriptions.reference', coalesce(p_reference, ''), true);
end $$;

-- Marks the transaction as a request of the function, which does not wake the dispatcher: the function dispatches after its
-- answer. Sets the cause of its tier changes.
create function billing.begin_request(p_cause text, p_reference text)
returns text language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  return set_config('subscriptions.request', 'on', true)
    -- Each connection plans a statement once, and not again at its first five calls.
    || set_config('plan_cache_mode', 'force_generic_plan', true)
    || set_config('subscriptions.cause', coalesce(p_cause, ''), true)
    || set_config('subscriptions.reference', coalesce(p_reference, ''), true);
end $$;

-- Security definer: the role of an admin or of the app may write tiers but not this log.
create function billing.note_tier_change()
returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if coalesce(old.subscription_tier, 'free') <> coalesce(new.subscription_tier, 'free') then
    insert into billing.tier_changes (user_id, from_tier, to_tier, cause, reference)
    values (
      new.user_id, old.subscription_tier, new.subscription_tier,
      coalesce(nullif(current_setting('subscriptions.cause', true), ''), 'direct'),
      nullif(current_setting('subscriptions.reference', true), '')
    );
  end if;
  return null;
end $$;

-- The table of the profiles has one of two names. No revalidation by the trigger in a request: there billing.settle_access
-- enqueues all side effects in one statement.
do $triggers$
begin
  execute format($statement$
    create trigger enqueue_revalidation after insert or update of subscription_tier on %1$s for each statement
    when (current_setting('subscriptions.request', true) is distinct from 'on')
    execute function billing.enqueue_revalidation();

    create trigger note_tier_change after insert or update of subscription_tier on %1$s for each row
    execute function billing.note_tier_change();
  $statement$, billing.profiles_table());
end
$triggers$;

create table billing.function_calls (
  id bigint generated always as identity primary key,
  path text not null,
  request_id bigint, -- the request id of pg_net, null if it did not accept the call. These ids start again after a restore
  called_at timestamptz not null default now(),
  answered_at timestamptz,
  status_code integer,
  error text
);
alter table billing.function_calls enable row level security;
create index function_calls_path_id_idx on billing.function_calls (path, id desc);
create index function_calls_unanswered_idx on billing.function_calls (request_id) where answered_at is null;
comment on table billing.function_calls is
  'Calls of the function''s internal endpoints within the last day, with their answers. The times are those of now(), not '
  'of billing.clock().';

-- Calls an internal endpoint of the function. Does nothing without pg_net or the two Vault secrets, or while a call to the
-- same endpoint is committed but not sent. pg_net waits 5 s, so the function answers before its work. Never fails.
create function billing.call_function(p_path text)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if to_regclass('vault.decrypted_secrets') is null or to_regnamespace('net') is null then return; end if;
  execute $call$
    insert into billing.function_calls (path, request_id)
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
        select from net.http_request_queue q
        where q.url = rtrim(btrim(url.decrypted_secret, E' \t\r\n'), '/') || $1
      )
  $call$
  using p_path;
exception
  -- A broken Vault secret must not stop a payment. The schedule calls again within minutes.
  when others then
    raise warning '% was not called: %', p_path, sqlerrm;
    begin
      insert into billing.function_calls (path, answered_at, error) values (p_path, now(), left(sqlerrm, 200));
    exception when others then
      raise warning 'the failed call was not recorded: %', sqlerrm;
    end;
end $$;

-- Stores the answers that pg_net received, and deletes calls that are older than a day. Never fails.
create function billing.read_answers()
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  if to_regclass('net._http_response') is not null then
    execute $read$
      update billing.function_calls c
      set answered_at = r.created, status_code = r.status_code,
        error = case when r.timed_out then 'no answer within 5 s' else left(r.error_msg, 200) end
      from net._http_response r
      where r.id = c.request_id and r.created > c.called_at - interval '1 minute' and c.answered_at is null
    $read$;
  end if;
  delete from billing.function_calls c where c.called_at < now() - interval '1 day';
exception when others then
  raise warning 'the answers of internal calls were not read: %', sqlerrm;
end $$;

-- Wakes the dispatcher, at most once in a transaction. Never fails.
-- Security definer: a role that enqueues has no rights on Vault and pg_net.
create function billing.wake()
returns void language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if current_setting('subscriptions.woken', true) = 'on' then return; end if;
  -- A rollback of the subtransaction undoes the setting together with the call.
  perform set_config('subscriptions.woken', 'on', true);
  perform pg_notify('outbox', '');
  perform billing.call_function('/api/internal/outbox');
exception when others then
  raise warning 'the dispatcher was not woken: %', sqlerrm;
end $$;
revoke execute on function billing.wake() from service_role;

-- A request that enqueued something dispatches after its answer, and one that did not saves the calls. Everything else wakes the
-- dispatcher. Security definer: service_role enqueues, but may not execute billing.wake.
create function billing.note_enqueued()
returns trigger language plpgsql security definer set search_path = pg_catalog, pg_temp as $$
begin
  if current_setting('subscriptions.request', true) = 'on' then
    perform set_config('subscriptions.enqueued', 'on', true);
  elsif current_setting('subscriptions.woken', true) is distinct from 'on' then
    perform billing.wake();
  end if;
  return null;
end $$;

-- Without WHEN, which Postgres reads anew for every statement.
create trigger note_enqueued after insert or update of payload on billing.outbox for each row
execute function billing.note_enqueued();

revoke execute on function
  public.claim_outbox, public.next_outbox_attempt, public.complete_outbox, public.fail_outbox
from public, anon, authenticated;
grant execute on function
  public.claim_outbox, public.next_outbox_attempt, public.complete_outbox, public.fail_outbox
to service_role;
