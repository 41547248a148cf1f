import { type Context, Hono } from 'hono';
import { z } from 'zod';
import { deliverOptions } from './gateway-simulator-deliver-options.ts';
import type { DeliverOptions } from './gateway-simulator-deliver-options.ts';
import type { DeliveryQueue, Webhook } from './gateway-simulator-delivery.ts';
import type { Subscription } from './gateway-simulator-entities.ts';
import { gatewayError } from './gateway-simulator-error.ts';
import { eventBody } from './gateway-simulator-event.ts';
import { pay, payRequest } from './gateway-simulator-pay.ts';
import { signHex } from './gateway-simulator-signature.ts';
import type { GatewayStore } from './gateway-simulator-store.ts';
import {
  advanceSubscription,
  type SubscriptionRequest,
  subscriptionRequest,
} from './gateway-simulator-subscription.ts';

const SHOWN = 100;

const rawRequest = z.strictObject({
  body: z.string(),
  /** Sent instead of the right one; null sends none. */
  signature: z.string().nullable().optional(),
  event_id: z.string().min(1).optional(),
  deliver: deliverOptions.default({}),
});

export type GatewayControls = {
  routes: Hono;
  /** Moves a subscription on and sends the webhook about it. */
  moveSubscription(request: SubscriptionRequest): Promise<{ subscription: Subscription; event_ids: string[] }>;
};

/** What stands in for customers and for time, under `/simulate`: payments, subscription events, any webhook at all. */
export function createGatewayControls(store: GatewayStore, queue: DeliveryQueue, keySecret: string): GatewayControls {
  const routes = new Hono().basePath('/simulate');

  const deliver = async (webhooks: Webhook[], options: DeliverOptions) => {
    const { events } = options;
    const chosen = events === undefined
      ? webhooks
      : events.flatMap((name) => webhooks.filter(({ event }) => event === name));
    const deliveries = await queue.send(chosen, options);
    return deliveries.map(({ event_id }) => event_id);
  };
  const moveSubscription: GatewayControls['moveSubscription'] = async (request) => {
    const before = request.subscription_id === undefined ? undefined : store.findSubscription(request.subscription_id);
    const subscription = advanceSubscription(before, request);
    // A cancellation is final: an event after it is late news, and the record stays as it is.
    if (before?.status !== 'cancelled') store.saveSubscription(subscription);
    const event = `subscription.${request.event}`;
    const payment = request.event === 'charged' ? charge(store, request.amount) : undefined;
    const body = eventBody(event, { subscription, payment }, request.created_at);
    return { subscription, event_ids: await deliver([{ event, body }], request.deliver) };
  };

  routes.post('/pay', async (c) => {
    const parsed = payRequest.safeParse(await json(c));
    if (!parsed.success) return invalid(parsed.error);
    const order = store.findOrder(parsed.data.order_id);
    if (order === undefined) return gatewayError('The id provided does not exist', { field: 'order_id' });
    // A failure on a paid order is an attempt begun before it was paid, in another tab say; a second capture is refused.
    if (order.status === 'paid' && parsed.data.outcome === 'captured') {
      const details = { field: 'order_id', step: 'payment_initiation', reason: 'order_already_paid' };
      return gatewayError('The order is already paid.', details);
    }
    const paid = pay(store, parsed.data);
    const ids = { gateway_order_id: order.id, gateway_payment_id: paid.paymentId };
    const signature = paid.error === null ? await signHex(keySecret, `${order.id}|${paid.paymentId}`) : null;
    await deliver(paid.webhooks, parsed.data.deliver);
    if (paid.error === null) return c.json({ ...ids, gateway_signature: signature });
    // What a checkout hands to the page when it fails: no signature, and the reason.
    const { error_code, error_description, error_source, error_step, error_reason } = paid.error;
    const error = {
      code: error_code,
      description: error_description,
      source: error_source,
      step: error_step,
      reason: error_reason,
      metadata: { order_id: order.id, payment_id: paid.paymentId },
    };
    return c.json({ ...ids, gateway_signature: signature, error });
  });

  routes.post('/subscription', async (c) => {
    const parsed = subscriptionRequest.safeParse(await json(c));
    return parsed.success ? c.json(await moveSubscription(parsed.data)) : invalid(parsed.error);
  });

  routes.post('/deliver', async (c) => {
    const parsed = rawRequest.safeParse(await json(c));
    if (!parsed.success) return invalid(parsed.error);
    const { body, signature, event_id, deliver: options } = parsed.data;
    const [delivery] = await queue.send([{ event: eventOf(body), body, signature, eventId: event_id }], options);
    return c.json(delivery);
  });

  routes.get('/deliveries', (c) => {
    const items = queue.list();
    return c.json({ entity: 'collection', count: items.length, items });
  });
  routes.get('/deliveries/:id', (c) => {
    const delivery = queue.find(c.req.param('id'));
    return delivery === undefined ? gatewayError('The id provided does not exist') : c.json(delivery);
  });
  routes.get('/state', (c) => {
    const [orders, payments] = [store.orders().slice(0, SHOWN), store.payments().slice(0, SHOWN)];
    const subscriptions = store.subscriptions().slice(0, SHOWN);
    return c.json({ orders, payments, subscriptions, deliveries: queue.list().slice(0, SHOWN) });
  });

  return { routes, moveSubscription };
}

/** The payment of a subscription's cycle, on an order of its own. */
function charge(store: GatewayStore, amount: number) {
  const order = store.createOrder({ amount, currency: 'INR', receipt: null, notes: [] });
  return store.capture(store.authorize(order.id, [])).payment;
}

async function json(c: Context): Promise<unknown> {
  return await c.req.json().catch(() => undefined);
}

function invalid(error: z.ZodError): Response {
  const issue = error.issues[0];
  return gatewayError(issue?.message ?? 'Invalid request', { field: issue?.path.join('.') });
}

function eventOf(body: string): string | null {
  try {
    const parsed: unknown = JSON.parse(body);
    const isEvent = typeof parsed === 'object' && parsed !== null && 'event' in parsed;
    return isEvent && typeof parsed.event === 'string' ? parsed.event : null;
  } catch {
    return null;
  }
}
