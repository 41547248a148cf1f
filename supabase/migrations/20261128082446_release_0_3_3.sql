-- Made by npm run migration. Renames and data are written by hand.
set local lock_timeout = '2s';

-- Sets cancel_at_period_end of what gives access now and is not billed, or clears it of everything. The caller holds the lock
-- on the user.
create or replace function billing.mark_sources(p_user_id uuid, p_cancel_at_period_end boolean)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_source billing.sources;
begin
  if p_cancel_at_period_end then
    -- Most users have only what is billed: this lookup saves a ranking.
    if not exists (
      select from public.payments p where p.user_id = p_user_id and p.fulfilled_at is not null
      union all
      select from billing.grants g where g.user_id = p_user_id
      union all
      select from billing.manual_subscriptions w where w.user_id = p_user_id
      union all
      select from billing.gateway_subscriptions m
      where m.user_id = p_user_id
        and case when m.status = 'cancelled' then m.period_end > billing.clock() else m.gateway_status = 'completed' end
    ) then
      return;
    end if;
    v_source := (billing.find_ruling(p_user_id)).source;
  end if;
  update public.payments p
  set cancel_at_period_end = p_cancel_at_period_end
  where p.user_id = p_user_id
    and p.cancel_at_period_end <> p_cancel_at_period_end
    and (not p_cancel_at_period_end or (v_source.kind, v_source.id) = ('payment', p.id::text));
  update billing.grants g
  set cancel_at_period_end = p_cancel_at_period_end
  where g.user_id = p_user_id
    and g.cancel_at_period_end <> p_cancel_at_period_end
    and (not p_cancel_at_period_end or (v_source.kind, v_source.id) = ('grant', g.id::text));
  update billing.manual_subscriptions w
  set cancel_at_period_end = p_cancel_at_period_end
  where w.user_id = p_user_id
    and w.cancel_at_period_end <> p_cancel_at_period_end
    and (not p_cancel_at_period_end or v_source.kind = 'manual');
  -- All its cycles were charged, or the gateway has cancelled it before the end of its period.
  update billing.gateway_subscriptions m
  set cancel_at_period_end = p_cancel_at_period_end
  where m.user_id = p_user_id
    and case when m.status = 'cancelled' then m.period_end > billing.clock() else m.gateway_status = 'completed' end
    and m.cancel_at_period_end <> p_cancel_at_period_end
    and (not p_cancel_at_period_end or (v_source.kind, v_source.id) = ('gateway_subscription', m.gateway_subscription_id));
end $$;

-- The subscription alone: all of public.get_subscription would be a tenth of a cancellation.
create function billing.subscription_answer(p_user_id uuid)
returns json -- null: there is none
language plpgsql stable set search_path = pg_catalog, pg_temp set timezone = 'UTC' as $$
begin
  return (select row_to_json(s) from billing.shown_subscriptions s where s.user_id = p_user_id);
end $$;

-- Contract: POST /api/subscriptions/cancel.
create or replace function public.cancel_subscription(
  p_user_id uuid,
  p_at_period_end boolean -- true: the tier stays until the paid period ends; false: access ends now
)
returns jsonb -- {outcome: cancelled | subscription_not_found, subscription}: null, if nothing gave access yet
language plpgsql volatile set search_path = pg_catalog, pg_temp set lock_timeout = '3s' set enable_seqscan = off set jit = off as $$
declare
  v_email text;
  v_subscription public.subscriptions;
  v_wish billing.wishes;
  v_is_active boolean;
begin
  perform billing.begin_request('cancellation', null);
  v_email := billing.lock_user(p_user_id);
  select * into v_subscription from public.subscriptions s where s.user_id = p_user_id for update;
  v_is_active := coalesce(v_subscription.status = 'active', false);
  -- A deleted user's subscriptions are stopped in any case.
  if v_email is null or not v_is_active and not billing.may_be_charged(p_user_id) then
    return jsonb_build_object('outcome', 'subscription_not_found');
  end if;

  -- A repeated cancellation for the period's end writes nothing: one stands that covers everything.
  if not (
    p_at_period_end
    and (v_subscription.cancel_at_period_end or not v_is_active)
    and exists (select from billing.ends_wished w where w.user_id = p_user_id)
    and not exists (
      select from billing.stoppable s where s.user_id = p_user_id and s.is_open and (s.is_wish is null or s.stops_at is null)
    )
  ) then
    -- Not before what others wrote while this transaction waited for the lock.
    insert into billing.wishes (user_id, at_period_end, at)
    values (p_user_id, p_at_period_end, greatest(
      billing.clock(),
      (select max(greatest(m.asked_at, m.arrived_at)) from billing.gateway_subscriptions m where m.user_id = p_user_id),
      (select max(p.since) from public.payments p where p.user_id = p_user_id)
    ))
    returning * into v_wish;
    if not p_at_period_end then
      perform billing.end_sources(p_user_id);
    elsif v_is_active then
      perform billing.mark_sources(p_user_id, true);
    end if;
    perform billing.settle_access(p_user_id, v_email);
    perform billing.announce_cancellation(v_wish, v_email, v_subscription);
  end if;
  return jsonb_build_object('outcome', 'cancelled', 'subscription', billing.subscription_answer(p_user_id));
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

