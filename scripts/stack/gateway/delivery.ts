import { attemptDelivery } from './attempt.ts';
import type { DeliverOptions } from './deliver-options.ts';
import type { Endpoint, EndpointChanges } from './endpoint.ts';
import { createScaledTimer } from './scaled-timer.ts';
import { type Delivery, prepareDelivery, type Webhook } from './webhook.ts';

export type { Delivery } from './webhook.ts';

const KEPT_DELIVERIES = 1_000;

/**
 * Where to, under which secret, and the pace: deliveries double from `firstRetryMs` on, `maxDeliveries` in all, in a time
 * that runs `timeScale` times faster than ours. `now` dates the records, in milliseconds since 1970.
 */
export type DeliverySettings = {
  url: string;
  secret: string;
  firstRetryMs: number;
  maxDeliveries: number;
  timeoutMs: number;
  timeScale: number;
  now: () => number;
};

export type DeliveryQueue = {
  /** Signs and records the webhooks and sets them going; resolves before any of them has arrived. */
  send(webhooks: Webhook[], options: DeliverOptions): Promise<Delivery[]>;
  /** Newest first. */
  list(): Delivery[];
  find(eventId: string): Delivery | undefined;
  /** Makes the retries that are waiting now, of one event or of all, and tells how many. */
  retryNow(eventId?: string): number;
  /** Delivers an event once more, a dropped one for the first time; false when that can't be: unknown, or switched off. */
  redeliver(eventId: string): boolean;
  endpoint(): Endpoint;
  /** What is sent while the endpoint is off is never delivered, nor is what waited for a retry then. */
  setEndpoint(changes: EndpointChanges): Endpoint;
  /** Lets deliveries go again after a `stop`. */
  start(): void;
  /** Ends what is under way or waiting, and resolves when nothing is left; what is sent afterwards is only recorded. */
  stop(): Promise<void>;
};

