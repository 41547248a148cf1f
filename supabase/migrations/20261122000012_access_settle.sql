-- Writes the ruling source to the subscription row and the profile's tier, and enqueues the side effects.
-- private.settle_access is the only function that decides them.

-- Returns when to send the cancellation for the end of a cycle: 48 hours before that end. The gateway debits the next cycle
-- up to 36 hours before it begins.
create function private.cancellation_time(
  p_period_end timestamptz
)
returns timestamptz
language plpgsql
stable
set search_path = ''
as $$
begin
  return greatest(p_period_end - interval '48 hours', private.clock());
end
$$;
grant execute on function private.cancellation_time(timestamptz) to service_role;

-- Enqueues cancellations of the replaced gateway subscriptions for the end of their cycle: the paid time remains, and no
-- further cycle is billed. Withdraws the cancellation of a subscription that is no longer replaced.
create function private.settle_cancellations(
  p_ruling private.ruling
)
returns boolean -- whether the ruling gateway subscription ends with its cycle, because its cancellation was already sent
language plpgsql
set search_path = ''
as $$
declare
  v_ruling constant private.sources := p_ruling.source;
  v_newest private.sources := v_ruling;
  v_has_no_activation boolean;
  v_is_replaced boolean;
  v_other private.gateway_subscriptions;
  v_ends boolean := false;
begin
  if not (p_ruling.is_live or p_ruling.is_ended_by_gateway) then
    v_newest := null;
  elsif v_ruling.kind in ('grant', 'manual') and v_ruling.gateway_subscription_id is null then
    -- A grant does not stop the billing. The newest running purchase below the grant does.
    v_newest := null;
    select s.* into v_newest
    from private.sources s
    where s.user_id = v_ruling.user_id
      and s.kind in ('payment', 'gateway_subscription')
      and s.ended_at is null
      and s.lapses_at > private.clock()
    order by s.since desc, s.id desc
    limit 1;
  end if;
  select m.activated_at is null into v_has_no_activation
  from private.gateway_subscriptions m
  where m.user_id = v_newest.user_id
    and m.gateway_subscription_id = v_newest.gateway_subscription_id;

  for v_other in
    select m.*
    from private.gateway_subscriptions m
    where m.user_id = v_ruling.user_id
      and m.gateway_subscription_id <> ''
      and m.status is distinct from 'cancelled'
      and m.ended_at is null
      -- Skips a subscription that only a row written by hand names, while that row rules.
      and (m.arrived_at is not null or v_ruling.kind <> 'manual')
    order by m.gateway_subscription_id
  loop
    v_is_replaced := v_newest.id is not null
      and v_other.gateway_subscription_id is distinct from v_newest.gateway_subscription_id
      and (
        v_newest.id = v_ruling.id
        or coalesce(v_other.activated_at, v_other.first_charged_at, v_other.arrived_at) < v_newest.since
      );
    continue when v_is_replaced = v_other.is_replaced
      -- While only charges of a subscription are known, its activation may still arrive and change the order of the two.
      or v_has_no_activation is true and v_other.gateway_subscription_id <> v_newest.gateway_subscription_id
      or v_has_no_activation is not null and v_other.activated_at is null;

    if v_is_replaced then
      perform private.enqueue_cancellation(
        v_other.gateway_subscription_id,
        coalesce(v_other.period_end > private.clock(), false)
      );
    elsif not private.withdraw_cancellation(v_other.gateway_subscription_id, 'it rules again') then
      v_other.cancel_at_period_end := true;
      v_ends := v_ends or v_other.gateway_subscription_id is not distinct from v_ruling.gateway_subscription_id;
    elsif v_other.cancel_at_period_end then
      perform private.enqueue_cancellation(
        v_other.gateway_subscription_id,
        true,
        private.cancellation_time(v_other.period_end)
      );
    end if;
    update private.gateway_subscriptions m
    set is_replaced = v_is_replaced,
      cancel_at_period_end = v_other.cancel_at_period_end
    where m.user_id = v_other.user_id
      and m.gateway_subscription_id = v_other.gateway_subscription_id;
  end loop;
  return v_ends;
