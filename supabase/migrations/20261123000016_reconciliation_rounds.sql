-- Reconciliation in rounds: one run at a time keeps to the rate of the gateway's API, and runs each minute until nothing is
-- due. Contract: POST /api/internal/reconcile, "Reconciliation".

alter table private.scheduled_jobs
add column run_id uuid,
add column run_until timestamptz;
comment on column private.scheduled_jobs.done_at is
  'When the newest complete run left nothing to do. Of reconciliation also: when a run used up its time and got answers.';
comment on column private.scheduled_jobs.run_id is 'The reconciliation that is running.';
comment on column private.scheduled_jobs.run_until is
  'When its lease ends, if it does not end before. Until then no other reconciliation starts.';

-- Each reconciliation moves its subscription in the index of next_check_at twice. A claim reads over the entries that remain
-- of it, so they are removed when there are as many as 2 % of the rows, not 20 %.
alter table private.gateway_subscriptions set (autovacuum_vacuum_scale_factor = 0.02);

-- Starts a reconciliation if no other one is running. Two at once would call the gateway at twice the rate. The lease is
-- longer than a run, so it expires only after a crash. API: service_role only.
create function public.begin_reconciliation(
  p_run_id uuid
)
returns jsonb -- {began}: false while another one is running
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
begin
  update private.scheduled_jobs j
  set run_id = p_run_id,
    run_until = now() + interval '75 seconds'
  where j.name = 'reconciliation'
    and (j.run_until is null or j.run_until <= now());
  return jsonb_build_object('began', found);
end
$$;
comment on function public.begin_reconciliation(uuid) is 'Starts a reconciliation if no other one is running.';
revoke execute on function public.begin_reconciliation(uuid) from public, anon, authenticated;
grant execute on function public.begin_reconciliation(uuid) to service_role;

-- Ends a reconciliation. Replaces finish_reconciliation, which the function of 0.2 calls. API: service_role only.
create function public.end_reconciliation(
  p_run_id uuid,
  p_is_done boolean -- whether it left nothing to do, or used up its time and got answers
)
returns void
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
begin
  update private.scheduled_jobs j
  set done_at = case when p_is_done then now() else j.done_at end,
    run_id = null,
    run_until = null
  where j.name = 'reconciliation'
    and j.run_id = p_run_id;
end
$$;
comment on function public.end_reconciliation(uuid, boolean) is
  'Ends a reconciliation, and stores its time if it was complete.';
revoke execute on function public.end_reconciliation(uuid, boolean) from public, anon, authenticated;
grant execute on function public.end_reconciliation(uuid, boolean) to service_role;

-- Claims gateway subscriptions whose period ends within a day, and those that are pending, halted or paused at the gateway,
-- under a lease of five minutes. Each is reconciled every six hours until it is renewed or cancelled. API: service_role only.
create or replace function public.claim_subscriptions_to_reconcile()
returns jsonb
-- {settled, subscriptions: [{id, gateway_subscription_id}]}; settled: how many of those that were due need no call now.
-- subscriptions: at most 20; id: of the user's subscription row. 0 and []: nothing is due
language plpgsql
volatile
security invoker
set search_path = ''
set lock_timeout = '3s'
set enable_seqscan = off
as $$
declare
  v_now constant timestamptz := private.clock();
  v_settled integer;
  v_subscriptions jsonb;
