import { Hono } from 'hono';
import { html } from 'hono/html';
import type { Mail } from '../../supabase/functions/api/generated/emails.js';
import { createPage } from '../stack/http/local-host-page.ts';
import { createLocalHostService, type LocalHostService } from '../stack/http/local-host-service.ts';

type Mails = Readonly<Record<string, Mail>>;

/** Mails have their own styles, and may show a picture of the app. No script runs. */
const policy = "default-src 'none'; style-src 'unsafe-inline'; img-src https: http: data:; frame-ancestors 'self'";

/**
 * A page on 127.0.0.1 that shows every mail as HTML and as text.
 * @param render is called for each page, so that a reload shows an edit
 */
export function createPreview(port: number, render: () => Promise<Mails>): LocalHostService {
  const app = new Hono();
  app.get('/', async (c) => {
    c.header('content-security-policy', "default-src 'none'; style-src 'self'; frame-src 'self'");
    return c.html(pageOf(await render()));
  });
  app.route('/', createPage(new URL('./', import.meta.url), { paths: [], sheets: ['preview.css'] }));
  app.get('/:kind/:form{html|text}', async (c) => {
    const { kind, form } = c.req.param();
    const mail = new Map(Object.entries(await render())).get(kind);
    if (mail === undefined) return c.text('There is no such mail', 404);
    c.header('content-security-policy', policy);
    return form === 'html' ? c.html(mail.html) : c.text(mail.text);
  });
  // What is wrong with a template.
  app.onError((error, c) => c.text(error.message, 500));
  return createLocalHostService({ name: 'preview of the mails', port, fetch: app.fetch, release() {} });
}

function pageOf(mails: Mails) {
  const kinds = Object.entries(mails);
  return html`
    <!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>Mails</title>
        <link rel="stylesheet" href="/page.css">
      </head>
      <body>
        <nav aria-label="Mails">
          <ul>
                ${kinds.map(([kind, { subject }]) =>
                  html`
                    <li>
                      <a href="/${kind}/html" target="mail">${subject}</a>
                      <small>${kind} · <a href="/${kind}/text" target="mail" aria-label="Text of ${kind}">text</a></small>
                    </li>
                  `
                )}
              </ul>
        </nav>
        <iframe name="mail" title="The mail" src="/${kinds[0]?.[0]}/html"></iframe>
      </body>
    </html>
  `;
}
