-- Runs sequences of steps within one transaction. Each prefix runs once, and its subtransaction rolls it back.
-- Each step runs seven seconds after the one before, because within a transaction the time of `now()` stands still.

create schema test;
grant usage on schema test to service_role;

-- A run sets the clock by `test.clock`. Without it the clock runs from noon of 20 November 2026, after all events.
do $$
begin
  execute format(
    $clock$
      create or replace function billing.clock()
      returns timestamptz
      language sql
      stable
      set search_path = pg_catalog, pg_temp
      return coalesce(
        nullif(current_setting('test.clock', true), '')::timestamptz,
        timestamptz '2026-11-20T12:00:00Z' + (now() - timestamptz %L)
      )
    $clock$,
    now()
  );
end
$$;

-- Runs the scheduled expiry. Security definer: service_role may not run it.
create function test.expire()
returns void
language plpgsql
security definer
as $$
begin
  while billing.expire_subscriptions() > 0 loop
  end loop;
  if exists (select from billing.marks m where m.kind = 'settle_failure') then
    raise exception 'the expiry failed: %', (
      select string_agg(m.detail, ' ') from billing.marks m where m.kind = 'settle_failure'
    );
  end if;
end
$$;

-- Writes a subscription row and the tier by hand. Security definer: an admin does it, in Studio.
create function test.write_row(p_user_id uuid)
returns void
language sql
security definer
as $$
  update public.subscriptions s
  set tier = 'premium',
    plan_id = (select p.id from public.plans p where p.tier = 'premium'),
    status = 'active',
    current_period_end = '2127-01-01Z'
  where s.user_id = p_user_id;
  update public.profiles p set subscription_tier = 'premium' where p.user_id = p_user_id
$$;

-- Runs one step: a delivery, a verification, the storage of an order's id, a grant, a row that an admin writes, a
-- cancellation, a resumption, a gateway subscription that a user asks for, or the expiry.
create function test.run_step(
  p_step jsonb
)
returns jsonb -- what the function answers
language plpgsql
as $$
declare
  v_answer jsonb;
begin
  -- Seven seconds later, or by `test.pace`.
  perform set_config(
    'test.clock',
    (billing.clock() + coalesce(nullif(current_setting('test.pace', true), ''), '7 seconds')::interval)::text,
    true
  );
  if p_step ? 'body' then
    v_answer := public.apply_gateway_event(p_step ->> 'sha256', null, p_step ->> 'body');
  elsif p_step ? 'stored' then
    v_answer := public.store_order((p_step ->> 'stored')::uuid, p_step ->> 'orderId');
  elsif p_step ? 'grantTo' then
    insert into billing.support_actions (action, email, tier, until, reason)
    values ('grant', p_step ->> 'grantTo', 'premium', (p_step ->> 'until')::timestamptz, 'test');
  elsif p_step ? 'cancelFor' then
    v_answer := public.cancel_subscription((p_step ->> 'cancelFor')::uuid, (p_step ->> 'atPeriodEnd')::boolean);
  elsif p_step ? 'resumeFor' then
    v_answer := public.resume_subscription((p_step ->> 'resumeFor')::uuid);
  elsif p_step ? 'writeFor' then
    perform test.write_row((p_step ->> 'writeFor')::uuid);
  elsif p_step ? 'askFor' then
    insert into billing.subscription_orders (
      user_id, tier, gateway_plan_id, gateway_subscription_id, expires_at, starts_at, is_trial, replaces
    )
    values (
      (p_step ->> 'userId')::uuid, 'pro', 'plan_pro', p_step ->> 'askFor', billing.clock() + interval '30 days',
      (p_step ->> 'startsAt')::timestamptz, (p_step ->> 'isTrial')::boolean, p_step ->> 'replaces'
    );
  elsif p_step ? 'expires' then
    perform test.expire();
  else
    v_answer := public.verify_payment(
      (p_step ->> 'userId')::uuid,
      p_step ->> 'orderId',
      p_step ->> 'paymentId',
      'signature'
    );
  end if;
  if v_answer ->> 'outcome' like 'failed: %' or v_answer ->> 'outcome' like 'ignored: %' then
    raise exception '%', v_answer;
  end if;
  return v_answer;
end
$$;

