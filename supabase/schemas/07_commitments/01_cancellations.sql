-- What the gateway must be told: for each subscription that it may still charge, whether it must stop, and when. Derived from
-- facts by billing.find_stop; only differences are written. The requests of the customer to cancel and to resume.
-- Contract: POST /api/subscriptions/cancel, POST /api/subscriptions/resume.

-- Returns when the newest act of a user was. The next one is not before it, also where others wrote while it waited for the
-- lock, or the clock was set back. The caller holds the lock on the user.
create function billing.last_act_at(p_user_id uuid)
returns timestamptz -- null: none
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return greatest(
    (select max(greatest(m.asked_at, m.arrived_at)) from billing.gateway_subscriptions m where m.user_id = p_user_id),
    (select max(p.since) from public.payments p where p.user_id = p_user_id),
    (select max(w.at) from billing.wishes w where w.user_id = p_user_id)
  );
end $$;

create view billing.purchases with (security_invoker = true) as
select s.*
from billing.sources s
where case s.kind
  when 'payment' then exists (
    select from public.payments p
    where p.id = s.id::uuid
      and p.ended_reason is distinct from 'dispute_lost'
      and not billing.is_lost(p)
      and p.uncaptured_at is null
      and not billing.is_refunded(p)
  )
  when 'gateway_subscription' then exists (
    select from billing.gateway_subscriptions m
    where (m.user_id, m.gateway_subscription_id) = (s.user_id, s.id)
      and m.undone_at is null
      and (
        -- Else both would be charged, also where a charge of this one was refunded or lost.
        billing.is_billed(m)
        or m.paid_until is null and not exists (
          select from public.payments c
          where c.user_id = s.user_id
            and c.gateway_subscription_id = s.id
            and c.period_end = m.period_end
            and c.period_start <= m.first_period_start
            and billing.is_lost(c)
        )
        -- After a refund of its newest cycle the cycles before still count, also if their payments are not known.
        or m.first_period_start < m.paid_until
        or exists (
          select from public.payments c
          where c.user_id = s.user_id
            and c.gateway_subscription_id = s.id
            and billing.kept(c) > 0
        )
      )
  )
  -- A row that still names it is none, where that one is a source itself.
  when 'manual' then exists (
    select from billing.gateway_subscriptions m
    where (m.user_id, m.gateway_subscription_id) = (s.user_id, s.gateway_subscription_id)
      and (m.written_at = s.since or m.plan_id is null or m.period_end is null)
  )
  else false
end;
grant select on billing.purchases to service_role;
comment on view billing.purchases is
  'The acts of users that bought a tier. The newest one replaced what is older and still billed, also after it lapsed, failed '
  'or was cancelled. Only its refund, a lost dispute, or that it was never captured takes that back, and of a subscription only '
  'once the gateway bills it no more. A grant or a row that was written by hand replaces nothing, unless the row is the first to '
  'name a gateway subscription. A change of plan that was undone is none.';

-- Returns whether the purchase goes on that a subscription renews, or may still be paid.
create function billing.renews_purchase(p_subscription billing.gateway_subscriptions)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return exists (
    select from public.payments p
    where p.id = p_subscription.payment_id
      and p.ended_at is null
      and not billing.is_lost(p)
      and (p.fulfilled_at is not null or p_subscription.asked_at >= billing.clock() - interval '5 days')
      -- Paid later than it was ordered, it would be renewed before it ends.
      and coalesce(p.period_end <= p_subscription.starts_at + interval '1 day', true)
  );
end $$;

-- Returns whether the user has authorised another subscription since: of several that wait only one starts. Of two changes
-- that is the one that was asked for last. One that waits for the end of this one, or whose purchase does not go on, is none.
-- While this one runs, only one counts that was authorised after the last act on this one, and starts by its next charge: this
-- one was not known when that was asked for.
create function billing.is_superseded(p_subscription billing.gateway_subscriptions)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return exists (
    select from billing.gateway_subscriptions o
    where o.user_id = p_subscription.user_id
      and o.id <> p_subscription.id
      and o.asked_plan_id is not null
      and o.gateway_subscription_id is distinct from p_subscription.replaces
      and o.replaces is distinct from p_subscription.gateway_subscription_id
      and (o.payment_id is null or billing.renews_purchase(o))
      and o.undone_at is null
      and billing.is_billed(o)
      and (
        p_subscription.period_end is null
        or o.period_end is null
          and o.starts_at <= p_subscription.period_end + interval '1 day'
          and billing.authorised_at(o) > billing.since_of(p_subscription)
          and billing.cancelled_by_user_at(o.user_id, o.asked_at) is null
          and (o.payment_id is null or exists (select from public.payments p where p.id = o.payment_id and p.fulfilled_at is not null))
      )
      and case
        when num_nonnulls(o.replaces, o.payment_id) > 0
          and num_nonnulls(p_subscription.replaces, p_subscription.payment_id) > 0
          then o.asked_at > p_subscription.asked_at -- no two requests of a user have one time
        else (billing.authorised_at(o), o.asked_at, o.id)
          > (coalesce(billing.authorised_at(p_subscription), p_subscription.asked_at), p_subscription.asked_at, p_subscription.id)
      end
  );
