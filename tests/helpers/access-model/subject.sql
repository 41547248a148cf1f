-- A clock that a statement sets without a change of its function, so that no plan is made anew; and what a step reads.
create schema test;
create table test.time (at timestamptz not null);
insert into test.time values (now());
grant usage on schema test to service_role;
grant select on test.time to service_role;
create or replace function billing.clock() returns timestamptz language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return (select t.at from test.time t);
end
$$;

create function test.micros(p_at timestamptz) returns bigint language sql immutable return extract(epoch from p_at) * 1000000;

create function test.sweep() returns void language plpgsql as $$
begin
  while billing.sweep() > 0 loop end loop;
end
$$;

-- Sweeps, then reads the access of a user, the billing, the stops for the gateway, the sold periods, the charges, and
-- the mails about failed and last charges so far.
create function test.read(p_user_id uuid) returns jsonb language plpgsql as $$
declare
  v_billing jsonb;
begin
  perform test.sweep();
  perform billing.check_customers(p_user_id, p_user_id);
  v_billing := public.get_subscription(p_user_id) -> 'billing';
  return jsonb_build_object(
    -- A deleted user has none.
    'tier', coalesce((select p.subscription_tier from public.profiles p where p.user_id = p_user_id), 'free'),
    'active', (
      select jsonb_build_object(
        'tier', s.tier,
        'price', case when s.price_amount is not null then concat_ws(' ', coalesce(s.price_key, s.tier), s.currency, s.duration_months) end,
        'end', test.micros(s.current_period_end),
        'gatewaySubscription', s.gateway_subscription_id,
        'cancelAtPeriodEnd', s.cancel_at_period_end
      )
      from public.subscriptions s
      where s.user_id = p_user_id and s.status = 'active'
    ),
    'findings', (
      select coalesce(jsonb_agg(jsonb_build_array(f.finding, f.subject)), '[]')
      from billing.findings f
      -- No dispatcher runs here, so due rows stay due. No admin repeats a refund that failed.
      where (f.user_id = p_user_id or f.finding in ('charged_after_deletion', 'captured_not_fulfilled')) and f.finding not in ('outbox_stuck', 'untold_stop', 'refund_failed')
    ),
    'billing', case when jsonb_typeof(v_billing) = 'object' then jsonb_build_object(
      'name', v_billing -> 'gateway_subscription_id',
      'price', v_billing #> '{price,lookup_key}',
      'status', v_billing -> 'status',
      'nextChargeAt', test.micros((v_billing ->> 'next_charge_at')::timestamptz),
      'needsAttention', v_billing -> 'payment_attention'
    ) end,
    'cancelled', (
      select coalesce(jsonb_agg(o.payload -> 'gateway_subscription_id'), '[]')
      from billing.outbox o
      where o.kind = 'cancel-subscription' and o.parked_at is null
    ),
    'sold', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'order', p.id,
        'price', concat_ws(' ', coalesce(p.price_key, p.tier), p.currency, p.duration_months),
        'start', test.micros(p.period_start),
        'end', test.micros(p.period_end),
        'isEnded', p.ended_at is not null
      )), '[]')
      from public.payments p
      where p.fulfilled_at is not null and p.gateway_subscription_id is null
    ),
    'charges', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'payment', p.gateway_payment_id,
        'price', concat_ws(' ', coalesce(p.price_key, p.tier), p.currency, p.duration_months)
      )), '[]')
      from public.payments p
      where p.gateway_subscription_id is not null
    ),
    'mails', (
      select coalesce(jsonb_agg(jsonb_build_object(
        'subscription', split_part(o.key, '/', 2),
        'accessEndsAt', test.micros((o.payload ->> 'access_ends_at')::timestamptz)
      ) order by o.id), '[]')
      from billing.outbox o
      where o.kind in ('payment-pending', 'subscription-halted', 'subscription-completed')
    )
  );
end
$$;

-- Sends what is due: the dispatcher sends each message as soon as it is due.
create function test.take_stops() returns setof jsonb language sql as $$
  -- It reads first: what was to stop with its user goes on where that one is back.
  update billing.outbox o
  set parked_at = billing.clock(), last_error = 'withdrawn'
  where o.kind = 'cancel-subscription' and o.delivered_at is null and o.next_attempt_at <= billing.clock()
    and exists (
      select from billing.stoppable s
      join auth.users u on u.id = s.user_id
      where s.gateway_subscription_id = o.payload ->> 'gateway_subscription_id' and s.stops_at is null
    );
  update billing.outbox o
  set attempts = o.attempts + 1, told_at = billing.clock(), delivered_at = billing.clock()
  where o.kind = 'cancel-subscription' and o.parked_at is null and o.delivered_at is null
    and o.next_attempt_at <= billing.clock()
  returning jsonb_build_object(
    'subscription', o.payload -> 'gateway_subscription_id',
    'atCycleEnd', o.payload -> 'at_cycle_end'
  )
$$;
