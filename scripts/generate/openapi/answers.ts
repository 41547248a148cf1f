/** Schemas of the answers, by operation. Only the API description uses them. Contract: the endpoints. */
import { z } from 'zod';
import {
  amount,
  billing,
  currency,
  entitlements,
  payment,
  plan,
  prefill,
  price,
  running,
  scenario,
  subscription,
  tier,
  time,
} from './records.ts';

const count = z.int().nonnegative();

export const subscriptionAnswer = z.object({
  subscription: subscription.nullable(),
  currentTier: tier,
  entitlements,
  payments: z.array(payment).max(10).describe('The newest first.'),
  billing: billing.nullable(),
}).meta({ id: 'SubscriptionAnswer' });

const offered = { scenario: scenario.optional().describe('Only with a session.') };
const planPrice = price.extend({
  id: z.uuid(),
  gateway_plan_id: z.string().nullable().describe('The plan at the gateway. Null: the gateway does not bill it.'),
  is_default: z.boolean(),
}).meta({ id: 'PlanPrice', description: 'The price of a row of `public.plans`, as it is sold.' });
const offeredPrice = planPrice.extend({
  ...offered,
  trial_days: z.int().positive().optional().describe(
    'Days before the first charge of a subscription. Only where there is a trial, for a user who may have it.',
  ),
}).meta({ id: 'OfferedPrice', description: 'A price on offer.' });
export const plansAnswer = z.object({
  plans: z.array(plan.extend({
    prices: z.array(offeredPrice).describe('The default first, then by length, amount and key.'),
    ...offered,
  })),
  needs_state: z.literal(true).optional().describe(
    'Only with a session: the seller issues tax invoices, and the state of the user is not known. Ask for it: a sale works ' +
      'without.',
  ),
}).meta({ id: 'PlansAnswer' });

export const changedSubscriptionAnswer = z.object({ subscription: subscription.nullable() })
  .meta({ id: 'ChangedSubscriptionAnswer', description: '`subscription`: null, if nothing gave access yet.' });

const orderOfGateway = z.object({ id: z.string(), amount, currency })
  .meta({ id: 'GatewayOrder', description: 'The order at the gateway.' });
const subscriptionOfGateway = z.object({ id: z.string(), status: z.string(), short_url: z.string() })
  .meta({ id: 'GatewaySubscription', description: 'The subscription at the gateway. `short_url`: its page.' });
const keyId = z.string().describe("The gateway's API key id, for the checkout.");

export const orderAnswer = z.object({
  order: orderOfGateway,
  key_id: keyId,
  payment_id: z.uuid(),
  plan,
  price: planPrice.nullable().describe('Null: the app made the order itself.'),
  running: running.nullable(),
  prefill,
  credit: amount.optional(),
  starts_at: time.optional(),
  ends_at: time.optional(),
}).meta({ id: 'OrderAnswer', description: '`credit`, `starts_at` and `ends_at` only for a request with `start`.' });

export const orderStateAnswer = z.object({
  order_id: z.string(),
  status: z.enum(['open', 'paid', 'failed']).describe(
    '`paid`: verified or captured. `open`: not paid, or another attempt runs. `failed`: the newest attempt failed, or the ' +
      'payment was refunded in full or never captured.',
  ),
  tier,
  amount,
  currency,
  valid_until: time.nullable(),
  attempts: count,
  last_error: z.string().nullable().describe("The gateway's text of the newest failed attempt."),
}).meta({ id: 'OrderStateAnswer' });

export const gatewaySubscriptionAnswer = z.object({
  subscription: subscriptionOfGateway,
  key_id: keyId,
  plan,
  price: planPrice,
  running: running.nullable(),
}).meta({ id: 'GatewaySubscriptionAnswer' });

export const changeTerms = z.object({
  amount_due: amount,
  due_at: time.nullable().describe(
    'When `amount_due` is paid: now, or when the gateway charges it. Null: nothing is due.',
  ),
  credit: amount,
  currency,
  starts_at: time,
  ends_at: time,
  from: tier,
  to: tier,
  from_price: z.string().nullable().describe('Null: what the user has was not sold by a price.'),
  to_price: z.string(),
  renews: z.boolean().describe('Whether it goes on by itself.'),
  next_charge: z.object({ at: time, amount }).nullable().describe('The next charge by the gateway. Null: none.'),
}).meta({ id: 'ChangeTerms', description: 'The terms of a change to another plan.' });

export const undoneChangeAnswer = z.object({
  change: changeTerms,
  order: z.null(),
  payment_id: z.null(),
  subscription: z.null(),
}).meta({ id: 'UndoneChangeAnswer' });

export const changeAnswer = z.object({
  change: changeTerms,
  order: orderOfGateway.nullable(),
  payment_id: z.uuid().nullable(),
  subscription: subscriptionOfGateway.nullable(),
  key_id: keyId,
  plan,
  price: planPrice,
  running: running.nullable(),
  prefill: prefill.optional(),
}).meta({ id: 'ChangeAnswer', description: 'An order to pay, a subscription to authorise, or both.' });

export const verifyAnswer = z.object({
  success: z.literal(true),
  message: z.string(),
  subscription: z.object({
    tier,
    validUntil: time.nullable().describe('The end of what was bought; null: the first cycle has not begun.'),
    startsAt: time.nullable().optional().describe('Only of a subscription: when its first cycle begins later.'),
  }),
}).meta({ id: 'VerifyAnswer' });

export const pdfAnswer = z.string().meta({ id: 'Pdf', description: 'The bytes of the file.', format: 'binary' });

export const billingDetailsAnswer = z.object({
  billing_details: z.object({
    name: z.string().nullable(),
    gstin: z.string().nullable(),
    address: z.string().nullable(),
    state: z.string().nullable().describe('The code of two digits; 96 is abroad, 97 other territory.'),
    country: z.string().nullable().describe('ISO 3166, two letters. Null: India.'),
  }).nullable(),
}).meta({ id: 'BillingDetailsAnswer' });

export const receivedAnswer = z.object({ received: z.literal(true) }).meta({ id: 'ReceivedAnswer' });

export const healthAnswer = z.object({
  status: z.literal('ok'),
  oldest_undelivered_at: time.nullable().describe('Null while nothing is due.'),
  last_webhook_at: time.nullable(),
  last_sweep_at: time.nullable(),
  statement: z.object({
    read_until: time.describe('Everything that was created at the gateway before was read.'),
    completed_at: time,
    payments: count.describe('How many payments the last complete window had.'),
    news: count.describe('How much of the last complete windows no webhook had announced.'),
  }).nullable().describe('How far the lists of the gateway were read; null: not yet.'),
}).meta({ id: 'HealthAnswer' });

export const dispatchAnswer = z.object({
  delivered: count,
  retried: count,
  parked: count,
  next_attempt_at: time.nullable(),
}).meta({ id: 'DispatchAnswer' });

export const reconcileAnswer = z.object({
  asked: count.describe('Reads of the gateway.'),
  applied: count.describe('Changes that they made.'),
  unanswered: count.describe('Reads without a usable answer.'),
}).meta({ id: 'ReconcileAnswer' });

export const acceptedAnswer = z.object({ accepted: z.literal(true) }).meta({ id: 'AcceptedAnswer' });

export const openapiAnswer = z.looseObject({
  openapi: z.string(),
  info: z.looseObject({ title: z.string(), version: z.string() }),
  paths: z.looseObject({}),
}).meta({ id: 'OpenapiAnswer', description: 'A document of OpenAPI 3.1.' });
