import type { ISql } from 'postgres';

/**
 * Reads what happened to the customers since a time of the stack's clock, and not later: after the clock was set back there
 * are rows of the future.
 * @param since Unix seconds
 * @returns `charged 3, mails 3`; empty: nothing
 */
export async function readHappenings(sql: ISql, since: number): Promise<string> {
  const rows = await sql`
    with happened (place, id, what) as (
      -- A charge has two entries where it was read before its webhook came.
      select
        1,
        coalesce(e.payload #>> '{payload,payment,entity,id}', e.subject_id),
        case e.event
          when 'subscription.charged' then 'charged'
          when 'subscription.pending' then 'charge failed'
          when 'subscription.halted' then 'halted'
          else 'cancelled'
        end
      from billing.gateway_events e
      where e.received_at > to_timestamp(${since})
        and e.received_at <= billing.clock()
        and e.outcome = 'applied'
        and e.event in (
          'subscription.charged', 'subscription.pending', 'subscription.halted', 'subscription.cancelled',
          'subscription.completed'
        )
      union all
      select 2, o.id::text, case when o.destination = 'gateway' then 'gateway told' else 'mails' end
      from billing.outbox o
      where o.delivered_at > to_timestamp(${since})
        and o.delivered_at <= billing.clock()
        and o.destination in ('email', 'notice', 'gateway')
      union all
      select 3, c.id::text, 'access ended'
      from billing.tier_changes c
      where c.at > to_timestamp(${since}) and c.at <= billing.clock() and c.to_tier = 'free'
    )
    select h.what || ' ' || count(distinct h.id) as text
    from happened h
    group by h.place, h.what
    order by h.place, h.what`;
  return rows.map(({ text }) => text).join(', ');
}