/** Delivers webhooks as the gateway does: at least once, retried until a 2xx, and no more after retries that led nowhere. */
export function createDeliveryQueue(settings: DeliverySettings): DeliveryQueue {
  const deliveries: Delivery[] = [];
  const tasks = new Set<Promise<unknown>>();
  const retried = new WeakSet<Delivery>();
  const timer = createScaledTimer(settings.timeScale);
  const timestamp = () => new Date(settings.now()).toISOString();
  const delays = createScaledTimer(1);
  let stopping = new AbortController();
  /** Ends with the endpoint's being on, and with everything else. */
  let line = new AbortController();
  let { secret } = settings;
  let state: Pick<Endpoint, 'enabled' | 'disabled_at' | 'disabled_by' | 'secret_rotated_at'> = {
    enabled: true,
    disabled_at: null,
    disabled_by: null,
    secret_rotated_at: null,
  };

  const track = <Result>(task: Promise<Result>) => {
    tasks.add(task);
    return task.finally(() => tasks.delete(task));
  };
  const openLine = () => {
    if (state.enabled && !stopping.signal.aborted && line.signal.aborted) line = new AbortController();
  };
  const switchOff = (by: Endpoint['disabled_by']) => {
    if (!state.enabled) return;
    state = { ...state, enabled: false, disabled_at: timestamp(), disabled_by: by };
    for (const delivery of deliveries) {
      if (delivery.state !== 'pending' && delivery.state !== 'retrying') continue;
      Object.assign(delivery, { state: 'endpoint_off', retry_after_ms: null });
    }
    line.abort();
  };

  const attempt = async (delivery: Delivery) => {
    const headers: Record<string, string> = { 'x-gateway-event-id': delivery.event_id };
    if (delivery.signature !== null) headers['x-gateway-signature'] = delivery.signature;
    const { url, timeoutMs } = settings;
    const { body } = delivery;
    const made = await attemptDelivery({ url, body, headers, at: timestamp(), timeoutMs, signal: stopping.signal });
    if (stopping.signal.aborted) return false;
    delivery.attempts.push(made);
    const accepted = made.status !== null && made.status >= 200 && made.status < 300;
    if (accepted) Object.assign(delivery, { state: 'delivered', retry_after_ms: null });
    else if (delivery.state === 'pending') delivery.state = 'retrying';
    return accepted;
  };

  const retry = async (delivery: Delivery, firstRetryMs: number, { signal }: AbortController) => {
    retried.add(delivery);
    for (let made = 1, wait = firstRetryMs; made < settings.maxDeliveries; made += 1, wait *= 2) {
      if (signal.aborted || isDelivered(delivery)) return;
      Object.assign(delivery, { state: 'retrying', retry_after_ms: wait });
      await timer.pause(wait, signal, delivery.event_id);
      if (signal.aborted || isDelivered(delivery)) return;
      delivery.retry_after_ms = null;
      if (await attempt(delivery)) return;
    }
    if (signal.aborted || isDelivered(delivery)) return;
    delivery.state = 'given_up';
    switchOff('retries_exhausted');
  };

  const run = async (queue: Delivery[], options: DeliverOptions, open: AbortController) => {
    await delays.pause(options.delay_ms ?? 0, open.signal, '');
    for (const delivery of queue) {
      if (open.signal.aborted) return;
      const first = track(
        attempt(delivery).then((accepted) => {
          // Retries run beside the other events: one that fails holds none of them up.
          if (accepted || open.signal.aborted || isDelivered(delivery) || retried.has(delivery)) return;
          track(retry(delivery, options.first_retry_ms ?? settings.firstRetryMs, open));
        }),
      );
      if (!options.at_once) await first;
    }
  };

  const endpoint = (): Endpoint => ({ url: settings.url, ...state, time_scale: timer.scale });

  return {
    async send(webhooks, options) {
      const moment = { secret, at: timestamp() };
      const made = await Promise.all(webhooks.map((webhook) => prepareDelivery(webhook, options, moment)));
      const round = made.filter(({ state }) => state !== 'dropped');
      if (!state.enabled) round.forEach((delivery) => delivery.state = 'endpoint_off');
      deliveries.unshift(...made.toReversed());
      deliveries.splice(KEPT_DELIVERIES);
      if (options.reorder) round.reverse();
      const rounds = Array.from({ length: 1 + (options.duplicate ?? 0) }, () => round);
      if (!line.signal.aborted) track(run(rounds.flat(), options, line));
      return structuredClone(made);
    },
    list: () => structuredClone(deliveries),
    find: (eventId) => structuredClone(deliveries.find(({ event_id }) => event_id === eventId)),
    retryNow: (eventId) => timer.hurry(eventId),
    redeliver(eventId) {
      const delivery = deliveries.find(({ event_id }) => event_id === eventId);
      if (delivery === undefined || delivery.state === 'endpoint_off' || line.signal.aborted) return false;
      if (delivery.state === 'dropped') delivery.state = 'pending';
      track(run([delivery], {}, line));
      return true;
    },
    endpoint,
    setEndpoint({ enabled, secret: next, time_scale }) {
      if (time_scale !== undefined) timer.scale = time_scale;
      if (next !== undefined) {
        secret = next;
        state = { ...state, secret_rotated_at: timestamp() };
      }
      if (enabled === false) switchOff('control');
      if (enabled === true) state = { ...state, enabled, disabled_at: null, disabled_by: null };
      openLine();
      return endpoint();
    },
    start() {
      if (!stopping.signal.aborted) return;
      stopping = new AbortController();
      openLine();
    },
    async stop() {
      stopping.abort();
      line.abort();
      while (tasks.size > 0) await Promise.allSettled(tasks);
    },
  };
}

/** A duplicate of what waits for a retry may have been accepted meanwhile. */
function isDelivered({ state }: Delivery): boolean {
  return state === 'delivered';
}
