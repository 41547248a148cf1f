import postgres from 'postgres';
import { postJson } from './post-json.ts';

/**
 * Lets the gateway bill every price: gives each one on sale without `gateway_plan_id` an id, and makes all of them at the
 * simulator with the same amount and interval, as they are now. Safe to run again.
 * @throws Error when the simulator refuses a plan
 */
export async function offerPlans(databaseUrl: string, gatewayUrl: string): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  try {
    await sql`
      update public.plans p
      set gateway_plan_id = 'plan_local_' || coalesce(p.lookup_key, p.tier)
      where p.gateway_plan_id is null
        and p.is_active
        and p.price >= 100`;
    const plans = await sql`
      select
        p.gateway_plan_id as id, p.name, p.price::integer as amount, p.currency,
        case when months % 12 = 0 then 'yearly' else 'monthly' end as period,
        case when months % 12 = 0 then months / 12 else months end as interval
      from public.plans p
      cross join billing.sold_months(p.duration_months) months
      where p.gateway_plan_id is not null
        and p.price >= 100`;
    for (const plan of plans) await postJson(`${gatewayUrl}/simulate/plan`, plan);
  } finally {
    await sql.end();
  }
}
