import {
  type Billing,
  type BillingDetails,
  type Change,
  type CurrentSubscription,
  type OfferedPlan,
  type OfferedPrice,
  type Payment,
  type Price,
  type Receipt,
  type Scenario,
  type Subscription,
  type Subscriptions,
  SubscriptionsError,
} from '../../supabase/client/subscriptions.ts';

const DAY_MS = 86_400_000;
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();

const features = [
  ['3 projects', 'Community support'],
  ['25 projects', 'Analytics', 'E-mail support'],
  ['Unlimited projects', 'Analytics', 'Priority support'],
];
const offers = [['basic', 'Basic', 4900, 49000], ['pro', 'Pro', 9900, 99900], [
  'premium',
  'Premium',
  19900,
  199900,
]] as const;
const keyOf = (tier: string, interval: Price['interval']) => `${tier}_${interval}ly`;

function priceOf(tier: string, interval: Price['interval']): Price {
  const [, , month, year] = offers.find(([one]) => one === tier) ?? offers[0];
  const amount = interval === 'month' ? month : year;
  return { lookup_key: keyOf(tier, interval), amount, currency: 'INR', interval, interval_count: 1 };
}

/** The plans, where a price is held and another one may be scheduled. */
function plansFor(held: Price | null, scheduled?: Price): OfferedPlan[] {
  const order = offers.flatMap(([tier]) => [keyOf(tier, 'month'), keyOf(tier, 'year')]);
  const scenarioOf = (key: string): Scenario => {
    if (held === null) return 'buy';
    if (key === held.lookup_key) return 'current';
    if (key === scheduled?.lookup_key) return 'scheduled';
    return order.indexOf(key) > order.indexOf(held.lookup_key) ? 'upgrade' : 'downgrade';
  };
  return offers.map(([tier, name, price], rank) => ({
    ...{ id: tier, tier, name, price, currency: 'INR', features: features[rank], is_active: true, duration_months: 1 },
    ...{ grace_days: 3, billing_cycles: null, trial_days: 0, gateway_plan_id: `plan_${tier}`, rank, entitlements: {} },
    ...{ lookup_key: null, created_at: inDays(-400) },
    prices: (['month', 'year'] as const).map((interval): OfferedPrice => {
      const offered = priceOf(tier, interval);
      const { lookup_key: id } = offered;
      return { ...offered, id, gateway_plan_id: `plan_${id}`, is_default: false, scenario: scenarioOf(id) };
    }),
  }));
}

function subscriptionOf(price: Price, changed: Partial<Subscription> = {}): Subscription {
  const tier = price.lookup_key.split('_')[0] ?? '';
  return {
    ...{ id: 'one', user_id: 'user', plan_id: tier, tier, status: 'active', created_at: inDays(-40) },
    ...{ current_period_start: inDays(-11), current_period_end: inDays(19), cancelled_at: null },
    ...{
      cancel_at_period_end: false,
      ended_reason: null,
      access_ends_at: null,
      gateway_subscription_id: 'sub_1',
      price,
    },
    plan: plansFor(null).find((plan) => plan.tier === tier) ?? null,
    ...changed,
  };
}

function billingOf(price: Price, changed: Partial<Billing> = {}): Billing {
  return {
    ...{ gateway_subscription_id: 'sub_1', status: 'active', next_charge_at: inDays(19), payment_attention: false },
    ...{ manage_url: 'https://gateway.example/manage', price, next: null },
    ...changed,
  };
}

function paymentOf(id: number, price: Price, days: number, changed: Partial<Payment> = {}): Payment {
  const length = price.interval === 'month' ? 30 : 365;
  return {
    ...{ id: `payment ${id}`, user_id: 'user', subscription_id: 'one', amount: price.amount, currency: 'INR' },
    ...{ status: 'captured', tier: price.lookup_key.split('_')[0] ?? null, price_key: price.lookup_key },
    ...{ interval: price.interval, interval_count: 1, gateway_order_id: null, gateway_payment_id: `pay_${id}` },
    ...{ gateway_signature: null, gateway_subscription_id: 'sub_1', meta: {}, captured_at: inDays(days) },
    ...{
      confirmed_at: inDays(days),
      fulfilled_at: null,
      period_start: inDays(days),
      period_end: inDays(days + length),
    },
    ...{ paid_amount: price.amount, refunded_amount: 0, dispute_status: null, created_at: inDays(days) },
    ...changed,
  };
}

