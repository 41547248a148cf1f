-- The minimal schema for the contract's requests: four tables, one statement per step, no ledger, no outbox, no
-- history, no refunds. It exists only to compare the cost of the real schema; never use it.

create table public.plans (
  id uuid primary key default gen_random_uuid(),
  tier text not null unique,
  name text not null,
  price integer not null,
  duration_months integer
);

create table public.profiles (
  user_id uuid primary key,
  subscription_tier text not null default 'free',
  display_name text,
  username text
);

create table public.subscriptions (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null unique,
  plan_id uuid references public.plans (id),
  tier text not null,
  status text not null,
  current_period_start timestamptz,
  current_period_end timestamptz,
  cancelled_at timestamptz,
  gateway_subscription_id text
);

create table public.payments (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null,
  subscription_id uuid references public.subscriptions (id),
  amount integer not null,
  status text not null default 'created',
  gateway_order_id text not null unique,
  gateway_payment_id text,
  gateway_signature text,
  meta jsonb,
  created_at timestamptz not null default now()
);
create index payments_gateway_payment_id_idx on public.payments (gateway_payment_id);
create index payments_user_id_created_at_idx on public.payments (user_id, created_at desc);

insert into public.plans (tier, name, price, duration_months)
values ('basic', 'Basic', 9900, 1), ('pro', 'Pro', 99900, 12), ('premium', 'Premium', 199900, 12);

-- POST /api/payments/verify. Reads payment and plan; writes payment, subscription and profile once each.
create function public.verify_payment(
  p_user_id uuid,
  p_order_id text,
  p_payment_id text,
  p_signature text
)
returns jsonb
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_payment public.payments;
  v_plan public.plans;
  v_end timestamptz;
  v_subscription_id uuid;
  v_name text;
begin
  select * into v_payment
  from public.payments p
  where p.gateway_order_id = p_order_id
    and p.user_id = p_user_id
  for update;
  if not found then
    return jsonb_build_object('outcome', 'payment_not_found');
  end if;
  select * into v_plan from public.plans p where p.tier = coalesce(v_payment.meta ->> 'tier', 'basic');
  if not found then
    return jsonb_build_object('outcome', 'plan_not_found');
  end if;

  v_end := now() + make_interval(months => coalesce(nullif(v_plan.duration_months, 0), 12));
  insert into public.subscriptions as s (user_id, plan_id, tier, status, current_period_start, current_period_end)
  values (p_user_id, v_plan.id, v_plan.tier, 'active', now(), v_end)
  on conflict (user_id) do update
  set plan_id = excluded.plan_id,
    tier = excluded.tier,
    status = excluded.status,
    current_period_start = excluded.current_period_start,
    current_period_end = excluded.current_period_end
  returning s.id into v_subscription_id;
  update public.payments p
  set status = 'captured',
    gateway_payment_id = p_payment_id,
    gateway_signature = p_signature,
    subscription_id = v_subscription_id
  where p.id = v_payment.id;
  update public.profiles p
  set subscription_tier = v_plan.tier
  where p.user_id = p_user_id
  returning coalesce(nullif(p.display_name, ''), p.username) into v_name;

  return jsonb_build_object(
    'outcome', 'applied',
    'tier', v_plan.tier,
    'valid_until', v_end,
    -- The data that a route would need to send the mail itself.
    'mail', jsonb_build_object('display_name', v_name, 'plan_name', v_plan.name, 'amount', v_payment.amount)
  );
end
$$;

-- POST /api/webhooks/gateway. One update per event, two for a cancellation. Repeated deliveries and the order of
-- events are not detected.
create function public.apply_gateway_event(
  p_body text
)
returns boolean -- whether a row was written
language plpgsql
security definer
set search_path = ''
as $$
declare
  v_body constant jsonb := p_body::jsonb;
  v_event constant text := v_body ->> 'event';
  v_entity jsonb;
  v_user_id uuid;
begin
  if v_event = 'payment.captured' then
    update public.payments p
    set status = 'captured'
    where p.gateway_payment_id = v_body #>> '{payload,payment,entity,id}';
  elsif v_event = 'payment.failed' then
    v_entity := v_body #> '{payload,payment,entity}';
    update public.payments p
    set status = 'failed',
      meta = jsonb_build_object(
        'error_code', v_entity -> 'error_code',
        'error_description', v_entity -> 'error_description',
        'error_reason', v_entity -> 'error_reason'
      )
    where p.gateway_order_id = v_entity ->> 'order_id';
  elsif v_event in ('subscription.activated', 'subscription.charged', 'subscription.cancelled') then
    v_entity := v_body #> '{payload,subscription,entity}';
    v_user_id := (v_entity #>> '{notes,user_id}')::uuid;
    if v_event = 'subscription.activated' then
      update public.subscriptions s
      set status = 'active',
        gateway_subscription_id = v_entity ->> 'id',
        current_period_start = to_timestamp((v_entity ->> 'current_start')::bigint),
        current_period_end = to_timestamp((v_entity ->> 'current_end')::bigint)
      where s.user_id = v_user_id;
    elsif v_event = 'subscription.charged' then
      update public.subscriptions s
      set current_period_start = to_timestamp((v_entity ->> 'current_start')::bigint),
        current_period_end = to_timestamp((v_entity ->> 'current_end')::bigint)
      where s.user_id = v_user_id;
    else
      update public.subscriptions s set status = 'cancelled', cancelled_at = now() where s.user_id = v_user_id;
      update public.profiles p set subscription_tier = 'free' where p.user_id = v_user_id;
    end if;
  else
    return false;
  end if;
  return found;
end
$$;

-- GET /api/subscriptions.
create function public.get_subscription(
  p_user_id uuid
)
returns jsonb
language plpgsql
stable
security definer
set search_path = ''
as $$
begin
  return jsonb_build_object(
    'subscription', (
      select to_jsonb(s) || jsonb_build_object('plan', to_jsonb(pl))
      from public.subscriptions s
      left join public.plans pl on pl.id = s.plan_id
      where s.user_id = p_user_id
    ),
    'currentTier', coalesce((select p.subscription_tier from public.profiles p where p.user_id = p_user_id), 'free'),
    'payments', coalesce(
      (
        select jsonb_agg(to_jsonb(r))
        from (
          select * from public.payments p where p.user_id = p_user_id order by p.created_at desc limit 10
        ) r
      ),
      '[]'
    )
  );
end
$$;
