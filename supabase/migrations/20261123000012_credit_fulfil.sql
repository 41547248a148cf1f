-- Fulfils a purchase that begins when another source ends, and settles the user's access at its start.
-- Contract: "Start and credit".

-- New: upcoming_since, v_current_end, v_current_since and settle_at.
-- Captures a payment and makes it a source of access. The caller holds the locks on the user and on the payment.
-- A payment is captured but not fulfilled if its tier has no plan, its user is deleted, or it was refunded in full.
create or replace function private.fulfil_payment(
  p_payment public.payments, -- with the gateway's payment id to store
  p_email text,
  p_signature text, -- null: not verified by the customer
  p_is_confirmed boolean -- the gateway confirms the capture
)
returns jsonb -- {outcome: applied | plan_not_found | refunded | user_gone, tier, valid_until}
language plpgsql
set search_path = ''
as $$
declare
  v_clock constant timestamptz := private.clock();
  v_now constant timestamptz := date_trunc('milliseconds', v_clock);
  v_tier constant text := private.tier_bought(p_payment);
  v_is_refunded constant boolean := p_payment.amount > 0 and p_payment.refunded_amount >= p_payment.amount;
  v_plan public.plans;
  v_grants boolean;
  v_months integer;
  v_mail jsonb; -- payload of the mail payment-success, without the fields of the profile
  v_valid_until text;
  v_locked record;
  v_newest_at timestamptz; -- the time of the user's newest known fact
  v_before public.subscriptions;
  v_found private.ruling;
  v_extended private.sources;
  v_current_end timestamptz; -- of what runs until this purchase begins
  v_current_since timestamptz;
  v_ruling private.ruling := row(null, null, null, 0, 0, 0);
  v_subscription_id uuid;
