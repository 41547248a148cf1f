import { Hono } from 'hono';
import { renderEmail } from '../../../supabase/functions/api/outbox/render-email.ts';
import { mailDocument } from '../../stack/mailbox/mail-document.ts';
import type { SupportDatabase } from '../database.ts';
import { PAGE_ROWS, pageOf, readCursor } from '../paging.ts';
import type { Message, ServiceState } from '../rows.ts';

const COLUMNS = 'id, kind, destination, recipient, user_id, state, attempts, last_error, created_at, delivered_at, ' +
  'next_attempt_at';

/** The table has an index for each of these states; the view's column `state` has none. */
const OPEN = 'and m.id in (select o.id from billing.outbox o where o.delivered_at is null and o.parked_at is';
const STATES = new Map([['queued', `${OPEN} null)`], ['parked', `${OPEN} not null)`]]);

/** The side effects, newest first, one of them with its payload, and the mail that it sends. */
export function messageRoutes(database: SupportDatabase, appUrl: string): Hono {
  const routes = new Hono();
  const find = (id: string) =>
    database.read<Message>(`select ${COLUMNS}, payload from billing.messages where id = $1`, [id]);

  routes.get('/messages', async (c) => {
    const rows = await database.read<Message>(
      `select ${COLUMNS}
      from billing.messages m
      where ($1::bigint is null or m.id < $1)
        ${STATES.get(c.req.query('show') ?? '') ?? ''}
      order by m.id desc
      limit $2`,
      [...readCursor(c.req.query('older'), 1), PAGE_ROWS + 1],
    );
    const [state] = await database.read<Pick<ServiceState, 'messages_kept_days'>>(
      'select messages_kept_days from billing.service_state',
    );
    return c.json({ ...pageOf(rows, ({ id }) => [id]), keptDays: state?.messages_kept_days ?? null });
  });
  routes.get('/messages/:id{[0-9]{1,18}}', async (c) => {
    const [message] = await find(c.req.param('id'));
    if (message === undefined) {
      return c.json({ error: 'There is no message with this number, or it was delivered and deleted since.' }, 404);
    }
    return c.json({ ...message, subject: (await render(message))?.subject ?? null });
  });
  routes.get('/messages/:id{[0-9]{1,18}}/mail', async (c) => {
    const [message] = await find(c.req.param('id'));
    const mail = message && await render(message);
    return mail ? mailDocument(mail.html) : c.notFound();
  });
  return routes;

  /** @returns undefined when the message is no mail, or can't be rendered. */
  function render(message: Message) {
    const row = { kind: message.kind, payload: message.payload };
    return renderEmail(row, { appUrl }).catch(() => undefined);
  }
}
