import { Hono } from 'hono';

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "frame-src 'self'",
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * A page for a person: `<stem>.html` at `/`, with `local-host-page.css` and `<stem>.css` at `/page.css` and `<stem>.js` at
 * `/page.js`, all beside this file, under a policy that runs no other script. The files are read at each request, so that
 * an edit shows on reload.
 */
export function createPage(stem: string): Hono {
  const file = (name: string) => Deno.readTextFile(new URL(`./${name}`, import.meta.url));
  const headers = (type: string) => ({
    'content-type': `${type}; charset=utf-8`,
    'content-security-policy': POLICY,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  });
  const page = new Hono();
  page.get('/', async () => new Response(await file(`${stem}.html`), { headers: headers('text/html') }));
  page.get('/page.css', async () => {
    const sheets = await Promise.all([file('local-host-page.css'), file(`${stem}.css`)]);
    return new Response(sheets.join('\n'), { headers: headers('text/css') });
  });
  page.get('/page.js', async () => new Response(await file(`${stem}.js`), { headers: headers('text/javascript') }));
  return page;
}
