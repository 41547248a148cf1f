import postgres from 'postgres';
import { postJson } from './post-json.ts';

/**
 * Lets the gateway bill every plan: gives each one without `gateway_plan_id` an id, and makes all of them at the
 * simulator with the same price and period, since the simulator forgets them when it stops. Safe to run again.
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
    const plans = await sql`
      select
        p.gateway_plan_id as id, p.name, p.price::integer as amount, p.currency, 'monthly' as period,
        coalesce(nullif(p.duration_months, 0), 12)::integer as interval
      from public.plans p
      where p.gateway_plan_id is not null
        and p.price >= 100`;
    for (const plan of plans) await postJson(`${gatewayUrl}/simulate/plan`, plan);
  } finally {
    await sql.end();
  }
}
