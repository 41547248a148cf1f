import { z } from 'zod';
import { formatCurrency } from '../../../supabase/functions/api/outbox/format.ts';
import { type Check, fail, type Outcome, pass, warn } from '../check.ts';
import type { Context } from '../context.ts';
import { callGateway, describeRefusal } from '../gateway-api.ts';
import { field, type Reply } from '../request.ts';

const plan = z.object({
  period: z.string(),
  interval: z.number(),
  item: z.object({ amount: z.number(), currency: z.string() }),
});
const offer = z.object({
  lookup_key: z.string(),
  amount: z.coerce.number(),
  currency: z.string(),
  months: z.number(),
  gateway_plan_id: z.string().nullable(),
});
type Offer = z.infer<typeof offer>;
type BilledOffer = Offer & { gateway_plan_id: string };

/** A higher debit of a mandate by UPI or card needs a PIN or a code each time: paise. */
const HIGHEST_DEBIT = 1_500_000;

/**
 * Each price that the gateway bills has the same amount (in minor units), currency and interval there and here. Also
 * warns about prices that customers may expect to be renewed, and that can't be, or only with a PIN.
 */
export const gatewayPlans: Check = {
  name: 'gateway-plans',
  needs: ['gateway key', 'database'],

  async run(context) {
    const rows = await context.query(`
      select
        coalesce(p.lookup_key, p.tier) as lookup_key, p.price as amount, p.currency,
        billing.sold_months(p.duration_months) as months, p.gateway_plan_id
      from public.plans p
      where p.gateway_plan_id is not null
        or billing.is_on_offer(p)
        and exists (select from public.plans other where other.tier = p.tier and other.gateway_plan_id is not null)
      order by 1`);
    const offers = z.array(offer).parse(rows);
    if (offers.length === 0) return [pass('no price is billed by the gateway')];
    const outcomes: Outcome[] = [];
    for (const offer of offers) {
      outcomes.push(...isBilled(offer) ? [await compare(context, offer), ...checkDebit(offer)] : [notBilled(offer)]);
    }
    return outcomes;
  },
};

function isBilled(offer: Offer): offer is BilledOffer {
  return offer.gateway_plan_id !== null;
}

function notBilled({ lookup_key }: Offer): Outcome {
  return warn(
    `${lookup_key} has no plan at the gateway, other prices of its tier have one: it can be bought, not renewed`,
    'Make a plan there and set plans.gateway_plan_id.',
  );
}

function checkDebit({ lookup_key, amount, currency }: Offer): Outcome[] {
  if (currency !== 'INR' || amount <= HIGHEST_DEBIT) return [];
  return [
    warn(
      `a renewal of ${lookup_key} is ${
        formatCurrency(amount, currency)
      }: above ₹15,000 the customer confirms each debit ` +
        'with a PIN',
      'Offer a shorter interval, or sell it without renewal.',
    ),
  ];
}

async function compare(context: Context, ours: BilledOffer): Promise<Outcome> {
  const name = `${ours.lookup_key} (${ours.gateway_plan_id})`;
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
    ...item.amount === ours.amount && item.currency === ours.currency ? [] : [
      `${formatCurrency(item.amount, item.currency)} at the gateway, ${
        formatCurrency(ours.amount, ours.currency)
      } here`,
    ],
    ...monthsOf(period, interval) === ours.months
      ? []
      : [`${period} × ${interval} at the gateway, ${ours.months} months here`],
  ];
  return differences.length === 0 ? pass(`${name} matches the plan at the gateway`) : fail(
    `the plan of ${name} differs: ${differences.join(', ')}`,
    `A plan at the gateway can not be changed: make a new one there and set plans.gateway_plan_id, or correct the row.`,
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
