-- Subscriptions that users ask for: made at the gateway, then authorised on the gateway's page.
-- Contract: POST /api/subscriptions.

alter table public.plans
add column billing_cycles integer constraint plans_billing_cycles_check check (billing_cycles between 1 and 1200);
comment on column public.plans.billing_cycles is
  'How often the gateway bills a subscription to this plan. Null: for ten years.';

alter table public.plans
add column trial_days integer not null default 0
  constraint plans_trial_days_check check (trial_days between 0 and 365);
comment on column public.plans.trial_days is
  'Days of access before the first charge of a gateway subscription, for a user who never paid. 0: no trial.';

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
  starts_at timestamptz,
  is_trial boolean not null default false,
  replaces text,
  payment_id uuid,
  withdrawn_at timestamptz,
  next_check_at timestamptz
);
create index subscription_orders_user_id_created_at_idx on private.subscription_orders (user_id, created_at desc);
create index subscription_orders_next_check_at_idx on private.subscription_orders (next_check_at)
where next_check_at is not null;
alter table private.subscription_orders enable row level security;
grant select, insert, update on private.subscription_orders to service_role;
comment on table private.subscription_orders is
  'Gateway subscriptions that users asked for. They give no access: the events of the gateway do. '
  'One that was not authorised is forgotten after expires_at.';
comment on column private.subscription_orders.idempotency_keys is 'Each of these keys returns this order.';
comment on column private.subscription_orders.gateway_plan_id is 'The plan at the gateway, as the subscription was made with it.';
comment on column private.subscription_orders.gateway_subscription_id is 'Null: the gateway has not answered yet.';
comment on column private.subscription_orders.short_url is 'The page of the gateway on which the customer authorises it.';
comment on column private.subscription_orders.expires_at is
  'From then on the gateway accepts no authorisation. If none came before, the subscription is cancelled.';
comment on column private.subscription_orders.starts_at is
  'When the gateway charges the first cycle. Null: at the authorisation.';
comment on column private.subscription_orders.is_trial is
  'Whether the authorisation gives access until starts_at.';
comment on column private.subscription_orders.replaces is
  'The gateway subscription that ends when this one starts: a change of plan.';
comment on column private.subscription_orders.payment_id is
  'The payment for the time until starts_at. Without it the subscription is cancelled before it starts.';
comment on column private.subscription_orders.withdrawn_at is
  'From then on it is not to be authorised: its change of plan was undone, or another subscription was authorised. It is '
  'cancelled at the gateway, also if the gateway answers later. Null: it may be authorised.';
comment on column private.subscription_orders.next_check_at is
  'When it is reconciled with the gateway next. Null: nothing is left to ask.';

-- Forgets an order that can no longer be authorised, or for which the gateway made no subscription.
-- Security definer: service_role has no right to delete other orders.
create function private.forget_subscription_order(
  p_id uuid
)
returns void
language sql
security definer
set search_path = ''
as $$
  delete from private.subscription_orders o
  where o.id = p_id
    and (o.gateway_subscription_id is null or o.expires_at <= private.clock())
$$;
grant execute on function private.forget_subscription_order(uuid) to service_role;

-- Stores what the gateway made, or forgets the order if it made nothing. What was made for an order that was withdrawn or
-- forgotten in the meantime is cancelled, so that it is never authorised. API: service_role only.
create function public.store_subscription(
  p_id uuid,
  p_gateway_subscription_id text default null, -- null: the gateway made none
  p_short_url text default null
)
returns jsonb -- {outcome: stored | withdrawn | discarded | order_not_found}
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_order private.subscription_orders;
begin
  if p_gateway_subscription_id is null then
    perform private.forget_subscription_order(p_id);
    return jsonb_build_object('outcome', 'discarded');
  end if;
  update private.subscription_orders o
  set gateway_subscription_id = p_gateway_subscription_id,
    short_url = p_short_url,
    next_check_at = private.clock() + interval '10 minutes'
  where o.id = p_id
    and coalesce(o.gateway_subscription_id = p_gateway_subscription_id, true)
  returning o.* into v_order;
  if v_order.id is not null and v_order.withdrawn_at is null then
    return jsonb_build_object('outcome', 'stored');
  end if;
  perform private.enqueue_cancellation(p_gateway_subscription_id, true);
  return jsonb_build_object('outcome', case when v_order.id is not null then 'withdrawn' else 'order_not_found' end);
end
$$;
comment on function public.store_subscription(uuid, text, text) is
  'Stores the id and the page of a subscription that the gateway made for a user.';
revoke execute on function public.store_subscription(uuid, text, text) from public, anon, authenticated;
grant execute on function public.store_subscription(uuid, text, text) to service_role;

-- Subscriptions that are due, leased for five minutes. One whose events arrived is left to the reconciliation of gateway
-- subscriptions. API: service_role only.
create function public.claim_subscription_orders()
returns jsonb -- {orders: [{id, gateway_subscription_id}]}: at most 20
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_now constant timestamptz := private.clock();
  v_orders jsonb;
begin
  -- The requests of these ended without an answer of the gateway.
  perform private.forget_subscription_order(o.id)
  from private.subscription_orders o
  where o.next_check_at <= v_now
    and o.gateway_subscription_id is null
  limit 20;
  with due as materialized (
    select
      o.id,
      exists (
        select
        from private.gateway_subscriptions m
        where m.user_id = o.user_id
          and m.gateway_subscription_id = o.gateway_subscription_id
          -- From then on the mirror has a time of its own for the next reconciliation.
          and m.period_end is not null
      ) as is_announced
    from private.subscription_orders o
    where o.next_check_at <= v_now
      and o.gateway_subscription_id is not null
    order by o.next_check_at
    limit 20
    for no key update of o skip locked
  ),
  leased as (
    update private.subscription_orders o
    set next_check_at = case when not d.is_announced then v_now + interval '5 minutes' end
    from due d
    where o.id = d.id
    returning o.id, o.gateway_subscription_id, d.is_announced
  )
  select coalesce(
    jsonb_agg(jsonb_build_object('id', l.id, 'gateway_subscription_id', l.gateway_subscription_id)),
    '[]'
  )
  into v_orders
  from leased l
  where not l.is_announced;
  return jsonb_build_object('orders', v_orders);
end
$$;
comment on function public.claim_subscription_orders() is
  'Leases up to 20 subscriptions that users asked for and whose authorisation is not known.';
revoke execute on function public.claim_subscription_orders() from public, anon, authenticated;
grant execute on function public.claim_subscription_orders() to service_role;

revoke execute on all functions in schema private from public;
