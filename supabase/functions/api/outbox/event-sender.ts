import { z } from 'zod';
import type { EventsConfig } from '../config.ts';
import type { Delivery, OutboxRow, Sender } from '../ports.ts';
import { attemptTimeoutMilliseconds, readStatus } from './outbox.ts';

const event = z.object({ type: z.string(), timestamp: z.string(), data: z.looseObject({}) });

/** Sends each event to the app, signed by Standard Webhooks with each of the secrets. Contract: Events to the app. */
export function createEventSender(config: EventsConfig): Sender {
  return (rows) => rows.map((row) => ({ rows: [row], deliver: () => send(config, row) }));
}

async function send({ url, secrets }: EventsConfig, { id, key, payload }: OutboxRow): Promise<Delivery> {
  try {
    // Loaded with the first event: an isolate may send none.
    const { Webhook } = await import('standardwebhooks');
    const { data, ...rest } = event.parse(payload);
    // A state has a version. A payment is a fact, and none of them is dropped.
    const version = rest.type === 'subscription.updated' && { version: id };
    const body = JSON.stringify({ ...rest, data: { ...data, ...version } });
    const now = new Date();
    const response = await fetch(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'webhook-id': key,
        'webhook-timestamp': String(Math.floor(now.getTime() / 1000)),
        'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(key, now, body)).join(' '),
      },
      body,
      // An address to which the app redirects was not chosen by its owner.
      redirect: 'manual',
      signal: AbortSignal.timeout(attemptTimeoutMilliseconds),
    });
    await response.body?.cancel();
    return readAnswer(response);
  } catch (error) {
    return { status: 'failed', error: error instanceof Error ? error.name : 'unknown' };
  }
}

/** Standard Webhooks retries all but 410 Gone: a receiver that is deployed wrongly answers 401 or 404 until it is mended. */
function readAnswer({ status, headers }: Response): Delivery {
  const delivery = readStatus(status, `HTTP ${status}`, headers.get('retry-after'));
  return delivery.status === 'refused' && status !== 410 ? { ...delivery, status: 'failed' } : delivery;
}