end $$;

-- The subscriptions that the gateway may still charge or let authorise, and those that have a stop.
create view billing.stoppable with (security_invoker = true) as
select
  m.user_id,
  m.gateway_subscription_id,
  m as subscription,
  billing.authorised_at(m) as authorised_at, -- null: not authorised
  m.stops_at,
  m.status is distinct from 'cancelled'
    and coalesce(m.gateway_status, 'active') not in ('completed', 'expired', 'cancelled') as is_open,
  -- Whether a wish to cancel covers it: true for the end of the period, false at once.
  (
    select bool_and(w.at_period_end)
    from billing.wishes w
    where w.user_id = m.user_id and w.at >= m.asked_at and w.withdrawn_at is null
  ) as is_wish,
  (billing.find_successor(m.user_id, m.gateway_subscription_id)).starts_at as succeeded_at -- when the one starts that replaces it
from billing.gateway_subscriptions m
where m.gateway_subscription_id <> '';
grant select on billing.stoppable to service_role;
comment on view billing.stoppable is 'What billing.plan reads: the subscriptions of a user, authorised or not.';

-- Returns whether the gateway may charge a user, now or after an authorisation that is still possible, for something that
-- the user did not cancel at once.
create function billing.may_be_charged(p_user_id uuid)
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return exists (
    select from billing.stoppable s where s.user_id = p_user_id and s.is_open and s.is_wish is distinct from false
  );
end $$;

create type billing.stop as (
  stops_at timestamptz, -- now: at once; null: never
  at_cycle_end boolean, -- a cycle that is paid by then remains
  is_wish boolean, -- the customer cancelled it for the end of the period
  -- cancelled: by the customer. expired: not authorised in time. undone: a change that was withdrawn. unpaid: what it renews
  -- does not go on. superseded: another one was authorised. changed: a change follows it. replaced: by what is newer. deleted:
  -- its user is gone.
  reason text
);