-- Each connection plans it once, and not again at its first five calls.
create or replace function public.get_subscription(p_user_id uuid)
returns json -- {subscription, currentTier, entitlements, payments, billing}: the answer's body
language plpgsql stable
set search_path = pg_catalog, pg_temp set timezone = 'UTC' set enable_seqscan = off set jit = off set plan_cache_mode = force_generic_plan as $$
begin
  return row_to_json(answer)
  from (
    select
      (select s from billing.shown_subscriptions s where s.user_id = p_user_id) as subscription,
      coalesce(a.tier, 'free') as "currentTier",
      coalesce(a.entitlements, (
        select p.entitlements from public.plans p where p.tier = 'free' and p.lookup_key is null
      ), '{}') as entitlements,
      array(
        select newest
        from (
          select
            p.id, p.user_id, p.subscription_id, p.amount, p.currency, p.status, p.tier, p.price_key,
            -- As billing.interval_answer, which would be called twice for each payment: a tenth of the read.
            case when p.duration_months % 12 = 0 then 'year' when p.duration_months is not null then 'month' end as "interval",
            case when p.duration_months % 12 = 0 then p.duration_months / 12 else p.duration_months end as interval_count,
            p.gateway_order_id, p.gateway_payment_id, p.gateway_signature,
            coalesce(p.gateway_subscription_id, p.failed_subscription_id) as gateway_subscription_id, p.meta, p.captured_at,
            p.confirmed_at, p.fulfilled_at, p.period_start, p.period_end, p.paid_amount, p.refunded_amount, p.dispute_status, p.created_at
          from public.payments p
          where p.user_id = p_user_id and p.extra_of is null
          order by p.created_at desc, p.id desc
          limit 10
        ) newest
      ) as payments,
      (
        select record
        from (
          select
            b.gateway_subscription_id, coalesce(m.gateway_status, m.status, 'active') as status,
            b.charge_at as next_charge_at,
            coalesce(m.gateway_status in ('pending', 'halted') and m.stops_at is null, false) as payment_attention,
            m.short_url as manage_url,
            billing.price_answer(b.tier, b.sold) as price,
            billing.next_change(p_user_id) as next
          from billing.find_billed(p_user_id) b
          join billing.gateway_subscriptions m
            on m.user_id = p_user_id
            and m.gateway_subscription_id = b.gateway_subscription_id
          where billing.is_billed(m)
          -- What is charged next; else the running one before one that starts later; of two the one that would rule.
          order by
            b.charge_at > billing.clock() desc nulls last, b.charge_at, m.period_end > billing.clock() desc nulls last, b.since desc,
            b.id desc
          limit 1
        ) record
      ) as billing
    from (values (p_user_id)) one (user_id)
    left join billing.access a on a.user_id = one.user_id
  ) answer;
end $$;

create view billing.shown_subscriptions with (security_invoker = true) as
select
  s.id, s.user_id, s.plan_id, s.tier, s.status, s.current_period_start, s.current_period_end, s.cancelled_at,
  s.cancel_at_period_end, s.ended_reason, s.gateway_subscription_id, s.created_at,
  case when s.current_period_end < billing.clock() then billing.shown_grace_end(s) end as access_ends_at,
  billing.price_answer(s.tier, billing.price_shown(s)) as price, row_to_json(p) as plan
from public.subscriptions s
left join public.plans p on p.id = s.plan_id;

grant select on billing.shown_subscriptions to service_role;

comment on view billing.shown_subscriptions is 'The subscriptions of users, as the API answers them.';

do $do$
begin
  if exists (select from pg_catalog.pg_roles r where r.rolname = 'subscriptions_support') then
    perform billing.set_up_support();
  end if;
end $do$;

REVOKE ALL ON FUNCTION "billing"."subscription_answer"(uuid) FROM PUBLIC;

GRANT EXECUTE ON FUNCTION "billing"."subscription_answer"(uuid) TO "service_role";

GRANT SELECT ON TABLE "billing"."shown_subscriptions" TO "service_role";

revoke execute on all functions in schema billing from public;
