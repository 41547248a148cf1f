-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

drop function billing.newest_purchase(pg_catalog.uuid,timestamp with time zone);

drop function billing.amounts_vary();

-- Derives when the gateway must stop billing a subscription. The first reason counts.
create or replace function billing.find_stop(
  p_each billing.stoppable,
  p_with_wishes boolean default true -- false: as if the customer resumed
)
returns billing.stop language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
  v_subscription constant billing.gateway_subscriptions := p_each.subscription;
  v_authorised_at constant timestamptz := p_each.authorised_at;
  -- A charge fails. The gateway's cycle is the unpaid one then, also while the paid time still runs by our clock, and the next
  -- try must not succeed.
  v_is_failing constant boolean := v_subscription.gateway_status in ('pending', 'halted');
  -- Before its first cycle.
  v_is_waiting constant boolean := v_subscription.period_end is null;
  v_paid_until constant timestamptz := case
    when v_is_waiting then case when v_authorised_at is not null then v_subscription.starts_at end
    else coalesce(v_subscription.paid_until, v_subscription.period_end)
  end;
  -- A change of the plan that was authorised after it replaces a wish for the end of the period.
  v_is_wish constant boolean := case
    when p_with_wishes and (p_each.succeeded_at is null or not p_each.is_wish) then p_each.is_wish
  end;
  v_at timestamptz := case when v_is_wish or not v_is_waiting then v_paid_until end; -- the end of what is paid
  v_newer billing.sources;
  v_reason text;
begin
  if not v_is_wish or v_is_wish is null and v_authorised_at is null and v_subscription.expires_at <= v_now then
    return (v_now, false, false, case when v_is_wish is null then 'expired' else 'cancelled' end);
  elsif v_is_wish then
    v_reason := 'cancelled';
  elsif v_subscription.undone_at is not null then
    v_reason := 'undone';
  elsif v_is_waiting and v_subscription.payment_id is not null and not billing.renews_purchase(v_subscription) then
    v_reason := 'unpaid';
  elsif billing.is_superseded(v_subscription) then
    v_reason := 'superseded';
    -- The renewal of a purchase waits for its start: if the purchase that replaced it is refunded, it goes on.
    if v_subscription.payment_id is not null and v_subscription.replaces is null then v_at := v_paid_until; end if;
  elsif p_each.succeeded_at > v_now then
    v_reason := 'changed';
    v_at := p_each.succeeded_at;
  elsif p_each.succeeded_at is null then
    if v_authorised_at is null then return null; end if;
    select p.* into v_newer
    from billing.purchases p
    -- A longer period alone is no act of the customer.
    left join billing.gateway_subscriptions m
      on p.kind = 'manual'
      and m.user_id = p.user_id
      and m.gateway_subscription_id = p.gateway_subscription_id
    cross join lateral (select coalesce(m.written_at, p.since) as at) act
    where p.user_id = p_each.user_id
      and act.at > case when v_is_waiting then v_authorised_at else billing.since_of(v_subscription) end
    order by act.at desc, p.id desc
    limit 1;
    if v_newer.id is null
      or v_newer.gateway_subscription_id = p_each.gateway_subscription_id
      or v_subscription.payment_id::text = v_newer.id
      -- Without a plan of ours, and known only by a charge: it may be attached to nothing.
      or num_nonnulls(v_subscription.plan_id, v_subscription.activated_at, v_subscription.written_at) = 0
        and v_newer.kind <> 'payment'
      or v_is_waiting and v_subscription.asked_plan_id is not null and v_newer.kind <> 'payment'
    then
      return null;
    end if;
    v_reason := 'replaced';
    v_at := v_paid_until;
  else
    v_reason := 'changed';
    v_at := v_paid_until; -- the gateway charged it after all
  end if;
  if v_is_failing then v_at := null; end if;
  return (
    coalesce(greatest(v_at, v_now), v_now),
    v_is_waiting and v_subscription.asked_plan_id is not null and v_is_failing is not true or coalesce(v_at > v_now, false),
    coalesce(v_is_wish, false),
    v_reason
  );
end $$;

