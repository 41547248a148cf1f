import { compile } from 'tailwindcss';
import { build } from 'vite';
import { bundlePageScript } from '../../scripts/stack/http/bundle-page-script.ts';
import { root } from '../../scripts/stack/root.ts';

const folder = `${root}/supabase/client/blocks/billing-page`;

/** shadcn's variables of an app with a colour of its own. */
const shadcn = `:root { --background: #fff; --foreground: #111; --card: #fff; --primary: #0f766e; --border: #ddd;
  --primary-foreground: #fff; --muted: #f4f4f5; --muted-foreground: #52525b }`;

/** Builds the page with the fixtures and the client, and serves it. `?shadcn` has an app's variables. */
export async function serveBillingPage(env: Record<string, string>) {
  const script = await bundlePageScript('tests/browser/billing-page-app.tsx', {
    'API_URL': env.API_URL ?? '',
    'PUBLISHABLE_KEY': env.PUBLISHABLE_KEY ?? '',
    'CHECKOUT_SCRIPT': `${env.GATEWAY_URL}/v1/checkout.js`,
    'process.env.NODE_ENV': 'production',
  });
  const sheet = await styleSheet();
  const server = Deno.serve({ hostname: '127.0.0.1', port: 0, onListen() {} }, ({ url }) => {
    const { pathname, searchParams } = new URL(url);
    if (pathname === '/page.js') return new Response(script, { headers: { 'content-type': 'text/javascript' } });
    const css = sheet + (searchParams.has('shadcn') ? shadcn : '');
    const html =
      `<!doctype html><html lang="en"><meta charset="utf-8"><title>Billing</title><link rel="icon" href="data:,">
      <meta name="viewport" content="width=device-width, initial-scale=1">${
        searchParams.has('own-colours') ? '' : '<meta name="color-scheme" content="light dark">'
      }
      <style>${css}</style>${
        searchParams.has('dark') ? '<body class="dark">' : ''
      }<main><div id="root"></div></main><script src="/page.js" type="module"></script></html>`;
    return new Response(html, { headers: { 'content-type': 'text/html' } });
  });
  return { url: `http://localhost:${server.addr.port}`, stop: () => server.shutdown() };
}

/**
 * What the build of an app makes of the classes in the sources of the page. Its Lightning CSS rewrites `light-dark()`, which
 * then needs a `color-scheme` in a style sheet.
 */
async function styleSheet(): Promise<string> {
  const words = new Set<string>();
  for await (const { name } of Deno.readDir(folder)) {
    for (const word of (await Deno.readTextFile(`${folder}/${name}`)).split(/[\s'"`]+/)) words.add(word);
  }
  const base = `${root}/node_modules/tailwindcss`;
  const path = `${base}/index.css`;
  const loadStylesheet = async () => ({ path, base, content: await Deno.readTextFile(path) });
  const sheet = (await compile('@import "tailwindcss";', { base, loadStylesheet })).build([...words]);
  const app = await Deno.makeTempDir({ prefix: 'sheet-' });
  try {
    await Deno.writeTextFile(`${app}/page.css`, sheet);
    const built = await build({
      ...{ root: app, configFile: false, logLevel: 'silent' },
      // As the plugin of Tailwind: browsers of 2023.
      build: { write: false, cssTarget: ['chrome111', 'safari16.4'], rollupOptions: { input: `${app}/page.css` } },
    });
    const files = [built].flat().flatMap((one) => 'output' in one ? one.output : []);
    return files.flatMap((one) => one.type === 'asset' ? [String(one.source)] : []).join('');
  } finally {
    await Deno.remove(app, { recursive: true });
  }
}