begin
  -- Same as private.plan_bought, without the call.
  if p_payment.plan_id is null then
    select * into v_plan from public.plans p where p.tier = v_tier;
  else
    select * into v_plan from public.plans p where p.id = p_payment.plan_id;
  end if;
  v_grants := v_plan.id is not null and p_payment.user_id is not null and not v_is_refunded;
  v_months := coalesce(p_payment.duration_months, nullif(v_plan.duration_months, 0), 12);
  p_payment.since := greatest(p_payment.since, p_payment.created_at, p_payment.verified_at);
  if v_grants then
    select s as subscription,
      exists (select from private.gateway_subscriptions m where m.user_id = p_payment.user_id) as is_mirrored,
      (
        select max(p.since)
        from public.payments p
        where p.user_id = p_payment.user_id
          and p.settle_at is not null
      ) as upcoming_since
    into v_locked
    from public.subscriptions s
    where s.user_id = p_payment.user_id
    for update of s;
    v_before := v_locked.subscription;
    v_newest_at := greatest(v_before.updated_at, v_locked.upcoming_since);
    if v_locked.is_mirrored is not false then
      select coalesce(max(m.billing), 0), coalesce(max(m.replaced), 0), coalesce(max(m.attaching), 0),
        greatest(v_newest_at, max(m.newest_at))
      into v_ruling.billing, v_ruling.replaced, v_ruling.attaching, v_newest_at
      from private.mirrored m
      where m.user_id = p_payment.user_id;
    end if;
    v_subscription_id := coalesce(v_before.id, gen_random_uuid());
    p_payment.period_start := v_now;
    p_payment.period_end := private.add_months(v_now, v_months);
    p_payment.chain_id := null;
    p_payment.chain_start := null;
    p_payment.extends_from := null;
    if p_payment.starts = 'after_current' then
      select e.ends_at, e.since into v_current_end, v_current_since from private.find_end(p_payment.user_id) e;
      if v_current_end > v_now then
        p_payment.extends_from := v_current_end;
        p_payment.period_start := v_current_end;
        p_payment.period_end := private.add_months(v_current_end, v_months);
        p_payment.chain_start := v_current_end;
        -- From its start it rules over what ran before, even if its order is older.
        p_payment.since := greatest(p_payment.since, v_current_since + interval '1 microsecond');
      end if;
    elsif v_before.status = 'active' and private.early_renewal() = 'extend' then
      v_found := private.find_ruling(p_payment.user_id);
      v_extended := v_found.source;
      if v_before.current_period_end > v_now then
        v_extended.tier := v_before.tier;
        v_extended.starts_at := v_before.current_period_start;
        v_extended.ends_at := v_before.current_period_end;
      elsif not v_found.is_live then
        -- No source runs, so there is nothing to extend. If a source runs, the subscription row is stale: its own source
        -- lapsed, the sweep did not expire it yet, and the source that was found rules.
        v_extended.tier := null;
      end if;
    end if;
    if v_extended.tier = v_tier and v_extended.ends_at > v_now then
      if v_extended.kind = 'payment' then
        -- A payment rules over the payment that it extends, even if its order is older.
        p_payment.since := greatest(p_payment.since, v_extended.since + interval '1 microsecond');
        select coalesce(p.chain_id, p.id) into p_payment.chain_id
        from public.payments p
        where p.id = v_extended.id::uuid;
      else
        p_payment.extends_from := date_trunc('milliseconds', v_extended.ends_at);
        p_payment.period_start := p_payment.extends_from;
        p_payment.period_end := private.add_months(p_payment.extends_from, v_months);
        p_payment.chain_start := v_extended.starts_at;
      end if;
    end if;
  end if;
  -- A verification ranks after every earlier act of the customer. The clock alone is not enough: it is the start of the
  -- transaction, and another transaction may have held the lock since then.
  if p_signature is not null then
    p_payment.since := greatest(
      v_clock, v_newest_at + interval '1 microsecond', v_current_since + interval '1 microsecond'
    );
  end if;

  -- No newer fact is known, so this payment ranks above every other source. The ranking query is not needed.
  if v_grants
    and p_payment.since > coalesce(v_newest_at, '-infinity')
    and p_payment.chain_id is null
    and p_payment.starts is distinct from 'after_current'
    and v_ruling.attaching = 0
  then
    -- The same row as in private.sources after the commit.
    v_ruling := row(
      row(
        p_payment.user_id, 'payment', p_payment.id::text, v_plan.id, v_tier,
        coalesce(p_payment.chain_start, p_payment.period_start), p_payment.period_end, p_payment.period_end,
        p_payment.since, v_clock, null, null, p_payment.cancel_at_period_end, null
      )::private.sources,
      true, false, v_ruling.billing, v_ruling.replaced, 0
    )::private.ruling;
  end if;
  if v_before.id is null and v_grants and v_ruling.is_live is null then
    -- payments.subscription_id needs a row. private.settle_access writes its values below.
    insert into public.subscriptions (id, user_id, plan_id, tier, status, revision, created_at, updated_at)
    values (v_subscription_id, p_payment.user_id, v_plan.id, v_tier, 'cancelled', 1, v_clock, p_payment.since);
  end if;
  v_mail := jsonb_build_object(
    'plan_name', v_plan.name,
    'amount', p_payment.amount,
    'currency', p_payment.currency,
    'transaction_id', p_payment.gateway_payment_id
  );
  if v_ruling.is_live then
    v_valid_until := private.iso_time(p_payment.period_end);
    perform private.settle_access(
      p_payment.user_id, p_email, p_payment.id::text,
      p_subscription_id => v_subscription_id,
      p_mail => v_mail || jsonb_build_object('valid_until', v_valid_until),
      p_ruling => v_ruling,
      p_before => v_before
    );
  end if;

  update public.payments p
  set status = 'captured',
    gateway_payment_id = p_payment.gateway_payment_id,
    gateway_signature = coalesce(p_signature, p.gateway_signature),
    refunded_amount = p_payment.refunded_amount,
    captured_at = coalesce(p.captured_at, v_clock),
    confirmed_at = case when p_is_confirmed then coalesce(p.confirmed_at, v_clock) else p.confirmed_at end,
    -- A verification of a refunded payment is refused and does not count.
    verified_at = coalesce(p.verified_at, case when p_signature is not null and not v_is_refunded then v_clock end),
    uncaptured_at = null,
    tier = v_tier,
    plan_id = coalesce(v_plan.id, p.plan_id),
    duration_months = case when v_grants then v_months else p.duration_months end,
    subscription_id = v_subscription_id,
    fulfilled_at = case when v_grants then v_clock end,
    period_start = p_payment.period_start,
    period_end = p_payment.period_end,
    chain_id = p_payment.chain_id,
    chain_start = p_payment.chain_start,
    extends_from = p_payment.extends_from,
    since = p_payment.since,
    settle_at = case when p_payment.starts = 'after_current' then p_payment.extends_from end,
    ended_at = null,
    ended_reason = null,
    -- A payment that is only verified needs a confirmation by the gateway, however old its order is.
    next_reconcile_at = case when p_is_confirmed then p.next_reconcile_at else v_clock + interval '15 minutes' end
  where p.id = p_payment.id;

  if not v_grants then
    return jsonb_build_object(
      'outcome', case
        when v_is_refunded then 'refunded'
        when p_payment.user_id is null then 'user_gone'
        else 'plan_not_found'
      end,
      'tier', v_tier
    );
  end if;
  if v_ruling.is_live is not true then
    if p_payment.chain_id is not null then
      perform private.lay_out_chain(p_payment.chain_id);
      select p.period_end into p_payment.period_end from public.payments p where p.id = p_payment.id;
    end if;
    v_valid_until := private.iso_time(p_payment.period_end);
    perform private.settle_access(
      p_payment.user_id, p_email, p_payment.id::text,
      p_mail => v_mail || jsonb_build_object('valid_until', v_valid_until)
    );
  end if;
  return jsonb_build_object('outcome', 'applied', 'tier', v_tier, 'valid_until', v_valid_until);
