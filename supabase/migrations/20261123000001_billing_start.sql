-- Starts a subscription that the gateway bills: made there for a user, then authorised on the gateway's page.
-- POST /api/subscriptions.

alter table public.plans
add column billing_cycles integer constraint plans_billing_cycles_check check (billing_cycles between 1 and 1200);
comment on column public.plans.billing_cycles is
  'How often the gateway bills a subscription to this plan. Null: for ten years.';

create table private.subscription_orders (
  id uuid primary key default gen_random_uuid(),
  user_id uuid not null constraint subscription_orders_user_id_fkey references auth.users (id) on delete cascade,
  tier text not null,
  gateway_plan_id text not null,
  gateway_key_id text,
  idempotency_keys text[] not null default '{}'
    constraint subscription_orders_idempotency_keys_check check (cardinality(idempotency_keys) <= 20),
  gateway_subscription_id text constraint subscription_orders_gateway_subscription_id_key unique,
  short_url text,
  created_at timestamptz not null default private.clock(),
  expires_at timestamptz not null,
  next_check_at timestamptz
);
create index subscription_orders_user_id_created_at_idx on private.subscription_orders (user_id, created_at desc);
create index subscription_orders_created_at_idx on private.subscription_orders (created_at);
create index subscription_orders_next_check_at_idx on private.subscription_orders (next_check_at)
where next_check_at is not null;
alter table private.subscription_orders enable row level security;
grant select, insert, update on private.subscription_orders to service_role;
comment on table private.subscription_orders is
  'Gateway subscriptions that users asked for. They give no access: the events of the gateway do. Kept for 90 days.';
comment on column private.subscription_orders.idempotency_keys is 'Each of these keys returns this order.';
comment on column private.subscription_orders.gateway_plan_id is 'The plan at the gateway, as the subscription was made with it.';
comment on column private.subscription_orders.gateway_subscription_id is 'Null: the gateway has not answered yet.';
comment on column private.subscription_orders.short_url is 'The page of the gateway on which the customer authorises it.';
comment on column private.subscription_orders.expires_at is
  'From then on the gateway accepts no authorisation. If none came before, the subscription is cancelled.';
comment on column private.subscription_orders.next_check_at is
  'When it is reconciled with the gateway next. Null: the gateway has not answered yet, or nothing is left to ask.';

-- A subscription to authorise: the user's open one of this tier, else a new one to make at the gateway.
-- API: service_role only.
create function public.create_subscription(
  p_user_id uuid,
  p_tier text,
  p_idempotency_key text default null,
  p_gateway_key_id text default null -- under which it is made; null: those of any are given again
)
returns jsonb
-- {outcome: created | existing, id, gateway_plan_id, billing_cycles, expire_by (Unix seconds), gateway_subscription_id,
-- short_url, status, plan, running: {tier, until, early_renewal} | null},
-- {outcome: plan_not_found | user_not_found | in_flight | key_conflict | already_subscribed},
-- {outcome: rate_limited, retry_after}
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
  v_order private.subscription_orders;
  v_status text;
  v_retry_after integer;
begin
  perform private.begin_request('subscription', p_idempotency_key);
  -- Of two requests at once the second waits here and finds what the first wrote.
  if private.lock_user(p_user_id) is null then
    return jsonb_build_object('outcome', 'user_not_found');
  end if;
  select * into v_order
  from private.subscription_orders o
  where o.user_id = p_user_id
    and p_idempotency_key = any (o.idempotency_keys);
  if v_order.tier <> p_tier then
    return jsonb_build_object('outcome', 'key_conflict');
  end if;
  select * into v_plan
  from public.plans p
  where p.tier = p_tier
    and (p.is_active or v_order.id is not null);
  if not found or v_plan.gateway_plan_id is null then
    return jsonb_build_object('outcome', 'plan_not_found');
  end if;

  if v_order.id is null then
    if exists (
      select
      from private.gateway_subscriptions m
      where m.user_id = p_user_id
        and m.plan_id = v_plan.id
        and m.status = 'active'
        and m.ended_at is null
        and not m.cancel_at_period_end
        and not m.is_replaced
    ) then
      return jsonb_build_object('outcome', 'already_subscribed');
    end if;
    select * into v_order
    from private.subscription_orders o
    where o.user_id = p_user_id
      and o.tier = p_tier
      and o.gateway_plan_id = v_plan.gateway_plan_id
      and coalesce(o.gateway_key_id = p_gateway_key_id, true)
      and o.created_at > v_now - interval '30 minutes'
      and not exists (
        select
        from private.gateway_subscriptions m
        where m.user_id = p_user_id
          and m.gateway_subscription_id = o.gateway_subscription_id
      )
      and (o.gateway_subscription_id is not null or o.created_at > v_now - interval '30 seconds')
    order by o.gateway_subscription_id is not null desc, o.created_at desc
    limit 1;
  elsif v_order.gateway_subscription_id is null and v_order.created_at <= v_now - interval '30 seconds' then
    -- Its request ended without an answer of the gateway. What it may have made there expires without an authorisation.
    update private.subscription_orders o
    set created_at = v_now,
      expires_at = v_now + interval '24 hours',
      gateway_plan_id = v_plan.gateway_plan_id,
      gateway_key_id = p_gateway_key_id
    where o.id = v_order.id
    returning * into v_order;
    return private.subscription_order('created', v_order, v_plan);
  end if;
  if v_order.id is not null and v_order.gateway_subscription_id is null then
    return jsonb_build_object('outcome', 'in_flight');
  end if;
  if v_order.id is not null then
    if p_idempotency_key <> all (v_order.idempotency_keys) then
      if cardinality(v_order.idempotency_keys) = 20 then
        return jsonb_build_object(
          'outcome', 'rate_limited',
          'retry_after', ceil(extract(epoch from v_order.created_at + interval '30 minutes' - v_now))
        );
      end if;
      update private.subscription_orders o
      set idempotency_keys = o.idempotency_keys || p_idempotency_key
      where o.id = v_order.id;
    end if;
    return private.subscription_order('existing', v_order, v_plan);
  end if;

  select ceil(extract(epoch from min(recent.created_at) + interval '1 hour' - v_now)) into v_retry_after
  from (
    select o.created_at
    from private.subscription_orders o
    where o.user_id = p_user_id
      and o.created_at > v_now - interval '1 hour'
    order by o.created_at desc
    limit 10
  ) recent
  having count(*) = 10;
  if found then
    return jsonb_build_object('outcome', 'rate_limited', 'retry_after', v_retry_after);
  end if;
  insert into private.subscription_orders (
    user_id, tier, gateway_plan_id, gateway_key_id, idempotency_keys, created_at, expires_at
  )
  values (
    p_user_id, p_tier, v_plan.gateway_plan_id, p_gateway_key_id, array_remove(array[p_idempotency_key], null), v_now,
    v_now + interval '24 hours'
  )
  returning * into v_order;
  return private.subscription_order('created', v_order, v_plan);
