import { Hono } from 'hono';
import { createGatewayApi } from './gateway-simulator-api.ts';
import { createGatewayControls } from './gateway-simulator-controls.ts';
import { createDeliveryQueue } from './gateway-simulator-delivery.ts';
import { gatewayError } from './gateway-simulator-error.ts';
import { createGatewayStore } from './gateway-simulator-store.ts';
import { subscriptionRequest } from './gateway-simulator-subscription.ts';
import { createPage } from './local-host-page.ts';
import { createLocalHostService, type LocalHostService } from './local-host-service.ts';

type Options = {
  port: number;
  keyId: string;
  keySecret: string;
  webhookSecret: string;
  webhookUrl: string;
  /** The pause before the first retry of a webhook, doubling from then on; the real gateway's 24 hours, in short. */
  firstRetryMs?: number;
  maxDeliveries?: number;
  /** A webhook's answer later than this counts as none. */
  timeoutMs?: number;
};

/**
 * A stand-in for the payment gateway, in memory: its API under `/v1`, its signatures and its webhooks, with real HMACs.
 * `/simulate/…` plays the customer, and the page at `/` lets a person do so.
 */
export function createGatewaySimulator(options: Options): LocalHostService {
  const { port, keyId, keySecret, webhookSecret, webhookUrl } = options;
  const { firstRetryMs = 1_000, maxDeliveries = 16, timeoutMs = 5_000 } = options;
  const store = createGatewayStore();
  const queue = createDeliveryQueue({ url: webhookUrl, secret: webhookSecret, firstRetryMs, maxDeliveries, timeoutMs });
  const controls = createGatewayControls(store, queue, keySecret);
  const api = createGatewayApi(store, { keyId, keySecret }, async (id) => {
    await controls.moveSubscription(subscriptionRequest.parse({ event: 'cancelled', subscription_id: id }));
  });

  const app = new Hono();
  app.route('/', createPage('gateway-simulator-page'));
  app.route('/', api);
  app.route('/', controls.routes);
  app.notFound(() => gatewayError('The requested URL was not found on the server.', { status: 404, reason: 'NA' }));
  app.onError((error) => gatewayError(error.message, { status: 500, source: 'internal', reason: 'server_error' }));

  const served = createLocalHostService({ name: 'gateway-simulator', port, fetch: app.fetch, release: () => {} });
  return {
    name: served.name,
    get url() {
      return served.url;
    },
    start() {
      queue.start();
      return served.start();
    },
    ready: () => served.ready(),
    async stop() {
      await served.stop();
      await queue.stop();
    },
  };
}
