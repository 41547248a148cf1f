import { type Context, Hono } from 'hono';
import type { GatewayClock } from './clock.ts';
import type { Payment, Refund } from './entities.ts';
import { gatewayError, refused, unknownId } from './error.ts';
import { readOrderRequest } from './order-request.ts';
import type { GatewayStore } from './store.ts';
import { isSameSecret } from '../http/local-host-secret.ts';

type Parts = {
  store: GatewayStore;
  clock: GatewayClock;
  keyId: string;
  keySecret: string;
  /** Cancels a subscription at once and sends the webhook about it. */
  cancel(subscriptionId: string): Promise<void>;
};

/**
 * The gateway's REST API under `/v1`, behind HTTP Basic. As on the real gateway, no field of a subscription shows a
 * pending cancellation at the end of the cycle.
 */
export function createGatewayApi({ store, clock, keyId, keySecret, cancel }: Parts): Hono {
  const api = new Hono().basePath('/v1');

  api.use(async (c, next) => {
    const [id, secret] = basicCredentials(c.req.header('authorization'));
    if (id === keyId && await isSameSecret(secret, keySecret)) return await next();
    return gatewayError('Authentication failed', { status: 401, source: 'NA', reason: 'NA' });
  });

  api.post('/orders', async (c) => {
    const read = readOrderRequest(await c.req.json().catch(() => undefined));
    if ('refusal' in read) return refused({ step: 'payment_initiation', ...read.refusal });
    const { receipt } = read.order;
    if (receipt !== null && store.findOrderByReceipt(receipt) !== undefined) {
      return gatewayError('The receipt has already been used.', { field: 'receipt', step: 'payment_initiation' });
    }
    return c.json(store.createOrder(read.order, clock.seconds()));
  });
  api.get('/orders/:id', (c) => {
    const order = store.orders.find(c.req.param('id'));
    return order === undefined ? unknownId() : c.json(order);
  });
  api.get('/orders/:id/payments', (c) => {
    const order = store.orders.find(c.req.param('id'));
    return order === undefined ? unknownId() : collection(c, store.paymentsOf(order.id));
  });
  api.get('/payments/:id', (c) => {
    const payment = store.payments.find(c.req.param('id'));
    return payment === undefined ? unknownId() : c.json(payment);
  });
  api.get('/payments/:id/refunds', (c) => {
    const payment = store.payments.find(c.req.param('id'));
    return payment === undefined ? unknownId() : collection(c, store.refundsOf(payment.id));
  });

  api.get('/subscriptions/:id', (c) => {
    const subscription = store.subscriptions.find(c.req.param('id'));
    return subscription === undefined ? unknownId() : c.json(subscription);
  });
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
    await cancel(subscription.id);
    return c.json(store.subscriptions.find(subscription.id));
  });

  api.all('/*', () => gatewayError('The requested URL was not found on the server.', { status: 404, reason: 'NA' }));
  return api;
}

function collection(c: Context, items: (Payment | Refund)[]): Response {
  return c.json({ entity: 'collection', count: items.length, items });
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
  const value = typeof body === 'object' && body !== null && 'cancel_at_cycle_end' in body && body.cancel_at_cycle_end;
  return value === true || value === 1 || value === '1';
}
