import { errorAnswer } from '../http/errors.ts';
import { readJson } from '../http/read-json.ts';
import type { Route } from './route.ts';
import { paymentMessage } from '../gateway/signature.ts';
import { isStorableText } from '../database/storable-json.ts';
import { namesSubscription, parseRequest, verifyPaymentRequest } from '../http/validation.ts';
import { verifySubscription } from './verify-subscription.ts';

/** Verifies a payment and grants its tier. Contract: POST /api/payments/verify, "Order of checks". */
export const verifyPayment: Route = {
  method: 'POST',
  path: '/api/payments/verify',
  operation: 'verifyPayment',
  bodyOf: 'session',
  failure: 'verifyPaymentFailed',
  // For the first payment of a subscription the gateway is read: 5 s on top of the database's 4 s.
  deadlineMilliseconds: 12_000,

  async handle(context) {
    const { request, body, auth, database, verifyPaymentSignature, dispatchLater } = context;
    if (verifyPaymentSignature === null) return errorAnswer('paymentsNotConfigured');

    const userId = await auth.authenticate(request);
    if (userId === null) return errorAnswer('unauthorized');

    const sent = readJson(body);
    if (namesSubscription(sent)) return await verifySubscription(context, userId, sent);
    const parsed = parseRequest(verifyPaymentRequest, sent);
    if (!parsed.ok) return errorAnswer('invalidRequest', parsed.details);
    const { gateway_order_id: orderId, gateway_payment_id: paymentId, gateway_signature: signature } = parsed.request;

    if (!verifyPaymentSignature(paymentMessage(orderId, paymentId), signature)) {
      return errorAnswer('paymentVerificationFailed');
    }
    if (!isStorableText(orderId) || !isStorableText(paymentId)) return errorAnswer('paymentNotFound');

    const result = await database.verifyPayment({ userId, orderId, paymentId, signature });
    if (result.outcome === 'applied') dispatchLater();
    switch (result.outcome) {
      case 'payment_not_found':
      case 'user_gone':
        return errorAnswer('paymentNotFound');
      case 'refunded':
      case 'never_captured':
        return errorAnswer('paymentVerificationFailed');
      case 'plan_not_found':
        return errorAnswer('planNotFound');
      case 'applied':
      case 'already_applied':
        return {
          status: 200,
          body: {
            success: true,
            message: 'Payment verified and subscription activated',
            subscription: { tier: result.tier, validUntil: result.valid_until },
          },
          outcome: result.outcome,
        };
    }
  },
};
