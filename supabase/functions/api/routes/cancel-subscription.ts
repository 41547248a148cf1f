import { errorAnswer } from '../http/errors.ts';
import { readJson } from '../http/read-json.ts';
import type { Route } from './route.ts';
import { cancelSubscriptionRequest, parseRequest } from '../http/validation.ts';

/** Ends the caller's subscription, now or at the end of the period. Contract: POST /api/subscriptions/cancel. */
export const cancelSubscription: Route = {
  method: 'POST',
  path: '/api/subscriptions/cancel',
  operation: 'cancelSubscription',
  bodyOf: 'session',
  failure: 'cancelSubscriptionFailed',

  async handle({ request, body, auth, database, dispatchLater }) {
    const userId = await auth.authenticate(request);
    if (userId === null) return errorAnswer('unauthorized');

    const parsed = parseRequest(cancelSubscriptionRequest, readJson(body));
    if (!parsed.ok) return errorAnswer('invalidRequest', parsed.details);

    const result = await database.cancelSubscription(userId, parsed.request.at_period_end);
    if (result.outcome === 'subscription_not_found') return errorAnswer('subscriptionNotFound');
    dispatchLater();
    return { status: 200, body: { subscription: result.subscription }, outcome: result.outcome };
  },
};