-- Derives when the gateway must stop billing a subscription. The first reason counts.
create function billing.find_stop(
  p_each billing.stoppable,
  p_with_wishes boolean default true, -- false: as if the customer resumed
  p_without text default null -- a purchase: as if it was refunded
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
  elsif p_each.succeeded_at is not null then
    v_reason := 'changed';
    -- Else the gateway charged it after all.
    v_at := case when p_each.succeeded_at > v_now then p_each.succeeded_at else v_paid_until end;
  else
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
      and p.id is distinct from p_without
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
  end if;
  if v_is_failing then v_at := null; end if;
  return (
    coalesce(greatest(v_at, v_now), v_now),
    v_is_waiting and v_subscription.asked_plan_id is not null and v_is_failing is not true or coalesce(v_at > v_now, false),
    coalesce(v_is_wish, false),
    v_reason
  );
end $$;

-- Tells the gateway to stop billing a subscription 48 hours before a time, since it debits up to 36 hours before a cycle.
-- What may have been sent is final, except that a stop at once may follow one for the end of the cycle, and one for a later
-- cycle follows one that the gateway did not obey.
create function billing.send_stop(
  p_gateway_subscription_id text,
  p_stop billing.stop,
  p_before timestamptz default null -- the stop that was planned before; null: none
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  insert into billing.outbox as o (key, destination, kind, payload, queued_at, next_attempt_at)
  select
    'cancel-subscription/' || p_gateway_subscription_id,
    'gateway',
    'cancel-subscription',
    jsonb_build_object('gateway_subscription_id', p_gateway_subscription_id, 'at_cycle_end', p_stop.at_cycle_end),
    send.at,
    send.at
  from (select greatest(p_stop.stops_at - interval '48 hours', billing.clock()) as at) send
  on conflict (key) do update
  set payload = excluded.payload,
    queued_at = excluded.queued_at,
    next_attempt_at = excluded.next_attempt_at,
    attempts = 0,
    -- The end of a call that is under way does not count for another message.
    claims = case when o.payload = excluded.payload and excluded.next_attempt_at <= billing.clock() then o.claims else '{}' end,
    parked_at = null, last_error = null, delivered_at = null, told_at = null
  where case
    when o.told_at is null and o.delivered_at is null
      then o.parked_at is not null
        or o.payload <> excluded.payload
        or o.next_attempt_at <> excluded.next_attempt_at and (
          excluded.next_attempt_at > billing.clock()
          -- A claimed row, or one that waits for its next try, is due already.
          or o.attempts = 0 and o.next_attempt_at > billing.clock()
        )
    else o.payload @> '{"at_cycle_end": true}' and not p_stop.at_cycle_end
      or num_nonnulls(o.delivered_at, o.parked_at) > 0
        and excluded.next_attempt_at > billing.clock()
        and coalesce(p_stop.stops_at > p_before, true)
  end;
end $$;

-- Returns whether the gateway received the stop of a subscription, or may have received it.
create function billing.is_stop_sent(p_gateway_subscription_id text, p_payload jsonb default '{}') -- p_payload: what it contains
returns boolean language plpgsql stable set search_path = pg_catalog, pg_temp as $$
begin
  return exists (
    select from billing.outbox o
    where o.key = 'cancel-subscription/' || p_gateway_subscription_id
      and o.payload @> p_payload
      and (o.told_at is not null or o.delivered_at is not null)
  );
end $$;

-- Derives what the gateway must be told about the subscriptions of a user, and writes what differs. The caller holds the lock
-- on the user.
create function billing.plan(p_user_id uuid)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_each billing.stoppable;
  v_stop billing.stop;
  v_ends boolean;
begin
  -- All that a deleted user had is to stop at once. What replaced it went with the user, and must not take that back.
  if billing.is_deleted(p_user_id) then return; end if;
  for v_each in
    select s.*
    from billing.stoppable s
    where s.user_id = p_user_id and (s.is_open or s.stops_at is not null)
    order by s.gateway_subscription_id
  loop
    v_stop := case when v_each.is_open then billing.find_stop(v_each) end;
    v_ends := case when v_each.is_open then coalesce(v_stop.is_wish, false) else (v_each.subscription).cancel_at_period_end end;
    if v_stop.stops_at is not null then
      perform billing.send_stop(v_each.gateway_subscription_id, v_stop, v_each.stops_at);
      -- No charge can fail after that, so no days of grace follow. Those before the first charge of a change of plan remain, and
      -- those that are over.
      v_ends := v_ends or v_each.succeeded_at is null and billing.is_stop_sent(v_each.gateway_subscription_id);
      if v_ends and not (v_each.subscription).cancel_at_period_end and exists (
        select from public.plans p
        cross join lateral billing.mirrored_end(v_each.subscription, p.grace_days) own
        where p.id = (v_each.subscription).plan_id and own.lapses_at <= billing.clock()
      ) then
        v_ends := false;
      end if;
    elsif v_each.stops_at is not null then
      update billing.outbox o
      set parked_at = billing.clock(), last_error = 'withdrawn'
      where o.key = 'cancel-subscription/' || v_each.gateway_subscription_id
        and o.told_at is null
        and o.delivered_at is null
        and o.parked_at is null;
      -- After the update, which waits for a dispatcher that claims the row.
      if v_each.is_open and billing.is_stop_sent(v_each.gateway_subscription_id) then
        -- What was told is final: it ends with its cycle.
        v_stop.stops_at := v_each.stops_at;
        v_ends := true;
      end if;
    end if;
    if (v_each.stops_at, (v_each.subscription).cancel_at_period_end) is distinct from (v_stop.stops_at, v_ends) then
      update billing.gateway_subscriptions m
      set stops_at = v_stop.stops_at, cancel_at_period_end = v_ends
      where m.id = (v_each.subscription).id;
    end if;
  end loop;
end $$;

-- Sets cancel_at_period_end of what gives access now and is not billed, or clears it of everything. The caller holds the lock
-- on the user.
create function billing.mark_sources(p_user_id uuid, p_cancel_at_period_end boolean)
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

-- Ends every running source of a user at once, and the replaced ones: they must not run again when the purchase that
-- replaced them is refunded. The caller holds the lock on the user.
create function billing.end_sources(p_user_id uuid)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_now constant timestamptz := billing.clock();
  v_running constant text[] := array(
    select s.kind || '/' || s.id
    from billing.sources s
    where s.user_id = p_user_id and (s.ended_at is null or s.ended_reason = 'replaced') and s.lapses_at > v_now
  );
begin
  update public.payments p
  set ended_at = v_now, ended_reason = 'cancelled', cancel_at_period_end = false
  where p.user_id = p_user_id and 'payment/' || p.id = any (v_running);
  update billing.grants g
  set ended_at = v_now, ended_reason = 'cancelled', cancel_at_period_end = false
  where g.user_id = p_user_id and 'grant/' || g.id = any (v_running);
  update billing.manual_subscriptions w
  set ended_at = v_now, ended_reason = 'cancelled', cancel_at_period_end = false
  where w.user_id = p_user_id and 'manual/' || w.user_id = any (v_running);
  -- Also those that are no sources, and those that the gateway has cancelled before the end of their period.
  update billing.gateway_subscriptions m
  set ended_at = v_now, cancel_at_period_end = false
  where m.user_id = p_user_id
    and m.ended_at is null
    and (m.status is distinct from 'cancelled' or 'gateway_subscription/' || m.gateway_subscription_id = any (v_running));
end $$;

-- Returns what the mail about a cancellation says of the user's access, as it is settled.
create function billing.cancellation_terms(
  p_user_id uuid,
  p_at_period_end boolean,
  p_had_access boolean -- before the cancellation
)
returns jsonb -- {access_ends_at, is_ended, resume_until}
language plpgsql stable set search_path = pg_catalog, pg_temp as $$
declare
  v_past constant text[] := billing.past_subscriptions(p_user_id);
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
          and s.id <> all (v_past)
          and s.is_running
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
          and (billing.find_stop(s, false)).stops_at is null
      )
    );
  end if;
  return jsonb_build_object(
    'access_ends_at', billing.iso_time(v_ends_at),
    'is_ended', v_after.status is distinct from 'active',
    'resume_until', case when v_resume_until > billing.clock() then billing.iso_time(v_resume_until) end
  );