end
$$;
grant execute on function private.settle_cancellations(private.ruling) to service_role;

-- Writes the ruling source to the subscription row and the profile's tier, and enqueues the side effects. Writes only values
-- that differ. The caller holds the lock on the user.
create function private.settle_access(
  p_user_id uuid,
  p_email text, -- of the user; null: sends no mail, and a new profile gets the default username
  p_new_source_id text default null, -- a source that was just created: if it rules, its tier is written in any case
  p_is_cancelled boolean default false, -- subscription.cancelled: without a running source the tier becomes free
  p_subscription_id uuid default null, -- the id for a new subscription row
  p_mail jsonb default null, -- payload of the success mail for the new source; sent to a user who has a profile
  p_ruling private.ruling default null, -- the ruling source, if the caller knows it
  p_before public.subscriptions default null -- the subscription row, if the caller locked it
)
returns boolean -- whether the subscription row changed; null: the user has no source
language plpgsql
set search_path = ''
as $$
declare
  v_now constant timestamptz := private.clock();
  v_ruling private.ruling := p_ruling;
  v_source private.sources;
  v_before public.subscriptions := p_before;
  v_reason text; -- why access ended
  v_cancelled_at timestamptz;
  v_has_access boolean;
  v_tier text;
  v_display_name text;
  v_is_changed boolean := false;
  v_ended_at text;
