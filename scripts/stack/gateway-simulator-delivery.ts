import { type Attempt, attemptDelivery } from './gateway-simulator-attempt.ts';
import type { DeliverOptions } from './gateway-simulator-deliver-options.ts';
import { newId } from './gateway-simulator-id.ts';
import { signHex } from './gateway-simulator-signature.ts';

const KEPT_DELIVERIES = 1_000;

/** `signature` null sends no signature header; left out, the body is signed with the webhook secret. */
export type Webhook = { event: string | null; body: string; eventId?: string; signature?: string | null };

/** A webhook and every POST of it so far. Its id, body and signature are the same in all of them. */
export type Delivery = {
  event_id: string;
  event: string | null;
  body: string;
  signature: string | null;
  state: 'pending' | 'retrying' | 'delivered' | 'given_up' | 'dropped';
  attempts: Attempt[];
  created_at: string;
};

/** Where to, under which secret, and the pace: deliveries double from `firstRetryMs` on, `maxDeliveries` in all. */
export type DeliverySettings = {
  url: string;
  secret: string;
  firstRetryMs: number;
  maxDeliveries: number;
  timeoutMs: number;
};

export type DeliveryQueue = {
  /** Signs and records the webhooks and sets them going; resolves before any of them has arrived. */
  send(webhooks: Webhook[], options: DeliverOptions): Promise<Delivery[]>;
  /** Newest first. */
  list(): Delivery[];
  find(eventId: string): Delivery | undefined;
  /** Lets deliveries go again after a `stop`. */
  start(): void;
  /** Ends what is under way or waiting, and resolves when nothing is left; what is sent afterwards is only recorded. */
  stop(): Promise<void>;
};

/** Delivers webhooks as the gateway does: at least once, retried until a 2xx. */
export function createDeliveryQueue(settings: DeliverySettings): DeliveryQueue {
  const deliveries: Delivery[] = [];
  const tasks = new Set<Promise<unknown>>();
  let stopping = new AbortController();

  const track = <Result>(task: Promise<Result>) => {
    tasks.add(task);
    return task.finally(() => tasks.delete(task));
  };

  const attempt = async (delivery: Delivery) => {
    const headers: Record<string, string> = { 'x-gateway-event-id': delivery.event_id };
    if (delivery.signature !== null) headers['x-gateway-signature'] = delivery.signature;
    const { url, timeoutMs } = settings;
    const made = await attemptDelivery({ url, body: delivery.body, headers, timeoutMs, signal: stopping.signal });
    if (stopping.signal.aborted) return false;
    delivery.attempts.push(made);
    const accepted = made.status !== null && made.status >= 200 && made.status < 300;
    if (accepted) delivery.state = 'delivered';
    else if (delivery.state === 'pending') delivery.state = 'retrying';
    return accepted;
  };

  const retry = async (delivery: Delivery, firstRetryMs: number) => {
    delivery.state = 'retrying';
    for (let made = 1, wait = firstRetryMs; made < settings.maxDeliveries; made += 1, wait *= 2) {
      await pause(wait, stopping.signal);
      if (stopping.signal.aborted || await attempt(delivery)) return;
    }
    delivery.state = 'given_up';
  };

  const run = async (queue: Delivery[], options: DeliverOptions) => {
    await pause(options.delay_ms ?? 0, stopping.signal);
    for (const delivery of queue) {
      if (stopping.signal.aborted) return;
      const first = track(
        attempt(delivery).then((accepted) => {
          // Retries run beside the other events: one that fails holds none of them up.
          if (!accepted && !stopping.signal.aborted) {
            track(retry(delivery, options.first_retry_ms ?? settings.firstRetryMs));
          }
        }),
      );
      if (!options.at_once) await first;
    }
  };

  return {
    async send(webhooks, options) {
      const made = await Promise.all(webhooks.map((webhook) => prepare(webhook, options, settings.secret)));
      deliveries.unshift(...made.toReversed());
      deliveries.splice(KEPT_DELIVERIES);
      const round = made.filter(({ state }) => state !== 'dropped');
      if (options.reorder) round.reverse();
      const rounds = Array.from({ length: 1 + (options.duplicate ?? 0) }, () => round);
      if (!stopping.signal.aborted) track(run(rounds.flat(), options));
      return structuredClone(made);
    },
    list: () => structuredClone(deliveries),
    find: (eventId) => structuredClone(deliveries.find(({ event_id }) => event_id === eventId)),
    start() {
      if (stopping.signal.aborted) stopping = new AbortController();
    },
    async stop() {
      stopping.abort();
      while (tasks.size > 0) await Promise.allSettled(tasks);
    },
  };
}

async function prepare(webhook: Webhook, options: DeliverOptions, secret: string): Promise<Delivery> {
  const { event, body, eventId, signature } = webhook;
  const { drop = false } = options;
  const dropped = Array.isArray(drop) ? drop.some((name) => name === event) : drop;
  // Without a webhook secret the gateway sends its webhooks unsigned.
  const signed = async () => secret === '' ? null : await signHex(secret, body);
  return {
    event_id: eventId ?? newId('evt'),
    event,
    body,
    signature: signature === undefined ? await signed() : signature,
    state: dropped ? 'dropped' : 'pending',
    attempts: [],
    created_at: new Date().toISOString(),
  };
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  if (ms === 0 || signal.aborted) return Promise.resolve();
  return new Promise((resolve) => {
    const timer = setTimeout(end, ms);
    signal.addEventListener('abort', end);
    function end() {
      clearTimeout(timer);
      signal.removeEventListener('abort', end);
      resolve();
    }
  });
}
