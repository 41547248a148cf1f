import type { Answer } from './answer.ts';

/** Every error answer by name. Contract: the endpoints and "Errors". */
const errors = {
  unauthorized: [401, 'Unauthorized'],
  getSubscriptionFailed: [500, 'Failed to get subscription'],
  paymentsNotConfigured: [503, 'Payment service not configured'],
  invalidRequest: [400, 'Invalid request'],
  paymentVerificationFailed: [400, 'Payment verification failed'],
  paymentNotFound: [404, 'Payment not found'],
  getReceiptFailed: [500, 'Failed to get receipt'],
  receiptNotFound: [404, 'Receipt not found'],
  receiptNotIssued: [409, 'Receipt not issued yet'],
  getBillingDetailsFailed: [500, 'Failed to get billing details'],
  putBillingDetailsFailed: [500, 'Failed to save billing details'],
  planNotFound: [500, 'Plan not found'],
  verifyPaymentFailed: [500, 'Failed to verify payment'],
  listPlansFailed: [500, 'Failed to list plans'],
  createOrderFailed: [500, 'Failed to create order'],
  gatewayUnavailable: [502, 'Payment gateway unavailable'],
  getOrderFailed: [500, 'Failed to get order'],
  orderNotFound: [404, 'Order not found'],
  idempotencyKeyReused: [409, 'Idempotency key was used for another order'],
  orderInProgress: [409, 'Order is being created'],
  tooManyOrders: [429, 'Too many orders'],
  createSubscriptionFailed: [500, 'Failed to create subscription'],
  subscriptionInProgress: [409, 'Subscription is being created'],
  alreadySubscribed: [409, 'Already subscribed'],
  tooLateToChange: [409, 'Too late to change this period'],
  onlyAtPeriodEnd: [409, 'Only at the end of the period'],
  offerNotFound: [404, 'Plan not found'],
  priceNotAtGateway: [404, 'Price has no gateway plan'],
  subscriptionNotFound: [404, 'Subscription not found'],
  cannotBeResumed: [409, 'Cannot be resumed'],
  changeSubscriptionFailed: [500, 'Failed to change subscription'],
  cancelSubscriptionFailed: [500, 'Failed to cancel subscription'],
  resumeSubscriptionFailed: [500, 'Failed to resume subscription'],
  missingSignature: [400, 'Missing signature'],
  invalidSignature: [400, 'Invalid signature'],
  webhookFailed: [500, 'Webhook processing failed'],
  healthCheckFailed: [503, 'Service unavailable'],
  dispatchFailed: [500, 'Failed to dispatch'],
  reconcileFailed: [500, 'Failed to reconcile'],
  requestFailed: [500, 'Request failed'],
  notFound: [404, 'Not found'],
  methodNotAllowed: [405, 'Method not allowed'],
  payloadTooLarge: [413, 'Payload too large'],
  bodyTimedOut: [408, 'Request timeout'],
  tooManyBodies: [503, 'Service unavailable'],
} as const satisfies Record<string, readonly [number, string]>;

export type ErrorName = keyof typeof errors;

/** A change of plan that is not possible before a time, ISO 8601 in UTC. Contract: POST /api/subscriptions/change. */
export function tooLateAnswer(possibleFrom: string): Answer {
  const [status, error] = errors.tooLateToChange;
  return { status, body: { error, possible_from: possibleFrom }, outcome: 'tooLateToChange' };
}

/** A change that can only begin when the period ends. Contract: POST /api/subscriptions/change. */
export function onlyAtPeriodEndAnswer(reason: 'currency' | 'downgrade' | 'credit'): Answer {
  const [status, error] = errors.onlyAtPeriodEnd;
  return { status, body: { error, reason }, outcome: 'onlyAtPeriodEnd' };
}

/** A request for a price and another tier than the price's. */
export function priceConflictAnswer(): Answer {
  return errorAnswer('invalidRequest', { formErrors: [], fieldErrors: { price: ['Not a price of this tier'] } });
}

/** The body is `{ "error": text }`, with `details` for `Invalid request`. Contract: Errors. */
export function errorAnswer(name: ErrorName, details?: unknown): Answer {
  const [status, error] = errors[name];
  return {
    status,
    body: details === undefined ? { error } : { error, details },
    outcome: name,
  };
}
