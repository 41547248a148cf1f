import { isStorableText } from '../database/storable-json.ts';
import { paymentMessage } from '../gateway/signature.ts';
import type { Answer } from '../http/answer.ts';
import { errorAnswer } from '../http/errors.ts';
import { type ReadField, readForm } from '../http/read-form.ts';
import type { Route, RouteContext } from './route.ts';
import { attemptMetadata, parseRequest, verifyPaymentRequest } from '../http/validation.ts';
import { withDeadline } from '../http/with-deadline.ts';

/** Less than the deadline of the answer, so that the browser is sent to the app also when the database hangs. */
const verifyMilliseconds = 4200;

/** Only such an order id is written into the address: anyone can post a form. */
const wellFormed = /^[\w-]{1,64}$/;

/**
 * Verifies the form that a redirect checkout posts, and sends the browser to the app. There is no session: the signature
 * proves that order and payment belong together, and the payment's row says whose they are. Contract: POST
 * /api/payments/return.
 */
export const verifyReturnedPayment: Route = {
  method: 'POST',
  path: '/api/payments/return',
  operation: 'verifyReturnedPayment',
  bodyOf: 'form',
  failure: 'verifyPaymentFailed',

  async handle(context) {
    const { body, config, verifyPaymentSignature } = context;
    const { appUrl, pages, returnFields } = config;
    if (verifyPaymentSignature === null || appUrl === null) return errorAnswer('paymentsNotConfigured');
    const dashboardUrl = appUrl + pages.dashboard;

    const field = readForm(body);
    const parsed = parseRequest(verifyPaymentRequest, {
      gateway_order_id: field(returnFields.orderId),
      gateway_payment_id: field(returnFields.paymentId),
      gateway_signature: field(returnFields.signature),
    });
    if (!parsed.ok) return redirect(dashboardUrl, 'failed', orderOfError(field), 'noPayment');
    const { gateway_order_id: orderId, gateway_payment_id: paymentId, gateway_signature: signature } = parsed.request;

    if (
      !verifyPaymentSignature(paymentMessage(orderId, paymentId), signature) ||
      !isStorableText(orderId) || !isStorableText(paymentId)
    ) return redirect(dashboardUrl, 'failed', orderId, 'invalidSignature');

    const { payment, outcome } = await verify(context, { orderId, paymentId, signature });
    return redirect(dashboardUrl, payment, orderId, outcome);
  },
};

type PaymentState = 'paid' | 'pending' | 'failed';

/**
 * `pending` wherever the money may have been taken and the tier is not granted yet: the customer must not pay again. A
 * webhook or reconciliation then grants it.
 */
async function verify(
  { database, dispatchLater, logFault }: RouteContext,
  signed: { orderId: string; paymentId: string; signature: string },
): Promise<{ payment: PaymentState; outcome: string }> {
  try {
    const { outcome } = await withDeadline(database.verifyReturnedPayment(signed), verifyMilliseconds);
    if (outcome === 'applied') dispatchLater();
    switch (outcome) {
      case 'applied':
      case 'already_applied':
        return { payment: 'paid', outcome };
      case 'refunded':
      case 'never_captured':
        return { payment: 'failed', outcome };
      case 'payment_not_found':
      case 'plan_not_found':
      case 'user_gone':
        return { payment: 'pending', outcome };
    }
  } catch (error) {
    logFault(error);
    return { payment: 'pending', outcome: 'verifyPaymentFailed' };
  }
}

/** The order that the form of a failed attempt names in its metadata, a JSON object. It is not signed. */
function orderOfError(field: ReadField): string | undefined {
  try {
    return attemptMetadata.safeParse(JSON.parse(field('error[metadata]') ?? '')).data?.order_id;
  } catch {
    return undefined;
  }
}

function redirect(dashboardUrl: string, payment: PaymentState, orderId: string | undefined, outcome: string): Answer {
  const location = new URL(dashboardUrl);
  location.searchParams.set('payment', payment);
  if (orderId !== undefined && wellFormed.test(orderId)) location.searchParams.set('order', orderId);
  return { status: 303, body: undefined, outcome, headers: { location: location.href } };
}
