import type { z } from 'zod';
import type { orderAnswer } from '../../../scripts/generate/openapi/answers.ts';
import { secrets, sign } from '../gateway/sign.ts';
import type { RunningService } from '../project/targets.ts';
import { uniqueId } from '../records/records.ts';
import { answer, fullAnswer, refusal } from './answer.ts';
export { answer, fullAnswer, refusal };

type Sender = Pick<RunningService, 'request'>;

/** The type of `response.json()`. */
export type Json = Awaited<ReturnType<Response['json']>>;

/** Whose session a request has, its body as `rawBody` takes it, and further headers. */
export type Parts = {
  readonly user?: { readonly accessToken: string };
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
};

/** Sends a request such as `GET /api/subscriptions`. A redirect is not followed. */
export function send(service: Sender, endpoint: string, { user, body, headers }: Parts = {}): Promise<Response> {
  const [method, path = ''] = endpoint.split(' ');
  return service.request(path, {
    method,
    headers: {
      ...(user && { authorization: `Bearer ${user.accessToken}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: rawBody(body) }),
    redirect: 'manual',
  });
}

/** Sends a request. @returns status and JSON body, to compare them as a whole */
export async function call(...request: Parameters<typeof send>): Promise<{ status: number; body: Json }> {
  return await answer(send(...request));
}

/** GET /api/subscriptions with a session. */
export function requestSubscription(service: Sender, accessToken: string): Promise<Response> {
  return send(service, 'GET /api/subscriptions', { user: { accessToken } });
}

/** Creates an order. @throws when it is refused. */
export async function orderPlan(
  service: Sender,
  user: { readonly accessToken: string },
  tier = 'pro',
  headers: Record<string, string> = {},
): Promise<z.infer<typeof orderAnswer>> {
  const { status, body } = await call(service, 'POST /api/payments/orders', { user, body: { tier }, headers });
  if (status !== 201) throw new Error(`no order: ${status} ${JSON.stringify(body)}`);
  return body;
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

/** POST /api/payments/return: the form that a redirect checkout posts. A checkout gets the gateway's names. */
export function returnCheckout(
  service: Sender,
  form: Checkout | string | Uint8Array,
  headers: Record<string, string> = {},
): Promise<Response> {
  return send(service, 'POST /api/payments/return', {
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    body: typeof form === 'string' || form instanceof Uint8Array ? form : returnForm(form),
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
  return send(service, 'POST /api/payments/verify', { user: { accessToken }, body });
}

/** The body of a request: text and bytes unchanged, other values as JSON. */
export function rawBody(body: unknown): string | Uint8Array<ArrayBuffer> {
  if (body instanceof Uint8Array) return new Uint8Array(body);
  return typeof body === 'string' ? body : JSON.stringify(body);
}
