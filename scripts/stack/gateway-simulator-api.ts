import { Hono } from 'hono';
import { gatewayError, refused, unknownId } from './gateway-simulator-error.ts';
import { readOrderRequest } from './gateway-simulator-order-request.ts';
import type { GatewayStore } from './gateway-simulator-store.ts';
import { isSameSecret } from './local-host-secret.ts';

type Credentials = { keyId: string; keySecret: string };

/**
 * The gateway's REST API under `/v1`, behind HTTP Basic. `onCancelled` is told the id of a subscription whose cancellation
 * took effect at once, which the gateway also reports by webhook; one put off to the end of the cycle shows nowhere until then.
 */
export function createGatewayApi(
  store: GatewayStore,
  { keyId, keySecret }: Credentials,
  onCancelled: (subscriptionId: string) => Promise<void>,
): Hono {
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
    return c.json(store.createOrder(read.order));
  });
  api.get('/orders/:id', (c) => {
    const order = store.orders.find(c.req.param('id'));
    return order === undefined ? unknownId() : c.json(order);
  });
  api.get('/orders/:id/payments', (c) => {
    const order = store.orders.find(c.req.param('id'));
    if (order === undefined) return unknownId();
    const items = store.paymentsOf(order.id);
    return c.json({ entity: 'collection', count: items.length, items });
  });
  api.get('/payments/:id', (c) => {
    const payment = store.payments.find(c.req.param('id'));
    return payment === undefined ? unknownId() : c.json(payment);
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
      store.endings.add(subscription.id);
      return c.json(subscription);
    }
    await onCancelled(subscription.id);
    return c.json(store.subscriptions.find(subscription.id));
  });

  api.all('/*', () => gatewayError('The requested URL was not found on the server.', { status: 404, reason: 'NA' }));
  return api;
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
