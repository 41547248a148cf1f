-- Which source of access rules.
-- Depends on: _schema, _gateway_subscriptions, _sources.

create view private.mirrored
with (security_invoker = true)
as
select
  m.user_id,
  count(*) filter (where m.status is distinct from 'cancelled' and m.ended_at is null)::integer as billing,
  count(*) filter (where m.is_replaced)::integer as replaced,
  count(*) filter (where m.plan_id is null or m.period_end is null)::integer as attaching,
  max(m.arrived_at) as newest_at
from private.gateway_subscriptions m
group by m.user_id;
revoke all on private.mirrored from public;
grant select on private.mirrored to service_role;
comment on view private.mirrored is
  'How many gateway subscriptions of a user the gateway bills, is to cancel, and are no sources of access; and when the '
  'newest fact about them arrived.';

-- What rules a user's access, as private.settle_access works it out.
create type private.ruling as (
  source private.sources,
  is_live boolean,
  is_cut boolean, -- ended by the cancellation of a gateway subscription that attached to it
  billing integer, -- how many gateway subscriptions the gateway still bills
  replaced integer, -- how many of them the gateway is to cancel
  attaching integer -- how many gateway subscriptions are no sources
);

-- The source that rules: the live one with the greatest since; where none is live, the one that ended last.
create function private.find_ruling(
  p_user_id uuid
)
returns private.ruling -- source is null where the user has none
language plpgsql
stable
set search_path = ''
as $$
declare
  v_now constant timestamptz := private.clock();
  v_ruling private.ruling;
begin
  with mirrored as materialized (
    select
      count(*) filter (where m.plan_id is null or m.period_end is null) as attaching,
      count(*) filter (where m.status is distinct from 'cancelled' and m.ended_at is null) as billing,
      count(*) filter (where m.is_replaced) as replaced,
      -- A cancellation without a plan of ours ends what the subscription attached to: what was there when it was
      -- activated, or, where no activation is known, when it was cancelled. A purchase since then goes on.
      max(least(m.activated_at, m.cancelled_at)) filter (where m.plan_id is null and m.status = 'cancelled' and m.activated_at is not null)
        as cut,
      max(m.cancelled_at) filter (where m.plan_id is null and m.status = 'cancelled' and m.activated_at is null)
        as bare_cut,
      max(m.activated_at) filter (where m.plan_id is null) as attached,
      max(m.cancelled_arrived_at) filter (where m.plan_id is null and m.status = 'cancelled' and m.activated_at is not null)
        as cut_arrived,
      max(m.cancelled_arrived_at) filter (where m.plan_id is null and m.status = 'cancelled') as any_cut_arrived
    from private.gateway_subscriptions m
    where m.user_id = p_user_id
  )
  select s, live.is_live, coalesce(cut.is_cut, false), g.billing, g.replaced, g.attaching
  into v_ruling
  from mirrored g
  left join private.manual_subscriptions w on w.user_id = p_user_id
  left join private.sources s on s.user_id = p_user_id
  cross join lateral (
    select
      case s.kind
        when 'manual' then
          case when s.gateway_subscription_id is null then g.any_cut_arrived else g.cut_arrived end >= s.since
        when 'gateway_subscription' then g.cut >= s.since
        else
          coalesce(g.cut >= s.since, false)
          or g.bare_cut >= s.since and (g.attached between s.since and g.bare_cut) is not true
      end as is_cut,
      -- What was written by hand outranks the facts before it, and is outranked by those after it.
      case when w.at is null or s.kind = 'manual' then 1 when s.arrived_at >= w.at then 2 else 0 end as generation
  ) cut
  cross join lateral (
    select
      s.ended_at is null
      and s.lapses_at > v_now
      and cut.is_cut is not true
      and (cut.generation = 0 and w.status = 'cancelled') is not true as is_live
  ) live
  order by
    live.is_live desc,
    cut.generation desc,
    case when live.is_live then s.since else least(s.ended_at, s.lapses_at) end desc,
    s.since desc,
    s.id desc
  limit 1;
  return v_ruling;
end
$$;
revoke execute on function private.find_ruling(uuid) from public;
grant execute on function private.find_ruling(uuid) to service_role;
