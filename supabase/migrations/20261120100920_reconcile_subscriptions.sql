-- Reconciliation of what the gateway bills: it is asked before expiry may end a subscription. POST /api/internal/reconcile.
-- Depends on: _reconcile_payments, _apply_subscription_event.

create table private.subscription_checks (
  subscription_id uuid primary key
    constraint subscription_checks_subscription_id_fkey references public.subscriptions (id) on delete cascade,
  gateway_subscription_id text not null,
  next_check_at timestamptz not null,
  checked_at timestamptz,
  gateway_status text
);
alter table private.subscription_checks enable row level security;
revoke all on private.subscription_checks from public;
grant select, insert, update on private.subscription_checks to service_role;
comment on table private.subscription_checks is 'When the gateway was asked about a subscription whose period ends, and what it said.';
comment on column private.subscription_checks.next_check_at is 'When it may be asked again; while somebody asks, the end of the lease.';

create index subscriptions_billed_period_end_idx on public.subscriptions (current_period_end)
where status = 'active' and gateway_subscription_id is not null;

-- Subscriptions that the gateway bills and whose period ends within a day, leased for five minutes; each is asked about
-- every six hours. API: service_role only.
create function public.claim_subscriptions_to_reconcile()
returns jsonb -- {subscriptions: [{id, gateway_subscription_id}]}: at most 20
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
as $$
declare
  v_subscriptions jsonb;
begin
  with due as materialized (
    select s.id, s.gateway_subscription_id
    from public.subscriptions s
    left join private.subscription_checks c
      on c.subscription_id = s.id
      and c.gateway_subscription_id = s.gateway_subscription_id
    where s.status = 'active'
      and s.gateway_subscription_id is not null
      and s.current_period_end < private.clock() + interval '1 day'
      and coalesce(c.next_check_at, '-infinity') <= private.clock()
    order by s.current_period_end
    limit 20
    for no key update of s skip locked
  ),
  leased as (
    insert into private.subscription_checks as c (subscription_id, gateway_subscription_id, next_check_at)
    select due.id, due.gateway_subscription_id, private.clock() + interval '5 minutes'
    from due
    on conflict (subscription_id) do update
    set gateway_subscription_id = excluded.gateway_subscription_id,
      next_check_at = excluded.next_check_at,
      -- What was said of another subscription says nothing of this one.
      checked_at = case when c.gateway_subscription_id = excluded.gateway_subscription_id then c.checked_at end
    returning c.subscription_id, c.gateway_subscription_id
  )
  select coalesce(
    jsonb_agg(jsonb_build_object('id', l.subscription_id, 'gateway_subscription_id', l.gateway_subscription_id)),
    '[]'
  )
  into v_subscriptions
  from leased l;
  return jsonb_build_object('subscriptions', v_subscriptions);
end
$$;
comment on function public.claim_subscriptions_to_reconcile() is
  'Leases up to 20 subscriptions that the gateway is to be asked about before their period ends.';
revoke execute on function public.claim_subscriptions_to_reconcile() from public, anon, authenticated;
grant execute on function public.claim_subscriptions_to_reconcile() to service_role;

-- API: service_role only.
create function public.apply_gateway_subscription(
  p_subscription_id uuid,
  p_gateway_subscription_id text,
  p_entity text default null, -- the subscription as the gateway has it, JSON; null: it knows no such one
  p_early_renewal text default 'replace' -- as in verify_payment
)
returns jsonb -- {applied}: whether the answer changed anything
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
as $$
declare
  v_subscription public.subscriptions;
  v_entity jsonb := p_entity::jsonb;
  v_status constant text := private.json_text(v_entity -> 'status');
  v_event text;
  v_answer private.gateway_events;
  v_applied boolean := false;
begin
  perform private.begin_request('reconciliation', p_gateway_subscription_id, p_early_renewal);
  select * into v_subscription from public.subscriptions s where s.id = p_subscription_id;
  v_event := case
    when v_status = 'active' and private.json_time(v_entity -> 'current_end') > v_subscription.current_period_end
      then 'subscription.charged'
    when v_status in ('cancelled', 'expired') then 'subscription.cancelled'
  end;

  if v_event is not null and v_subscription.id is not null then
    -- We know whose it is, whatever its notes say.
    v_entity := v_entity || jsonb_build_object(
      'id', p_gateway_subscription_id,
      'notes', jsonb_build_object('user_id', v_subscription.user_id)
    );
    v_answer := private.record_answer(
      concat_ws(':', 'reconcile', p_gateway_subscription_id, v_status, case
        when v_event = 'subscription.charged' then v_entity ->> 'current_end'
      end),
      jsonb_build_object(
        'event', v_event,
        'payload', jsonb_build_object('subscription', jsonb_build_object('entity', v_entity)),
        -- A charge happens when its period begins: by that time its own event, should it still come, takes no other turn.
        'created_at', v_entity -> case when v_event = 'subscription.charged' then 'current_start' else 'ended_at' end
      ),
      p_early_renewal
    );
    v_applied := private.apply_answer(v_answer, v_subscription.current_period_end - interval '1 day');
  end if;

  update private.subscription_checks c
  set checked_at = private.clock(),
    next_check_at = private.clock() + interval '6 hours',
    gateway_status = coalesce(v_status, 'unknown')
  where c.subscription_id = p_subscription_id
    and c.gateway_subscription_id = p_gateway_subscription_id;
  return jsonb_build_object('applied', v_applied);
end
$$;
comment on function public.apply_gateway_subscription(uuid, text, text, text) is
  'Applies what the gateway says about a subscription that it bills.';
revoke execute on function public.apply_gateway_subscription(uuid, text, text, text) from public, anon, authenticated;
grant execute on function public.apply_gateway_subscription(uuid, text, text, text) to service_role;
