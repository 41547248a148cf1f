import { Hono } from 'hono';

const POLICY = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'connect-src': "'self'",
  'frame-src': "'self'",
  'img-src': "'self' data:",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
};

const folder = new URL('.', import.meta.url);

type Options = {
  /** Where `page.html` is served. Default: `/`. */
  paths?: string[];
  /** The scripts of the folder that the page loads. */
  scripts?: string[];
  /** Scripts of this folder, which all pages of a service import from `/http/`. */
  shared?: string[];
  /** The style sheets of the folder, in their order; served as one, `page.css`. */
  sheets?: string[];
  /** Makes `page.js`, at the first request for it. Default: the file. */
  script?: () => Promise<string>;
  /** Directives of the content security policy that differ from the default. */
  policy?: Partial<typeof POLICY>;
};

/**
 * Serves a folder's `page.html`, its scripts, and its style sheets after the shared `local-host-page.css`, under
 * a policy that allows no other script. The files are read for each request, so a reload shows an edit.
 * @param pageFolder with a trailing slash
 */
export function createPage(pageFolder: URL, options: Options = {}): Hono {
  const { paths = ['/'], script, scripts = ['page.js'], shared = [] } = options;
  const { sheets = ['page.css'], policy = {} } = options;
  const read = (name: string, from = pageFolder) => Deno.readTextFile(new URL(name, from));
  const directives = Object.entries({ ...POLICY, ...policy }).map(([name, value]) => `${name} ${value}`);
  const headers = (type: string) => ({
    'content-type': `${type}; charset=utf-8`,
    'content-security-policy': directives.join('; '),
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cache-control': 'no-store',
  });
  const page = new Hono();
  for (const path of paths) {
    page.get(path, async () => new Response(await read('page.html'), { headers: headers('text/html') }));
  }
  page.get('/page.css', async () => {
    const texts = await Promise.all([read('local-host-page.css', folder), ...sheets.map((name) => read(name))]);
    return new Response(texts.join('\n'), { headers: headers('text/css') });
  });
  let made: Promise<string> | undefined;
  if (script) {
    page.get('/page.js', async () => new Response(await (made ??= script()), { headers: headers('text/javascript') }));
  }
  for (const name of scripts) {
    page.get(`/${name}`, async () => new Response(await read(name), { headers: headers('text/javascript') }));
  }
  for (const name of shared) {
    page.get(
      `/http/${name}`,
      async () => new Response(await read(name, folder), { headers: headers('text/javascript') }),
    );
  }
  return page;
}
