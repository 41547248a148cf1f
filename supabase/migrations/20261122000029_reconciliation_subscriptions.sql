-- Reconciliation of gateway subscriptions, before access ends.

-- Reconciliation of gateway subscriptions: each is read from the gateway before its access may lapse.
-- POST /api/internal/reconcile.

-- Gateway subscriptions whose period ends within a day, leased for five minutes; each is reconciled every six hours until
-- it is renewed or cancelled. API: service_role only.
create function public.claim_subscriptions_to_reconcile()
returns jsonb -- {subscriptions: [{id, gateway_subscription_id}]}: at most 20; id: of the user's subscription
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_now constant timestamptz := private.clock();
  v_subscriptions jsonb;
begin
  with due as materialized (
    select
      m.user_id, m.gateway_subscription_id, s.id, m.status, m.period_end, m.checked_at, m.arrived_at,
      coalesce(p.grace_days, 3) as grace_days
    from private.gateway_subscriptions m
    left join public.subscriptions s on s.user_id = m.user_id
    left join public.plans p on p.id = m.plan_id
    where m.next_check_at <= v_now
    order by m.next_check_at
    limit 1000
    for no key update of m skip locked
  ),
  planned as (
    select
      d.*,
      case
        -- Over, unknown here, or without access for so long that nothing more is expected.
        when d.status = 'cancelled' or d.gateway_subscription_id = '' then 'never'
        -- Its user may still arrive. It may also belong to another app of the same gateway account.
        when d.id is null then case when d.arrived_at > v_now - interval '30 days' then 'tomorrow' else 'never' end
        when d.checked_at > d.period_end + make_interval(days => d.grace_days + 14) then 'never'
        -- Renewed since: a charge leaves the plan as it is, so that it writes no index.
        when d.period_end > v_now + interval '1 day' then 'later'
        else 'now'
      end as turn
    from due d
  ),
  asked as (
    select p.* from planned p where p.turn = 'now' order by p.period_end limit 20
  ),
  leased as (
    update private.gateway_subscriptions m
    set next_check_at = case
        when p.turn = 'tomorrow' then v_now + interval '1 day'
        when p.turn = 'later' then p.period_end - interval '1 day'
        when p.turn = 'now' then v_now + interval '5 minutes'
      end
    from planned p
    where m.user_id = p.user_id
      and m.gateway_subscription_id = p.gateway_subscription_id
      and (
        p.turn <> 'now'
        or exists (
          select
          from asked a
          where a.user_id = p.user_id
            and a.gateway_subscription_id = p.gateway_subscription_id
        )
      )
    returning p.id, m.gateway_subscription_id, p.turn
  )
  select coalesce(
    jsonb_agg(jsonb_build_object('id', l.id, 'gateway_subscription_id', l.gateway_subscription_id)),
    '[]'
  )
  into v_subscriptions
  from leased l
  where l.turn = 'now';
  return jsonb_build_object('subscriptions', v_subscriptions);
end
$$;
comment on function public.claim_subscriptions_to_reconcile() is
  'Leases up to 20 gateway subscriptions that are to be reconciled before their period ends.';
revoke execute on function public.claim_subscriptions_to_reconcile() from public, anon, authenticated;
grant execute on function public.claim_subscriptions_to_reconcile() to service_role;

-- API: service_role only.
create function public.apply_gateway_subscription(
  p_subscription_id uuid,
  p_gateway_subscription_id text,
  p_entity text default null -- the subscription as the gateway has it, JSON; null: it knows no such one
)
returns jsonb -- {applied}: whether the answer changed anything
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_user_id uuid;
  v_email text;
  v_mirrored private.gateway_subscriptions;
  v_entity jsonb := p_entity::jsonb;
  v_status constant text := private.json_text(v_entity -> 'status');
  v_event text;
  v_applied boolean := false;
begin
  perform private.begin_request('reconciliation', p_gateway_subscription_id);
  select s.user_id into v_user_id from public.subscriptions s where s.id = p_subscription_id;
  v_email := private.lock_user(v_user_id);
  select * into v_mirrored
  from private.gateway_subscriptions m
  where m.user_id = v_user_id
    and m.gateway_subscription_id = p_gateway_subscription_id
  for update;
  if not found then
    return jsonb_build_object('applied', false);
  end if;
  v_event := case
    when v_status = 'active' and private.json_time(v_entity -> 'current_end') > v_mirrored.period_end
      then 'subscription.charged'
    when v_status in ('cancelled', 'expired') and v_mirrored.status is distinct from 'cancelled'
      then 'subscription.cancelled'
  end;

  if v_event is not null then
    -- Its user is known: the notes decide nothing.
    v_entity := v_entity || jsonb_build_object(
      'id', p_gateway_subscription_id,
      'notes', jsonb_build_object('user_id', v_user_id)
    );
    v_applied := private.apply_answer(
      concat_ws(':', 'reconcile', p_gateway_subscription_id, v_status, case
        when v_event = 'subscription.charged' then v_entity ->> 'current_end'
      end),
      jsonb_build_object(
        'event', v_event,
        'payload', jsonb_build_object('subscription', jsonb_build_object('entity', v_entity)),
        -- A charge happens when its period begins: its own webhook, should it still come, changes nothing more.
        'created_at', v_entity -> case when v_event = 'subscription.charged' then 'current_start' else 'ended_at' end
      ),
      v_mirrored.period_end - interval '1 day'
    );
  end if;

  update private.gateway_subscriptions m
  set checked_at = private.clock(),
    next_check_at = case when m.status is distinct from 'cancelled' then private.clock() + interval '6 hours' end,
    gateway_status = coalesce(v_status, 'unknown')
  where m.user_id = v_user_id
    and m.gateway_subscription_id = p_gateway_subscription_id;
  return jsonb_build_object('applied', v_applied);
end
$$;
comment on function public.apply_gateway_subscription(uuid, text, text) is
  'Applies what the gateway answers about a subscription that it bills.';
revoke execute on function public.apply_gateway_subscription(uuid, text, text) from public, anon, authenticated;
grant execute on function public.apply_gateway_subscription(uuid, text, text) to service_role;