end
$$;
grant execute on function private.fulfil_payment(public.payments, text, text, boolean) to service_role;

-- Settles the access of users whose next purchase begins, also while the source before it has days of grace left.
create function private.start_purchases()
returns integer -- how many purchases began; call again until it is 0
language plpgsql
set search_path = ''
as $$
declare
  v_due record;
  v_started integer := 0;
begin
  for v_due in
    select p.id, p.user_id, p.gateway_payment_id, u.email
    from public.payments p
    join auth.users u on u.id = p.user_id
    where p.settle_at <= private.clock()
      and not exists (
        select
        from private.settle_failures f
        where f.user_id = p.user_id
          and f.failed_at > private.clock() - interval '1 hour'
      )
    order by p.settle_at
    limit 100
    for no key update of u skip locked
  loop
    begin
      perform private.begin_request('start of a period', v_due.gateway_payment_id);
      update public.payments p set settle_at = null where p.id = v_due.id;
      perform private.settle_access(v_due.user_id, v_due.email);
      -- If the period ends in less than seven days, private.announce_ends has passed its end.
      perform private.announce_subscription_ends(array[s.id]) from public.subscriptions s where s.user_id = v_due.user_id;
      v_started := v_started + 1;
    exception
      -- The error may come from an app's trigger on the profile. It must not stop the other users.
      when others then
        perform private.note_settle_failure(v_due.user_id, sqlstate);
    end;
  end loop;
  if v_started > 0 then
    perform set_config('subscriptions.request', '', true);
    perform private.wake();
  end if;
  return v_started;
end
$$;

-- New: start_purchases, before the expiry: what a purchase follows has not lapsed, it was taken over.
create or replace function private.sweep_jobs()
returns text[]
language sql
immutable
set search_path = ''
return array[
  'replay_missed_events', 'settle_waiting_subscriptions', 'start_purchases', 'expire_subscriptions', 'announce_ends',
  'reduce_payloads', 'empty_payloads', 'delete_order_keys', 'delete_mails', 'erase_deleted_users'
];

revoke execute on all functions in schema private from public;