end $$;

-- Writes the end that is known by now into the mail about a cancellation that waits for it, and sends it. The caller has
-- settled the user's access.
create function billing.release_cancellation_mail(p_user_id uuid)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  update billing.outbox o
  set payload = o.payload || billing.cancellation_terms(p_user_id, true, true), next_attempt_at = billing.clock()
  where o.key = any (array(select 'subscription-cancelled/' || w.id from billing.wishes w where w.user_id = p_user_id))
    and o.next_attempt_at > billing.clock()
    and o.attempts = 0
    and num_nonnulls(o.delivered_at, o.parked_at) = 0;
end $$;

-- Returns what the mails of billing.announce_other_charge about a payment are called, in their order: a dispute may be decided
-- several times.
create function billing.other_charge_subjects(p_payment_id uuid)
returns setof text language plpgsql immutable set search_path = pg_catalog, pg_temp
as $$ begin return query select p_payment_id || '/' || n from generate_series(1, 20) n; end $$;

-- Withdraws the mails that say what is charged next, for an act of the user that makes them untrue.
create function billing.withdraw_outlook(
  p_user_id uuid,
  p_kept text default null -- the key of the mail about this act
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
begin
  perform billing.withdraw_mails(array(
    select 'subscription-resumed/' || w.id from billing.wishes w where w.user_id = p_user_id and w.at_period_end
    union all
    select k.key
    from billing.gateway_subscriptions m
    cross join unnest(array['change-scheduled/' || m.gateway_subscription_id, 'change-undone/' || m.id]) k (key)
    where m.user_id = p_user_id and m.asked_plan_id is not null and k.key is distinct from p_kept
    union all
    select 'change-undone/' || n.subject
    from public.payments p
    cross join lateral billing.other_charge_subjects(p.id) n (subject)
    where p.user_id = p_user_id
      and (
        num_nonnulls(p.dispute_status, p.uncaptured_at) > 0
        or p.captured_at > p.verified_at -- captured after all
        or exists (select from billing.refunds r where r.gateway_payment_id = p.gateway_payment_id and r.status = 'failed')
      )
  ));
end $$;

-- Enqueues the mail about a cancellation, and withdraws what it makes untrue. The caller has settled the user's access.
create function billing.announce_cancellation(
  p_wish billing.wishes,
  p_email text, -- of the user
  p_before public.subscriptions -- before the cancellation; all null: none
)
returns void language plpgsql set search_path = pg_catalog, pg_temp as $$
declare
  v_had_access constant boolean := p_before.status is not distinct from 'active';
  v_plan_name text;
begin
  perform billing.withdraw_outlook(p_wish.user_id);
  perform billing.withdraw_mails(array(
    select 'subscription-cancelled/' || w.id from billing.wishes w where w.user_id = p_wish.user_id and w.at_period_end
  ));
  v_plan_name := case
    -- For the period's end what is paid for is cancelled, also below a gift. At once all access ends.
    when v_had_access then billing.plan_name(coalesce((
      select c.plan_id
      from billing.find_commitment(p_wish.user_id) c
      where p_wish.at_period_end and c.gateway_subscription_id is not null
    ), p_before.plan_id), p_before.tier)
    else (
      select p.name
      from billing.stoppable s
      join public.plans p on p.id = coalesce((s.subscription).plan_id, (s.subscription).asked_plan_id)
      where s.user_id = p_wish.user_id and s.is_open
      order by s.authorised_at desc nulls last
      limit 1
    )
  end;
  perform billing.enqueue_mail(
    p_wish.user_id, p_email, 'subscription-cancelled', p_wish.id::text,
    jsonb_build_object('plan_name', coalesce(v_plan_name, billing.plan_name(null, p_before.tier)))
      || billing.cancellation_terms(p_wish.user_id, p_wish.at_period_end, v_had_access)
  );
  -- The gateway is read now, before it is told. It may have charged a cycle that is not known here.
  update billing.outbox o
  set next_attempt_at = billing.clock() + interval '5 minutes'
  where o.key = 'subscription-cancelled/' || p_wish.id
    and p_wish.at_period_end
    and exists (
      select from billing.stoppable s
      join billing.outbox stop on stop.key = 'cancel-subscription/' || s.gateway_subscription_id
      where s.user_id = p_wish.user_id
        and s.is_open
        and billing.is_known(s.subscription)
        and stop.next_attempt_at <= billing.clock()
        and num_nonnulls(stop.delivered_at, stop.parked_at) = 0
    );
end $$;

-- The subscription alone: all of public.get_subscription would be a tenth of a cancellation.
create function billing.subscription_answer(p_user_id uuid)
returns json -- null: there is none
language plpgsql stable set search_path = pg_catalog, pg_temp set timezone = 'UTC' as $$
begin
  return (select row_to_json(s) from billing.shown_subscriptions s where s.user_id = p_user_id);
end $$;

-- Contract: POST /api/subscriptions/cancel.
create function public.cancel_subscription(
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
    and exists (
      select from billing.ends_wished w
      where w.user_id = p_user_id
        and w.at >= coalesce((select max(p.since) from public.payments p where p.user_id = p_user_id), '-infinity')
    )
    and not exists (
      select from billing.stoppable s where s.user_id = p_user_id and s.is_open and (s.is_wish is null or s.stops_at is null)
    )
  ) then
    insert into billing.wishes (user_id, at_period_end, at)
    values (p_user_id, p_at_period_end, greatest(billing.clock(), billing.last_act_at(p_user_id)))
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
comment on function public.cancel_subscription(uuid, boolean) is
  'Ends a user''s subscription, now or when the paid period ends, and all that the gateway may still charge.';

-- Contract: POST /api/subscriptions/resume.
create function public.resume_subscription(p_user_id uuid)
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
      -- Or the gateway has confirmed what the customer cancelled last.
      and (s.is_open or s.is_wish and (s.subscription).cancelled_arrived_at >= (
        select w.at from billing.ends_wished w where w.user_id = p_user_id
      ))
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
      and (billing.find_stop(s, false)).stops_at is null
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
comment on function public.resume_subscription(uuid) is
  'Withdraws a user''s cancellation for the period''s end, unless the gateway may have received it: there it is final.';

revoke execute on function public.cancel_subscription, public.resume_subscription from public, anon, authenticated;
grant execute on function public.cancel_subscription, public.resume_subscription to service_role;
