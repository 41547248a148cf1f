import { Hono } from 'hono';
import { mailDocument } from './mail-document.ts';
import type { MailStore } from './store.ts';

/**
 * Serves the HTML of a mail at `/mails/:id/html`, for the page's frame. Images of this machine are shown. 404 for an
 * unknown mail or one without HTML.
 */
export function createMailFrame(store: MailStore): Hono {
  const frame = new Hono();
  frame.get('/mails/:id/html', (c) => {
    const html = store.find(c.req.param('id'))?.html ?? null;
    return html === null ? c.notFound() : mailDocument(html, 'http://127.0.0.1:* http://localhost:*');
  });
  return frame;
}
