import { secrets, sign } from '../gateway/sign.ts';
import type { RunningService } from '../project/targets.ts';
import { uniqueId } from '../records/records.ts';

type Sender = Pick<RunningService, 'request'>;

/** GET /api/subscriptions with a session. */
export function requestSubscription(service: Sender, accessToken: string): Promise<Response> {
  return service.request('/api/subscriptions', { headers: { authorization: `Bearer ${accessToken}` } });
}

/** The three fields that a checkout returns to the client, signed as the gateway signs them. */
export type Checkout = { gateway_order_id: string; gateway_payment_id: string; gateway_signature: string };

/** A paid checkout of an order. */
export async function checkout(orderId: string, paymentId = uniqueId('pay')): Promise<Checkout> {
  return {
    gateway_order_id: orderId,
    gateway_payment_id: paymentId,
    gateway_signature: await sign(secrets.GATEWAY_KEY_SECRET, `${orderId}|${paymentId}`),
  };
}

/** POST /api/payments/verify with a session. The body as `rawBody` takes it. */
export function verify(service: Sender, accessToken: string, body: unknown): Promise<Response> {
  return service.request('/api/payments/verify', {
    method: 'POST',
    headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json' },
    body: rawBody(body),
  });
}

/** The body of a request: text and bytes unchanged, other values as JSON. */
export function rawBody(body: unknown): string | Uint8Array<ArrayBuffer> {
  if (body instanceof Uint8Array) return new Uint8Array(body);
  return typeof body === 'string' ? body : JSON.stringify(body);
}
