-- Orders and their idempotency keys. The payment is inserted before the gateway is called, and gets the order's id
-- afterwards. Contract: POST /api/payments/orders.

create table private.order_keys (
  user_id uuid not null constraint order_keys_user_id_fkey references auth.users (id) on delete cascade,
  key text not null constraint order_keys_key_check check (char_length(key) <= 255),
  payment_id uuid not null constraint order_keys_payment_id_fkey references public.payments (id) on delete cascade,
  tier text not null,
  created_at timestamptz not null default private.clock(),
  primary key (user_id, key)
);
create index order_keys_payment_id_idx on private.order_keys (payment_id);
create index order_keys_user_id_created_at_idx on private.order_keys (user_id, created_at desc);
create index order_keys_created_at_idx on private.order_keys (created_at);
alter table private.order_keys enable row level security;
grant select, insert, update on private.order_keys to service_role;
comment on table private.order_keys is
  'Idempotency keys of order requests: the same key returns the same order. Kept for 7 days. A user may add 20 an hour.';

-- Deletes a batch of the idempotency keys that are older than 7 days.
create function private.delete_order_keys()
returns integer -- how many rows were deleted; call again until it is 0
language plpgsql
set search_path = ''
as $$
begin
  return private.delete_oldest('private.order_keys', 'created_at', private.clock() - interval '7 days');
end
$$;

-- Returns the user's open order for a tier, else stores a new payment, for which the caller creates an order at the gateway.
-- API: service_role only.
create function public.create_order(
  p_user_id uuid,
  p_tier text,
  p_idempotency_key text default null,
  p_gateway_key_id text default null -- the API key of the order; null: an open order of any key is returned
)
returns jsonb
-- {outcome: created | existing, payment_id, order_id, amount, currency, plan, running: {tier, until, early_renewal} | null},
-- {outcome: plan_not_found | user_not_found | in_flight | key_conflict}, {outcome: rate_limited, retry_after}
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_now constant timestamptz := private.clock();
  v_plan public.plans;
  v_months integer;
  v_key private.order_keys;
  v_payment public.payments;
  v_retry_after integer;
begin
  perform private.begin_request('order', p_idempotency_key);
  -- Of two requests at once, the second waits here and then finds the first one's payment.
  if private.lock_user(p_user_id) is null then
    return jsonb_build_object('outcome', 'user_not_found');
  end if;
  select * into v_key from private.order_keys k where k.user_id = p_user_id and k.key = p_idempotency_key;
  if v_key.tier <> p_tier then
    return jsonb_build_object('outcome', 'key_conflict');
  end if;
  if p_idempotency_key is not null and v_key.user_id is null then
    select ceil(extract(epoch from min(recent.created_at) + interval '1 hour' - v_now)) into v_retry_after
    from (
      select k.created_at
      from private.order_keys k
      where k.user_id = p_user_id
        and k.created_at > v_now - interval '1 hour'
      order by k.created_at desc
      limit 20
    ) recent
    having count(*) = 20;
    if found then
      return jsonb_build_object('outcome', 'rate_limited', 'retry_after', v_retry_after);
    end if;
  end if;
  select * into v_plan from public.plans p where p.tier = p_tier and (p.is_active or v_key.payment_id is not null);
  if not found then
    return jsonb_build_object('outcome', 'plan_not_found');
  end if;
  v_months := coalesce(nullif(v_plan.duration_months, 0), 12);

  select * into v_payment
  from public.payments p
  where p.user_id = p_user_id
    and coalesce(p.gateway_key_id = p_gateway_key_id, true)
    and (
      p.id = v_key.payment_id
      or p.tier = p_tier
        and p.amount = v_plan.price
        and p.currency = v_plan.currency
        and coalesce(p.plan_id = v_plan.id and p.duration_months = v_months, true)
        and p.status in ('created', 'failed')
        -- The gateway accepts no payment on an order that was paid and refunded.
        and p.refunded_amount = 0
        and not exists (
          select
          from private.gateway_events e
          where e.subject_id = p.gateway_order_id
            and e.event in ('refund.created', 'refund.processed', 'refund.failed')
        )
        and p.created_at > v_now - interval '30 minutes'
    )
    -- After 30 seconds the request of a payment without an order has ended, so no order will follow.
    and (p.gateway_order_id is not null or p.created_at > v_now - interval '30 seconds')
  order by p.id = v_key.payment_id desc nulls last, p.gateway_order_id is not null desc, p.created_at desc
  limit 1;

  if not found then
    select ceil(extract(epoch from min(recent.created_at) + interval '1 hour' - v_now)) into v_retry_after
    from (
      select p.created_at
      from public.payments p
      where p.user_id = p_user_id
        and p.created_at > v_now - interval '1 hour'
      order by p.created_at desc
      limit 10
    ) recent
    having count(*) = 10;
    if found then
      return jsonb_build_object('outcome', 'rate_limited', 'retry_after', v_retry_after);
    end if;

    -- The payment stores the terms of the sale. A later change of the plan does not change them.
    insert into public.payments (user_id, amount, currency, tier, plan_id, duration_months, gateway_key_id, meta)
    values (
      p_user_id, v_plan.price, v_plan.currency, p_tier, v_plan.id, v_months, p_gateway_key_id,
      jsonb_build_object('tier', p_tier)
    )
    returning * into v_payment;
  elsif v_payment.gateway_order_id is null then
    return jsonb_build_object('outcome', 'in_flight');
  end if;

  if p_idempotency_key is not null then
    insert into private.order_keys (user_id, key, payment_id, tier)
    values (p_user_id, p_idempotency_key, v_payment.id, p_tier)
    on conflict (user_id, key) do update set payment_id = excluded.payment_id;
  end if;
  return jsonb_build_object(
    'outcome', case when v_payment.gateway_order_id is null then 'created' else 'existing' end,
    'payment_id', v_payment.id,
    'order_id', v_payment.gateway_order_id,
    'amount', v_payment.amount,
    'currency', v_payment.currency,
    'plan', to_jsonb(v_plan),
    'running', (
      select jsonb_build_object(
        'tier', s.tier,
        'until', private.iso_time(s.current_period_end),
        'early_renewal', private.early_renewal()
      )
      from public.subscriptions s
      where s.user_id = p_user_id
        and s.status = 'active'
        and s.current_period_end > v_now
    )
  );
