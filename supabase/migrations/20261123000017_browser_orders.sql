-- The state of an order for the page of its customer, read from the gateway where it is open.
-- Contract: GET /api/payments/orders/:order_id.

create table private.order_reads (
  payment_id uuid primary key constraint order_reads_payment_id_fkey references public.payments (id) on delete cascade,
  reads integer not null default 1 constraint order_reads_reads_check check (reads between 1 and 20),
  read_at timestamptz not null default private.clock(),
  attempts integer not null default 0,
  is_attempt_open boolean not null default false
);
create index order_reads_read_at_idx on private.order_reads (read_at);
alter table private.order_reads enable row level security;
grant select, insert, update on private.order_reads to service_role;
comment on table private.order_reads is
  'How often an order was read from the gateway for the page of its customer: at most 20 times, every 5 seconds. Kept for '
  '7 days.';
comment on column private.order_reads.read_at is 'The start of the newest read.';
comment on column private.order_reads.attempts is 'The most attempts to pay that an answer of the gateway had.';
comment on column private.order_reads.is_attempt_open is
  'Whether the newest attempt of the last answer was neither captured nor failed.';

-- Deletes a batch of the idempotency keys that are older than 7 days, and of the orders' reads. An order is read for 5 days,
-- so none is read more often than 20 times.
create or replace function private.delete_order_keys()
returns integer -- how many rows were deleted; call again until it is 0
language plpgsql
set search_path = ''
as $$
declare
  v_before constant timestamptz := private.clock() - interval '7 days';
begin
  return private.delete_oldest('private.order_keys', 'created_at', v_before)
    + private.delete_oldest('private.order_reads', 'read_at', v_before);
end
$$;

-- Applies an answer of the gateway as if a webhook had delivered it. Raises an alert if no webhook announced it, but not
-- where the page of a customer asks: the webhook may still be under way.
create or replace function private.apply_answer(
  p_key text, -- reconcile:<id>:<status>
  p_body jsonb,
  p_since timestamptz -- webhooks that arrived before this time announced something else
)
returns boolean -- whether the answer changed anything
language plpgsql
set search_path = ''
as $$
declare
  v_event constant text := p_body ->> 'event';
  v_key constant bytea := sha256(convert_to(p_key, 'UTF8'));
  v_delivery constant private.delivery := private.apply_delivery(v_key, p_key, p_body, 0);
begin
  if not v_delivery.is_applied or v_delivery.outcome <> 'applied' then
    return false;
  end if;
  insert into private.alerts (kind, subject_id, message)
  select
    'missed_webhook',
    answer.subject_id,
    format('No webhook announced %s: your webhook endpoint is probably switched off at the gateway.', v_event)
  from private.gateway_events answer
  where answer.body_sha256 = v_key
    and not exists (
      select
      from private.gateway_events e
      where e.subject_id = answer.subject_id
        and e.deliveries > 0
        and e.received_at >= p_since
        and (e.event = v_event or e.event = 'order.paid' and v_event = 'payment.captured')
    )
    and not exists (
      select
      from public.payments p
      join private.order_reads r on r.payment_id = p.id
      where p.gateway_order_id = answer.subject_id
        and r.read_at > private.clock() - interval '1 minute'
    )
  on conflict do nothing;
  return true;
end
$$;

-- The body of GET /api/payments/orders/:order_id. Attempts are those in the ledger, in the gateway's last answer, and those
-- that were verified.
create function private.order_answer(
  p_payment public.payments
)
returns jsonb -- {order_id, status: open | paid | failed, tier, amount, currency, valid_until, attempts, last_error}
language plpgsql
stable
set search_path = ''
as $$
declare
  v_reads private.order_reads;
  v_attempts integer;
  v_last_error text;
