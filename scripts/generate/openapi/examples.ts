/** Examples of the answers. The check validates each against its schema. */
import type { z } from 'zod';
import type * as answers from './answers.ts';
import type * as records from './records.ts';

type Example<Schema extends z.ZodType> = z.input<Schema>;

const plan = {
  id: '5d0fbb3c-9f5e-4c1c-8c5b-0c6f7f2f0a11',
  tier: 'pro',
  name: 'Pro',
  price: 99900,
  currency: 'INR',
  features: ['Everything in Basic', 'Analytics', 'Priority support'],
  is_active: true,
  duration_months: 12,
  ...{ grace_days: 3, trial_days: 0 },
  gateway_plan_id: 'plan_NfR2k8Qv1xYzAb',
  billing_cycles: null,
  ...{ rank: 200, lookup_key: null },
  entitlements: { analytics: true, projects: 25 },
  created_at: '2026-10-01T08:00:00.000+00:00',
} satisfies Example<typeof records.plan>;

const price = {
  ...{ lookup_key: 'pro', amount: 99900, currency: 'INR' },
  ...{ interval: 'year', interval_count: 1 },
} satisfies Example<typeof records.price>;

const subscription = {
  id: '8a2f7c1e-3b64-4a0d-9d57-2f1f0c9f6e21',
  user_id: '1b4e28ba-2fa1-4d52-883f-0016d3cca427',
  plan_id: plan.id,
  tier: 'pro',
  status: 'active',
  current_period_start: '2026-11-22T09:30:00.000+00:00',
  current_period_end: '2027-11-22T09:30:00.000+00:00',
  cancelled_at: null,
  cancel_at_period_end: false,
  ...{ ended_reason: null, access_ends_at: null },
  gateway_subscription_id: null,
  created_at: '2026-11-22T09:30:00.000+00:00',
  price,
  plan,
} satisfies Example<typeof records.subscription>;

const payment = {
  id: 'c56a4180-65aa-42ec-a945-5fd21dec0538',
  user_id: subscription.user_id,
  subscription_id: subscription.id,
  amount: 99900,
  currency: 'INR',
  status: 'captured',
  tier: 'pro',
  price_key: null,
  interval: 'year',
  interval_count: 1,
  gateway_order_id: 'order_NfR4mX7cT2pLqW',
  gateway_payment_id: 'pay_NfR5nB9dK3sVhY',
  gateway_signature: '5f1d7a84a1f9c4f0b7e0a7d6f2a5c8e35f1d7a84a1f9c4f0b7e0a7d6f2a5c8e3',
  gateway_subscription_id: null,
  meta: { tier: 'pro' },
  captured_at: '2026-11-22T09:30:00.000+00:00',
  confirmed_at: '2026-11-22T09:30:04.000+00:00',
  fulfilled_at: '2026-11-22T09:30:00.000+00:00',
  period_start: subscription.current_period_start,
  period_end: subscription.current_period_end,
  ...{ paid_amount: 99900, refunded_amount: 0 },
  dispute_status: null,
  created_at: '2026-11-22T09:28:41.000+00:00',
} satisfies Example<typeof records.payment>;

export const read = {
  subscription,
  currentTier: 'pro',
  entitlements: plan.entitlements,
  payments: [payment],
  billing: null,
} satisfies Example<typeof answers.subscriptionAnswer>;

const offered = { id: plan.id, ...price, gateway_plan_id: plan.gateway_plan_id, is_default: true };
const month = { lookup_key: 'pro_monthly', amount: 9900, interval: 'month' as const, is_default: false };
const monthly = { ...offered, id: '0b7e6d2a-5f1c-4d3e-9a8b-7c6d5e4f3a21', ...month };
const prices = [offered, monthly];
export const publicPlans = { plans: [{ ...plan, prices }] } satisfies Example<typeof answers.plansAnswer>;

const scenario = 'upgrade';
export const plansOfUser = {
  plans: [{ ...plan, scenario, prices: prices.map((price) => ({ ...price, scenario })) }],
} satisfies Example<typeof answers.plansAnswer>;

export const cancelled = { subscription: { ...subscription, cancel_at_period_end: true } } satisfies Example<
  typeof answers.changedSubscriptionAnswer
>;

