import { GatewayRefusal } from '../gateway/gateway-refusal.ts';
import type { Answer } from '../http/answer.ts';
import { errorAnswer } from '../http/errors.ts';
import type { Route } from './route.ts';
import { subscriptionRequest } from '../http/validation.ts';
import type { Database, Gateway, MadeSubscription, Result } from '../ports.ts';
import { readOrderRequest, refuse, waitWhileInFlight } from './order-request.ts';

type CreateSubscriptionResult = Result<'create_subscription'>;

/**
 * Creates a subscription that the gateway bills, or returns the open one. Contract: POST /api/subscriptions, "Order of
 * checks".
 */
export const createSubscription: Route = {
  method: 'POST',
  path: '/api/subscriptions',
  operation: 'createSubscription',
  bodyOf: 'session',
  failure: 'createSubscriptionFailed',
  // The gateway's timeout of 5 s comes on top of the database's 4 s.
  deadlineMilliseconds: 12_000,

  async handle({ request, body, config, auth, database, gateway }) {
    if (config.gateway === null || gateway === null) return errorAnswer('paymentsNotConfigured');

    const userId = await auth.authenticate(request);
    if (userId === null) return errorAnswer('unauthorized');

    const read = readOrderRequest(subscriptionRequest, request, body);
    if (read.refusal) return read.refusal;

    const create = () => database.createSubscription({ userId, ...read });
    const subscribed = await subscribe({ database, gateway }, userId, create, config.gateway.keyId);
    return 'refusal' in subscribed ? subscribed.refusal : subscribed;
  },
};

/** A subscription to authorise, or none after a change was undone, as an answer; or the answer that refuses it. */
export type Subscribed = ReturnType<typeof checkout> | typeof undone | { readonly refusal: Answer };

const undone = { status: 200, body: { subscription: null }, outcome: 'undone' } as const satisfies Answer;

/** Creates what `create` stored at the gateway, or returns the open one. @throws GatewayRefusal */
export async function subscribe(
  { database, gateway }: { database: Database; gateway: Gateway },
  userId: string,
  create: () => Promise<CreateSubscriptionResult>,
  keyId: string,
): Promise<Subscribed> {
  const result = await waitWhileInFlight(create);
  if (result.outcome === 'undone') return undone;
  if (result.outcome === 'existing') {
    const { gateway_subscription_id: id, status, short_url } = result;
    return checkout({ id, status, short_url }, result, keyId);
  }
  if (result.outcome !== 'created') return { refusal: refuse(result) };

  const made = await gateway.createSubscription({
    userId,
    requestId: result.id,
    planId: result.gateway_plan_id,
    cycles: result.billing_cycles,
    expireBy: result.expire_by,
    startAt: result.start_at,
  });
  const value = made.status === 'made' ? made.value : null;
  const { outcome } = await database.storeSubscription(result.id, value);
  if (made.status === 'refused') throw new GatewayRefusal('a subscription', made.reason);
  // The user undid the change in the meantime, or authorised another subscription.
  if (outcome === 'withdrawn') return { refusal: errorAnswer('alreadySubscribed') };
  if (value === null || outcome !== 'stored') return { refusal: errorAnswer('gatewayUnavailable') };
  return checkout(value, result, keyId);
}

/** The 201 answer: what a checkout needs, and what runs now. */
function checkout(
  { id, status, short_url }: MadeSubscription,
  { outcome, plan, price, running }: Extract<CreateSubscriptionResult, { plan: unknown }>,
  keyId: string,
) {
  return {
    status: 201,
    body: { subscription: { id, status, short_url }, key_id: keyId, plan, price, running },
    outcome,
  } as const satisfies Answer;
}
