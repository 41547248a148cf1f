import { Hono } from 'hono';
import { z } from 'zod';
import { deliverOptions } from './deliver-options.ts';
import type { DeliveryQueue } from './delivery.ts';
import { endpointRequest } from './endpoint.ts';
import { gatewayError, unknownId } from './error.ts';
import { readRequest } from './request.ts';

const rawRequest = z.strictObject({
  body: z.string(),
  /** Replaces the valid signature; null sends no signature. */
  signature: z.string().nullable().optional(),
  event_id: z.string().min(1).optional(),
  deliver: deliverOptions.default({}),
});

/** Without `event_id` all waiting retries are made now. */
const retryRequest = z.strictObject({ event_id: z.string().optional() });

const redeliverRequest = z.strictObject({ event_id: z.string() });

/** The controls of webhooks: list, deliver any raw body, retry, redeliver, and the settings of the endpoint. */
export function createDeliveryControls(queue: DeliveryQueue): Hono {
  const routes = new Hono();

  routes.post('/deliver', async (c) => {
    const read = await readRequest(c, rawRequest);
    if ('response' in read) return read.response;
    const { body, signature, event_id, deliver } = read.data;
    const webhook = { event: eventOf(body), body, eventId: event_id, ...signature === undefined ? {} : { signature } };
    const [delivery] = await queue.send([webhook], deliver);
    return c.json(delivery);
  });
  routes.get('/deliveries', (c) => {
    const items = queue.list();
    return c.json({ entity: 'collection', count: items.length, items });
  });
  routes.get('/deliveries/:id', (c) => {
    const delivery = queue.find(c.req.param('id'));
    return delivery === undefined ? unknownId() : c.json(delivery);
  });

  routes.post('/retry', async (c) => {
    const read = await readRequest(c, retryRequest);
    if ('response' in read) return read.response;
    return c.json({ retried: queue.retryNow(read.data.event_id) });
  });
  routes.post('/redeliver', async (c) => {
    const read = await readRequest(c, redeliverRequest);
    if ('response' in read) return read.response;
    const { event_id } = read.data;
    if (queue.find(event_id) === undefined) return unknownId('event_id');
    if (queue.redeliver(event_id)) return c.json(queue.find(event_id));
    return gatewayError('The endpoint is off, or was off when this event was sent.', { field: 'event_id' });
  });
  routes.get('/endpoint', (c) => c.json(queue.endpoint()));
  routes.post('/endpoint', async (c) => {
    const read = await readRequest(c, endpointRequest);
    return 'response' in read ? read.response : c.json(queue.setEndpoint(read.data));
  });

  return routes;
}

function eventOf(body: string): string | null {
  try {
    const parsed: unknown = JSON.parse(body);
    const isEvent = typeof parsed === 'object' && parsed !== null && 'event' in parsed;
    return isEvent && typeof parsed.event === 'string' ? parsed.event : null;
  } catch {
    return null;
  }
}
