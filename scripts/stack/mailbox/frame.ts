import { Hono } from 'hono';
import type { MailStore } from './store.ts';

// `sandbox` without exceptions: no script, no form, no top navigation, a separate origin. No remote images, because
// they can track who opens a mail.
const POLICY = [
  'sandbox',
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  'img-src data: http://127.0.0.1:* http://localhost:*',
  "frame-ancestors 'self'",
].join('; ');

/**
 * Serves the HTML of a mail at `/mails/:id/html`, for the page's frame. 404 for an unknown mail or one without HTML.
 */
export function createMailFrame(store: MailStore): Hono {
  const frame = new Hono();
  frame.get('/mails/:id/html', (c) => {
    const html = store.find(c.req.param('id'))?.html ?? null;
    if (html === null) return c.notFound();
    const headers = {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': POLICY,
      'x-content-type-options': 'nosniff',
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    };
    return new Response(html, { headers });
  });
  return frame;
}
