import { Hono } from 'hono';
import { createPage } from '../../http/local-host-page.ts';
import { CHECKOUT_SCRIPT } from '../errors.ts';

const folder = new URL('window/', import.meta.url);
const scripts = ['page.js', 'panels.js', 'hosts.js', 'dialog.js', 'qr-code.js'];

// Like the other services of the stack, the window serves this machine only.
const LOCAL_PAGES = ['localhost', '*.localhost', '127.0.0.1']
  .flatMap((host) => [`http://${host}:*`, `https://${host}:*`])
  .join(' ');

/** The script that apps load, the window that it opens in a frame, and the same window as the page of redirect mode. */
export function createCheckoutPages(): Hono {
  const routes = new Hono();
  routes.get(CHECKOUT_SCRIPT, async () => {
    const script = await Deno.readTextFile(new URL('checkout.js', import.meta.url));
    const headers = { 'content-type': 'text/javascript; charset=utf-8', 'cache-control': 'no-store' };
    return new Response(script, { headers });
  });
  routes.route('/checkout/window', createPage(folder, { scripts, policy: { 'frame-ancestors': LOCAL_PAGES } }));
  // The callback address may be on any host.
  routes.route('/checkout/redirect', createPage(folder, { scripts, policy: { 'form-action': 'http: https:' } }));
  return routes;
}
