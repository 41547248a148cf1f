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

const folder = new URL('.', import.meta.url);

/**
 * Serves a folder's `page.html` at `/`, its `page.js`, and its `page.css` after the shared `local-host-page.css`, under
 * a policy that allows no other script. The files are read for each request, so a reload shows an edit.
 * @param pageFolder with a trailing slash
 */
export function createPage(pageFolder: URL): Hono {
  const read = (name: string, from = pageFolder) => Deno.readTextFile(new URL(name, from));
  const headers = (type: string) => ({
    'content-type': `${type}; charset=utf-8`,
    'content-security-policy': POLICY,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  });
  const page = new Hono();
  page.get('/', async () => new Response(await read('page.html'), { headers: headers('text/html') }));
  page.get('/page.css', async () => {
    const sheets = await Promise.all([read('local-host-page.css', folder), read('page.css')]);
    return new Response(sheets.join('\n'), { headers: headers('text/css') });
  });
  page.get('/page.js', async () => new Response(await read('page.js'), { headers: headers('text/javascript') }));
  return page;
}
