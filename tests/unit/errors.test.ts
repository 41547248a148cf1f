import { expect, test } from 'vitest';
import { errorAnswer } from '../../supabase/functions/api/http/errors.ts';

test.each(
  [
    ['unauthorized', 401, 'Unauthorized'],
    ['getSubscriptionFailed', 500, 'Failed to get subscription'],
    ['paymentsNotConfigured', 503, 'Payment service not configured'],
    ['invalidRequest', 400, 'Invalid request'],
    ['paymentVerificationFailed', 400, 'Payment verification failed'],
    ['paymentNotFound', 404, 'Payment not found'],
    ['planNotFound', 500, 'Plan not found'],
    ['verifyPaymentFailed', 500, 'Failed to verify payment'],
    ['missingSignature', 400, 'Missing signature'],
    ['invalidSignature', 400, 'Invalid signature'],
    ['webhookFailed', 500, 'Webhook processing failed'],
    ['notFound', 404, 'Not found'],
    ['methodNotAllowed', 405, 'Method not allowed'],
    ['payloadTooLarge', 413, 'Payload too large'],
    ['bodyTimedOut', 408, 'Request timeout'],
    ['tooManyBodies', 503, 'Service unavailable'],
    ['healthCheckFailed', 503, 'Service unavailable'],
  ] as const,
)('%s is %i "%s"', (name, status, error) => {
  expect(errorAnswer(name)).toEqual({ status, body: { error }, outcome: name });
});

test('details are a field beside the error', () => {
  const details = { formErrors: [], fieldErrors: {} };
  expect(errorAnswer('invalidRequest', details)).toEqual({
    status: 400,
    body: { error: 'Invalid request', details },
    outcome: 'invalidRequest',
  });
});
