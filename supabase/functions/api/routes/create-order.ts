import type { Answer } from '../http/answer.ts';
import { errorAnswer } from '../http/errors.ts';
import { GatewayRefusal } from '../gateway/gateway-refusal.ts';
import type { Route, RouteContext } from './route.ts';
import { orderRequest } from '../http/validation.ts';
import type { Gateway, OrderRequest, Result } from '../ports.ts';
import { askWithCredit, readOrderRequest, refuse, waitWhileInFlight } from './order-request.ts';

type CreateOrderResult = Result<'create_order'>;

/** Creates an order, or returns the open one. Contract: POST /api/payments/orders, "Order of checks". */
export const createOrder: Route = {
  method: 'POST',
  path: '/api/payments/orders',
  operation: 'createOrder',
  bodyOf: 'session',
  failure: 'createOrderFailed',
  // Invoices and an order at the gateway, 5 s each, on top of the database's 4 s.
  deadlineMilliseconds: 17_000,

  async handle({ request, body, config, auth, database, gateway, dispatchLater }) {
    if (config.gateway === null || gateway === null) return errorAnswer('paymentsNotConfigured');

    const userId = await auth.authenticate(request);
    if (userId === null) return errorAnswer('unauthorized');

    const read = readOrderRequest(orderRequest, request, body);
    if (read.refusal) return read.refusal;

    const ordered = await order({ database, gateway, dispatchLater }, { userId, ...read }, config.gateway.keyId);
    return 'refusal' in ordered ? ordered.refusal : ordered;
  },
};

/** An order to pay, as an answer, or the answer that refuses it. */
export type Ordered = ReturnType<typeof checkout> | { readonly refusal: Answer };

/** Creates an order, or returns the open one. @throws GatewayRefusal */
export async function order(
  { database, gateway, dispatchLater }: Pick<RouteContext, 'database' | 'dispatchLater'> & { gateway: Gateway },
  request: OrderRequest,
  keyId: string,
): Promise<Ordered> {
  const result = await waitWhileInFlight(() =>
    askWithCredit({ database, gateway, dispatchLater }, (isRead) => database.createOrder(request, isRead))
  );
  if (result.outcome === 'existing') return checkout(result, keyId, 'existing');
  if (result.outcome !== 'created') return { refusal: refuse(result, 'orderInProgress') };

  const { payment_id: paymentId, amount, currency } = result;
  const made = await gateway.createOrder({ amount, currency, receipt: paymentId.replaceAll('-', '') });
  if (made.status !== 'made') {
    await database.discardOrder(paymentId);
    if (made.status === 'refused') throw new GatewayRefusal('an order', made.reason);
    return { refusal: errorAnswer('gatewayUnavailable') };
  }
  const orderId = made.value;
  await database.storeOrder(paymentId, orderId);
  // `storeOrder` also applies the events about this order that arrived first, and they may enqueue side effects.
  dispatchLater();
  return checkout({ ...result, outcome: 'existing', order_id: orderId }, keyId, 'created');
}

/** The 201 answer: what a checkout needs, and what the purchase does to the running subscription. */
function checkout(
  { order_id: id, payment_id, amount, currency, plan, price, running, prefill, credit, starts_at, ends_at }: Extract<
    CreateOrderResult,
    { outcome: 'existing' }
  >,
  keyId: string,
  outcome: string,
) {
  return {
    status: 201,
    // JSON leaves out what is undefined: the last three belong to a request with `start`.
    body: {
      order: { id, amount, currency },
      key_id: keyId,
      payment_id,
      plan,
      price,
      running,
      prefill,
      credit,
      starts_at,
      ends_at,
    },
    outcome,
  } as const satisfies Answer;
}