/** A renewal that failed. */
function failureOf(id: number, price: Price, days: number): Payment {
  const none = { gateway_payment_id: null, captured_at: null, confirmed_at: null, paid_amount: null };
  return paymentOf(id, price, days, { status: 'failed', ...none, period_start: null, period_end: null });
}

function receiptOf(payment: number, title: string, total: number): Receipt {
  const kind = title === 'Credit note' ? 'credit_note' : 'receipt';
  const document_number = `${kind === 'receipt' ? '' : 'CN'}2627/00000${payment}`;
  const taxes = [{ name: 'IGST', rate: 1800, amount: Math.round(total * 18 / 118) }];
  const totals = { taxable: total - Math.round(total * 18 / 118), taxes, total };
  return {
    ...{ id: document_number, kind, title, document_number, document_date: '2026-11-04', currency: 'INR', totals },
    payment_id: `payment ${payment}`,
  };
}

type Fixture = {
  current: CurrentSubscription;
  plans: OfferedPlan[];
  receipts: Receipt[];
  details: BillingDetails | null;
};
function fixture(price: Price | null, changed: Partial<CurrentSubscription> = {}, scheduled?: Price): Fixture {
  const current: CurrentSubscription = {
    subscription: price && subscriptionOf(price),
    currentTier: price?.lookup_key.split('_')[0] ?? 'free',
    entitlements: {},
    payments: price ? [paymentOf(2, price, -11), paymentOf(1, price, price.interval === 'month' ? -41 : -376)] : [],
    billing: price && billingOf(price),
    ...changed,
  };
  // As a service answers whose default prices have several intervals.
  return { current, plans: plansFor(price, scheduled).toReversed(), receipts: [], details: null };
}

const [monthly, yearly, basic] = [priceOf('pro', 'month'), priceOf('pro', 'year'), priceOf('basic', 'month')];
const ended = { status: 'cancelled', cancelled_at: inDays(-2), gateway_subscription_id: 'sub_1' } as const;
const failing = { payment_attention: true, next_charge_at: null };
const next = { tier: 'basic', price: basic, amount: basic.amount, currency: 'INR', starts_at: inDays(19) };

