import type { ISql } from 'postgres';

/** Which part of the schedule does it. */
export type Work = 'sweep' | 'reconciliation' | 'outbox';

/** What the database is waiting for. Times are in Unix seconds of the stack's clock. */
export type DueWork = {
  /** The time of the reading. */
  readonly at: number;
  /** What is due by then: how many rows, and the time of the first one. */
  readonly due: readonly { work: Work; rows: number; since: number }[];
  /** When the next row becomes due; null: none will. */
  readonly nextAt: number | null;
};

/**
 * Reads what is due in the database, and what will be next: ends, notices, grace and purchases for the sweep, reads of
 * the gateway, messages. Not counted is what changes no access: old records that each sweep deletes or reduces, and,
 * while each webhook arrives, the reads of a gateway subscription without whose answer nothing may lapse.
 */
export async function readDueWork(sql: ISql, isAnyWebhookLost: boolean): Promise<DueWork> {
  const [row] = await sql`
    with waiting (work, at) as (
      -- After a failure the sweep leaves a user out for an hour.
      select 'sweep', greatest(s.due_at, f.at + interval '1 hour')
      from public.subscriptions s
      left join billing.marks f on f.kind = 'settle_failure' and f.key = s.user_id::text
      where s.due_at < 'infinity'
      union all
      select 'reconciliation', r.at
      from billing.reconciliations r
      where r.at < 'infinity' and (r.kind <> 'gateway_subscriptions' or ${isAnyWebhookLost})
      union all
      -- Access does not lapse before the gateway was asked after the end of the period.
      select 'reconciliation', greatest(m.next_check_at, m.period_end)
      from billing.gateway_subscriptions m
      join public.subscriptions s using (user_id, gateway_subscription_id)
      where s.status = 'active' and m.next_check_at < 'infinity' and not ${isAnyWebhookLost}
      union all
      -- A dispatch that has claimed a message for 60 seconds is not over: the next call of the dispatcher waits for it.
      select 'outbox', greatest(
        o.next_attempt_at - case when o.claims[cardinality(o.claims)] is null then interval '0' else interval '60 seconds' end,
        m.at
      )
      from billing.outbox o
      left join billing.marks m on m.kind = 'pause' and m.key = o.destination
      where o.delivered_at is null and o.parked_at is null
    ),
    due as (
      select w.work, count(*)::integer as rows, extract(epoch from min(w.at))::float8 as since
      from waiting w
      where w.at <= billing.clock()
      group by w.work
    )
    select
      extract(epoch from billing.clock())::float8 as at,
      coalesce((select jsonb_agg(to_jsonb(d) order by d.work) from due d), '[]') as due,
      (select extract(epoch from min(w.at))::float8 from waiting w where w.at > billing.clock()) as next_at`;
  return { at: row?.at, due: row?.due, nextAt: row?.next_at };
}
