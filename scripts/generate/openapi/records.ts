/** Schemas of the records in answers. Only the API description uses them. Contract: Records. */
import { z } from 'zod';

export const time = z.iso.datetime({ offset: true }).meta({ id: 'Time', description: 'ISO 8601 in UTC.' });
export const amount = z.int().meta({ id: 'Amount', description: 'Minor currency units: paise, cents.' });
export const currency = z.string().meta({ id: 'Currency', description: 'ISO 4217, for example `INR`.' });
export const tier = z.string().meta({ id: 'Tier', description: 'The `tier` of a plan, or `free`.' });

export const scenario = z.enum([
  'buy',
  'current',
  'renew',
  'upgrade',
  'downgrade',
  'scheduled',
]).meta({ id: 'Scenario', description: 'What it would be for the user to buy the price now.' });
export const entitlements = z.record(z.string(), z.union([z.boolean(), z.int()]).nullable())
  .meta({ id: 'Entitlements', description: 'What a tier may do. A missing key is no, null is unlimited.' });

export const price = z.object({
  lookup_key: z.string().describe("The app's name of the price. That of a default price is the tier."),
  amount,
  currency,
  interval: z.enum(['month', 'year']),
  interval_count: z.int(),
}).meta({ id: 'Price', description: 'A price as it was sold. A credit does not reduce the amount.' });

/** Columns that the app added to the table come, too. */
export const plan = z.looseObject({
  id: z.uuid(),
  tier,
  name: z.string(),
  price: amount,
  currency,
  features: z.unknown().describe('JSON of the app, for example a list of texts.'),
  is_active: z.boolean(),
  duration_months: z.int().nullable().describe('What a payment buys; null or 0 counts as 12.'),
  grace_days: z.int().describe('Days of access after a period that ended unpaid.'),
  trial_days: z.int().describe('Days of access before the first charge of such a subscription.'),
  gateway_plan_id: z.string().nullable().describe('The plan at the gateway, for subscriptions that the gateway bills.'),
  billing_cycles: z.int().nullable().describe('How often the gateway bills; null: for ten years.'),
  rank: z.int().nullable().describe('Orders the tiers. Null: a further price of a tier.'),
  entitlements,
  lookup_key: z.string().nullable().describe("Of a further price of the tier. Null: the tier's own plan."),
  created_at: time,
}).meta({ id: 'Plan', description: 'A plan, with the columns that the app added.' });

export const subscription = z.object({
  id: z.uuid(),
  user_id: z.uuid(),
  plan_id: z.uuid().nullable(),
  tier,
  status: z.enum(['active', 'cancelled']),
  current_period_start: time.nullable(),
  current_period_end: time.nullable(),
  cancelled_at: time.nullable(),
  cancel_at_period_end: z.boolean(),
  ended_reason: z.string().nullable().describe(
    "`lapsed`, `cancelled`, `refunded`, `never_captured`, `revoked`, or an admin's reason.",
  ),
  gateway_subscription_id: z.string().nullable().describe('Set where the gateway bills the subscription.'),
  created_at: time,
  access_ends_at: time.nullable().describe(
    'After a period that was not renewed: when access ends, or ended, with the days of grace. Else null.',
  ),
  price: price.nullable().describe('Null: it was not sold by a price, for example a grant.'),
  plan: plan.nullable(),
}).meta({ id: 'Subscription', description: 'One for each user: the state of the source that rules.' });

export const payment = z.object({
  id: z.uuid(),
  user_id: z.uuid(),
  subscription_id: z.uuid().nullable(),
  amount: amount.describe('What was sold, minus a credit.'),
  currency,
  status: z.enum(['created', 'captured', 'failed']).describe('`captured`: verified, or captured at the gateway.'),
  tier: tier.nullable(),
  price_key: z.string().nullable().describe('The lookup key of the price. Null: the default price.'),
  interval: price.shape.interval.nullable(),
  interval_count: z.int().nullable(),
  gateway_order_id: z.string().nullable(),
  gateway_payment_id: z.string().nullable(),
  gateway_signature: z.string().nullable(),
  gateway_subscription_id: z.string().nullable().describe(
    'The subscription that was charged, or whose renewal failed. Null: it is an order.',
  ),
  meta: z.unknown().describe('`tier`, and after a failed attempt three error fields. An app may store more.'),
  captured_at: time.nullable(),
  confirmed_at: time.nullable().describe('The gateway itself confirmed the capture.'),
  fulfilled_at: time.nullable().describe(
    'The payment granted its tier. Null for a charge: its subscription gives access.',
  ),
  period_start: time.nullable(),
  period_end: time.nullable(),
  paid_amount: amount.nullable().describe('What the gateway captured. Null until known.'),
  refunded_amount: amount,
  dispute_status: z.string().nullable().describe('Of the newest dispute.'),
  created_at: time,
}).meta({
  id: 'Payment',
  description: 'One for each order, for each charge of a gateway subscription, and for each renewal that failed.',
});

export const billing = z.object({
  gateway_subscription_id: z.string(),
  status: z.string().nullable().describe('As the gateway names it.'),
  next_charge_at: time.nullable().describe('Null: no further charge.'),
  payment_attention: z.boolean().describe('A charge failed, and the customer must act.'),
  manage_url: z.string().nullable().describe('The page of the gateway.'),
  price: price.nullable(),
  next: z.object({
    tier,
    price,
    amount,
    currency,
    starts_at: time,
    undo_until: time.nullable().describe('48 hours before it starts. Null: the gateway was told; no undo.'),
  }).nullable().describe('The change that waits for the end of the cycle.'),
}).meta({ id: 'Billing', description: 'Of the subscriptions that the gateway bills, the one that it charges next.' });

export const running = z.object({
  tier,
  until: time,
  early_renewal: z.enum(['replace', 'extend']),
  price: price.nullable(),
  starts_at: time.optional().describe(
    'Only with an order: when its period would start. If this is before `until`, the time between is replaced.',
  ),
}).meta({ id: 'Running', description: 'What the user has now.' });

export const prefill = z.object({
  email: z.string().nullable(),
  name: z.string().nullable(),
}).meta({ id: 'Prefill', description: 'For the form of the checkout.' });
