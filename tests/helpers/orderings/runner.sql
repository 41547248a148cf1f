-- Runs sequences of steps within one transaction. Each prefix runs once, and its subtransaction rolls it back.
-- Each step runs seven seconds after the one before, because within a transaction the time of `now()` stands still.

create schema test;
grant usage on schema test to service_role;

-- A run sets the clock by `test.clock`. Without it the clock runs from noon of 20 November 2026, after all events.
do $$
begin
  execute format(
    $clock$
      create or replace function billing.clock() returns timestamptz language sql stable set search_path = pg_catalog, pg_temp
      return coalesce(
        nullif(current_setting('test.clock', true), '')::timestamptz,
        timestamptz '2026-11-20T12:00:00Z' + (now() - timestamptz %L)
      )
    $clock$,
    now()
  );
end
$$;

-- Runs the scheduled expiry.
create function test.expire() returns jsonb language plpgsql security definer as $$
begin
  while billing.settle_due() > 0 loop
  end loop;
  if exists (select from billing.marks m where m.kind = 'settle_failure') then
    raise exception 'the expiry failed: %', (
      select string_agg(m.detail, ' ') from billing.marks m where m.kind = 'settle_failure'
    );
  end if;
  return null;
end
$$;

-- Runs one step: a delivery, or a statement that returns JSON. Returns the answer.
create function test.run_step(p_step jsonb) returns jsonb language plpgsql security definer as $$
declare
  v_answer jsonb;
begin
  perform set_config('test.clock', (billing.clock() + interval '7 seconds')::text, true);
  if p_step ? 'body' then
    v_answer := public.apply_gateway_event(p_step ->> 'sha256', null, p_step ->> 'body');
  else
    execute p_step ->> 'sql' into v_answer;
  end if;
  if v_answer ->> 'outcome' ~ '^(failed|ignored): ' then
    raise exception '%', v_answer;
  end if;
  return v_answer;
end
$$;

-- The state of a user, as it is compared, with the billing of GET /api/subscriptions. Left out is what depends on the order
-- of arrival: which of two payments on one order counts, but where one alone is confirmed and kept; and, of an order that was refunded in full, whether
-- it was granted and mailed before, because a sent mail stays sent. A period that is over has no length here, because the
-- time of the refund decides it.
create function test.read_state(p_subject jsonb /* {userId, paymentIds, subscriptionIds} */) returns jsonb
language plpgsql stable -- keeps its plan
as $$
declare
  v_user_id constant uuid := p_subject ->> 'userId';
begin
  return jsonb_build_object(
    'tier', (select p.subscription_tier from public.profiles p where p.user_id = v_user_id),
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
        -- The period of a purchase depends on its fulfilment, and that of a subscription without a cycle on what ends it.
        'until', case
          when s.gateway_subscription_id is not null
            and s.current_period_end not between '2026-11-20T12:00Z' and '2026-11-20T13:00Z'
            then billing.iso_time(s.current_period_end)
        end
      ))
      from public.subscriptions s
      left join public.plans pl on pl.id = s.plan_id
      -- The first of a refund and a cancellation is the reason of the end.
      where s.user_id = v_user_id and (s.ended_reason is distinct from 'refunded' or exists (
        select from billing.gateway_subscriptions m
        where m.gateway_subscription_id = s.gateway_subscription_id and m.status = 'cancelled'
      ))
      -- Of a refunded purchase and a cancelled subscription the row shows the one that ended last, by the order of arrival.
      and (
        s.status = 'active'
        or (
          select count(distinct o.ended_reason)
          from billing.sources o
          where o.user_id = v_user_id and (o.kind, o.ended_reason) in (('payment', 'refunded'), ('gateway_subscription', 'cancelled'))
        ) < 2
      )
    ),
    'payments', (
      select jsonb_agg(
        jsonb_build_object('status', p.status, 'tier', p.tier, 'money', money.list, 'counts', case
            when cardinality(money.confirmed) = 1 then p.gateway_payment_id
          end)
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
          bool_or(m.is_paid and m.refunded < p.amount) as is_kept,
          array_agg(m.id) filter (where m.is_confirmed and m.refunded < p.amount) as confirmed
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
    'billing', public.get_subscription(v_user_id)::jsonb -> 'billing',
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
create function test.read_end(p_subject jsonb) returns jsonb language plpgsql security definer as $$
declare
  v_state jsonb;
begin
  perform test.expire();
  v_state := test.read_state(p_subject);
  raise exception using errcode = 'TS001';
exception
  when sqlstate 'TS001' then
    return v_state;
end
$$;

-- Runs every sequence that continues p_sequence, no step more than twice, up to a length. Of the longest sequences it runs
-- only some: all orders of each p_share-th set of steps, from the p_part-th on.
create function test.run_all_sequences(
  p_subject jsonb, p_steps jsonb, p_sequence integer[], p_length integer, p_share integer, p_part integer
)
returns table (sequence integer[], state jsonb)
language plpgsql
as $$
begin
  for v_step in 0..jsonb_array_length(p_steps) - 1 loop
    continue when cardinality(array_positions(p_sequence, v_step)) = 2;
    sequence := p_sequence || v_step;
    -- Orders of the same steps have the same sum.
    continue when cardinality(sequence) = p_length
      and ((select sum(step) from unnest(sequence) step) + p_part) % p_share > 0;
    begin
      perform test.run_step(p_steps -> v_step);
      state := test.read_end(p_subject);
      return next;
      if cardinality(sequence) < p_length then
        return query select * from test.run_all_sequences(p_subject, p_steps, p_sequence || v_step, p_length, p_share, p_part);
      end if;
      raise exception using errcode = 'TS001';
    exception
      when sqlstate 'TS001' then
        null;
      when sqlstate 'TS002' then
        raise;
      when others then
        raise exception 'step % of %: % %', v_step, sequence, sqlstate, sqlerrm using errcode = 'TS002';
    end;
  end loop;
end
$$;

-- Runs one sequence and returns a row for each step: with p_states = 'last' only the last state, which is faster.
create function test.run_sequence(p_subject jsonb, p_steps jsonb, p_states text)
returns table (step text, answer jsonb, state jsonb)
language plpgsql
as $$
begin
  for v_index in 0..jsonb_array_length(p_steps) - 1 loop
    step := p_steps #>> array[v_index::text, 'name'];
    answer := test.run_step(p_steps -> v_index);
    if p_states = 'each' or v_index = jsonb_array_length(p_steps) - 1 then
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
    select p.oid from pg_proc p where p.pronamespace = 'billing'::regnamespace and p.prosqlbody is not null
  loop
    execute format('alter function %s reset search_path', v_function);
  end loop;
end
$$;
