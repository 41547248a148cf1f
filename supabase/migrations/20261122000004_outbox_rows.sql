-- The outbox: every side effect, written in the transaction of its cause. And the history of tiers.

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
