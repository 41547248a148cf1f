import { Hono } from 'hono';
import { createGatewayApi } from './api.ts';
import { createGatewayClock } from './clock.ts';
import { createGatewayControls } from './controls.ts';
import { createCheckout } from './checkout/checkout.ts';
import type { HeaderNames } from './delivery.ts';
import { createDeliveryQueue } from './delivery-queue.ts';
import { createDueTimer } from './billing/due-timer.ts';
import { createGatewayFaults, gatewayError, unknownUrl } from './errors.ts';
import { createGatewayStore } from './store.ts';
import { createSubscriptionPage } from './billing/subscription-page.ts';
import { createJournal } from './journal.ts';
import { listenOnNode } from '../http/listen-on-node.ts';
import { createPage } from '../http/local-host-page.ts';
import { createLocalHostService, type LocalHostOptions, type LocalHostService } from '../http/local-host-service.ts';

/** 16 deliveries with doubling pauses take 24 hours, as at the real gateway. */
const MAX_DELIVERIES = 16;
const FIRST_RETRY_MS = 24 * 60 * 60 * 1000 / (2 ** (MAX_DELIVERIES - 1) - 1);

type Options = Pick<LocalHostOptions, 'port' | 'isOwn'> & {
  keyId: string;
  keySecret: string;
  webhookSecret: string;
  webhookUrl: string;
  /** The names of the webhooks' headers, as their receiver expects them. */
  webhookHeaders?: HeaderNames;
  /** The pause before the first retry of a webhook; each further pause is twice as long. */
  firstRetryMs?: number;
  maxDeliveries?: number;
  /** How many times faster than real time retries are made; `POST /simulate/endpoint` changes it. */
  timeScale?: number;
  /** Timeout of a delivery. */
  timeoutMs?: number;
  /** Source of the gateway's clock, in milliseconds since 1970; `POST /simulate/clock` shifts it. */
  now?: () => number;
  /** The file that keeps the data. Default: they are lost with the simulator. */
  journal?: string | undefined;
};

/**
 * Simulates the payment gateway: its API under `/v1`, and its signatures and webhooks with real HMACs.
 * `/simulate/…` controls payments, faults and the clock. Apps load its checkout from `/v1/checkout.js`. On the page at
 * `/` a developer pays orders.
 */
export function createGatewaySimulator(options: Options): LocalHostService {
  const { port, isOwn, keyId, keySecret, webhookSecret, webhookUrl } = options;
  const { firstRetryMs = FIRST_RETRY_MS, maxDeliveries = MAX_DELIVERIES, timeoutMs = 5_000, timeScale = 1 } = options;
  const { webhookHeaders: headers = { signature: 'x-gateway-signature', eventId: 'x-gateway-event-id' } } = options;
  const journal = createJournal(options.journal);
  const clock = createGatewayClock(options.now ?? Date.now, journal.value('clock_shift', 0));
  const store = createGatewayStore(journal);
  const faults = createGatewayFaults();
  const timing = { firstRetryMs, maxDeliveries, timeoutMs, timeScale };
  const target = { url: webhookUrl, headers, secret: webhookSecret };
  const queue = createDeliveryQueue({ ...target, now: clock.now, ...timing }, journal);
  const due = createDueTimer({ store, queue, clock });
  const checkout = createCheckout({ store, queue, clock, keyId, keySecret });

  const app = new Hono();
  app.route('/', createPage(new URL('.', import.meta.url), { shared: ['money.js'] }));
  app.route('/', createSubscriptionPage(store));
  app.route('/', checkout.routes);
  app.route('/', createGatewayApi({ store, queue, clock, baseUrl: () => served.url, keyId, keySecret }));
  app.route('/', createGatewayControls({ store, queue, faults, clock, due, keySecret }));
  app.notFound(unknownUrl);
  app.onError((error) => gatewayError(error.message, { status: 500, source: 'internal', reason: 'server_error' }));

  const served: LocalHostService = createLocalHostService({
    name: 'gateway-simulator',
    port,
    isOwn,
    fetch: (request) =>
      new URL(request.url).pathname.startsWith('/v1/')
        ? faults.apply(request, () => app.fetch(request))
        : app.fetch(request),
    release: faults.release,
    listen: listenOnNode,
  });
  return {
    name: served.name,
    get url() {
      return served.url;
    },
    start() {
      queue.start();
      due.start();
      return served.start();
    },
    ready: () => served.ready(),
    async stop() {
      due.stop();
      checkout.stop();
      await served.stop();
      await queue.stop();
      journal.close();
    },
  };
}
