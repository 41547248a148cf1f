import postgres from 'postgres';
import { postJson } from './post-json.ts';

/**
 * Lets the gateway bill every price: gives each one without `gateway_plan_id` an id, and makes all of them at the
 * simulator with the same amount and interval, since the simulator forgets them when it stops. Safe to run again.
 * @throws Error when the simulator refuses a plan
 */
export async function offerPlans(databaseUrl: string, gatewayUrl: string): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  try {
    await sql`
      update public.plans p
      set gateway_plan_id = 'plan_local_' || p.tier
      where p.gateway_plan_id is null
        and p.price >= 100`;
    await sql`
      update public.prices r
      set gateway_plan_id = 'plan_local_' || r.lookup_key
      where r.gateway_plan_id is null
        and r.amount >= 100`;
    const plans = await sql`
      select
        o.gateway_plan_id as id, p.name, o.amount::integer as amount, o.currency,
        case when o.months % 12 = 0 then 'yearly' else 'monthly' end as period,
        case when o.months % 12 = 0 then o.months / 12 else o.months end as interval
      from billing.offers o
      join public.plans p on p.id = o.plan_id
      where o.gateway_plan_id is not null
        and o.amount >= 100`;
    for (const plan of plans) await postJson(`${gatewayUrl}/simulate/plan`, plan);
  } finally {
    await sql.end();
  }
}
