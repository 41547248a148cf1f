import type { z } from 'zod';
import type { orderAnswer, orderStateAnswer } from '../../../supabase/functions/api/openapi/answers.ts';
import { secrets, sign } from '../gateway/sign.ts';
import type { RunningService } from '../project/targets.ts';
import { uniqueId } from '../records/records.ts';
import { answer } from './answer.ts';

type Sender = Pick<RunningService, 'request'>;

/** GET /api/subscriptions with a session. */
export function requestSubscription(service: Sender, accessToken: string): Promise<Response> {
  return service.request('/api/subscriptions', { headers: { authorization: `Bearer ${accessToken}` } });
}

/** The body of a 201 of POST /api/payments/orders. */
type Ordered = z.infer<typeof orderAnswer>;

/** The body of a 200 of GET /api/payments/orders/:order_id. */
export type OrderState = z.infer<typeof orderStateAnswer>;

/** GET /api/payments/orders/:order_id with a session. The id is written into the path as it is. */
export function requestOrderState(service: Sender, accessToken: string, orderId: string): Promise<Response> {
  return service.request(`/api/payments/orders/${orderId}`, { headers: { authorization: `Bearer ${accessToken}` } });
}

/** POST /api/payments/orders with a session. The body as `rawBody` takes it. */
export function requestOrder(
  service: Sender,
  accessToken: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  return service.request('/api/payments/orders', {
    method: 'POST',
    headers: { authorization: `Bearer ${accessToken}`, 'content-type': 'application/json', ...headers },
    body: rawBody(body),
  });
}

/** Creates an order. @throws when it is refused. */
export async function orderPlan(
  service: Sender,
  accessToken: string,
  tier = 'pro',
  headers: Record<string, string> = {},
): Promise<Ordered> {
  const response = await requestOrder(service, accessToken, { tier }, headers);
  if (response.status !== 201) throw new Error(`no order: ${JSON.stringify(await answer(response))}`);
  return await response.json();
}

/** What a checkout with a subscription returns to the client. */
export type Authorisation = Omit<Checkout, 'gateway_order_id'> & { gateway_subscription_id: string };

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

/**
 * POST /api/payments/return: the form that a redirect checkout posts. Text and bytes unchanged, a checkout under the
 * gateway's names. The redirect is not followed.
 */
export function returnCheckout(
  service: Sender,
  form: Checkout | string | Uint8Array,
  headers: Record<string, string> = {},
): Promise<Response> {
  return service.request('/api/payments/return', {
    method: 'POST',
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: rawBody(typeof form === 'string' || form instanceof Uint8Array ? form : returnForm(form)),
    redirect: 'manual',
  });
}

/** A checkout as a form, under the gateway's names. */
export function returnForm({ gateway_order_id, gateway_payment_id, gateway_signature }: Checkout): string {
  return String(
    new URLSearchParams({
      razorpay_payment_id: gateway_payment_id,
      razorpay_order_id: gateway_order_id,
      razorpay_signature: gateway_signature,
    }),
  );
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