-- Lets the mails about a purchase wait a minute for the amount that was paid, or gives it to those that wait.
create or replace function billing.set_mailed_amount(
  p_payment_id uuid,
  p_paid_amount bigint -- minor currency units; null: the gateway has not said it yet
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  -- What is paid may differ from what was ordered, by a fee on top or an offer, if it did lately.
  if p_paid_amount is null and not exists (
    select from (
      select p.amount, p.paid_amount from public.payments p where p.status = 'captured' order by p.captured_at desc limit 20
    ) newest
    where newest.paid_amount <> newest.amount
  ) then
    return;
  end if;
  update billing.outbox o
  set payload = o.payload || jsonb_strip_nulls(jsonb_build_object('amount', p_paid_amount)),
    next_attempt_at = case when p_paid_amount is null then o.queued_at + interval '1 minute' else o.queued_at end
  where o.key = any (array['payment-success/' || p_payment_id, 'plan-changed/' || p_payment_id])
    and num_nonnulls(o.delivered_at, o.parked_at) + cardinality(o.claims) = 0
    and (p_paid_amount is null or o.next_attempt_at > o.queued_at or o.payload -> 'amount' <> to_jsonb(p_paid_amount));
end $$;

-- Returns in one sentence why a user has the tier: the source that rules.
create or replace function billing.why_text(p_ruling billing.ruling)
returns text language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_source constant billing.sources := p_ruling.source;
  v_until constant text := coalesce(' until ' || billing.day_text(v_source.ends_at), '');
  v_name text;
begin
  if v_source.kind is null then return 'No payment, subscription or grant gives a tier.'; end if;
  v_name := case v_source.kind
    when 'payment' then (
      select format('Payment %s of %s', coalesce(p.gateway_payment_id, p.id::text), billing.day_text(p.captured_at))
      from public.payments p
      where p.id = v_source.id::uuid
    )
    when 'gateway_subscription' then format('Subscription %s of %s', v_source.id, billing.day_text(v_source.since))
    when 'grant' then (
      select format('Grant %s of %s (%s)', g.id, billing.day_text(g.at), coalesce(g.reason, 'no reason'))
      from billing.grants g
      where g.id = v_source.id::bigint
    )
    else format('The subscription row that was written by hand on %s', billing.day_text(v_source.since))
  end;
  if p_ruling.is_live then
    return v_name || ' gives ' || v_source.tier || v_until || case
      when v_source.cancel_at_period_end then ' and was cancelled for that day.'
      when v_source.ends_at < billing.clock()
        then format(', and without a renewal days of grace until %s.', billing.day_text(billing.grace_end(v_source)))
      when v_source.gateway_subscription_id is not null then case billing.state_of_billing(v_source)
          when 'billed' then (
            select case
              when num_nonnulls(n.charge_at, v_source.ends_at) = 0 then '. When the gateway charges the next cycle is not known.'
              when n.charge_at is null or billing.day_text(n.charge_at) = billing.day_text(v_source.ends_at)
                then ', when the gateway charges the next cycle.'
              -- What arrives later ranks above a row that was written by hand.
              when v_source.kind = 'manual' and n.charge_at < v_source.ends_at
                then format(', or until the gateway charges the next cycle on %s.', billing.day_text(n.charge_at))
              else format('. The gateway charges the next cycle on %s.', billing.day_text(n.charge_at))
            end
            from billing.next_charge(v_source.user_id) n
          )
          when 'paused' then '. The gateway has paused it.'
          when 'halted' then '. The gateway tries no further charge.'
          else (
            select case
              when n is null then ', and is not charged again.'
              when v_source.kind = 'manual' and (n ->> 'starts_at')::timestamptz < v_source.ends_at
                then format(', or until %s begins on %s.', n ->> 'tier', billing.day_text((n ->> 'starts_at')::timestamptz))
              else format('. Then %s begins.', n ->> 'tier')
            end
            from billing.next_change(v_source.user_id) n
          )
        end
      else '.'
    end;
  end if;
  return v_name || ' gave ' || v_source.tier || case
    -- Access may have ended before what was cancelled then.
    when (p_ruling.shown).ended_reason is distinct from 'refunded'
      and (v_source.ended_at is null or (p_ruling.shown).cancelled_at < v_source.ended_at) then v_until || case
      when v_source.lapses_at > v_source.ends_at and v_source.lapses_at < 'infinity'
        then format(', and days of grace until %s.', billing.day_text(v_source.lapses_at))
      else '.'
    end
    else format(
      ' and ended on %s: %s.',
      -- As the row and the mail say, which are settled when the end becomes known.
      billing.day_text(coalesce((p_ruling.shown).cancelled_at, v_source.ended_at)), coalesce(replace(
        case (p_ruling.shown).ended_reason when 'refunded' then 'refunded' else v_source.ended_reason end, '_', ' '
      ), 'ended')
    )
  end;
end $$;

revoke execute on all functions in schema billing from public;
