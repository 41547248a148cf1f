import { type Context, Hono } from 'hono';
import { z } from 'zod';
import { collection, control, createdBetween, found } from './answers.ts';
import { applyChange } from './apply-change.ts';
import type { GatewayClock } from './clock.ts';
import type { DeliveryQueue } from './delivery-queue.ts';
import { gatewayError, unknownId, unknownUrl } from './errors.ts';
import { createCustomerApi } from './customer-api.ts';
import type { Payment } from './entities.ts';
import { apiNotes, type Notes, notesRequest, readNotes } from './notes.ts';
import type { EntityStore } from './entity-store.ts';
import { moveRefund, refundRequest } from './refunds-and-disputes.ts';
import { createSettlementApi } from './settlement-api.ts';
import type { GatewayStore, NewOrder } from './store.ts';
import { createSubscriptionApi } from './billing/subscription-api.ts';
import { isSameSecret } from '../http/local-host-secret.ts';

const MIN_AMOUNT = 100;
const refundBody = z.strictObject({
  amount: z.int().min(MIN_AMOUNT).optional(),
  speed: z.enum(['normal', 'optimum']).default('normal'),
  notes: notesRequest.default([]),
  receipt: z.string().max(40).nullable().default(null),
});
const MAX_RECEIPT_LENGTH = 40;
const AUTHORIZED: readonly Payment['status'][] = ['authorized', 'captured', 'refunded'];
const notesOnly = z.strictObject({ notes: apiNotes });
// Accepted and ignored: here capture is automatic, and partial payments do not exist.
const WITHOUT_EFFECT = ['payment_capture', 'payment', 'partial_payment'];
const FIELDS = ['amount', 'currency', 'receipt', 'notes', ...WITHOUT_EFFECT];

type Parts = {
  store: GatewayStore;
  queue: DeliveryQueue;
  clock: GatewayClock;
  /** The simulator's own address, without a trailing slash. */
  baseUrl: () => string;
  keyId: string;
  keySecret: string;
};

/** The gateway's REST API under `/v1`, behind HTTP Basic. */
export function createGatewayApi({ store, queue, clock, baseUrl, keyId, keySecret }: Parts): Hono {
  const api = new Hono().basePath('/v1');

  api.use(async (c, next) => {
    const [id, secret] = basicCredentials(c.req.header('authorization'));
    if (id !== keyId || !await isSameSecret(secret, keySecret)) {
      return gatewayError('Authentication failed', { status: 401, source: 'NA', reason: 'NA' });
    }
    await next();
    c.res.headers.set('date', new Date(clock.now()).toUTCString());
  });

  const listCreated = (c: Context, items: { created_at: number }[]) => {
    const part = createdBetween(items, c.req.query());
    return part === undefined ? gatewayError('The from, to, count or skip is invalid.') : c.json(collection(part));
  };
  api.patch('/orders/:id', editNotes(store.orders));
  api.patch('/payments/:id', editNotes(store.payments));
  api.patch('/refunds/:id', editNotes(store.refunds));

  api.post('/orders', async (c) => {
    const order = readOrder(await c.req.json().catch(() => undefined));
    if (order instanceof Response) return order;
    if (order.receipt !== null && store.findOrderByReceipt(order.receipt) !== undefined) {
      return gatewayError('The receipt has already been used.', { field: 'receipt', step: 'payment_initiation' });
    }
    return c.json(store.createOrder(order, clock.seconds()));
  });
  api.get('/orders', (c) => {
    const { authorized, receipt } = c.req.query();
    const isAuthorized = (id: string) => store.paymentsOf(id).some(({ status }) => AUTHORIZED.includes(status));
    const orders = store.orders.list().filter((order) =>
      (receipt === undefined || order.receipt === receipt) &&
      (authorized === undefined || isAuthorized(order.id) === /^(1|true)$/.test(authorized))
    );
    return listCreated(c, orders);
  });
  api.get('/orders/:id', (c) => found(c, store.orders.find(c.req.param('id'))));
  api.get('/orders/:id/payments', (c) => {
    const order = store.orders.find(c.req.param('id'));
    return found(c, order && collection(store.paymentsOf(order.id)));
  });
  api.get('/payments', (c) => listCreated(c, store.payments.list()));
  api.get('/refunds', (c) => listCreated(c, store.refunds.list()));
  api.get('/refunds/:id', (c) => found(c, store.refunds.find(c.req.param('id'))));
  api.get('/disputes', (c) => listCreated(c, store.disputes.list()));
  api.get('/disputes/:id', (c) => found(c, store.disputes.find(c.req.param('id'))));
  api.get('/payments/:id', (c) => found(c, store.payments.find(c.req.param('id'))));
  api.get('/payments/:id/refunds', (c) => {
    const payment = store.payments.find(c.req.param('id'));
    return found(c, payment && collection(store.refundsOf(payment.id)));
  });

  api.post('/payments/:id/refund', async (c) => {
    const payment = store.payments.find(c.req.param('id'));
    if (payment === undefined) return unknownId();
    const text = await c.req.text();
    const key = c.req.header('x-refund-idempotency');
    if (key !== undefined && !/^[\w-]{10,}$/.test(key)) return refuse('X-Refund-Idempotency', 'The key is invalid.');
    const first = store.refundKeys.get(key ?? '');
    if (first !== undefined) {
      const isSame = first.body === `${payment.id} ${text}`;
      return isSame
        ? found(c, store.refunds.find(first.id))
        : refuse('', 'Different request body sent for the same key.');
    }
    const read = refundBody.safeParse(text === '' ? {} : parse(text));
    if (!read.success) return refuse(String(read.error.issues[0]?.path[0] ?? ''), 'The refund is invalid.');
    const { amount, notes, receipt } = read.data;
    const request = refundRequest.parse({
      ...{ payment_id: payment.id, amount, event: 'created' },
      ...(!Array.isArray(notes) && { notes }),
    });
    const made = await applyChange({ store, queue, clock }, (_, timedRequest) => {
      const moved = moveRefund(store, timedRequest);
      if (moved instanceof Response) return moved;
      const refund = store.refunds.save({ ...moved.refund, receipt });
      store.askedRefunds.set(refund.id, true);
      if (key !== undefined) store.refundKeys.set(key, { id: refund.id, body: `${payment.id} ${text}` });
      return { ...moved, refund };
    }, request);
    return made instanceof Response ? made : c.json(made.changed.refund);
  });

  api.route('/', createCustomerApi({ store, clock }));
  api.route('/', createSettlementApi({ store, clock }));
  api.route('/', createSubscriptionApi({ store, queue, clock, baseUrl }));
  api.all('/*', unknownUrl);
  return api;
}

/** Replaces the notes of the entity that the path names. */
function editNotes<Entity extends { id: string; notes: Notes }>(entities: EntityStore<Entity>) {
  return control(notesOnly, ({ notes }, c) => {
    const entity = entities.find(c.req.param('id'));
    return entity === undefined ? unknownId() : entities.save({ ...entity, notes });
  });
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

function refuse(field: string, description: string, reason?: string): Response {
  return gatewayError(description, { field, reason, step: 'payment_initiation' });
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
