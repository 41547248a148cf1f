-- The cost of our tables alone: the same requests write the same rows of our schema, and nothing else. There are no
-- checks, comparisons or ranking, and repeated deliveries are not detected. This is the limit for our RPCs; never use
-- it.

create or replace function public.verify_payment(
  p_user_id uuid,
  p_order_id text,
  p_payment_id text,
  p_signature text
)
returns jsonb
language plpgsql
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
begin
  perform billing.write_purchase(p_order_id, p_payment_id, p_signature, billing.lock_user(p_user_id), null, null);
  return jsonb_build_object('outcome', 'applied');
end
$$;

create function billing.write_purchase(
  p_order_id text,
  p_payment_id text,
  p_signature text,
  p_email text,
  p_body_sha256 bytea, -- null: no webhook
  p_body jsonb
)
returns void
language plpgsql
set search_path = ''
as $$
declare
  v_sold record;
  v_now constant timestamptz := now();
  v_end timestamptz;
  v_set text := set_config('subscriptions.request', 'on', true);
begin
  select p.id, p.user_id, p.amount, p.currency, s.id as subscription_id, pl.id as plan_id, pl.tier, pl.name, pl.duration_months
  into v_sold
  from public.payments p
  join public.plans pl on pl.tier = p.meta ->> 'tier'
  join public.subscriptions s on s.user_id = p.user_id
  where p.gateway_order_id = p_order_id
  for update of p, s;
  v_end := v_now + make_interval(months => v_sold.duration_months);
  with subscription as (
    update public.subscriptions s
    set plan_id = v_sold.plan_id,
      tier = v_sold.tier,
      status = 'active',
      current_period_start = v_now,
      current_period_end = v_end,
      revision = s.revision + 1,
      updated_at = v_now
    where s.id = v_sold.subscription_id
  ),
  payment as (
    update public.payments p
    set status = 'captured',
      gateway_payment_id = p_payment_id,
      gateway_signature = p_signature,
      captured_at = v_now,
      verified_at = v_now,
      tier = v_sold.tier,
      plan_id = v_sold.plan_id,
      duration_months = v_sold.duration_months,
      subscription_id = v_sold.subscription_id,
      fulfilled_at = v_now,
      period_start = v_now,
      period_end = v_end,
      since = v_now,
      next_reconcile_at = v_now + interval '15 minutes'
    where p.id = v_sold.id
  ),
  event as (
    insert into billing.gateway_events (body_sha256, event, subject_id, payload, outcome, attempts)
    select p_body_sha256, 'payment.captured', p_order_id, p_body, 'applied', 1
    where p_body is not null
    on conflict do nothing
  )
  insert into billing.outbox (key, destination, kind, payload)
  select e.*
  from public.profiles pr
  cross join lateral (
    values
      ('revalidation/' || pg_current_xact_id(), 'revalidation', 'revalidation', '{"paths": ["/subscription"]}'::jsonb),
      ('payment-success/' || v_sold.id, 'email', 'payment-success', jsonb_build_object(
        'plan_name', v_sold.name,
        'amount', v_sold.amount,
        'currency', v_sold.currency,
        'transaction_id', p_payment_id,
        'valid_until', v_end,
        'to', p_email,
        'display_name', pr.username
      ))
  ) e
  where pr.user_id = v_sold.user_id
  on conflict (key) do nothing;
end
$$;
grant execute on function billing.write_purchase(text, text, text, text, bytea, jsonb) to service_role;

create or replace function public.apply_gateway_event(
  p_body_sha256 text,
  p_event_id text default null,
  p_body text default null,
  p_account_id text default null
)
returns jsonb
language plpgsql
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_body constant jsonb := p_body;
  v_event constant text := v_body ->> 'event';
  v_payment constant jsonb := v_body #> '{payload,payment,entity}';
  v_subscription jsonb;
  v_user_id uuid;
  v_start timestamptz;
  v_end timestamptz;
  v_email text;
begin
  if v_event = 'payment.captured' then
    select p.user_id into v_user_id from public.payments p where p.gateway_order_id = v_payment ->> 'order_id';
    perform billing.write_purchase(
      v_payment ->> 'order_id', v_payment ->> 'id', null, billing.lock_user(v_user_id), decode(p_body_sha256, 'hex'), v_body
    );
    return jsonb_build_object('outcome', 'applied');
  end if;
  if v_event = 'subscription.charged' then
    v_subscription := v_body #> '{payload,subscription,entity}';
    v_user_id := v_subscription #>> '{notes,user_id}';
    v_start := to_timestamp((v_subscription ->> 'current_start')::bigint);
    v_end := to_timestamp((v_subscription ->> 'current_end')::bigint);
    v_email := billing.lock_user(v_user_id);
    with mirrored as (
      update billing.gateway_subscriptions m
      set period_start = v_start,
        period_end = v_end,
        period_event_at = now(),
        plan_event_at = now(),
        arrived_at = now()
      where m.user_id = v_user_id
        and m.gateway_subscription_id = v_subscription ->> 'id'
    ),
    charge as (
      insert into public.payments (
        user_id, gateway_subscription_id, period_end, period_start, gateway_payment_id, amount, status, captured_at,
        confirmed_at, next_reconcile_at
      )
      values (
        v_user_id, v_subscription ->> 'id', v_end, v_start, v_payment ->> 'id', (v_payment ->> 'amount')::bigint, 'captured',
        now(), now(), null
      )
      on conflict do nothing
    ),
    subscription as (
      update public.subscriptions s
      set current_period_start = v_start,
        current_period_end = v_end,
        revision = s.revision + 1,
        updated_at = now()
      where s.user_id = v_user_id
    )
    insert into billing.gateway_events (body_sha256, event_id, event, subject_id, payload, outcome, attempts)
    values (decode(p_body_sha256, 'hex'), p_event_id, v_event, v_subscription ->> 'id', v_body, 'applied', 1)
    on conflict do nothing;
    return jsonb_build_object('outcome', 'applied');
  end if;
  insert into billing.gateway_events (body_sha256, event_id, event, subject_id, payload, outcome, attempts)
  values (decode(p_body_sha256, 'hex'), p_event_id, v_event, v_payment ->> 'order_id', v_body, 'ignored: not handled', 1)
  on conflict do nothing;
  return jsonb_build_object('outcome', 'ignored: not handled');
end
$$;
