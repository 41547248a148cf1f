import { Hono } from 'hono';
import type { MailStore } from './store.ts';

// `sandbox` with nothing allowed: no script, no form, no top navigation, an origin of its own. No image from elsewhere
// either, since looking at a mail must not tell its sender so.
const POLICY = [
  'sandbox',
  "default-src 'none'",
  "style-src 'unsafe-inline'",
  'img-src data: http://127.0.0.1:* http://localhost:*',
  "frame-ancestors 'self'",
].join('; ');

/** A mail's HTML by itself, at `/mails/:id/html`, for the page's frame. 404 for a mail that is unknown or has no HTML. */
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