begin
  with due as materialized (
    select
      m.user_id, m.gateway_subscription_id, s.id, m.status, m.gateway_status, m.period_end, m.checked_at, m.arrived_at,
      m.period_end + make_interval(days => coalesce(p.grace_days, 3) + 14) as given_up_at
    from private.gateway_subscriptions m
    left join public.subscriptions s on s.user_id = m.user_id
    left join public.plans p on p.id = m.plan_id
    where m.next_check_at <= v_now
    order by m.next_check_at
    limit 200
    for no key update of m skip locked
  ),
  planned as (
    select
      d.*,
      case
        -- A cancelled subscription has ended, and one without an id cannot be read.
        when d.status = 'cancelled' or d.gateway_subscription_id = '' then 'never'
        -- The user may still sign up. The subscription may also belong to another app with the same gateway account.
        when d.id is null then case when d.arrived_at > v_now - interval '30 days' then 'tomorrow' else 'never' end
        -- The gateway may bill it again at any time. So long after the last access it is read once a day.
        when d.gateway_status in ('pending', 'halted', 'paused')
          or d.gateway_status = 'active' and d.period_end <= v_now + interval '1 day'
          then case
            when d.checked_at > d.given_up_at and d.checked_at > v_now - interval '1 day' then 'daily'
            else 'now'
          end
        -- So long after the last access no further cycle is expected.
        when d.checked_at > d.given_up_at then 'never'
        -- The subscription was renewed. A charge does not change next_check_at, so that it writes no index.
        when d.period_end > v_now + interval '1 day' then 'later'
        else 'now'
      end as turn
    from due d
  ),
  asked as (
    select p.* from planned p where p.turn = 'now' order by p.period_end limit 20
  ),
  leased as (
    update private.gateway_subscriptions m
    set next_check_at = case
        when p.turn = 'tomorrow' then v_now + interval '1 day'
        when p.turn = 'daily' then p.checked_at + interval '1 day'
        when p.turn = 'later' then p.period_end - interval '1 day'
        when p.turn = 'now' then v_now + interval '5 minutes'
      end
    from planned p
    where m.user_id = p.user_id
      and m.gateway_subscription_id = p.gateway_subscription_id
      and (
        p.turn <> 'now'
        or exists (
          select
          from asked a
          where a.user_id = p.user_id
            and a.gateway_subscription_id = p.gateway_subscription_id
        )
      )
    returning p.id, m.gateway_subscription_id, p.turn
  )
  select
    count(*) filter (where l.turn <> 'now'),
    coalesce(
      jsonb_agg(jsonb_build_object('id', l.id, 'gateway_subscription_id', l.gateway_subscription_id))
        filter (where l.turn = 'now'),
      '[]'
    )
  into v_settled, v_subscriptions
  from leased l;
  return jsonb_build_object('settled', v_settled, 'subscriptions', v_subscriptions);
end
$$;
comment on function public.claim_subscriptions_to_reconcile() is
  'Claims up to 20 gateway subscriptions to reconcile, for five minutes.';

-- A run that used up its time counts as done, so private.schedule_faults does not see a backlog that grows. What is due for
-- two hours was never claimed: a claim moves its time.
create view private.reconciliation_backlog
with (security_invoker = true)
as
select due.kind, min(due.at) as since, count(*) as due
from private.scheduled_jobs j
cross join lateral (
  (
    select 'payments' as kind, p.next_reconcile_at as at
    from public.payments p
    where p.next_reconcile_at < private.clock() - interval '2 hours'
      and p.gateway_order_id is not null
    order by p.next_reconcile_at
    limit 10000
  )
  union all
  (
    select 'gateway_subscriptions', m.next_check_at
    from private.gateway_subscriptions m
    where m.next_check_at < private.clock() - interval '2 hours'
    order by m.next_check_at
    limit 10000
  )
  union all
  (
    select 'subscription_orders', o.next_check_at
    from private.subscription_orders o
    where o.next_check_at < private.clock() - interval '2 hours'
    order by o.next_check_at
    limit 10000
  )
) due
where j.name = 'reconciliation'
  and j.done_at > now() - interval '15 minutes'
group by due.kind;
comment on view private.reconciliation_backlog is
  'Reconciliations that are due for more than two hours, although the runs get answers: more becomes due than the rate of the '
  'calls allows. due counts to 10,000. Raise RECONCILE_CALLS_PER_SECOND, if the gateway allows it. Without runs or answers '
  'the finding is reconciliation_overdue.';

revoke execute on all functions in schema private from public;
