import { type Context, Hono } from 'hono';
import { type GatewayClock, timed } from './clock.ts';
import type { DeliveryQueue } from './delivery-queue.ts';
import type { Notes, Payment, Refund } from './entities.ts';
import { gatewayError, unknownId, unknownUrl } from './errors.ts';
import type { GatewayStore, NewOrder } from './store.ts';
import { moveSubscription, subscriptionRequest } from './subscriptions.ts';
import { isSameSecret } from '../http/local-host-secret.ts';

const MIN_AMOUNT = 100;
const MAX_RECEIPT_LENGTH = 40;
const MAX_NOTES = 15;
const MAX_NOTE_LENGTH = 256;
// Accepted and ignored: here capture is automatic, and partial payments do not exist.
const WITHOUT_EFFECT = ['payment_capture', 'payment', 'partial_payment'];
const FIELDS = ['amount', 'currency', 'receipt', 'notes', ...WITHOUT_EFFECT];

type Parts = { store: GatewayStore; queue: DeliveryQueue; clock: GatewayClock; keyId: string; keySecret: string };

/**
 * The gateway's REST API under `/v1`, behind HTTP Basic. As on the real gateway, no field of a subscription shows a
 * pending cancellation at the end of the cycle.
 */
export function createGatewayApi({ store, queue, clock, keyId, keySecret }: Parts): Hono {
  const api = new Hono().basePath('/v1');

  api.use(async (c, next) => {
    const [id, secret] = basicCredentials(c.req.header('authorization'));
    if (id === keyId && await isSameSecret(secret, keySecret)) return await next();
    return gatewayError('Authentication failed', { status: 401, source: 'NA', reason: 'NA' });
  });

  api.post('/orders', async (c) => {
    const order = readOrder(await c.req.json().catch(() => undefined));
    if (order instanceof Response) return order;
    if (order.receipt !== null && store.findOrderByReceipt(order.receipt) !== undefined) {
      return gatewayError('The receipt has already been used.', { field: 'receipt', step: 'payment_initiation' });
    }
    return c.json(store.createOrder(order, clock.seconds()));
  });
  api.get('/orders/:id', (c) => found(c, store.orders.find(c.req.param('id'))));
  api.get('/orders/:id/payments', (c) => {
    const order = store.orders.find(c.req.param('id'));
    return found(c, order && collection(store.paymentsOf(order.id)));
  });
  api.get('/payments/:id', (c) => found(c, store.payments.find(c.req.param('id'))));
  api.get('/payments/:id/refunds', (c) => {
    const payment = store.payments.find(c.req.param('id'));
    return found(c, payment && collection(store.refundsOf(payment.id)));
  });

  api.get('/subscriptions/:id', (c) => found(c, store.subscriptions.find(c.req.param('id'))));
  api.post('/subscriptions/:id/cancel', async (c) => {
    const body: unknown = await c.req.json().catch(() => ({}));
    const subscription = store.subscriptions.find(c.req.param('id'));
    if (subscription === undefined) return unknownId();
    if (subscription.status === 'cancelled' || subscription.status === 'completed') {
      return gatewayError(`Subscription is not cancellable in ${subscription.status} status.`);
    }
    if (atCycleEnd(body)) {
      store.endingWithCycle.add(subscription.id);
      return c.json(subscription);
    }
    const request = subscriptionRequest.parse({ event: 'cancelled', subscription_id: subscription.id });
    const { webhooks } = moveSubscription(store, timed(request, clock));
    await queue.send(webhooks, request.deliver);
    return c.json(store.subscriptions.find(subscription.id));
  });

  api.all('/*', unknownUrl);
  return api;
}

function found(c: Context, entity: object | undefined): Response {
  return entity === undefined ? unknownId() : c.json(entity);
}

function collection(items: (Payment | Refund)[]) {
  return { entity: 'collection', count: items.length, items };
}

function basicCredentials(header = ''): [id: string, secret: string] {
  const encoded = /^Basic ([A-Za-z0-9+/]+=*)$/i.exec(header)?.[1] ?? '';
  try {
    const [id = '', ...secret] = atob(encoded).split(':');
    return [id, secret.join(':')];
  } catch {
    return ['', ''];
  }
}

function atCycleEnd(body: unknown): boolean {
  const value = isRecord(body) && body.cancel_at_cycle_end;
  return value === true || value === 1 || value === '1';
}

/** Validates the body of `POST /v1/orders` as strictly as the gateway. Reports the first error. */
function readOrder(body: unknown): NewOrder | Response {
  if (!isRecord(body)) return refuse('amount', 'The amount field is required.');
  const { amount, currency, receipt = null, notes = {} } = body;
  const extraField = Object.keys(body).find((name) => !FIELDS.includes(name));
  if (extraField !== undefined) {
    return refuse(extraField, `${extraField} is/are not required and should not be sent`, 'extra_field_sent');
  }
  if (amount === undefined || amount === null) return refuse('amount', 'The amount field is required.');
  if (!Number.isSafeInteger(amount) || typeof amount !== 'number') {
    return refuse('amount', 'The amount must be an integer.');
  }
  if (amount < MIN_AMOUNT) return refuse('amount', 'The amount must be at least INR 1.00');
  if (currency === undefined || currency === null) return refuse('currency', 'The currency field is required.');
  if (typeof currency !== 'string' || !/^[A-Z]{3}$/.test(currency)) {
    return refuse('currency', 'The currency should be a three-letter code.');
  }
  if (receipt !== null && typeof receipt !== 'string') return refuse('receipt', 'The receipt must be a string.');
  if (receipt !== null && receipt.length > MAX_RECEIPT_LENGTH) {
    return refuse('receipt', `The receipt may not be greater than ${MAX_RECEIPT_LENGTH} characters.`);
  }
  const read = readNotes(notes);
  return typeof read === 'string' ? refuse('notes', read) : { amount, currency, receipt, notes: read };
}

function readNotes(notes: unknown): Notes | string {
  if (Array.isArray(notes) && notes.length === 0) return [];
  if (!isRecord(notes)) return 'The notes must be an object.';
  const pairs = Object.entries(notes);
  if (pairs.length > MAX_NOTES) return `The notes may not have more than ${MAX_NOTES} items.`;
  const kept: Record<string, string | number> = {};
  for (const [name, value] of pairs) {
    if (typeof value !== 'string' && typeof value !== 'number') return 'The notes may hold text and numbers only.';
    if (Math.max(name.length, String(value).length) > MAX_NOTE_LENGTH) {
      return `The notes may not be greater than ${MAX_NOTE_LENGTH} characters each.`;
    }
    kept[name] = value;
  }
  return pairs.length === 0 ? [] : kept;
}

function refuse(field: string, description: string, reason?: string): Response {
  return gatewayError(description, { field, reason, step: 'payment_initiation' });
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