end
$$;
comment on function public.create_subscription(uuid, text, text, text) is
  'A user''s open subscription to a tier, or a new one to make at the gateway.';
revoke execute on function public.create_subscription(uuid, text, text, text) from public, anon, authenticated;
grant execute on function public.create_subscription(uuid, text, text, text) to service_role;

-- The result of create_subscription.
create function private.subscription_order(
  p_outcome text,
  p_order private.subscription_orders,
  p_plan public.plans
)
returns jsonb
language plpgsql
stable
set search_path = ''
as $$
begin
  return jsonb_build_object(
    'outcome', p_outcome,
    'id', p_order.id,
    'gateway_plan_id', p_order.gateway_plan_id,
    'billing_cycles',
    coalesce(p_plan.billing_cycles, greatest(120 / coalesce(nullif(p_plan.duration_months, 0), 12), 1)),
    'expire_by', extract(epoch from p_order.expires_at)::bigint,
    'gateway_subscription_id', p_order.gateway_subscription_id,
    'short_url', p_order.short_url,
    'status', coalesce(
      (
        select coalesce(m.gateway_status, m.status)
        from private.gateway_subscriptions m
        where m.user_id = p_order.user_id
          and m.gateway_subscription_id = p_order.gateway_subscription_id
      ),
      'created'
    ),
    'plan', to_jsonb(p_plan),
    'running', (
      select jsonb_build_object(
        'tier', s.tier,
        'until', private.iso_time(s.current_period_end),
        'early_renewal', private.early_renewal()
      )
      from public.subscriptions s
      where s.user_id = p_order.user_id
        and s.status = 'active'
        and s.current_period_end > private.clock()
    )
  );
end
$$;
grant execute on function
  private.subscription_order(text, private.subscription_orders, public.plans) to service_role;

-- Security definer: service_role deletes no orders but those that the gateway made no subscription for.
create function private.delete_unmade_subscription(
  p_id uuid
)
returns void
language sql
security definer
set search_path = ''
as $$
  delete from private.subscription_orders o
  where o.id = p_id
    and o.gateway_subscription_id is null
$$;
grant execute on function private.delete_unmade_subscription(uuid) to service_role;

-- Stores what the gateway made, or forgets the order if it made nothing. API: service_role only.
create function public.store_subscription(
  p_id uuid,
  p_gateway_subscription_id text default null, -- null: the gateway made none
  p_short_url text default null
)
returns jsonb -- {outcome: stored | discarded | order_not_found}
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
begin
  if p_gateway_subscription_id is null then
    perform private.delete_unmade_subscription(p_id);
    return jsonb_build_object('outcome', 'discarded');
  end if;
  update private.subscription_orders o
  set gateway_subscription_id = p_gateway_subscription_id,
    short_url = p_short_url,
    next_check_at = private.clock() + interval '10 minutes'
  where o.id = p_id
    and o.gateway_subscription_id is null;
  return jsonb_build_object('outcome', case when found then 'stored' else 'order_not_found' end);
end
$$;
comment on function public.store_subscription(uuid, text, text) is
  'Stores the id and the page of a subscription that the gateway made for a user.';
revoke execute on function public.store_subscription(uuid, text, text) from public, anon, authenticated;
grant execute on function public.store_subscription(uuid, text, text) to service_role;

revoke execute on all functions in schema private from public;
