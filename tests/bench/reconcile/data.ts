import type pg from 'pg';
import { activatedBody, chargedBody, periodSeconds, proGatewayPlanId } from '../gateway-bodies.ts';
import { sha256 } from '../our-database.ts';
import {
  endedSecondsInSql,
  isOfAnySet,
  isOfSet,
  type SetName,
  stateInSql,
  subscriptionIdInSql,
  subscriptions,
} from './subscriptions.ts';

/**
 * Loads the subscriptions of the benchmark: one was written by the RPCs, the others are copies of its rows with a user,
 * an id and a period of their own. None is due. @param at start of the benchmark, Unix seconds
 */
export async function loadSubscriptions(client: pg.Client, at: number): Promise<void> {
  const userId = crypto.randomUUID();
  const subscriber = { userId, gatewaySubscriptionId: 'sub_BenchTemplate1' };
  await client.query("update public.plans set gateway_plan_id = $1 where tier = 'pro'", [proGatewayPlanId]);
  await client.query("insert into auth.users (id, email) values ($1, 'template@example.com')", [userId]);
  // Its last cycle runs, so its user has the tier.
  const bodies = [
    activatedBody(subscriber, at - 1.5 * periodSeconds),
    chargedBody(subscriber, at - 0.5 * periodSeconds),
  ];
  for (const body of bodies) {
    const { rows: [row] } = await client.query(
      "select public.apply_gateway_event($1, null, $2) ->> 'outcome' as outcome",
      [
        sha256(body),
        body,
      ],
    );
    if (row.outcome !== 'applied') throw new Error(`The template could not be written: ${row.outcome}`);
  }

  await client.query('set session_replication_role = replica');
  await client.query(
    `create table bench as
     select n, md5('user' || n)::uuid as user_id, ${subscriptionIdInSql} as id, ${stateInSql} as state,
       ends_at - make_interval(secs => ${periodSeconds}) as starts_at, ends_at
     from generate_series(1, ${subscriptions}) n
     cross join lateral (
       select to_timestamp($1) + case
         when ${isOfAnySet} then - make_interval(secs => ${endedSecondsInSql})
         else interval '2 days' + make_interval(mins => n % (28 * 1440))
       end as ends_at
     ) t
     -- In the order of the random keys: the indexes load several times as fast, and the due ones stay scattered.
     order by 2`,
    [at],
  );
  await client.query("insert into auth.users (id, email) select user_id, format('user%s@example.com', n) from bench");
  await copy(client, 'public.profiles', userId, "'user_id', b.user_id, 'username', 'user' || b.n");
  const period = "'period_start', b.starts_at, 'period_end', b.ends_at";
  const key = "'user_id', b.user_id, 'gateway_subscription_id', b.id";
  await copy(
    client,
    'public.subscriptions',
    userId,
    `'id', b.user_id, ${key}, 'current_period_start', b.starts_at, 'current_period_end', b.ends_at`,
  );
  await copy(
    client,
    'billing.gateway_subscriptions',
    userId,
    `${key}, ${period}, 'period_event_at', b.starts_at, 'plan_event_at', b.starts_at,
     'next_check_at', greatest(b.ends_at - interval '1 day', to_timestamp(${at}) + interval '1 day')`,
  );
  await copy(
    client,
    'public.payments',
    userId,
    `${key}, ${period}, 'id', gen_random_uuid(), 'gateway_payment_id', 'pay_Bench' || b.n, 'captured_at', b.starts_at,
     'created_at', b.starts_at`,
  );
  await client.query('create index on bench (n)');
  await client.query('set session_replication_role = default');
  await client.query('vacuum (analyze)');
}

/** Copies the template's row of a table for each subscription. @param changes what differs, arguments of jsonb_build_object */
async function copy(client: pg.Client, table: string, userId: string, changes: string) {
  const { rows: [{ columns }] } = await client.query(
    `select string_agg(quote_ident(a.attname), ', ') as columns
     from pg_attribute a
     where a.attrelid = $1::regclass
       and a.attnum > 0
       and not a.attisdropped
       and a.attgenerated = ''`,
    [table],
  );
  const { rowCount } = await client.query(
    `insert into ${table} (${columns})
     select ${columns.replaceAll(/\w+/g, 'r.$&')}
     from ${table} t
     cross join bench b
     cross join lateral jsonb_populate_record(t, jsonb_build_object(${changes})) r
     where t.user_id = $1`,
    [userId],
  );
  if (rowCount !== subscriptions) throw new Error(`${rowCount} rows in ${table}`);
}

/** Makes a set due now. */
export async function makeDue(client: pg.Client, name: SetName): Promise<void> {
  await client.query(`create temp table due as select * from bench where ${isOfSet(name, 'n')}`);
  await client.query(
    `update billing.gateway_subscriptions m
     set next_check_at = now()
     from due
     where m.user_id = due.user_id
       and m.gateway_subscription_id = due.id`,
  );
  await client.query('create index on due (user_id)');
  await client.query('analyze due');
}

/** How many of the set were reconciled. */
export async function countReconciled(client: pg.Client): Promise<number> {
  const { rows: [row] } = await client.query(
    `select count(m.checked_at)::int as reconciled
     from due
     join billing.gateway_subscriptions m on m.user_id = due.user_id and m.gateway_subscription_id = due.id`,
  );
  return row.reconciled;
}

/** Checks that each subscription of the set is as the gateway says, and ends the set. @throws Error if one is not */
export async function checkSet(client: pg.Client): Promise<void> {
  await client.query('analyze billing.marks');
  const { rows: [row] } = await client.query(
    `select
       count(*) filter (where m.period_end <> wanted.period_end or s.current_period_end <> wanted.period_end)::int as periods,
       count(*) filter (where (s.status = 'active') <> (due.state <> 'cancelled'))::int as statuses,
       count(*) filter (where (p.subscription_tier = 'free') <> (due.state = 'cancelled'))::int as tiers,
       count(*) filter (
         where m.gateway_status <> case when due.state = 'renewed' then 'active' else due.state end
       )::int as answers,
       count(*) filter (where (due.state <> 'active') <> (a.key is not null))::int as alerts
     from due
     join billing.gateway_subscriptions m on m.user_id = due.user_id and m.gateway_subscription_id = due.id
     join public.subscriptions s on s.user_id = due.user_id
     join public.profiles p on p.user_id = due.user_id
     left join billing.marks a on a.kind = 'missed_webhook' and a.key = due.id
     cross join lateral (
       select due.ends_at + make_interval(secs => case when due.state = 'renewed' then ${periodSeconds} else 0 end) as period_end
     ) wanted`,
  );
  if (Object.values(row).some((wrong) => wrong !== 0)) {
    throw new Error(`Not as the gateway says: ${JSON.stringify(row)}`);
  }
  await client.query('drop table due');
}
