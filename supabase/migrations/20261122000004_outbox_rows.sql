-- The table outbox, with the functions and triggers that enqueue its rows, and the log of tier changes.
-- A side effect is enqueued in the transaction of its cause. Contract: "E-mails", "Cached pages".

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
comment on table private.outbox is 'Side effects to deliver at least once, each with a unique key that names its cause.';
comment on column private.outbox.key is
  'Names the cause, for example payment-success/<payment id>. The receiver gets it as idempotency key.';
comment on column private.outbox.destination is
  'notice: mails to many users at once. They have their own queue, so that they do not delay mails about payments.';
comment on column private.outbox.payload is
  'Recipient and data when the row was enqueued. Amounts in minor currency units, times in UTC.';
comment on column private.outbox.queued_at is
  'Start of the 24 hours in which delivery is tried. private.requeue starts them again.';
comment on column private.outbox.next_attempt_at is
  'When the row may be claimed. While the row is claimed: the end of the lease.';
comment on column private.outbox.last_error is
  'Why the newest attempt failed. In a delivered row without a message: why no message was sent.';
comment on column private.outbox.claims is
  'The tokens of the newest claims, the newest last. A null at the end means that the newest claim is over.';

-- Enqueues a side effect. A second call with the same key changes nothing.
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

-- The key of a transaction's revalidation. Each write of a tier refreshes the app's cached pages, also a write by an admin.
-- One key for each transaction, since an upsert fires the insert trigger and the update trigger. The key has the time,
-- because transaction ids repeat in a restored database.
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

-- Security definer: the role of an admin or of the app may write tiers but not the outbox.
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

-- Not for requests: there private.settle_access enqueues all side effects in one statement.
create trigger enqueue_revalidation
after insert or update of subscription_tier on public.profiles
for each statement
when (current_setting('subscriptions.request', true) is distinct from 'on')
execute function private.enqueue_revalidation();

-- Enqueues a cancellation: the gateway stops billing a subscription, at once or at the end of its cycle. Another call may
-- replace a cancellation that is not delivered, or that was withdrawn. A delivered cancellation is final, except that an
-- immediate one may follow one for the end of the cycle.
create function private.enqueue_cancellation(
  p_gateway_subscription_id text,
  p_at_cycle_end boolean default false,
  p_at timestamptz default private.clock() -- when to send it
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
    or o.payload @> '{"at_cycle_end": true}' and not p_at_cycle_end
$$;
grant execute on function private.enqueue_cancellation(text, boolean, timestamptz) to service_role;

-- Withdraws a cancellation, unless it was claimed: the gateway may then have received it.
create function private.withdraw_cancellation(
  p_gateway_subscription_id text,
  p_why text
)
returns boolean -- false: the gateway received the cancellation, or may have received it
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
comment on table private.tier_changes is
  'The changes of profiles'' tiers. Rows are kept for TIER_HISTORY_RETENTION_DAYS, those of a deleted user for 90 days.';
comment on column private.tier_changes.cause is
  'payment, the name of the gateway event, or direct: an admin or the app wrote the profile.';
comment on column private.tier_changes.reference is
  'The gateway''s id of the payment, order or subscription that caused the change.';

-- Sets the cause of the tier changes that follow in this transaction.
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

-- Security definer: the role of an admin or of the app may write tiers but not this log.
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
