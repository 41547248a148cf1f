import type { z } from 'zod';
import { createScaledTimer } from './clock.ts';
import { type Delivery, type HeaderNames, postDelivery, prepareDelivery } from './delivery.ts';
import type { Endpoint, endpointRequest } from './endpoint.ts';
import type { DeliverOptions, Webhook } from './events.ts';
import type { Journal } from './journal.ts';
import { createKeptDeliveries, isUnderWay } from './kept-deliveries.ts';

/**
 * `firstRetryMs`: the pause before the first retry; each further pause is twice as long. `maxDeliveries` includes the
 * first delivery. `timeScale`: how many times faster than real time the pauses pass. `now`: milliseconds since 1970,
 * for timestamps.
 */
type DeliverySettings = {
  url: string;
  headers: HeaderNames;
  secret: string;
  firstRetryMs: number;
  maxDeliveries: number;
  timeoutMs: number;
  timeScale: number;
  now: () => number;
};

/** Whether the endpoint is on. A secret that a control set is not kept: the next start has the secret of its settings. */
type Switch = Pick<Endpoint, 'enabled' | 'disabled_at' | 'disabled_by'>;

export type DeliveryQueue = {
  /** Signs and records webhooks and starts their delivery. Resolves before any of them has arrived. */
  send(webhooks: Webhook[], options: DeliverOptions): Promise<Delivery[]>;
  /** Newest first. */
  list(): Delivery[];
  find(eventId: string): Delivery | undefined;
  /**
   * How many webhooks are under way, without those of `delay_ms`; the event ids of those that wait for a retry; whether
   * any of those that are listed did not arrive.
   */
  underWay(): { under_way: number; retrying: string[]; is_any_lost: boolean };
  /** Makes the waiting retries now, of one event or of all. @returns how many */
  retryNow(eventId?: string): number;
  /**
   * Delivers an event again, or a dropped one for the first time.
   * @returns false for an unknown event or a disabled endpoint
   */
  redeliver(eventId: string): boolean;
  endpoint(): Endpoint;
  /** Events that are sent, or wait for a retry, while the endpoint is disabled are never delivered. */
  setEndpoint(changes: z.infer<typeof endpointRequest>): Endpoint;
  /** Continues after a `stop`. */
  start(): void;
  /** Aborts running and waiting deliveries and resolves when they have ended. Later webhooks are only recorded. */
  stop(): Promise<void>;
};

/**
 * Delivers webhooks as the gateway does: retries until a 2xx, and disables the endpoint after the last failed retry.
 * Webhooks that were under way when an earlier queue with the journal stopped are retried from the start on.
 */
