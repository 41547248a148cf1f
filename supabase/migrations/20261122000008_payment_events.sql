-- The ledger of webhooks, and what an event does to a payment, a refund or a dispute.

-- The ledger of webhook deliveries, and readers for the gateway's irregular JSON. Contract: "Events".

create table private.gateway_events (
  body_sha256 bytea primary key constraint gateway_events_body_sha256_check check (octet_length(body_sha256) = 32),
  event_id text,
  event text,
  subject_id text,
  event_at timestamptz,
  reduce_at timestamptz,
  payload jsonb,
  outcome text,
  error text,
  deliveries integer not null default 1,
  attempts integer not null default 0,
  received_at timestamptz not null default private.clock()
)
-- Room in each page for a row's next version: an outcome that is noted writes no index.
with (fillfactor = 90);
alter table private.gateway_events enable row level security;
grant select, insert, update on private.gateway_events to service_role;
create index gateway_events_received_at_idx on private.gateway_events (received_at);
create index gateway_events_reduce_at_idx on private.gateway_events (reduce_at)
where reduce_at is not null;
-- Payloads to be emptied. Without it the job would read every older row to find none.
create index gateway_events_with_payload_idx on private.gateway_events (received_at)
where payload is not null;
create index gateway_events_subject_id_idx on private.gateway_events (subject_id);
comment on table private.gateway_events is
  'Every signed body that the gateway delivered, once: nothing in a delivery but its bytes is signed, so they are its key. '
  'Kept for LEDGER_RETENTION_DAYS.';
comment on column private.gateway_events.event_id is 'The id in the delivery''s header. Not signed: it decides nothing.';
comment on column private.gateway_events.subject_id is 'The subscription or order that the event is about, or the payment where it names no order; its first 200 characters, so '
  'that no id is too long for the index.';
comment on column private.gateway_events.reduce_at is
  'When the payload is reduced: the event names no user that is known. Null: it is not.';
comment on column private.gateway_events.event_at is
  'created_at of a subscription event, as private.event_time reads it. Null: the event carries none. Not set for all others.';
comment on column private.gateway_events.payload is
  'The event''s body. Reduced to what private.stored_payload leaves where the user is deleted, and after a day where no user is '
  'known. Null after 90 days, unless the event still waits.';
comment on column private.gateway_events.outcome is
  'applied, already, stale, mismatch, unmatched, plan_not_found, ignored: why, failed: SQLSTATE, or parked.';

-- A table beside the ledger instead of an index on outcome: each change of an indexed column writes every index.
create table private.unsettled_events (
  body_sha256 bytea primary key
    constraint unsettled_events_body_sha256_fkey references private.gateway_events (body_sha256) on delete cascade
);
alter table private.unsettled_events enable row level security;
grant select, insert, delete on private.unsettled_events to service_role;
comment on table private.unsettled_events is
  'Events that had no effect and may have one yet: when their plan is there, or when an admin applies them again.';

-- A JSON object; anything else is null.
create function private.json_object(
  p_value jsonb
)
returns jsonb
language plpgsql
immutable
set search_path = ''
as $$
begin
  return case when jsonb_typeof(p_value) = 'object' then p_value end;
end
$$;
grant execute on function private.json_object(jsonb) to service_role;

-- A JSON string; anything else is null.
create function private.json_text(
  p_value jsonb
)
returns text
language plpgsql
immutable
set search_path = ''
as $$
begin
  return case when jsonb_typeof(p_value) = 'string' then p_value #>> '{}' end;
end
$$;
grant execute on function private.json_text(jsonb) to service_role;

