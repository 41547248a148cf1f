-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

-- Returns what the mail about a cancellation says of the user's access, as it is settled.
create or replace function billing.cancellation_terms(
  p_user_id uuid,
  p_at_period_end boolean,
  p_had_access boolean -- before the cancellation
)
returns jsonb -- {access_ends_at, is_ended, resume_until}
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_after public.subscriptions;
  v_ends_at timestamptz; -- null: access does not end with what was cancelled
  v_resume_until timestamptz; -- null: it cannot be resumed
begin
  select * into v_after from public.subscriptions s where s.user_id = p_user_id;
  if p_had_access then
    v_ends_at := case
      when v_after.status = 'cancelled' then coalesce(billing.shown_grace_end(v_after), v_after.cancelled_at)
      when not exists (
        select from billing.sources s
        where s.user_id = p_user_id
          and s.ended_at is null
          and (s.ends_at is null or coalesce(nullif(s.lapses_at, 'infinity'), s.ends_at) > v_after.current_period_end)
      ) then least(v_after.current_period_end, (
        -- A row that was extended by hand ends with the subscription that it names.
        select coalesce(m.paid_until, m.period_end)
        from billing.gateway_subscriptions m
        where (m.user_id, m.gateway_subscription_id) = (p_user_id, v_after.gateway_subscription_id) and m.arrived_at is not null
      ))
    end;
  end if;
  if p_at_period_end then
    v_resume_until := least(
      case when v_after.status = 'active' then v_after.current_period_end end,
      -- Then the gateway is told.
      (
        select min(s.stops_at) - interval '48 hours'
        from billing.stoppable s
        where s.user_id = p_user_id
          and s.is_open
          and s.is_wish
          -- What stops also without the cancellation is not resumed.
          and (billing.find_stop(s, billing.newest_purchase(p_user_id), false)).stops_at is null
      )
    );
  end if;
  return jsonb_build_object(
    'access_ends_at', billing.iso_time(v_ends_at),
    'is_ended', v_after.status is distinct from 'active',
    'resume_until', case when v_resume_until > billing.clock() then billing.iso_time(v_resume_until) end
  );
end $$;

-- Enqueues the mail about a charge that failed or was the last. The caller has settled the user's access.
create or replace function billing.announce_problem(
  p_status text,
  p_subscription billing.gateway_subscriptions, -- after the event
  p_payment jsonb, -- that failed; null: the event names none
  p_email text -- of the user
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_id constant text := p_subscription.gateway_subscription_id;
  -- The end of the paid time: of a change of plan before its first charge the end of what it follows.
  v_paid_until constant timestamptz := coalesce(p_subscription.period_end, case
    when num_nonnulls(p_subscription.replaces, p_subscription.payment_id) > 0 then p_subscription.starts_at
  end);
  v_access_ends_at timestamptz;
begin
  -- Without a paid cycle there is no access that ends.
  if p_subscription.gateway_status is distinct from p_status or v_paid_until is null
    -- The customer cancelled it at once, and knows.
    or p_subscription.ended_at is not null
    -- Its last charge will say until when it is paid.
    or p_status = 'completed' and billing.unnamed_cycles(p_subscription) > 0
  then
    return;
  end if;
  v_access_ends_at := billing.access_end(p_subscription);
  perform billing.enqueue_mail(
    p_subscription.user_id, p_email,
    case p_status when 'pending' then 'payment-pending' else 'subscription-' || p_status end,
    -- One mail for each cycle that was not charged.
    concat_ws('/', v_id, case when p_status <> 'completed' then billing.iso_time(v_paid_until) end),
    jsonb_build_object(
      'access_ends_at', billing.iso_time(v_access_ends_at),
      -- The last of the attempts often fails in the moment in which the days of grace are over.
      'is_ended', coalesce(v_access_ends_at <= billing.clock(), false),
      'amount', coalesce(billing.json_integer(p_payment -> 'amount'), (p_subscription.sold).amount),
      'currency', billing.charged_currency(p_payment, (p_subscription.sold).currency),
      'manage_url', p_subscription.short_url,
      'ends_at', billing.iso_time(v_paid_until)
    ),
    p_subscription.plan_id
  );
end $$;

revoke execute on all functions in schema billing from public;