export function createDeliveryQueue(settings: DeliverySettings, journal: Journal): DeliveryQueue {
  const { deliveries, add, change } = createKeptDeliveries(journal);
  const left = deliveries.filter(isUnderWay);
  /** Sent without a delay, and not known to be over. */
  const open = new Set<Delivery>();
  const tasks = new Set<Promise<unknown>>();
  const retried = new WeakSet<Delivery>();
  const timer = createScaledTimer(settings.timeScale);
  const timestamp = () => new Date(settings.now()).toISOString();
  const delays = createScaledTimer(1);
  let stopping = new AbortController();
  /** Aborted when the endpoint is disabled and at `stop`. */
  let active = new AbortController();
  let { secret } = settings;
  let secret_rotated_at: Endpoint['secret_rotated_at'] = null;
  const state = journal.value<Switch>('endpoint', { enabled: true, disabled_at: null, disabled_by: null });
  if (!state.current.enabled) active.abort();

  const track = <Result>(task: Promise<Result>) => {
    tasks.add(task);
    return task.finally(() => tasks.delete(task));
  };
  const reactivate = () => {
    if (state.current.enabled && !stopping.signal.aborted && active.signal.aborted) active = new AbortController();
  };
  const switchOff = (by: Endpoint['disabled_by']) => {
    if (!state.current.enabled) return;
    state.current = { enabled: false, disabled_at: timestamp(), disabled_by: by };
    for (const one of deliveries.filter(isUnderWay)) change(one, { state: 'endpoint_off', retry_after_ms: null });
    active.abort();
  };

  const attempt = async (delivery: Delivery) => {
    const { url, headers, timeoutMs } = settings;
    const made = await postDelivery(delivery, { url, headers, at: timestamp(), timeoutMs, signal: stopping.signal });
    if (stopping.signal.aborted) return;
    const attempts = [...delivery.attempts, made];
    const accepted = made.status !== null && made.status >= 200 && made.status < 300;
    if (accepted) change(delivery, { attempts, state: 'delivered', retry_after_ms: null });
    else change(delivery, { attempts, state: delivery.state === 'pending' ? 'retrying' : delivery.state });
  };

  /** True also if a duplicate of the delivery was accepted meanwhile. */
  const isOver = ({ state }: Delivery, signal: AbortSignal) => signal.aborted || state === 'delivered';

  const retry = async (delivery: Delivery, firstRetryMs: number, signal: AbortSignal) => {
    retried.add(delivery);
    for (let made = 1, wait = firstRetryMs; made < settings.maxDeliveries; made += 1, wait *= 2) {
      change(delivery, { state: 'retrying', retry_after_ms: wait });
      await timer.pause(wait, signal, delivery.event_id);
      if (isOver(delivery, signal)) return;
      delivery.retry_after_ms = null;
      await attempt(delivery);
      if (isOver(delivery, signal)) return;
    }
    change(delivery, { state: 'given_up' });
    switchOff('retries_exhausted');
  };

  const run = async (queue: Delivery[], options: DeliverOptions, { signal }: AbortController) => {
    await delays.pause(options.delay_ms ?? 0, signal, '');
    for (const delivery of queue) {
      if (signal.aborted) return;
      const first = track(
        attempt(delivery).then(() => {
          // Retries run in parallel with the other events, so a failing event delays no other.
          if (isOver(delivery, signal) || retried.has(delivery)) return;
          track(retry(delivery, options.first_retry_ms ?? settings.firstRetryMs, signal));
        }),
      );
      if (!options.at_once) await first;
    }
  };

  const endpoint = (): Endpoint => ({
    ...{ url: settings.url, ...state.current, secret_rotated_at, time_scale: timer.scale },
  });

  return {
    // Without a pause, so that the journal gets the webhooks in one line with what they are about.
    send(webhooks, options) {
      const signing = { secret, at: timestamp() };
      const created = webhooks.map((webhook) => prepareDelivery(webhook, options, signing));
      const toSend = created.filter(({ state }) => state !== 'dropped');
      if (!state.current.enabled) toSend.forEach((delivery) => delivery.state = 'endpoint_off');
      add(created);
      if (!options.delay_ms) toSend.forEach((delivery) => open.add(delivery));
      if (options.reorder) toSend.reverse();
      const withDuplicates = Array.from({ length: 1 + (options.duplicate ?? 0) }, () => toSend).flat();
      if (!active.signal.aborted) track(run(withDuplicates, options, active));
      return Promise.resolve(structuredClone(created));
    },
    list: () => structuredClone(deliveries),
    find: (eventId) => structuredClone(deliveries.find(({ event_id }) => event_id === eventId)),
    underWay() {
      for (const one of open) if (!isUnderWay(one)) open.delete(one);
      const waiting = [...open].filter(({ retry_after_ms }) => retry_after_ms !== null);
      return {
        under_way: open.size - waiting.length,
        retrying: waiting.map(({ event_id }) => event_id),
        is_any_lost: deliveries.some(({ state }) => state !== 'delivered' && state !== 'pending'),
      };
    },
    retryNow: (eventId) => timer.skip(eventId),
    redeliver(eventId) {
      const delivery = deliveries.find(({ event_id }) => event_id === eventId);
      if (delivery === undefined || delivery.state === 'endpoint_off' || active.signal.aborted) return false;
      if (delivery.state === 'dropped') change(delivery, { state: 'pending' });
      track(run([delivery], {}, active));
      return true;
    },
    endpoint,
    setEndpoint({ enabled, secret: next, time_scale }) {
      if (time_scale !== undefined) timer.scale = time_scale;
      if (next !== undefined) {
        secret = next;
        secret_rotated_at = timestamp();
      }
      if (enabled === false) switchOff('control');
      if (enabled === true) state.current = { enabled, disabled_at: null, disabled_by: null };
      reactivate();
      return endpoint();
    },
    start() {
      for (const one of left.splice(0)) {
        open.add(one);
        track(retry(one, settings.firstRetryMs, active.signal));
      }
      if (!stopping.signal.aborted) return;
      stopping = new AbortController();
      reactivate();
    },
    async stop() {
      stopping.abort();
      active.abort();
      while (tasks.size > 0) await Promise.allSettled(tasks);
    },
  };
}
