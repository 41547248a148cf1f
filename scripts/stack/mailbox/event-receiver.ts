import { Hono } from 'hono';
import { Webhook } from 'standardwebhooks';

const KEPT_EVENTS = 1_000;

/** An event as it arrived. `id`: its `webhook-id`. */
type Received = { id: string; received_at: string; event: unknown };

/**
 * The route of an app that receives events, at `/events`: verifies the signature (Standard Webhooks) and answers
 * `{"received": true}`, 401 for a wrong one. A repeated event is listed once. `GET` lists them, newest first; `DELETE`
 * deletes them.
 */
export function createEventReceiver(secret: string): Hono {
  const received: Received[] = [];
  const receiver = new Hono();

  receiver.post('/events', async (c) => {
    const body = await c.req.text();
    let event: unknown;
    try {
      event = new Webhook(secret).verify(body, c.req.header());
    } catch {
      return c.json({ error: 'Unauthorized' }, 401);
    }
    const id = c.req.header('webhook-id') ?? '';
    if (!received.some((one) => one.id === id)) {
      received.unshift({ id, received_at: new Date().toISOString(), event });
      received.splice(KEPT_EVENTS);
    }
    return c.json({ received: true });
  });
  receiver.get('/events', (c) => c.json({ object: 'list', data: received }));
  receiver.delete('/events', (c) => {
    received.splice(0);
    return c.json({ object: 'list', deleted: true });
  });
  return receiver;
}