/** A customer in each state that the page shows. */
export const states: Readonly<Record<string, Fixture>> = {
  free: fixture(null),
  offered: {
    ...fixture(null),
    plans: fixture(null).plans.map((plan) => ({
      ...plan,
      prices: plan.prices.map((price) => ({ ...price, trial_days: 7 })),
    })),
  },
  monthly: fixture(monthly),
  yearly: fixture(yearly, {
    subscription: subscriptionOf(yearly, { current_period_end: inDays(354) }),
    billing: billingOf(yearly, { next_charge_at: inDays(354) }),
  }),
  bought: fixture(yearly, {
    subscription: subscriptionOf(yearly, { current_period_end: inDays(354), gateway_subscription_id: null }),
    billing: null,
  }),
  trial: fixture(monthly, {
    subscription: subscriptionOf(monthly, { current_period_end: inDays(7) }),
    billing: billingOf(monthly, { status: 'authenticated', next_charge_at: inDays(7) }),
    payments: [],
  }),
  pending: fixture(monthly, {
    subscription: subscriptionOf(monthly, { current_period_end: inDays(-1), access_ends_at: inDays(2) }),
    billing: billingOf(monthly, { status: 'pending', payment_attention: true, next_charge_at: inDays(1) }),
    payments: [failureOf(3, monthly, -1), paymentOf(2, monthly, -31)],
  }),
  retried: fixture(monthly, {
    payments: [paymentOf(4, monthly, -11), failureOf(3, monthly, -12), paymentOf(2, monthly, -42)],
  }),
  halted: {
    ...fixture(monthly, {
      subscription: subscriptionOf(monthly, { ...ended, ended_reason: 'lapsed' }),
      currentTier: 'free',
      billing: billingOf(monthly, { status: 'halted', ...failing }),
      payments: [failureOf(3, monthly, -5), paymentOf(2, monthly, -35)],
    }),
    plans: plansFor(null),
  },
  ending: fixture(monthly, {
    subscription: subscriptionOf(monthly, { cancel_at_period_end: true }),
    billing: billingOf(monthly, { next_charge_at: null }),
  }),
  paused: fixture(monthly, { billing: billingOf(monthly, { status: 'paused', next_charge_at: null }) }),
  // The payment of the newer subscription was returned, and what it replaced runs to its end.
  'charged later': fixture(monthly, {
    subscription: subscriptionOf(basic, { gateway_subscription_id: 'sub_0' }),
    currentTier: 'basic',
    billing: billingOf(monthly, { next_charge_at: inDays(29) }),
  }),
  scheduled: fixture(monthly, { billing: billingOf(monthly, { next: { ...next, undo_until: inDays(17) } }) }, basic),
  'told the gateway': fixture(monthly, { billing: billingOf(monthly, { next: { ...next, undo_until: null } }) }, basic),
  // Support wrote premium into the row of a customer who pays for pro.
  given: fixture(monthly, {
    subscription: subscriptionOf(monthly, { tier: 'premium', price: null, current_period_end: inDays(40) }),
    currentTier: 'premium',
  }),
  'given over a change': fixture(monthly, {
    subscription: subscriptionOf(monthly, { tier: 'premium', price: null, current_period_end: inDays(40) }),
    currentTier: 'premium',
    billing: billingOf(basic, { next: { ...next, undo_until: inDays(17) } }),
  }, basic),
  invoiced: {
    ...fixture(monthly, {
      payments: [
        paymentOf(2, monthly, -11),
        failureOf(3, monthly, -12),
        paymentOf(1, monthly, -41, { dispute_status: 'open', refunded_amount: 3_000 }),
      ],
    }),
    details: {
      name: 'Konkan Traders',
      gstin: '27AAPFU0939F1ZV',
      address: '7 Marine Drive',
      state: '27',
      country: null,
    },
    receipts: [receiptOf(2, 'Tax invoice', 9900), receiptOf(1, 'Tax invoice', 9900), receiptOf(1, 'Credit note', 3000)],
  },
  changed: fixture(yearly, {
    subscription: subscriptionOf(yearly, { current_period_start: inDays(0), current_period_end: inDays(365) }),
    billing: billingOf(yearly, { next_charge_at: inDays(365) }),
    payments: [
      paymentOf(3, yearly, 0, { amount: 93_630, paid_amount: 93_630 }),
      paymentOf(2, monthly, -11, { refunded_amount: 3_000 }),
      paymentOf(1, monthly, -41, { dispute_status: 'under_review' }),
    ],
  }),
  refunded: {
    ...fixture(monthly, {
      subscription: subscriptionOf(monthly, { ...ended, ended_reason: 'refunded' }),
      currentTier: 'free',
      billing: null,
      payments: [paymentOf(1, monthly, -11, { refunded_amount: monthly.amount })],
    }),
    plans: plansFor(null),
  },
};

/** A client that answers with the fixture, and refuses what writes. */
export function fakeClient(state: string): Subscriptions {
  const { current, plans } = states[state] ?? fixture(null);
  const refuse = () => Promise.reject(new Error('The fixture changes nothing'));
  const preview = (offer: string | { price: string }, when: 'now' | 'period_end'): Change => {
    const key = typeof offer === 'string' ? offer : offer.price;
    const price = plans.flatMap(({ prices }) => prices).find(({ lookup_key }) => lookup_key === key);
    if (!price || price.scenario === 'downgrade' && when === 'now') throw new Error('Only at the end of the period');
    const days = when === 'now' ? 0 : 19;
    const credit = when === 'now' ? 6_270 : 0;
    return {
      ...{ amount_due: price.amount - credit, credit, currency: 'INR', due_at: inDays(days), starts_at: inDays(days) },
      ...{ ends_at: inDays(days + (price.interval === 'month' ? 30 : 365)), from: current.currentTier },
      ...{ to: key.split('_')[0] ?? '', from_price: current.subscription?.price?.lookup_key ?? null, to_price: key },
      ...{ renews: true, next_charge: { at: inDays(days), amount: price.amount } },
    };
  };
  const { receipts, details } = states[state] ?? fixture(null);
  return {
    receipts: () => Promise.resolve(receipts),
    receipt: () => Promise.resolve(new Blob(['%PDF-1.7'])),
    billingDetails: () => Promise.resolve(details),
    saveBillingDetails: () => Promise.reject(new SubscriptionsError('Invalid request', 'http', 400)),
    plans: () => Promise.resolve(plans),
    current: () => Promise.resolve(current),
    can: () => false,
    limit: () => 0,
    previewChange: (offer, when) => Promise.resolve().then(() => preview(offer, when)),
    resumePending: () => Promise.resolve([]),
    ...{ checkout: refuse, subscribe: refuse, change: refuse, cancel: refuse, resume: refuse },
  };
}