export const resumed = { subscription } satisfies Example<typeof answers.changedSubscriptionAnswer>;

const basic = { ...price, lookup_key: 'basic', amount: 4900, interval: 'month' as const };
const running = {
  ...{ tier: 'basic', until: '2026-12-01T10:00:00.000Z', early_renewal: 'replace' },
  price: basic,
} satisfies Example<typeof records.running>;

export const ordered = {
  order: { id: payment.gateway_order_id, amount: 99900, currency: 'INR' },
  key_id: 'key_8Qv1xYzAb3Kd',
  payment_id: payment.id,
  plan,
  price: offered,
  running: { ...running, starts_at: '2026-11-22T09:28:41.000Z' },
  prefill: { email: 'asha@example.com', name: 'Asha' },
} satisfies Example<typeof answers.orderAnswer>;

export const orderedWithCredit = {
  ...ordered,
  order: { ...ordered.order, amount: 96600 },
  credit: 3300,
  starts_at: '2026-11-22T09:28:41.000Z',
  ends_at: '2027-11-22T09:28:41.000Z',
} satisfies Example<typeof answers.orderAnswer>;

export const orderState = {
  order_id: payment.gateway_order_id,
  status: 'paid',
  tier: 'pro',
  amount: 99900,
  currency: 'INR',
  valid_until: '2027-11-22T09:30:00.000Z',
  attempts: 2,
  last_error: 'The bank declined the payment.',
} satisfies Example<typeof answers.orderStateAnswer>;

export const subscribed = {
  subscription: { id: 'sub_NfR8rT1vH4wEjU', status: 'created', short_url: 'https://gateway.example/s/NfR8rT1' },
  key_id: ordered.key_id,
  plan,
  price: offered,
  running,
} satisfies Example<typeof answers.gatewaySubscriptionAnswer>;

export const terms = {
  ...{ amount_due: 96600, due_at: '2026-11-22T09:28:41.000Z', credit: 3300, currency: 'INR' },
  starts_at: '2026-11-22T09:28:41.000Z',
  ends_at: '2027-11-22T09:28:41.000Z',
  from: 'basic',
  to: 'pro',
  from_price: 'basic',
  to_price: 'pro',
  renews: true,
  next_charge: { at: '2027-11-22T09:28:41.000Z', amount: 99900 },
} satisfies Example<typeof answers.changeTerms>;

export const changed = {
  ...ordered,
  change: terms,
  order: { ...ordered.order, amount: terms.amount_due },
  subscription: null,
} satisfies Example<typeof answers.changeAnswer>;

export const undone = {
  change: { ...terms, amount_due: 0, due_at: null, credit: 0 },
  order: null,
  payment_id: null,
  subscription: null,
} satisfies Example<typeof answers.undoneChangeAnswer>;

export const verified = {
  success: true,
  message: 'Payment verified and subscription activated',
  subscription: { tier: 'pro', validUntil: '2027-11-22T09:30:00.000Z' },
} satisfies Example<typeof answers.verifyAnswer>;

export const authorised = {
  success: true,
  message: 'Payment verified and subscription authorised',
  subscription: { tier: 'pro', validUntil: null, startsAt: '2026-12-01T10:00:00.000Z' },
} satisfies Example<typeof answers.verifyAnswer>;

export const received = { received: true } satisfies Example<typeof answers.receivedAnswer>;

export const healthy = {
  status: 'ok',
  oldest_undelivered_at: null,
  last_webhook_at: '2026-11-22T09:30:04.000Z',
  ...{ last_sweep_at: '2026-11-22T09:30:00.000Z', statement: null },
} satisfies Example<typeof answers.healthAnswer>;

export const dispatched = { delivered: 3, retried: 0, parked: 0, next_attempt_at: null } satisfies Example<
  typeof answers.dispatchAnswer
>;

export const reconciled = { asked: 2, applied: 1, unanswered: 0 } satisfies Example<typeof answers.reconcileAnswer>;

export const accepted = { accepted: true } satisfies Example<typeof answers.acceptedAnswer>;

export const document = {
  openapi: '3.1.0',
  info: { title: 'Subscriptions and payments', version: '0.3.10' },
  paths: {},
} satisfies Example<typeof answers.openapiAnswer>;