-- The state of a user, as it is compared, with the billing of GET /api/subscriptions. Left out is what depends on the order of arrival:
-- which of two payments on one order counts and which one is extra; and, of an order that was refunded in full, whether
-- it was granted and mailed before, because a sent mail stays sent. A period that is over has no length here, because the
-- time of the refund decides it.
create function test.read_state(
  p_subject jsonb -- {userId, paymentIds, subscriptionIds}
)
returns jsonb
language plpgsql -- keeps its plan
stable
as $$
begin
  return jsonb_build_object(
    'tier', (select p.subscription_tier from public.profiles p where p.user_id = (p_subject ->> 'userId')::uuid),
    'subscriptions', (
      select jsonb_agg(jsonb_build_object(
        'tier', s.tier,
        'plan', pl.tier,
        'status', s.status,
        'id', s.gateway_subscription_id,
        'length', case
          when s.current_period_end > billing.clock()
            then age(s.current_period_end at time zone 'UTC', s.current_period_start at time zone 'UTC')
        end,
        -- The period of a purchase depends on its fulfilment.
        'until', case
          when s.current_period_end > '2100-01-01Z'
            or (p_subject ->> 'expires')::boolean and s.gateway_subscription_id is not null
            then billing.iso_time(s.current_period_end)
        end
      ))
      from public.subscriptions s
      left join public.plans pl on pl.id = s.plan_id
      where s.user_id = (p_subject ->> 'userId')::uuid
        and s.ended_reason is distinct from 'refunded'
    ),
    'payments', (
      select jsonb_agg(
        jsonb_build_object('status', p.status, 'tier', p.tier, 'money', money.list)
          || case
            when p.status = 'captured' and money.is_kept then jsonb_build_object(
              'fulfilled', p.fulfilled_at is not null,
              'mails', (select count(*) from billing.outbox o where o.key = 'payment-success/' || p.id)
            )
            else '{}'
          end
        order by ids.ordinality
      )
      from jsonb_array_elements_text(p_subject -> 'paymentIds') with ordinality ids (id, ordinality)
      join public.payments p on p.id = ids.id::uuid
      cross join lateral (
        select
          jsonb_agg(jsonb_build_array(m.id, m.is_paid, m.is_confirmed, m.refunded) order by m.id) as list,
          bool_or(m.is_paid and m.refunded < p.amount) as is_kept
        from (
          select p.gateway_payment_id as id, p.status = 'captured' as is_paid,
            p.confirmed_at is not null as is_confirmed, p.refunded_amount as refunded
          where p.gateway_payment_id is not null
          union all
          select x.gateway_payment_id, true, x.confirmed_at is not null, x.refunded_amount
          from public.payments x
          where x.extra_of = p.id
        ) m
      ) money
    ),
    'billing', public.get_subscription((p_subject ->> 'userId')::uuid)::jsonb -> 'billing',
    'cancellations', (
      select jsonb_agg(ids.id order by ids.id)
      from jsonb_array_elements_text(p_subject -> 'subscriptionIds') ids (id)
      join billing.outbox o on o.key = 'cancel-subscription/' || ids.id
      where o.parked_at is null
    )
  );
end
$$;

-- Returns the state after the expiry ran. Its effects are rolled back.
create function test.read_end(
  p_subject jsonb
)
returns jsonb
language plpgsql
as $$
declare
  v_state jsonb;
begin
  if (p_subject ->> 'expires')::boolean is not true then
    return test.read_state(p_subject);
  end if;
  begin
    perform test.expire();
    v_state := test.read_state(p_subject);
    raise exception using errcode = 'TS001';
  exception
    when sqlstate 'TS001' then
      return v_state;
  end;
end
$$;

-- Runs every sequence that continues p_sequence, no step more than twice, up to a length. Raises a notice with each
-- sequence and its state. Of the longest sequences it runs only some: all orders of each p_share-th set of steps.
create function test.run_all_sequences(
  p_subject jsonb,
  p_steps jsonb,
  p_sequence integer[], -- steps that ran already
  p_length integer,
  p_share integer default 1
)
returns void
language plpgsql
as $$
declare
  v_sequence integer[];
begin
  for v_step in 0..jsonb_array_length(p_steps) - 1 loop
    continue when cardinality(array_positions(p_sequence, v_step)) = 2;
    v_sequence := p_sequence || v_step;
    -- Orders of the same steps have the same sum.
    continue when cardinality(v_sequence) = p_length and (select sum(step) from unnest(v_sequence) step) % p_share > 0;
    begin
      perform test.run_step(p_steps -> v_step);
      raise info '% %', to_jsonb(v_sequence)::text, test.read_end(p_subject);
      if cardinality(v_sequence) < p_length then
        perform test.run_all_sequences(p_subject, p_steps, v_sequence, p_length, p_share);
      end if;
      raise exception using errcode = 'TS001';
    exception
      when sqlstate 'TS001' then
        null;
      when sqlstate 'TS002' then
        raise;
      when others then
        raise exception 'step % of %: % %', v_step, v_sequence, sqlstate, sqlerrm using errcode = 'TS002';
    end;
  end loop;
end
$$;

-- Runs one sequence and returns a row for each step.
create function test.run_sequence(
  p_subject jsonb,
  p_steps jsonb,
  p_sequence integer[],
  p_states text -- each: the state after each step; last: only the last one, which is faster
)
returns table (step integer, answer jsonb, state jsonb)
language plpgsql
as $$
begin
  for v_index in 1..cardinality(p_sequence) loop
    step := p_sequence[v_index];
    answer := test.run_step(p_steps -> step);
    if p_states = 'each' or v_index = cardinality(p_sequence) then
      state := test.read_end(p_subject);
    end if;
    return next;
  end loop;
end
$$;
grant execute on all functions in schema test to service_role;

-- Functions with a parsed body (`return`, `begin atomic`) do not depend on search_path. Without the setting Postgres inlines
-- them, and a run takes a fraction of the time.
do $$
declare
  v_function regprocedure;
begin
  for v_function in
    select p.oid
    from pg_proc p
    where p.pronamespace = 'billing'::regnamespace
      and p.prosqlbody is not null
  loop
    execute format('alter function %s reset search_path', v_function);
  end loop;
end
$$;
