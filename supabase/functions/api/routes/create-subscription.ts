import type { Result } from '../database/database-results.ts';
import { GatewayRefusal } from '../gateway/gateway-refusal.ts';
import type { Answer } from '../http/answer.ts';
import { errorAnswer, onlyAtPeriodEndAnswer, priceConflictAnswer, tooLateAnswer } from '../http/errors.ts';
import type { Route } from '../http/route.ts';
import { subscriptionRequest } from '../http/validation.ts';
import type { Database, Gateway, MadeSubscription } from '../ports.ts';
import { readOrderRequest, waitWhileInFlight } from './order-request.ts';

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
    return subscribe({ database, gateway }, userId, create, config.gateway.keyId);
  },
};

/** Creates what `create` stored at the gateway, or returns the open one. @throws GatewayRefusal */
export async function subscribe(
  { database, gateway }: { database: Database; gateway: Gateway },
  userId: string,
  create: () => Promise<CreateSubscriptionResult>,
  keyId: string,
): Promise<Answer> {
  const result = await waitWhileInFlight(create);
  if (result.outcome !== 'created') return answerWithoutCreating(result, keyId);

  const made = await gateway.createSubscription({
    userId,
    planId: result.gateway_plan_id,
    cycles: result.billing_cycles,
    expireBy: result.expire_by,
    startAt: result.start_at,
  });
  const value = made.status === 'made' ? made.value : null;
  const { outcome } = await database.storeSubscription(result.id, value);
  if (made.status === 'refused') throw new GatewayRefusal('a subscription', made.reason);
  // The user undid the change in the meantime, or authorised another subscription.
  if (outcome === 'withdrawn') return errorAnswer('alreadySubscribed');
  return value === null || outcome !== 'stored' ? errorAnswer('gatewayUnavailable') : checkout(value, result, keyId);
}

function answerWithoutCreating(
  result: Exclude<CreateSubscriptionResult, { outcome: 'created' }>,
  keyId: string,
): Answer {
  switch (result.outcome) {
    case 'existing': {
      const { gateway_subscription_id: id, status, short_url } = result;
      return checkout({ id, status, short_url }, result, keyId);
    }
    case 'plan_not_found':
      return errorAnswer('offerNotFound');
    case 'not_at_gateway':
      return errorAnswer('priceNotAtGateway');
    case 'price_conflict':
      return priceConflictAnswer();
    case 'not_now':
      return onlyAtPeriodEndAnswer(result.reason);
    case 'user_not_found':
      return errorAnswer('unauthorized');
    case 'key_conflict':
      return errorAnswer('idempotencyKeyReused');
    case 'already_subscribed':
      return errorAnswer('alreadySubscribed');
    case 'subscription_not_found':
      return errorAnswer('subscriptionNotFound');
    case 'undone':
      return { status: 200, body: { subscription: null }, outcome: 'undone' };
    case 'too_late':
      return tooLateAnswer(result.possible_from);
    case 'in_flight':
      return { ...errorAnswer('subscriptionInProgress'), headers: { 'retry-after': '1' } };
    case 'rate_limited':
      return { ...errorAnswer('tooManyOrders'), headers: { 'retry-after': String(result.retry_after) } };
  }
}

/** The 201 answer: what a checkout needs, and what runs now. */
function checkout(
  { id, status, short_url }: MadeSubscription,
  { outcome, plan, price, running }: Extract<CreateSubscriptionResult, { plan: unknown }>,
  keyId: string,
): Answer {
  return {
    status: 201,
    body: { subscription: { id, status, short_url }, key_id: keyId, plan, price, running },
    outcome,
  };
}
