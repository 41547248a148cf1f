/**
 * Supabase Lite in its own process: its Postgres driver throws an uncaught error when a connection is lost, which ends
 * only this process. Reads its settings as JSON from stdin. Prints the ports of its two listeners as one JSON line on
 * stdout: the API, as on a hosted project, and Studio, which serves requests without a key as `service_role`.
 */
import { App } from '@supabase/lite';
import { createPostgresConnection } from '@supabase/lite/postgres';
import { cors } from 'hono/cors';
import type { LiteSettings } from './lite.ts';
import { isLocalRequest } from '../http/local-host.ts';
import { serveStudioAsset } from './serve-studio-asset.ts';

const settings: LiteSettings = await new Response(Deno.stdin.readable).json();
const { studioPort } = settings;
const connection = createPostgresConnection({
  url: settings.databaseUrl,
  postgresOptions: { max: 20, onnotice: () => {} },
});
const auth = {
  enabled: true,
  jwt_secret: settings.jwtSecret,
  publishable_key: settings.publishableKey,
  secret_key: settings.secretKey,
  site_url: settings.siteUrl,
  enable_signup: true,
  email: { enable_signup: true, enable_confirmations: false },
};
const corsOfAuth = cors({ origin: '*', exposeHeaders: ['x-supabase-api-version'], maxAge: 86_400 });
const api = new App({
  connection,
  auth,
  api: { enabled: true, schemas: ['public'] },
  options: {
    server: {
      disableStudio: true,
      middlewares: [
        // A hosted project has no `/_system`, and Lite's shows the database password to any caller.
        (c, next) => c.req.path.startsWith('/_system') ? Promise.resolve(c.notFound()) : next(),
        // Lite's answers to a browser do not allow the headers of supabase-js there.
        (c, next) => c.req.path.startsWith('/auth/v1/') ? corsOfAuth(c, next) : next(),
      ],
    },
  },
});
const studio = new App({
  connection,
  auth,
  api: { enabled: true, schemas: ['public', 'billing'] },
  studio: { enabled: true },
  options: { server: { admin: true } },
});

keepGrants();
await waitForDatabase();
const ports = {
  api: serve((request, peerAddress) => api.fetch(request, { peerAddress })),
  studio: studioPort === undefined ? undefined : serve((request, peerAddress) => {
    if (!isLocalRequest(request, studioPort)) {
      return Response.json({ error: 'Studio answers its own machine only' }, { status: 403 });
    }
    return serveStudioAsset(request) ?? studio.fetch(request, { peerAddress });
  }),
};
Deno.stdout.writeSync(new TextEncoder().encode(`${JSON.stringify({ event: 'listening', ...ports })}\n`));

function serve(answer: (request: Request, peerAddress: string) => Response | Promise<Response>): number {
  const options = { hostname: '127.0.0.1', port: 0, onListen: () => {} };
  return Deno.serve(options, (request, info) => answer(request, info.remoteAddr.hostname)).addr.port;
}

/**
 * By default Lite's first request grants all rights on all tables to the API's roles, which undoes each `revoke` of the
 * migrations, and Lite works as superuser while no table has row level security. The field that prevents this is
 * private, so a version of Lite without it is refused.
 */
function keepGrants(): void {
  if (Reflect.get(connection, 'rlsState') !== 'unknown') {
    throw new Error('This version of Lite has no rlsState: check which rights it grants');
  }
  Reflect.set(connection, 'rlsState', 'active');
}

/** Waits for the database, then reads its schema into the cache, before the first request. */
async function waitForDatabase(): Promise<void> {
  for (;;) {
    try {
      await connection.exec('select 1');
      await connection.introspect({ useCache: true });
      return;
    } catch {
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}
