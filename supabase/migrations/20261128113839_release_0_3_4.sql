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
          -- What stops also without the cancellation is not resumed, nor what waits for its authorisation.
          and s.authorised_at is not null
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

-- Contract: POST /api/subscriptions/resume.
create or replace function public.resume_subscription(p_user_id uuid)
returns jsonb -- {outcome: resumed | subscription_not_found | cannot_be_resumed, subscription}
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_email text;
  v_subscription public.subscriptions;
  v_wish_id bigint;
begin
  perform billing.begin_request('resumption', null);
  v_email := billing.lock_user(p_user_id);
  select * into v_subscription from public.subscriptions s where s.user_id = p_user_id for update;
  if not found and not billing.may_be_charged(p_user_id) then
    return jsonb_build_object('outcome', 'subscription_not_found');
  end if;
  if v_subscription.status is distinct from 'active' and not exists (
    select from billing.stoppable s where s.user_id = p_user_id and s.is_open and s.is_wish
  ) then
    return jsonb_build_object('outcome', 'cannot_be_resumed');
  end if;

  -- No dispatcher claims them until the commit.
  perform
  from billing.outbox o
  where o.key in (
    select 'cancel-subscription/' || s.gateway_subscription_id
    from billing.stoppable s
    where s.user_id = p_user_id and s.stops_at is not null
  )
  order by o.key
  for update;
  -- All that the customer cancelled goes on, or nothing.
  if exists (
    select from billing.stoppable s
    where s.user_id = p_user_id
      and case
        when s.is_open then s.stops_at is not null
        -- The gateway has confirmed what the customer cancelled last.
        else s.is_wish and (s.subscription).cancelled_arrived_at >= (
          select w.at from billing.ends_wished w where w.user_id = p_user_id
        )
      end
      -- A change or renewal that was never authorised holds back nothing that runs. The event of its cancellation authorises none.
      and (
        v_subscription.status is distinct from 'active'
        or s.authorised_at is not null
          and (s.is_open or num_nonnulls(
            (s.subscription).authenticated_at, (s.subscription).first_activated_at,
            (s.subscription).first_charged_at, (s.subscription).written_at
          ) > 0)
      )
      and billing.is_stop_sent(s.gateway_subscription_id)
      and (billing.find_stop(s, billing.newest_purchase(p_user_id), false)).stops_at is null
  ) then
    return jsonb_build_object('outcome', 'cannot_be_resumed');
  end if;
  with withdrawn as (
    update billing.wishes w
    set withdrawn_at = greatest(billing.clock(), w.at)
    where w.user_id = p_user_id and w.at_period_end and w.withdrawn_at is null
    returning w.id
  )
  select max(w.id) into v_wish_id from withdrawn w;
  if v_wish_id is not null or v_subscription.cancel_at_period_end then
    perform billing.withdraw_mails(array(
      select 'subscription-cancelled/' || w.id from billing.wishes w where w.user_id = p_user_id and w.at_period_end
    ));
    perform billing.mark_sources(p_user_id, false);
    perform billing.settle_access(p_user_id, v_email);
    perform billing.announce_going_on(
      p_user_id, v_email, 'subscription-resumed', coalesce(v_wish_id::text, v_subscription.id || '/' || v_subscription.revision)
    );
  end if;
  return jsonb_build_object('outcome', 'resumed', 'subscription', billing.subscription_answer(p_user_id));
end $$;

revoke execute on all functions in schema billing from public;
