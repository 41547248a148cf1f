import { Hono } from 'hono';
import type { SupportDatabase } from '../database.ts';
import { PAGE_ROWS, pageOf, readCursor } from '../paging.ts';
import type { Webhook } from '../rows.ts';

const COLUMNS = `encode(body_sha256, 'hex') as body_sha256, received_at, event, subject_id, user_id, email, deliveries,
  attempts, outcome`;

/** The webhooks, newest first, and one of them with its payload. */
export function webhookRoutes(database: SupportDatabase): Hono {
  const routes = new Hono();
  routes.get('/webhooks', async (c) => {
    const isOpen = c.req.query('show') === 'open';
    const rows = await database.read<Webhook>(
      `select ${COLUMNS}
      from billing.webhooks w
      where ($1::timestamptz is null or (w.received_at, w.body_sha256) < ($1, decode($2, 'hex')))
        ${isOpen ? 'and w.body_sha256 in (select u.body_sha256 from billing.unsettled_events u)' : ''}
      order by w.received_at desc, w.body_sha256 desc
      limit $3`,
      [...readCursor(c.req.query('older'), 2), PAGE_ROWS + 1],
    );
    return c.json(pageOf(rows, ({ received_at, body_sha256 }) => [received_at, body_sha256]));
  });
  routes.get('/webhooks/:hash{[0-9a-f]{64}}', async (c) => {
    const [webhook] = await database.read<Webhook>(
      `select ${COLUMNS}, payload from billing.webhooks where body_sha256 = decode($1, 'hex')`,
      [c.req.param('hash')],
    );
    return webhook === undefined ? c.json({ error: 'There is no webhook with this hash.' }, 404) : c.json(webhook);
  });
  return routes;
}
