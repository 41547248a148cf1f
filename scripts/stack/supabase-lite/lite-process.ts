/**
 * Supabase Lite in its own process: its Postgres driver throws an uncaught error when a connection is lost, which ends
 * only this process. Reads its settings as JSON from stdin. Prints the ports of its two listeners as one JSON line on
 * stdout: the API, as on a hosted project, and Studio, which serves requests without a key as `service_role`.
 */
import { App } from '@supabase/lite';
import { createPostgresConnection } from '@supabase/lite/postgres';
import { cors } from 'hono/cors';
import postgres from 'postgres';
import type { LiteSettings } from './lite.ts';
import { isLocalRequest } from '../http/local-host.ts';
import { isOwnUser } from '../http/own-user.ts';
import { asRole } from '../postgres/database-url.ts';
import { serveStudioAsset } from './serve-studio-asset.ts';
import { alivePath } from './watch-lite.ts';

const settings: LiteSettings = await new Response(Deno.stdin.readable).json();
const { studioPort } = settings;
/** Of the owner: for auth, Studio, and what Lite reads of the schema. */
const connection = connect(settings.databaseUrl);
/** As on a hosted project: a token that names another role than the API's gets nothing. */
const apiConnection = connect(asRole(settings.databaseUrl, 'authenticator'));
// Lite runs the statements of a request through this function, with the role of its token.
connection.withContext = (context, work, options) => apiConnection.withContext(context, work, options);
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
await watchSchema();
const ports = {
  api: serve((request, peerAddress) =>
    new URL(request.url).pathname === alivePath ? isAlive() : api.fetch(request, { peerAddress })
  ),
  studio: studioPort === undefined ? undefined : serve(async (request, peerAddress, isOwn) => {
    if (!isLocalRequest(request, studioPort) || !await isOwn()) {
      return Response.json({ error: 'Studio answers its own machine only' }, { status: 403 });
    }
    return serveStudioAsset(request) ?? studio.fetch(request, { peerAddress });
  }),
};
Deno.stdout.writeSync(new TextEncoder().encode(`${JSON.stringify({ event: 'listening', ...ports })}\n`));

function serve(
  answer: (request: Request, peerAddress: string, isOwn: () => Promise<boolean>) => Response | Promise<Response>,
): number {
  const options = { hostname: '127.0.0.1', port: 0, onListen: () => {} };
  const server: Deno.HttpServer<Deno.NetAddr> = Deno.serve(
    options,
    (request, { remoteAddr: { hostname, port } }) => answer(request, hostname, () => isOwnUser(port, server.addr.port)),
  );
  return server.addr.port;
}

async function isAlive(): Promise<Response> {
  const queries = [connection, apiConnection].map((pool) => pool.exec('select 1'));
  return new Response(null, { status: await Promise.all(queries).then(() => 204, () => 503) });
}

function connect(url: string) {
  const made = createPostgresConnection({ url, postgresOptions: { max: 20, onnotice: () => {} } });
  // Studio's page of the system shows it, with its password.
  delete made.config.url;
  return made;
}

/**
 * By default Lite's first request grants all rights on all tables to the API's roles, which undoes each `revoke` of the
 * migrations, and Lite works as superuser while no table has row level security. The field that prevents this is
 * private, so a version of Lite without it is refused.
 */
function keepGrants(): void {
  if (Reflect.get(apiConnection, 'rlsState') !== 'unknown') {
    throw new Error('This version of Lite has no rlsState: check which rights it grants');
  }
  Reflect.set(apiConnection, 'rlsState', 'active');
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

/**
 * Reads the schema again after each change of it, as the API of a hosted project does. There the platform has this event
 * trigger.
 */
async function watchSchema(): Promise<void> {
  const sql = postgres(settings.databaseUrl, { max: 1, fetch_types: false, onnotice: () => {} });
  await sql.unsafe(`
    create schema if not exists extensions;
    create or replace function extensions.pgrst_ddl_watch()
    returns event_trigger language plpgsql set search_path = pg_catalog, pg_temp
    as $$ begin notify pgrst, 'reload schema'; end $$;
    drop event trigger if exists pgrst_ddl_watch;
    create event trigger pgrst_ddl_watch on ddl_command_end execute function extensions.pgrst_ddl_watch()`);
  await sql.listen('pgrst', () => void connection.clearSchemaCache());
}
