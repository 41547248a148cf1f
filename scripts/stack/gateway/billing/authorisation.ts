import { z } from 'zod';
import { collect, nextCycle } from './charges.ts';
import { firstStart } from './cycles.ts';
import type { Timed } from '../clock.ts';
import { signHex } from '../delivery.ts';
import { method, type Payment, type Subscription } from '../entities.ts';
import { gatewayError, unknownId } from '../errors.ts';
import { eventFields, type Webhook } from '../events.ts';
import { checkoutError } from '../payments.ts';
import { moveRefund, refundRequest } from '../refunds-and-disputes.ts';
import type { GatewayStore } from '../store.ts';
import { eventRequest } from './subscription-requests.ts';
import { moveSubscription, paySubscription, priceOf } from './subscriptions.ts';

/** The amount that proves a mandate whose first charge comes later, in minor units. It is refunded at once. */
const PROOF_AMOUNT = 500;
const DESCRIPTION = 'Mandate of a Subscription';
const REFUSED = { error_description: 'The customer refused the mandate.', error_reason: 'payment_cancelled' };

/** The body of `POST /simulate/authorise`: the customer approves or refuses the mandate, as on the page. */
export const authoriseRequest = z.strictObject({
  subscription_id: z.string(),
  outcome: z.enum(['approved', 'refused']),
  /** The plan of a subscription paid by UPI or e-mandate can not be changed. */
  method: method.default('upi'),
  ...eventFields,
});

type AuthoriseRequest = Timed<z.infer<typeof authoriseRequest>>;

/** The subscription and its first payment after the customer's answer, and the webhooks. */
type Authorised = { subscription: Subscription; payment: Payment; webhooks: Webhook[] };

/**
 * Approves a mandate, or refuses it, which leaves the subscription as it was. An approval charges the first cycle; with
 * a later `start_at` it takes a small payment and refunds it.
 */
export function authorise(store: GatewayStore, request: AuthoriseRequest): Authorised | Response {
  const { subscription_id: id, outcome, created_at: at } = request;
  const created = store.subscriptions.find(id);
  const billing = store.billing.get(id);
  if (created === undefined || billing === undefined) return unknownId('subscription_id');
  if (created.status !== 'created') {
    const description = `A subscription that is ${created.status} can not be authorised.`;
    return gatewayError(description, { field: 'subscription_id', step: 'payment_authentication' });
  }
  store.billing.set(id, { ...billing, method: request.method });
  const isLater = created.start_at !== null && created.start_at > at;
  if (outcome === 'refused') return refuse(store, created, isLater, request);
  return isLater ? prove(store, created, request) : begin(store, created, request);
}

function refuse(
  store: GatewayStore,
  created: Subscription,
  isLater: boolean,
  { created_at, irregular }: AuthoriseRequest,
): Authorised {
  const amount = isLater ? PROOF_AMOUNT : priceOf(created, store.plans.find(created.plan_id));
  const step = { created_at, irregular, ...REFUSED };
  const refused = paySubscription(store, created, { ...step, amount, outcome: 'failed', description: DESCRIPTION });
  return { subscription: created, ...refused };
}

/** Charges the first cycle now. A `start_at` that has passed meanwhile is the time of the approval. */
function begin(
  store: GatewayStore,
  created: Subscription,
  { created_at: at, irregular }: AuthoriseRequest,
): Authorised {
  const start_at = firstStart(store.cycles.current, at);
  store.subscriptions.save({ ...created, start_at });
  const authenticated = moveSubscription(store, eventRequest('authenticated', created.id, at, { irregular }));
  const cycle = nextCycle(store, authenticated.subscription, start_at);
  const { subscription, payment, webhooks } = collect(store, authenticated.subscription, at, { ...cycle, irregular });
  if (payment === undefined) throw new Error('a charge without a payment');
  return { subscription, payment, webhooks: [...authenticated.webhooks, ...webhooks] };
}

/** Takes the small payment of a mandate, and refunds it. */
function prove(store: GatewayStore, created: Subscription, { created_at, irregular }: AuthoriseRequest): Authorised {
  const step = { created_at, irregular };
  const proof = { ...step, amount: PROOF_AMOUNT, outcome: 'captured', description: DESCRIPTION } as const;
  const paid = paySubscription(store, created, proof);
  const refund = moveRefund(store, { ...refundRequest.parse({ payment_id: paid.payment.id }), ...step });
  if (refund instanceof Response) throw new Error('a captured payment refuses its refund');
  const { subscription, webhooks } = moveSubscription(
    store,
    eventRequest('authenticated', created.id, created_at, step),
  );
  return { subscription, payment: refund.payment, webhooks: [...paid.webhooks, ...refund.webhooks, ...webhooks] };
}

/** The result of a checkout with a subscription: a signature after an approval, the error of a refusal. */
export function authorisationAnswer({ subscription, payment }: Authorised, keySecret: string) {
  const isSigned = payment.status !== 'failed';
  const result = {
    gateway_payment_id: payment.id,
    gateway_subscription_id: subscription.id,
    gateway_signature: isSigned ? signHex(keySecret, `${payment.id}|${subscription.id}`) : null,
  };
  return isSigned ? result : { ...result, error: checkoutError(payment) };
}
