import { Hono } from 'hono';
import { z } from 'zod';
import { createPage } from '../http/local-host-page.ts';
import { createLocalHostService, type LocalHostOptions, type LocalHostService } from '../http/local-host-service.ts';
import { createMailApi } from './api.ts';
import { mailError } from './error.ts';
import { createFaultSwitch, faultRequest } from './faults.ts';
import { createMailFrame } from './frame.ts';
import { createMailStore } from './store.ts';
import { createEventReceiver } from './event-receiver.ts';
import { createRevalidationReceiver } from '../http/revalidation-receiver.ts';

const KEPT_MAILS = 1_000;

/** The mailbox. `revalidate` answers as its address `/api/revalidate`, with the same calls and faults. */
export type Mailbox = LocalHostService & { revalidate(request: Request): Promise<Response> };

type Options = Pick<LocalHostOptions, 'port' | 'isOwn'> & { revalidateSecret: string; eventsSecret?: string };

/**
 * Simulates Resend, and the app's routes for revalidation and events. Keeps mails, calls and events in memory and shows
 * them on a page at `/`.
 * `POST /simulate/fault` makes the next requests fail, `DELETE` removes the faults, `GET` lists them.
 */
export function createMailbox({ port, isOwn, revalidateSecret, eventsSecret = '' }: Options): Mailbox {
  const store = createMailStore(KEPT_MAILS);
  const faults = createFaultSwitch();
  const events = createEventReceiver(eventsSecret);
  const revalidation = createRevalidationReceiver(revalidateSecret);

  const app = new Hono();
  app.route('/', createPage(new URL('.', import.meta.url)));
  app.route('/', createMailApi(store, faults));
  app.route('/', createMailFrame(store));
  app.get('/simulate/fault', (c) => c.json({ faults: faults.current() }));
  app.post('/simulate/fault', async (c) => {
    const parsed = faultRequest.safeParse(await c.req.json().catch(() => undefined));
    if (!parsed.success) return c.json({ error: 'Invalid request', details: z.flattenError(parsed.error) }, 400);
    faults.set(parsed.data);
    return c.json({ faults: faults.current() });
  });
  app.delete('/simulate/fault', (c) => {
    faults.lift();
    return c.json({ faults: [] });
  });
  const revalidate = async (request: Request) => {
    const answer = async () => await revalidation.fetch(request);
    return request.method === 'POST' ? await faults.apply('revalidate', answer) : await answer();
  };
  app.all('/api/revalidate', (c) => revalidate(c.req.raw));
  app.all('/events', (c) => {
    const answer = async () => await events.fetch(c.req.raw);
    return c.req.method === 'POST' ? faults.apply('events', answer) : answer();
  });
  app.notFound(() => mailError(404, 'not_found', 'The requested endpoint does not exist.'));
  app.onError((error) => mailError(500, 'application_error', error.message));

  const service = createLocalHostService({ name: 'mailbox', port, isOwn, fetch: app.fetch, release: faults.release });
  return Object.assign(service, { revalidate });
}
