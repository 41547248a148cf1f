import { z } from 'zod';
import { type Check, fail, type Outcome, pass, warn } from '../check.ts';
import type { Context } from '../context.ts';
import { callGateway, describeRefusal } from '../gateway-api.ts';
import { field, type Reply } from '../request.ts';

const plan = z.object({
  period: z.string(),
  interval: z.number(),
  item: z.object({ amount: z.number(), currency: z.string() }),
});
const ourPlan = z.object({
  tier: z.string(),
  gateway_plan_id: z.string(),
  price: z.coerce.number(),
  currency: z.string(),
  months: z.number(),
});
type OurPlan = z.infer<typeof ourPlan>;

/**
 * Each plan that the gateway bills has the same amount (in minor units) and period at the gateway and in
 * `public.plans`.
 */
export const gatewayPlans: Check = {
  name: 'gateway-plans',
  needs: ['gateway key', 'database'],

  async run(context) {
    const rows = await context.query(`
      select p.tier, p.gateway_plan_id, p.price, p.currency, coalesce(nullif(p.duration_months, 0), 12) as months
      from public.plans p
      where p.gateway_plan_id is not null
      order by p.tier`);
    const plans = z.array(ourPlan).parse(rows);
    if (plans.length === 0) return [pass('no plan is billed by the gateway')];
    const outcomes: Outcome[] = [];
    for (const plan of plans) outcomes.push(await comparePlan(context, plan));
    return outcomes;
  },
};

async function comparePlan(context: Context, ours: OurPlan): Promise<Outcome> {
  const name = `${ours.tier} (${ours.gateway_plan_id})`;
  const reply = await callGateway(context, 'GET', `/plans/${encodeURIComponent(ours.gateway_plan_id)}`);
  if (reply.status === 400 && isUnknownPath(reply)) {
    return fail(
      'the account at the gateway has no subscriptions',
      'Ask the gateway to enable subscriptions for the account.',
    );
  }
  if (reply.status === 400) {
    return fail(
      `the gateway has no plan of ${name}`,
      'Correct plans.gateway_plan_id. The plan must belong to this account and to the mode of the key.',
    );
  }
  const theirs = plan.safeParse(reply.body);
  if (reply.status !== 200) return describeRefusal(context, reply, `the plan of ${name}`);
  if (!theirs.success) {
    return warn(
      `the gateway describes the plan of ${name} in another form than documented`,
      'Check it in its dashboard.',
    );
  }
  const { period, interval, item } = theirs.data;
  const differences = [
    ...item.amount === ours.price && item.currency === ours.currency
      ? []
      : [`${item.amount} ${item.currency} at the gateway, ${ours.price} ${ours.currency} here`],
    ...monthsOf(period, interval) === ours.months
      ? []
      : [`${period} × ${interval} at the gateway, ${ours.months} months here`],
  ];
  return differences.length === 0 ? pass(`${name} matches the plan at the gateway`) : fail(
    `the plan of ${name} differs: ${differences.join(', ')}`,
    'A plan at the gateway can not be changed: make a new one there and set plans.gateway_plan_id, or correct the row.',
  );
}

/** The gateway's answer for a feature that the account does not have. */
function isUnknownPath({ body }: Reply): boolean {
  return /URL was not found/.test(String(field(body, 'error', 'description')));
}

/** Null: not a whole number of months. */
function monthsOf(period: string, interval: number): number | null {
  if (period === 'monthly') return interval;
  return period === 'yearly' ? interval * 12 : null;
}
