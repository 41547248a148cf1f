import { errorAnswer } from '../http/errors.ts';
import type { Route } from './route.ts';

/** Returns the caller's subscription, tier and newest payments. Contract: GET /api/subscriptions. */
export const getSubscription: Route = {
  method: 'GET',
  path: '/api/subscriptions',
  operation: 'getSubscription',
  failure: 'getSubscriptionFailed',

  async handle({ request, auth, database }) {
    const userId = await auth.authenticate(request);
    if (userId === null) return errorAnswer('unauthorized');
    return { status: 200, json: await database.getSubscription(userId), outcome: 'read' };
  },
};