-- A JSON string that is a uuid; anything else is null.
create function private.json_uuid(
  p_value jsonb
)
returns uuid
language plpgsql
immutable
set search_path = ''
as $$
begin
  return case
    when jsonb_typeof(p_value) = 'string' and p_value #>> '{}' ~* '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
      then (p_value #>> '{}')::uuid
  end;
end
$$;
grant execute on function private.json_uuid(jsonb) to service_role;

-- Unix seconds as a JSON integer of the years 1970 to 9999; anything else is null.
create function private.json_time(
  p_value jsonb
)
returns timestamptz
language plpgsql
immutable
set search_path = ''
as $$
begin
  return case
    when jsonb_typeof(p_value) = 'number' then
      case
        when p_value::numeric between 0 and 253402300799 and p_value::numeric = trunc(p_value::numeric)
          then to_timestamp(p_value::numeric)
      end
  end;
end
$$;
grant execute on function private.json_time(jsonb) to service_role;

-- A whole JSON number, such as an amount in minor units; anything else is null.
create function private.json_integer(
  p_value jsonb
)
returns bigint
language plpgsql
immutable
set search_path = ''
as $$
begin
  return case
    when jsonb_typeof(p_value) = 'number' then
      case
        when abs(p_value::numeric) <= 9007199254740991 and p_value::numeric = trunc(p_value::numeric) then p_value::bigint
      end
  end;
end
$$;
grant execute on function private.json_integer(jsonb) to service_role;

-- When an event happened: its created_at, which now and then lies inside the payload. Null: it carries none.
create function private.event_time(
  p_body jsonb
)
returns timestamptz
language plpgsql
immutable
set search_path = ''
as $$
begin
  return coalesce(private.json_time(p_body -> 'created_at'), private.json_time(p_body -> 'payload' -> 'created_at'));
end
$$;
grant execute on function private.event_time(jsonb) to service_role;

-- Finds the payment that an event of the gateway is about. Contract: "Events".

-- The payment that a gateway's payment entity is about: by its own id, also where another payment pays for the order, else
-- by its order, else by the order's receipt, which is our id without dashes and known before the order's id is. Never by
-- its notes: the browser sets them. Ids can be reused by a test account, so where the order is known it must agree.
create function private.find_payment(
  p_entity jsonb,
  p_order jsonb -- the order's entity, if the event has one
)
returns public.payments -- all null: none. Not locked: read it again under the lock
language plpgsql -- which keeps its plans
stable
set search_path = ''
as $$
declare
  v_gateway_payment_id constant text := private.json_text(p_entity -> 'id');
  v_gateway_order_id constant text := coalesce(
    private.json_text(p_entity -> 'order_id'),
    private.json_text(p_order -> 'id')
  );
  v_of_order public.payments;
  v_payment public.payments;
begin
  -- Usually the order is known, and no other payment on it.
  if v_gateway_order_id is not null then
    select * into v_of_order from public.payments p where p.gateway_order_id = v_gateway_order_id;
    if found and (v_of_order.gateway_payment_id is null or v_of_order.gateway_payment_id = v_gateway_payment_id) then
      return v_of_order;
    end if;
  end if;
  select * into v_payment from public.payments p where p.gateway_payment_id = v_gateway_payment_id;
  if found then
    return v_payment;
  end if;
  select p.* into v_payment
  from private.extra_payments x
  join public.payments p on p.id = x.payment_id
  where x.gateway_payment_id = v_gateway_payment_id
  order by p.gateway_order_id = v_gateway_order_id desc nulls last, x.payment_id
  limit 1;
  if found then
    return v_payment;
  end if;
  if v_of_order.id is not null then
    return v_of_order;
  end if;
  if private.json_text(p_order -> 'receipt') ~ '^[0-9a-f]{32}$' then
    select * into v_payment
    from public.payments p
    where p.id = private.json_text(p_order -> 'receipt')::uuid
      and p.gateway_order_id is null;
  end if;
  return v_payment;
end
$$;
grant execute on function private.find_payment(jsonb, jsonb) to service_role;

-- payment.captured, order.paid and payment.failed. Contract: "Events".

-- The gateway confirms that a payment was captured: fulfils it as verify would, whichever comes first, but only for
-- exactly the amount of the order. Contract: "Closed browser".
create function private.apply_payment_captured(
  p_entity jsonb,
  p_order jsonb
)
returns text -- the outcome for the ledger
language plpgsql
set search_path = ''
as $$
declare
  v_gateway_payment_id constant text := private.json_text(p_entity -> 'id');
  v_gateway_order_id constant text := coalesce(
    private.json_text(p_entity -> 'order_id'),
    private.json_text(p_order -> 'id')
  );
  v_amount constant bigint := private.json_integer(p_entity -> 'amount');
  v_payment public.payments := private.find_payment(p_entity, p_order);
  v_locked record;
  v_is_same boolean;
  v_is_exact boolean;
  v_counts_now boolean := false;
  v_email text;
  v_outcome text;
begin
  if v_gateway_payment_id is null then
    return 'ignored: payment.entity.id';
  end if;
  if v_payment.user_id is null then
    perform private.note_missing_user(v_payment.id, v_gateway_payment_id);
  end if;
  if v_payment.id is null or v_payment.gateway_payment_id is distinct from v_gateway_payment_id and v_amount is null then
    return 'unmatched';
  end if;

  -- A payment that this very gateway payment fulfilled gives nothing new: then the user's lock is not needed.
  if v_payment.fulfilled_at is null
    or v_payment.ended_at is not null
    or v_payment.gateway_payment_id is distinct from v_gateway_payment_id
  then
    v_email := private.lock_user(v_payment.user_id);
  end if;
  -- With the refunded total of this gateway payment, which may be known before the capture is.
  select p as payment, coalesce(
    (
      select sum(r.amount)
      from private.refunds r
      where r.gateway_payment_id = v_gateway_payment_id
        and r.status = 'processed'
    ),
    0
  ) as refunded_amount
  into v_locked
  from public.payments p
  where p.id = v_payment.id
  for update;
  v_payment := v_locked.payment;

  v_is_same := v_payment.gateway_payment_id is not distinct from v_gateway_payment_id;
  v_is_exact := coalesce(
    v_amount = v_payment.amount
      and coalesce(private.json_text(p_entity -> 'currency'), v_payment.currency) = v_payment.currency
      and coalesce(private.json_text(p_entity -> 'status'), 'captured') = 'captured',
    false
  );
  if not v_is_same and not v_is_exact then
    return 'mismatch';
  end if;

  if v_payment.status <> 'captured' then
    if not v_is_same then
      v_payment.gateway_payment_id := v_gateway_payment_id;
      v_payment.refunded_amount := v_locked.refunded_amount;
    end if;
  elsif not v_is_same and v_payment.gateway_payment_id is not null then
    perform private.note_extra_payment(v_payment.id, v_gateway_payment_id, private.clock(), private.clock());
    v_payment := private.count_best_payment(v_payment);
    v_counts_now := v_payment.gateway_payment_id = v_gateway_payment_id;
  end if;

  if v_is_exact
    and (v_payment.fulfilled_at is null or v_payment.uncaptured_at is not null or v_payment.ended_reason = 'refunded')
    and (v_payment.status <> 'captured' or not private.is_refunded(v_payment))
  then
    v_outcome := private.fulfil_payment(
      v_payment,
      v_email,
      null,
      v_payment.gateway_payment_id = v_gateway_payment_id
    ) ->> 'outcome';
    if v_payment.gateway_order_id is null then
      -- Then the events that wait for the order are applied.
      update public.payments p set gateway_order_id = v_gateway_order_id where p.id = v_payment.id;
    end if;
    return case v_outcome when 'plan_not_found' then 'plan_not_found' else 'applied' end;
  end if;

  if v_counts_now then
    return 'applied';
  end if;
  if v_payment.gateway_payment_id is distinct from v_gateway_payment_id
    or v_payment.status = 'captured' and v_payment.confirmed_at is not null
  then
    return 'already';
  end if;
  update public.payments p
  set status = 'captured',
    captured_at = coalesce(p.captured_at, private.clock()),
    confirmed_at = coalesce(p.confirmed_at, private.clock())
  where p.id = v_payment.id;
  return 'applied';
end
$$;
grant execute on function private.apply_payment_captured(jsonb, jsonb) to service_role;

-- One attempt on an order failed. A payment that was captured, by whichever attempt, stays captured.
-- payment.failed and its e-mail. Contract: "Failed attempts".
create function private.apply_payment_failed(
  p_entity jsonb,
  p_body_sha256 bytea -- names the attempt in the mail's key where the entity has no id that fits
)
returns text -- the outcome for the ledger
language plpgsql
set search_path = ''
as $$
declare
  v_gateway_order_id constant text := private.json_text(p_entity -> 'order_id');
  v_gateway_payment_id constant text := private.json_text(p_entity -> 'id');
  v_payment public.payments;
  v_tier text;
  v_to text;
  v_display_name text;
begin
  if v_gateway_order_id is null then
    return 'ignored: payment.entity.order_id';
  end if;

  select * into v_payment from public.payments p where p.gateway_order_id = v_gateway_order_id for update;
  if not found then
    return 'unmatched';
  end if;
  if v_payment.user_id is null then
    perform private.note_missing_user(v_payment.id, v_gateway_payment_id);
  end if;
  if v_payment.status = 'captured' then
    return 'stale';
  end if;
  -- The ledger may have purged the event: a repeat must neither replace newer error texts nor send a mail again.
  if v_payment.status = 'failed' and v_payment.created_at < private.clock() - interval '90 days' then
    return 'stale';
  end if;

  v_tier := coalesce(v_payment.tier, v_payment.meta ->> 'tier');
  update public.payments p
  set status = 'failed',
    tier = v_tier,
    -- The bank's texts may hold personal data: none are kept for a payment without a user.
    meta = case
      when p.user_id is null then p.meta
      else jsonb_build_object(
        'error_code', p_entity -> 'error_code',
        'error_description', p_entity -> 'error_description',
        'error_reason', p_entity -> 'error_reason'
      )
    end
  where p.id = v_payment.id;

  select u.email, coalesce(nullif(pr.display_name, ''), pr.username, '')
  into v_to, v_display_name
  from private.find_user(v_payment.user_id) u
  join public.profiles pr on pr.user_id = v_payment.user_id;
  if v_to <> '' then
    perform private.enqueue(
      'payment-failed/' || case
        when char_length(v_gateway_payment_id) <= 200 then v_gateway_payment_id
        else encode(p_body_sha256, 'hex')
      end,
      'email',
      'payment-failed',
      jsonb_build_object(
        'to', v_to,
        'display_name', v_display_name,
        'tier', coalesce(nullif(v_tier, ''), 'basic'),
        'amount', v_payment.amount,
        'currency', v_payment.currency,
        'reason', private.json_text(p_entity -> 'error_description')
      )
    );
  end if;
  return 'applied';
end
$$;
grant execute on function private.apply_payment_failed(jsonb, bytea) to service_role;

-- Refunds and disputes. A payment that was refunded in full gives no access any more; a part of it, or a dispute, changes
-- no access.

-- Applies a payment's refunds to its access: a source that is refunded in full ends, one whose refund failed later
-- goes on. The caller holds the locks on the user and on the payment.
create function private.settle_refunds(
  p_payment public.payments,
  p_email text
)
returns boolean -- whether anything changed
language plpgsql
set search_path = ''
as $$
declare
  v_payment public.payments := p_payment;
  v_is_changed boolean;
  v_is_refunded boolean;
begin
  update private.extra_payments x
  set refunded_amount = private.refunded_amount(x.gateway_payment_id)
  where x.payment_id = p_payment.id
    and x.refunded_amount <> private.refunded_amount(x.gateway_payment_id);
  v_is_changed := found;
  v_payment.refunded_amount := private.refunded_amount(p_payment.gateway_payment_id);
  if v_payment.refunded_amount <> p_payment.refunded_amount then
    v_is_changed := true;
    update public.payments p set refunded_amount = v_payment.refunded_amount where p.id = p_payment.id;
  end if;
  if not v_is_changed then
    return false;
  end if;
  if v_payment.status = 'captured' then
    v_payment := private.count_best_payment(v_payment);
  end if;
  v_is_refunded := private.is_refunded(v_payment);

  -- Its capture arrived while it was refunded in full, and the refund failed.
  if v_payment.fulfilled_at is null then
    if v_payment.status = 'captured' and private.is_refunded(p_payment) and not v_is_refunded then
      perform private.fulfil_payment(v_payment, p_email, null, v_payment.confirmed_at is not null);
    end if;
    return true;
  end if;

  update public.payments p
  set ended_at = case when v_is_refunded then private.clock() end,
    ended_reason = case when v_is_refunded then 'refunded' end
  where p.id = v_payment.id
    and case when v_is_refunded then p.ended_at is null else p.ended_reason = 'refunded' end;
  if found then
    perform private.settle_payment(v_payment, p_email);
  end if;
  return true;
end
$$;
grant execute on function private.settle_refunds(public.payments, text) to service_role;

-- Applies the refunds of a cycle's payment to its gateway subscription.
create function private.settle_charge_refunds(
  p_gateway_payment_id text
)
returns boolean -- whether anything changed; null: no cycle was paid by it
language plpgsql
set search_path = ''
as $$
declare
  v_subscription private.gateway_subscriptions;
  v_email text;
  v_is_changed boolean;
begin
  for v_subscription in
    select m.*
    from private.gateway_charges c
    join private.gateway_subscriptions m
      on m.user_id = c.user_id
      and m.gateway_subscription_id = c.gateway_subscription_id
    where c.gateway_payment_id = p_gateway_payment_id
      and c.gateway_payment_id <> ''
    order by m.user_id
  loop
    v_email := private.lock_user(v_subscription.user_id);
    update private.gateway_charges c
    set refunded_amount = private.refunded_amount(p_gateway_payment_id)
    where c.user_id = v_subscription.user_id
      and c.gateway_subscription_id = v_subscription.gateway_subscription_id
      and c.gateway_payment_id = p_gateway_payment_id
      and c.refunded_amount <> private.refunded_amount(p_gateway_payment_id);
    v_is_changed := coalesce(v_is_changed, false) or found;
    select * into v_subscription
    from private.gateway_subscriptions m
    where m.user_id = v_subscription.user_id
      and m.gateway_subscription_id = v_subscription.gateway_subscription_id
    for update;
    update private.gateway_subscriptions m
    set has_refunds = true,
      paid_until = private.paid_until(v_subscription)
    where m.user_id = v_subscription.user_id
      and m.gateway_subscription_id = v_subscription.gateway_subscription_id
      and (not m.has_refunds or m.paid_until is distinct from private.paid_until(v_subscription));
    if found and v_email is not null then
      perform private.settle_access(v_subscription.user_id, v_email);
    end if;
  end loop;
  return v_is_changed;
end
$$;
grant execute on function private.settle_charge_refunds(text) to service_role;

-- refund.created, refund.processed and refund.failed, in any order and before or after their payment. Contract: "Refunds".
create function private.apply_refund(
  p_refund jsonb,
  p_payment jsonb -- the payment, where the event carries it
)
returns text -- the outcome for the ledger
language plpgsql
set search_path = ''
as $$
declare
  v_refund_id constant text := private.json_text(p_refund -> 'id');
  v_gateway_payment_id constant text := coalesce(
    private.json_text(p_refund -> 'payment_id'),
    private.json_text(p_payment -> 'id')
  );
  v_amount constant bigint := private.json_integer(p_refund -> 'amount');
  v_status constant text := private.json_text(p_refund -> 'status');
  v_payment public.payments;
  v_email text;
  v_is_news boolean;
  v_changes_charge boolean;
begin
  if v_refund_id is null or v_gateway_payment_id is null or v_amount is null or v_amount < 0
    or (v_status in ('pending', 'processed', 'failed')) is not true
  then
    return 'ignored: refund.entity';
  end if;
  perform private.lock_gateway_payment(v_gateway_payment_id);
  v_payment := private.find_payment(
    coalesce(p_payment, '{}') || jsonb_build_object('id', v_gateway_payment_id),
    null
  );
  if v_payment.user_id is null then
    perform private.note_missing_user(v_payment.id, v_gateway_payment_id);
  end if;
  v_email := private.lock_user(v_payment.user_id);
  select * into v_payment from public.payments p where p.id = v_payment.id for update;
  -- Stored in any case: a payment that becomes known later reads its refunds.
  v_is_news := private.merge_refund(v_refund_id, v_gateway_payment_id, v_amount, v_status);
  v_changes_charge := private.settle_charge_refunds(v_gateway_payment_id);
  if v_payment.id is not null and private.settle_refunds(v_payment, v_email) then
    return 'applied';
  end if;
  return case
    when v_payment.id is null and v_changes_charge is null then 'unmatched'
    when v_is_news or v_changes_charge then 'applied'
    else 'already'
  end;
end
$$;
grant execute on function private.apply_refund(jsonb, jsonb) to service_role;

-- Whether an event says more about a dispute than what is known. A decided dispute stays decided: later events change nothing. Without
-- a time only the first word and the decision count: the event may be an old one that comes again.
create function private.is_dispute_news(
  p_known_status text, -- null: no dispute is known
  p_known_at timestamptz,
  p_status text,
  p_created_at timestamptz -- of the event; null: it carries none
)
returns boolean
language plpgsql
immutable
set search_path = ''
as $$
begin
  return p_known_status is null
    or p_status <> p_known_status
      and p_known_status not in ('won', 'lost', 'closed')
      and (
        p_status in ('won', 'lost', 'closed')
        or coalesce(p_created_at >= p_known_at, p_created_at is not null)
      );
end
$$;
grant execute on function private.is_dispute_news(text, timestamptz, text, timestamptz) to service_role;

-- Stores the status of a dispute.
create function private.apply_dispute(
  p_dispute jsonb,
  p_entity jsonb, -- the payment, if the event has one
  p_created_at timestamptz -- of the event; null: it carries none
)
returns text -- the outcome for the ledger
language plpgsql
set search_path = ''
as $$
declare
  v_status constant text := left(private.json_text(p_dispute -> 'status'), 100);
  v_payment public.payments := private.find_payment(
    coalesce(p_entity, '{}') || jsonb_build_object('id', coalesce(p_dispute -> 'payment_id', p_entity -> 'id')),
    null
  );
begin
  if v_status is null then
    return 'ignored: dispute.entity.status';
  end if;
  if v_payment.user_id is null then
    perform private.note_missing_user(v_payment.id, private.json_text(coalesce(p_dispute -> 'payment_id', p_entity -> 'id')));
  end if;
  if v_payment.id is null then
    -- The payment of a cycle.
    update private.gateway_charges c
    set dispute_status = v_status,
      dispute_event_at = greatest(c.dispute_event_at, p_created_at)
    where c.gateway_payment_id = private.json_text(coalesce(p_dispute -> 'payment_id', p_entity -> 'id'))
      and c.gateway_payment_id <> ''
      and private.is_dispute_news(c.dispute_status, c.dispute_event_at, v_status, p_created_at);
    if found then
      return 'applied';
    end if;
    return 'unmatched';
  end if;
  -- About another payment on the order: not the one that counts.
  if v_payment.gateway_payment_id <> private.json_text(coalesce(p_dispute -> 'payment_id', p_entity -> 'id')) then
    return 'mismatch';
  end if;
  update public.payments p
  set dispute_status = v_status,
    dispute_event_at = greatest(p.dispute_event_at, p_created_at)
  where p.id = v_payment.id
    and private.is_dispute_news(p.dispute_status, p.dispute_event_at, v_status, p_created_at);
  return case when found then 'applied' else 'stale' end;
end
$$;
grant execute on function private.apply_dispute(jsonb, jsonb, timestamptz) to service_role;
