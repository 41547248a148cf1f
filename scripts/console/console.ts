import { Hono } from 'hono';
import { bundlePageScript } from '../stack/http/bundle-page-script.ts';
import { createPage } from '../stack/http/local-host-page.ts';
import { createLocalHostService, type LocalHostService } from '../stack/http/local-host-service.ts';
import { writeLine } from '../stack/process/child.ts';
import type { Verification } from '../doctor/connection.ts';
import { createAccess } from './access.ts';
import { createSupportDatabase, Refused, Unreachable } from './database.ts';
import { exportWork } from './exports.ts';
import { bookWork, createFileMaker } from './file-maker.ts';
import { actionRoutes } from './routes/actions.ts';
import { bookRoutes } from './routes/books.ts';
import { customerRoutes } from './routes/customers.ts';
import { fileRoutes } from './routes/files.ts';
import { messageRoutes } from './routes/messages.ts';
import { revenueRoutes } from './routes/revenue.ts';
import { todayRoutes } from './routes/today.ts';
import { webhookRoutes } from './routes/webhooks.ts';

const PATHS = [
  '/',
  '/customers',
  '/customers/:id',
  '/webhooks',
  '/webhooks/:hash',
  '/messages',
  '/messages/:id',
  '/revenue',
  '/revenue/:month',
  '/books',
  '/books/documents',
  '/books/settlements/:id',
];
const SHEETS = ['page.css', 'parts.css', 'lists.css', 'dialog.css', 'plots.css', 'books.css', 'small.css'];
/** Stricter than the default of local pages: no image but the console's own. */
const POLICY = { 'img-src': "'self'" };

export type ConsoleOptions = Verification & {
  /** 0 chooses any free port. */
  port: number;
  /** With the role `subscriptions_support`. */
  databaseUrl: string;
  /** Where the links of rendered mails lead. */
  appUrl: string;
};

/** The console. `entryUrl` has the token that admits a browser. */
export type Console = LocalHostService & { readonly entryUrl: string };

/**
 * A page for support: customers, webhooks, messages, revenue and books, read and changed with the rights of one role. It
 * listens on 127.0.0.1, and answers 403 to everybody who did not open `entryUrl`.
 */
export function createConsole({ port, databaseUrl, appUrl, ...verification }: ConsoleOptions): Console {
  const database = createSupportDatabase(databaseUrl, verification);
  const makers = { '/books': createFileMaker(database, bookWork), '/revenue': createFileMaker(database, exportWork) };
  const access = createAccess();
  const app = new Hono();
  app.use(access.check);
  app.use(async (c, next) => {
    await next();
    c.header('cache-control', 'no-store');
    c.header('x-content-type-options', 'nosniff');
    if (!c.res.headers.has('content-security-policy')) c.header('content-security-policy', "default-src 'none'");
  });
  const script = () => bundlePageScript('scripts/console/page/page.ts', {});
  const folder = new URL('page/', import.meta.url);
  app.route('/', createPage(folder, { paths: PATHS, sheets: SHEETS, script, policy: POLICY }));
  app.get('/icon.svg', async (c) => {
    const icon = await Deno.readTextFile(new URL('icon.svg', folder));
    return c.body(icon, 200, { 'content-type': 'image/svg+xml' });
  });
  const api = [todayRoutes, customerRoutes, webhookRoutes, revenueRoutes, bookRoutes, actionRoutes];
  for (const routes of api) app.route('/api', routes(database));
  app.route('/api', messageRoutes(database, appUrl));
  for (const [path, maker] of Object.entries(makers)) app.route('/api', fileRoutes(path, maker));
  app.notFound((c) => c.json({ error: 'There is nothing at this address.' }, 404));
  app.onError((error, c) => {
    if (error instanceof Refused) return c.json({ error: error.message }, 422);
    const reason = error instanceof Unreachable ? error.message : error.name;
    writeLine(`console: ${c.req.method} ${c.req.routePath} failed: ${reason}`);
    return c.json({ error: `The database did not answer (${reason}).` }, 503);
  });

  const service = createLocalHostService({
    name: 'console',
    port,
    fetch: app.fetch,
    names: [access.host],
    release() {
      database.close();
      for (const maker of Object.values(makers)) maker.close();
    },
    probe: access.admitted,
  });
  const { name, start, ready, stop } = service;
  return {
    ...{ name, start, ready, stop },
    get url() {
      return service.url;
    },
    get entryUrl() {
      return service.url + access.entryPath;
    },
  };
}
