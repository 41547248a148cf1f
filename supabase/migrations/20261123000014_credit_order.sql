-- Orders that say when their period begins, with the credit for the unused time that they replace.
-- Contract: POST /api/payments/orders, "Start and credit".

-- A new parameter: two functions of one name would make the call of an older Edge Function ambiguous.
drop function public.create_order(uuid, text, text, text);

-- Returns the user's open order for a tier, else stores a new payment, for which the caller creates an order at the gateway.
-- API: service_role only.
create function public.create_order(
  p_user_id uuid,
  p_tier text,
  p_idempotency_key text default null,
  p_gateway_key_id text default null, -- the API key of the order; null: an open order of any key is returned
  p_start text default null -- now or after_current; null: not said, and there is no credit
)
returns jsonb
-- {outcome: created | existing, payment_id, order_id, amount, currency, plan,
-- running: {tier, until, early_renewal, starts_at} | null, prefill: {email, name}},
-- with p_start also {credit, starts_at, ends_at},
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
  v_credit record;
  v_running public.subscriptions;
  v_starts_at timestamptz;
begin
  perform private.begin_request('order', p_idempotency_key);
  -- Of two requests at once, the second waits here and then finds the first one's payment.
  if private.lock_user(p_user_id) is null then
    return jsonb_build_object('outcome', 'user_not_found');
  end if;
  select * into v_key from private.order_keys k where k.user_id = p_user_id and k.key = p_idempotency_key;
  if v_key.tier <> p_tier
    or exists (select from public.payments p where p.id = v_key.payment_id and p.starts is distinct from p_start)
  then
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
  if p_start = 'now' then
    v_credit := private.find_credit(p_user_id, v_plan);
  else
    select null::bigint as credit, null::text as kind, null::text as id, null::timestamptz as until, null::bigint as amount
    into v_credit;
  end if;

  select * into v_payment
  from public.payments p
  where p.user_id = p_user_id
    and coalesce(p.gateway_key_id = p_gateway_key_id, true)
    and (
      p.id = v_key.payment_id
      or p.tier = p_tier
        and p.starts is not distinct from p_start
        -- The credit is that of the time when the order was made.
        and p.amount + coalesce(p.credit, 0) = v_plan.price
        and (p.credited_kind, p.credited_id, p.credited_until)
          is not distinct from (v_credit.kind, v_credit.id, v_credit.until)
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

    -- The payment stores the terms of the sale. A later change of the plan, or of what was credited, does not change them.
    insert into public.payments (
      user_id, amount, currency, tier, plan_id, duration_months, gateway_key_id, meta, starts,
      credit, credited_kind, credited_id, credited_until, credited_amount
    )
    values (
      p_user_id, v_plan.price - coalesce(v_credit.credit, 0), v_plan.currency, p_tier, v_plan.id, v_months, p_gateway_key_id,
      jsonb_build_object('tier', p_tier), p_start,
      v_credit.credit, v_credit.kind, v_credit.id, v_credit.until, v_credit.amount
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

  select * into v_running
  from public.subscriptions s
  where s.user_id = p_user_id
    and s.status = 'active'
    and s.current_period_end > v_now;
  v_starts_at := coalesce(
    v_payment.period_start,
    case
      when p_start = 'after_current' then (select e.ends_at from private.find_end(p_user_id) e)
      when v_running.tier = p_tier and private.early_renewal() = 'extend' then v_running.current_period_end
    end,
    v_now
  );
  return jsonb_build_object(
    'outcome', case when v_payment.gateway_order_id is null then 'created' else 'existing' end,
    'payment_id', v_payment.id,
    'order_id', v_payment.gateway_order_id,
    'amount', v_payment.amount,
    'currency', v_payment.currency,
    'plan', to_jsonb(v_plan),
    'running', case
      when v_running.id is not null then jsonb_build_object(
        'tier', v_running.tier,
        'until', private.iso_time(v_running.current_period_end),
        'early_renewal', private.early_renewal(),
        'starts_at', private.iso_time(v_starts_at)
      )
    end,
    'prefill', private.prefill(p_user_id)
  ) || case
    when p_start is null then '{}'
    else jsonb_build_object(
      'credit', coalesce(v_payment.credit, 0),
      'starts_at', private.iso_time(v_starts_at),
      'ends_at', private.iso_time(coalesce(v_payment.period_end, private.add_months(v_starts_at, v_payment.duration_months)))
    )
  end;
end
$$;
comment on function public.create_order(uuid, text, text, text, text) is
  'Returns a user''s open order for a tier, or a new payment, for which the caller creates an order at the gateway.';
revoke execute on function public.create_order(uuid, text, text, text, text) from public, anon, authenticated;
grant execute on function public.create_order(uuid, text, text, text, text) to service_role;

revoke execute on all functions in schema private from public;