end
$$;
comment on function public.create_order(uuid, text, text, text) is
  'Returns a user''s open order for a tier, or a new payment, for which the caller creates an order at the gateway.';
revoke execute on function public.create_order(uuid, text, text, text) from public, anon, authenticated;
grant execute on function public.create_order(uuid, text, text, text) to service_role;

-- Stores the id of the gateway's order. API: service_role only.
create function public.store_order(
  p_payment_id uuid,
  p_order_id text
)
returns jsonb -- {outcome: stored | payment_not_found}
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
begin
  perform private.begin_request('order', p_order_id);
  -- The update applies the events that waited for this order. They need the user's lock, which comes before the payment's.
  perform private.lock_user(p.user_id) from public.payments p where p.id = p_payment_id;
  update public.payments p
  set gateway_order_id = p_order_id
  where p.id = p_payment_id
    and (p.gateway_order_id is null or p.gateway_order_id = p_order_id);
  return jsonb_build_object('outcome', case when found then 'stored' else 'payment_not_found' end);
end
$$;
comment on function public.store_order(uuid, text) is 'Stores the gateway''s order id of a payment.';
revoke execute on function public.store_order(uuid, text) from public, anon, authenticated;
grant execute on function public.store_order(uuid, text) to service_role;

-- Deletes a payment that has no order. Security definer: service_role has no right to delete payments.
create function private.delete_unordered(
  p_payment_id uuid
)
returns void
language sql
security definer
set search_path = ''
as $$
  delete from public.payments p
  where p.id = p_payment_id
    and p.status = 'created'
    and p.gateway_order_id is null
    and p.gateway_payment_id is null
$$;
grant execute on function private.delete_unordered(uuid) to service_role;

-- Deletes a payment for which the gateway created no order. API: service_role only.
create function public.discard_order(
  p_payment_id uuid
)
returns jsonb -- {outcome: discarded}
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
begin
  perform private.delete_unordered(p_payment_id);
  return jsonb_build_object('outcome', 'discarded');
end
$$;
comment on function public.discard_order(uuid) is 'Deletes a payment for which the gateway created no order.';
revoke execute on function public.discard_order(uuid) from public, anon, authenticated;
grant execute on function public.discard_order(uuid) to service_role;
