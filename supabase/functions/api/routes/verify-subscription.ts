import { isStorableText } from '../database/storable-json.ts';
import { subscriptionMessage } from '../gateway/signature.ts';
import { valueOf } from '../gateway/value-of.ts';
import type { Answer } from '../http/answer.ts';
import { errorAnswer } from '../http/errors.ts';
import type { RouteContext } from './route.ts';
import { parseRequest, verifySubscriptionRequest } from '../http/validation.ts';

/**
 * Grants the first cycle of a subscription that the caller authorised. The signature proves that subscription and payment
 * belong together; the gateway's answer about both decides what is granted. Contract: POST /api/payments/verify.
 */
export async function verifySubscription(
  { database, gateway, verifyPaymentSignature, dispatchLater }: RouteContext,
  userId: string,
  body: unknown,
): Promise<Answer> {
  if (gateway === null || verifyPaymentSignature === null) return errorAnswer('paymentsNotConfigured');
  const parsed = parseRequest(verifySubscriptionRequest, body);
  if (!parsed.ok) return errorAnswer('invalidRequest', parsed.details);
  const { gateway_subscription_id: subscriptionId, gateway_payment_id: paymentId, gateway_signature } = parsed.request;
  if (!verifyPaymentSignature(subscriptionMessage(subscriptionId, paymentId), gateway_signature)) {
    return errorAnswer('paymentVerificationFailed');
  }
  if (!isStorableText(subscriptionId) || !isStorableText(paymentId)) return errorAnswer('subscriptionNotFound');

  let result = await database.verifySubscription({ userId, subscriptionId, paymentId });
  if (result.outcome === 'unread') {
    const [subscription, payment] = await Promise.all([
      gateway.readSubscription(subscriptionId),
      gateway.readPayment(paymentId),
    ]);
    if (subscription.status !== 'found' || payment.status === 'unanswered') return errorAnswer('gatewayUnavailable');
    result = await database.verifySubscription({
      userId,
      subscriptionId,
      paymentId,
      subscription: subscription.value,
      payment: valueOf(payment),
    });
  }
  if (result.outcome === 'refunded') return errorAnswer('paymentVerificationFailed');
  if (!('tier' in result)) return errorAnswer('subscriptionNotFound');
  if (result.outcome === 'applied') dispatchLater();
  const { tier, valid_until: validUntil, starts_at: startsAt } = result;
  const message = validUntil === null
    ? 'Payment verified and subscription authorised'
    : 'Payment verified and subscription activated';
  return {
    status: 200,
    body: { success: true, message, subscription: { tier, validUntil, startsAt } },
    outcome: result.outcome,
  };
}
