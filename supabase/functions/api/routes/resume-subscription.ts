import { errorAnswer } from '../http/errors.ts';
import type { Route } from './route.ts';

/** Withdraws a cancellation at the end of the period. Contract: POST /api/subscriptions/resume. */
export const resumeSubscription: Route = {
  method: 'POST',
  path: '/api/subscriptions/resume',
  operation: 'resumeSubscription',
  failure: 'resumeSubscriptionFailed',

  async handle({ request, auth, database }) {
    const userId = await auth.authenticate(request);
    if (userId === null) return errorAnswer('unauthorized');

    const result = await database.resumeSubscription(userId);
    switch (result.outcome) {
      case 'subscription_not_found':
        return errorAnswer('subscriptionNotFound');
      case 'cannot_be_resumed':
        return errorAnswer('cannotBeResumed');
      case 'resumed':
        return { status: 200, body: { subscription: result.subscription }, outcome: result.outcome };
    }
  },
};
