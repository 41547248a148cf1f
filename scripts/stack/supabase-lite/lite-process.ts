/**
 * Supabase Lite in a process of its own: its Postgres driver throws uncaught when a connection dies, which ends this
 * process and nothing else. Prints the ports of its listeners as one JSON line on stdout: the API, as a hosted project
 * has it, and Studio, which serves requests without a key as `service_role`.
 */
import { App } from '@supabase/lite';
import { createPostgresConnection } from '@supabase/lite/postgres';
import type { LiteSettings } from './lite.ts';
import { isLocalRequest } from '../http/local-host.ts';
import { serveStudioAsset } from './serve-studio-asset.ts';

const settings: LiteSettings = JSON.parse(Deno.env.get('LITE_SETTINGS') ?? '');
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
const api = new App({
  connection,
  auth,
  api: { enabled: true, schemas: ['public'] },
  options: {
    server: {
      disableStudio: true,
      // `/_system` is no part of a hosted project's API, and tells the database's password to whoever asks.
      middlewares: [(c, next) => c.req.path.startsWith('/_system') ? Promise.resolve(c.notFound()) : next()],
    },
  },
});
const studio = new App({
  connection,
  auth,
  api: { enabled: true, schemas: ['public', 'private'] },
  studio: { enabled: true },
  options: { server: { admin: true } },
});

keepGrants();
await databaseAnswers();
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
 * Without this Lite's first request grants everything on every table to the API's roles, undoing each `revoke` of the
 * migrations; and while no table has row level security yet it goes on as superuser. The field is private to Lite's
 * types, so a Lite that no longer has it is refused rather than trusted.
 */
function keepGrants(): void {
  if (Reflect.get(connection, 'rlsState') !== 'unknown') {
    throw new Error('This Lite has no rlsState: read what it grants');
  }
  Reflect.set(connection, 'rlsState', 'active');
}

/** Waits for the database, then reads its schema once: the first request finds it read. */
async function databaseAnswers(): Promise<void> {
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
