import { errorAnswer } from '../http/errors.ts';
import { readJson } from '../http/read-json.ts';
import { billingDetails, parseRequest } from '../http/validation.ts';
import type { Route } from './route.ts';

/** Returns what documents say about the caller. Contract: GET /api/billing-details. */
export const getBillingDetails: Route = {
  method: 'GET',
  path: '/api/billing-details',
  operation: 'getBillingDetails',
  failure: 'getBillingDetailsFailed',

  async handle({ request, auth, database }) {
    const userId = await auth.authenticate(request);
    if (userId === null) return errorAnswer('unauthorized');
    return { status: 200, body: await database.getBillingDetails(userId), outcome: 'read' };
  },
};

/** Replaces what documents say about the caller. Contract: PUT /api/billing-details. */
export const putBillingDetails: Route = {
  method: 'PUT',
  path: '/api/billing-details',
  operation: 'putBillingDetails',
  bodyOf: 'session',
  failure: 'putBillingDetailsFailed',

  async handle({ request, body, auth, database }) {
    const userId = await auth.authenticate(request);
    if (userId === null) return errorAnswer('unauthorized');
    const parsed = parseRequest(billingDetails, readJson(body));
    if (!parsed.ok) return errorAnswer('invalidRequest', parsed.details);
    const result = await database.putBillingDetails(userId, parsed.request);
    switch (result.outcome) {
      case 'invalid':
        return errorAnswer('invalidRequest', { formErrors: [], fieldErrors: { [result.field]: [result.message] } });
      case 'user_not_found':
        return errorAnswer('unauthorized');
      case 'stored':
        return { status: 200, body: { billing_details: result.billing_details }, outcome: 'stored' };
    }
  },
};
