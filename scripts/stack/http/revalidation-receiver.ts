import { Hono } from 'hono';
import { z } from 'zod';
import { isSameSecret } from './local-host-secret.ts';

const KEPT_CALLS = 1_000;
const body = z.object({ paths: z.array(z.string().regex(/^\//, 'A path starts with /')).min(1) });

type Call = { id: string; received_at: string; paths: string[] };

/**
 * The revalidation route of an app, at `/api/revalidate`: accepts `{"paths": [...]}` with the header
 * `x-revalidate-secret` and answers `{"revalidated": true}`, 401 for a wrong secret, 400 for an invalid body. `GET`
 * lists the accepted calls, newest first; `DELETE` deletes them.
 */
export function createRevalidationReceiver(secret: string): Hono {
  const calls: Call[] = [];
  const receiver = new Hono();

  receiver.post('/api/revalidate', async (c) => {
    const given = c.req.header('x-revalidate-secret') ?? '';
    if (!await isSameSecret(given, secret)) return c.json({ error: 'Unauthorized' }, 401);
    const parsed = body.safeParse(await c.req.json().catch(() => undefined));
    if (!parsed.success) return c.json({ error: 'Invalid request', details: z.flattenError(parsed.error) }, 400);
    calls.unshift({ id: crypto.randomUUID(), received_at: new Date().toISOString(), paths: parsed.data.paths });
    calls.splice(KEPT_CALLS);
    return c.json({ revalidated: true });
  });
  receiver.get('/api/revalidate', (c) => c.json({ object: 'list', data: calls }));
  receiver.delete('/api/revalidate', (c) => {
    calls.splice(0);
    return c.json({ object: 'list', deleted: true });
  });
  return receiver;
}