begin
  select * into v_reads from private.order_reads r where r.payment_id = p_payment.id;
  select count(distinct attempt.id) into v_attempts
  from (
    select e.payload #>> '{payload,payment,entity,id}' as id
    from private.gateway_events e
    where e.subject_id = left(p_payment.gateway_order_id, 200)
      and e.event in ('payment.authorized', 'payment.captured', 'payment.failed', 'order.paid')
    union all
    select p_payment.gateway_payment_id
    union all
    select x.gateway_payment_id
    from private.extra_payments x
    where x.payment_id = p_payment.id
  ) attempt;
  -- Events arrive in any order, and `meta` has the error of the last one to arrive.
  select private.json_text(failed.entity -> 'error_description') into v_last_error
  from (
    select e.payload #> '{payload,payment,entity}' as entity, e.received_at
    from private.gateway_events e
    where e.subject_id = left(p_payment.gateway_order_id, 200)
      and e.event = 'payment.failed'
  ) failed
  order by private.json_time(failed.entity -> 'created_at') desc nulls last, failed.received_at desc
  limit 1;
  return jsonb_build_object(
    'order_id', p_payment.gateway_order_id,
    'status', case
      when p_payment.status = 'captured' and not private.is_refunded(p_payment) then 'paid'
      when p_payment.status = 'created' then 'open'
      -- Another attempt follows the one that failed. Its state is known for as long as the order is read.
      when p_payment.status = 'failed'
        and p_payment.uncaptured_at is null
        and v_reads.is_attempt_open
        and v_reads.reads < 20
        then 'open'
      else 'failed'
    end,
    'tier', private.tier_bought(p_payment),
    'amount', p_payment.amount,
    'currency', p_payment.currency,
    'valid_until', case
      when p_payment.fulfilled_at is not null and p_payment.ended_at is null then private.iso_time(p_payment.period_end)
    end,
    'attempts', greatest(v_attempts, v_reads.attempts, (p_payment.status <> 'created')::integer),
    'last_error', coalesce(
      nullif(v_last_error, ''),
      nullif(private.json_text(p_payment.meta -> 'error_description'), '')
    )
  );
end
$$;
grant execute on function private.order_answer(public.payments) to service_role;

-- Returns the state of a user's order, and whether the caller reads its payments from the gateway: then the caller passes
-- them to apply_order_read. Of several calls at once, one gets that outcome. API: service_role only.
create function public.get_order(
  p_user_id uuid,
  p_order_id text, -- the gateway's
  p_can_read boolean -- whether the gateway is configured
)
returns jsonb -- {outcome: known | read, payment_id, order}, {outcome: order_not_found}
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_now constant timestamptz := private.clock();
  v_payment public.payments;
  v_is_leased boolean := false;
begin
  select * into v_payment
  from public.payments p
  where p.gateway_order_id = p_order_id
    and p.user_id = p_user_id;
  if not found then
    return jsonb_build_object('outcome', 'order_not_found');
  end if;
  -- After five days the result is final: see private.next_reconciliation.
  if p_can_read and v_payment.status <> 'captured' and v_payment.created_at > v_now - interval '120 hours' then
    insert into private.order_reads as r (payment_id, read_at)
    values (v_payment.id, v_now)
    on conflict (payment_id) do update
    set reads = r.reads + 1,
      read_at = excluded.read_at
    where r.reads < 20
      and r.read_at <= v_now - interval '5 seconds';
    v_is_leased := found;
  end if;
  return jsonb_build_object(
    'outcome', case when v_is_leased then 'read' else 'known' end,
    'payment_id', v_payment.id,
    'order', private.order_answer(v_payment)
  );
end
$$;
comment on function public.get_order(uuid, text, boolean) is
  'Returns the state of a user''s order, and whether the caller reads it from the gateway.';
revoke execute on function public.get_order(uuid, text, boolean) from public, anon, authenticated;
grant execute on function public.get_order(uuid, text, boolean) to service_role;

-- Applies the gateway's payments on an order, after get_order answered `read`. API: service_role only.
create function public.apply_order_read(
  p_payment_id uuid,
  p_items text default null -- as for apply_order_payments
)
returns jsonb -- {applied, order}: how many of the answers changed something, and the order afterwards
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_items constant jsonb := coalesce(p_items::jsonb, '[]');
  v_applied constant integer := public.apply_order_payments(p_payment_id, p_items) ->> 'applied';
  v_payment public.payments;
begin
  update private.order_reads r
  set attempts = greatest(r.attempts, jsonb_array_length(v_items)),
    is_attempt_open = coalesce(
      (
        select listed.item ->> 'status' in ('created', 'authorized')
        from jsonb_array_elements(v_items) with ordinality listed (item, place)
        order by private.json_time(listed.item -> 'created_at') desc nulls last, listed.place
        limit 1
      ),
      false
    )
  where r.payment_id = p_payment_id;
  select * into v_payment from public.payments p where p.id = p_payment_id;
  return jsonb_build_object('applied', v_applied, 'order', private.order_answer(v_payment));
end
$$;
comment on function public.apply_order_read(uuid, text) is
  'Applies the gateway''s payments on an order that a customer''s page asked for, and returns the order.';
revoke execute on function public.apply_order_read(uuid, text) from public, anon, authenticated;
grant execute on function public.apply_order_read(uuid, text) to service_role;

revoke execute on all functions in schema private from public;
