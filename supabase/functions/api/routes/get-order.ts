import { isStorableText } from '../database/storable-json.ts';
import { readOrderPayments } from '../gateway/order-payments.ts';
import { valueOf } from '../gateway/value-of.ts';
import { errorAnswer } from '../http/errors.ts';
import type { Route, RouteContext } from './route.ts';
import { withDeadline } from '../http/with-deadline.ts';

/** The gateway's own timeout, for all of its answers together. */
const readMilliseconds = 5000;

/**
 * Returns the state of one of the caller's orders. An order that is not paid is read from the gateway, within limits
 * that the database keeps. Contract: GET /api/payments/orders/:order_id.
 */
export const getOrder: Route = {
  method: 'GET',
  path: '/api/payments/orders/:order_id',
  operation: 'getOrder',
  failure: 'getOrderFailed',
  // The gateway's 5 s, between two calls of the database of 4 s.
  deadlineMilliseconds: 14_000,

  async handle(context) {
    const { request, parameters, auth, database, gateway } = context;
    const userId = await auth.authenticate(request);
    if (userId === null) return errorAnswer('unauthorized');

    const { order_id: orderId = '' } = parameters;
    if (!isStorableText(orderId)) return errorAnswer('orderNotFound');
    const result = await database.getOrder(userId, orderId, gateway !== null);
    switch (result.outcome) {
      case 'order_not_found':
        return errorAnswer('orderNotFound');
      case 'known':
        return { status: 200, body: result.order, outcome: result.outcome };
      case 'read': {
        const order = await readOrder(context, result.payment_id, orderId, result.order.amount);
        return { status: 200, body: order ?? result.order, outcome: order === null ? 'unanswered' : 'read' };
      }
    }
  },
};

/** Reads an order from the gateway and applies the answer. @returns null when there is none, or it can't be applied */
async function readOrder(
  { database, gateway, dispatchLater, logFault }: RouteContext,
  paymentId: string,
  orderId: string,
  amount: number,
) {
  if (gateway === null) return null;
  try {
    const reading = await withDeadline(readOrderPayments(gateway, orderId, amount), readMilliseconds);
    if (reading.status === 'unanswered') return null;
    const { applied, order } = await database.applyOrderRead(paymentId, valueOf(reading));
    if (applied > 0) dispatchLater();
    return order;
  } catch (error) {
    logFault(error);
    return null;
  }
}