begin
  if v_ruling.is_live is null then
    v_ruling := private.find_ruling(p_user_id);
  end if;
  if (v_ruling.source).id is not null then
    if v_ruling.attaching > 0 then
      v_ruling := private.attach_gateway_subscription(v_ruling);
    end if;
    v_source := v_ruling.source;
    if (
        v_ruling.replaced > 0
        or (v_ruling.is_live or v_ruling.is_ended_by_gateway)
          and v_ruling.billing > (v_ruling.is_live and v_source.gateway_subscription_id is not null)::integer
      )
      and private.settle_cancellations(v_ruling)
    then
      v_source.cancel_at_period_end := true;
    end if;

    if v_before.id is null then
      select * into v_before from public.subscriptions s where s.user_id = p_user_id for update;
    end if;
    if not v_ruling.is_live then
      v_reason := case
        when v_ruling.is_ended_by_gateway then 'cancelled'
        when v_source.ended_at is not null then v_source.ended_reason
        else coalesce(v_source.ended_reason, 'lapsed')
      end;
      v_cancelled_at := case
        when v_before.status = 'cancelled' and v_before.cancelled_at is not null then v_before.cancelled_at
        when v_reason = 'lapsed' then v_source.ends_at
        else v_now
      end;
    end if;

    if v_before.id is null then
      insert into public.subscriptions (
        id, user_id, plan_id, tier, status, current_period_start, current_period_end, cancelled_at,
        cancel_at_period_end, ended_reason, gateway_subscription_id, revision, created_at, updated_at
      )
      values (
        coalesce(p_subscription_id, gen_random_uuid()), p_user_id, v_source.plan_id, v_source.tier,
        case when v_ruling.is_live then 'active' else 'cancelled' end,
        v_source.starts_at, v_source.ends_at, v_cancelled_at, v_source.cancel_at_period_end, v_reason,
        v_source.gateway_subscription_id, 1, v_now, greatest(v_now, v_source.since)
      );
      v_is_changed := true;
    else
      update public.subscriptions s
      set plan_id = v_source.plan_id,
        tier = v_source.tier,
        status = case when v_ruling.is_live then 'active' else 'cancelled' end,
        current_period_start = v_source.starts_at,
        current_period_end = v_source.ends_at,
        cancelled_at = v_cancelled_at,
        cancel_at_period_end = v_source.cancel_at_period_end,
        ended_reason = v_reason,
        gateway_subscription_id = v_source.gateway_subscription_id,
        revision = s.revision + 1,
        updated_at = greatest(v_now, v_source.since)
      where s.id = v_before.id
        and (
          -- updated_at is never before a known since, so private.fulfil_payment finds the newest act by updated_at.
          s.updated_at < v_source.since
          or (
            s.plan_id, s.tier, s.status = 'active', s.current_period_start, s.current_period_end,
            s.cancelled_at, s.cancel_at_period_end, s.ended_reason, s.gateway_subscription_id
          ) is distinct from (
            v_source.plan_id, v_source.tier, v_ruling.is_live, v_source.starts_at, v_source.ends_at,
            v_cancelled_at, v_source.cancel_at_period_end, v_reason, v_source.gateway_subscription_id
          )
        );
      v_is_changed := found;
    end if;
  end if;

  -- The tier is written only when access begins, ends or gets another tier. So a charge does not overwrite a tier that an
  -- admin edited.
  v_has_access := v_ruling.is_live;
  if v_has_access and v_source.ends_at <= v_now then
    -- The period is over, but the source still runs: the gateway was not read yet, or a late event shows it for an hour.
    -- Such a source keeps the tier, and restores it after a failed refund. After the days of grace it gives no new tier.
    v_has_access := v_source.ended_at is null
      and v_source.ends_at
        + make_interval(days => coalesce((select p.grace_days from public.plans p where p.id = v_source.plan_id), 3)) > v_now
      or v_source.kind = 'gateway_subscription' and exists (
        select
        from private.gateway_subscriptions m
        where m.user_id = p_user_id
          and m.gateway_subscription_id = v_source.gateway_subscription_id
          and m.has_refunds
      );
  end if;
  if v_ruling.is_live then
    if v_source.id = p_new_source_id
      or v_has_access and (v_before.status = 'active' and v_before.current_period_end > v_now) is not true
      or v_before.status = 'active' and v_before.tier <> v_source.tier
    then
      v_tier := v_source.tier;
    elsif not v_has_access and v_source.ended_reason = 'refunded' and v_before.current_period_end > v_now then
      v_tier := 'free';
    end if;
  elsif p_is_cancelled or v_source.id is not null and v_before.id is null or v_before.status = 'active' then
    v_tier := 'free';
  end if;
  if v_before.status = 'active' and not v_ruling.is_live then
    v_ended_at := private.iso_time(case when v_reason = 'lapsed' then v_source.ends_at else v_now end);
  end if;
  if v_tier is null and p_mail is null and v_ended_at is null then
    return case when v_source.id is not null then v_is_changed end;
  end if;

  v_display_name := private.set_tier(p_user_id, v_tier, p_email);
  insert into private.outbox (key, destination, kind, payload, created_at, queued_at, next_attempt_at)
  select effect.key, effect.destination, effect.kind, effect.payload, v_now, v_now, v_now
  from (
    select private.revalidation_key(), 'revalidation', 'revalidation',
      '{"paths": ["/subscription", "/pricing", "/analytics", "/dashboard"]}'::jsonb
    where v_tier is not null
      and current_setting('subscriptions.request', true) = 'on'
    union all
    select 'payment-success/' || p_new_source_id, 'email', 'payment-success',
      p_mail || jsonb_build_object('to', p_email, 'display_name', v_display_name)
    where p_mail is not null
      and v_display_name is not null
      and p_email <> ''
  ) effect (key, destination, kind, payload)
  on conflict (key) do nothing;
  if v_ended_at is not null and v_display_name is not null and p_email <> '' then
    perform private.enqueue(
      format('subscription-ended/%s/%s', v_before.id, v_ended_at),
      'notice',
      'subscription-ended',
      jsonb_build_object(
        'to', p_email,
        'display_name', v_display_name,
        'plan_name', coalesce((select p.name from public.plans p where p.id = v_source.plan_id), v_source.tier),
        'ends_at', v_ended_at
      )
    );
  end if;
  return case when v_source.id is not null then v_is_changed end;
end
$$;
grant execute on function
  private.settle_access(uuid, text, text, boolean, uuid, jsonb, private.ruling, public.subscriptions) to service_role;
