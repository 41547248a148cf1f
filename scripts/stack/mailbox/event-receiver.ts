import { Hono } from 'hono';
import { Webhook } from 'standardwebhooks';

const KEPT_EVENTS = 1_000;

/** An event as it arrived, so that a reader can check its signature. `id`: its `webhook-id`; `body`: the text that was sent. */
type Received = { id: string; headers: Record<string, string>; body: string };

/**
 * The route of an app that receives events, at `/events`: verifies the signature (Standard Webhooks) and answers
 * `{"received": true}`, 401 for a wrong one. A repeated event is listed once. `GET` lists them, newest first; `DELETE`
 * deletes them.
 */
export function createEventReceiver(secret: string): Hono {
  const received: Received[] = [];
  const receiver = new Hono();

  receiver.post('/events', async (c) => {
    const [headers, body] = [c.req.header(), await c.req.text()];
    try {
      new Webhook(secret).verify(body, headers);
    } catch {
      return c.json({ error: 'Unauthorized' }, 401);
    }
    const id = headers['webhook-id'] ?? '';
    if (!received.some((one) => one.id === id)) {
      received.unshift({ id, headers, body });
      received.splice(KEPT_EVENTS);
    }
    return c.json({ received: true });
  });
  receiver.get('/events', (c) => c.json({ data: received }));
  receiver.delete('/events', (c) => {
    received.splice(0);
    return c.json({ object: 'list', deleted: true });
  });
  return receiver;
}
