import { Hono } from 'hono';
import { bundlePageScript } from '../http/bundle-page-script.ts';
import { createPage } from '../http/local-host-page.ts';
import { createLocalHostService, type LocalHostService } from '../http/local-host-service.ts';

const PATHS = ['/', '/sign-in', '/pricing', '/dashboard', '/subscription'];

type Options = {
  port: number;
  apiUrl: string;
  publishableKey: string;
  gatewayUrl: string;
  mailboxUrl: string;
  /** The name of the deployed function. */
  functionName: string;
  /** Answers `/api/revalidate`: the calls are those that the mailbox shows. */
  revalidate: (request: Request) => Promise<Response>;
};

/**
 * The demo shop: an app where a person signs in, buys, and sees what webhooks change. Its pages need supabase-js and
 * `supabase/client/subscriptions.ts` only.
 */
export function createShop(options: Options): LocalHostService {
  const { port, apiUrl, publishableKey, gatewayUrl, mailboxUrl, functionName, revalidate } = options;
  const CHECKOUT_SCRIPT = `${gatewayUrl}/v1/checkout.js`;
  const addresses = { API_URL: apiUrl, MAILBOX_URL: mailboxUrl, CHECKOUT_SCRIPT };
  const settings = { ...addresses, PUBLISHABLE_KEY: publishableKey, FUNCTION_NAME: functionName };
  const sheets = ['page.css', 'pricing.css'];
  const script = () => bundlePageScript('scripts/stack/shop/page.ts', settings);
  const policy = {
    'script-src': `'self' ${gatewayUrl}`,
    'connect-src': `'self' ${apiUrl}`,
    'frame-src': gatewayUrl,
  };
  const app = new Hono();
  app.route('/', createPage(new URL('.', import.meta.url), { paths: PATHS, script, policy, sheets }));
  app.all('/api/revalidate', (c) => revalidate(c.req.raw));
  app.notFound((c) => c.json({ error: 'Not found' }, 404));
  return createLocalHostService({ name: 'demo shop', port, fetch: app.fetch, release: () => {} });
}
