import { createClient } from '@supabase/supabase-js';
import { expect, vi } from 'vitest';
import { localKeys } from './keys.ts';
import { createLite, type Lite } from '../../../scripts/stack/supabase-lite/lite.ts';
import type { Declared } from '../database/findings.ts';
import { poolUrl } from '../database/pool-role.ts';
import { uniqueId } from '../records/records.ts';
import { createTestDatabase, type TestDatabase } from '../database/test-database.ts';
import { startApiProxy } from '../http/api-proxy.ts';

/** A user who signed up over HTTP. */
export type SignedUpUser = { readonly id: string; readonly email: string; readonly accessToken: string };

/** A Supabase project: a database, an auth server and a REST API. */
export type Project = {
  readonly database: TestDatabase;
  /** The URL for supabase-js. */
  readonly apiUrl: string;
  /** The database URL with the service's role. */
  readonly poolUrl: string;
  signUp(email?: string): Promise<SignedUpUser>;
  stop(): Promise<void>;
};

// Every test file of a worker has a database of this name, one after the other, so that one Lite serves them all.
const databaseName = `project_${Deno.pid}`;
let lite: Lite | undefined;
/** In front of Lite: a restart, after the database of the file before, changes its port. Requests wait until it is back. */
let api: ReturnType<typeof startApiProxy> | undefined;

/** Starts a project on a new database. A worker has one at a time. */
export async function startProject(declared: Declared = {}): Promise<Project> {
  const database = await createTestDatabase(declared, databaseName);
  // The next file of this worker makes a database of the same name.
  const apiUrl = await serveDatabase(database.url).catch(async (error) => {
    await database.close();
    throw error;
  });

  return {
    database,
    apiUrl,
    poolUrl: poolUrl(database.url),
    async signUp(email = `${uniqueId('user')}@example.com`) {
      const client = createClient(apiUrl, localKeys.publishable, { auth: { persistSession: false } });
      const { data, error } = await client.auth.signUp({ email, password: 'correct-horse-battery' });
      if (error) throw error;
      if (!data.user || !data.session) throw new Error('signed up without a session');
      return { id: data.user.id, email, accessToken: data.session.access_token };
    },
    stop: () => database.close(),
  };
}

/** Starts Lite for the first project of this worker. Its watchdog ends it with the worker. @returns the URL of its API */
async function serveDatabase(databaseUrl: string): Promise<string> {
  if (lite === undefined) {
    lite = createLite({
      databaseUrl,
      jwtSecret: localKeys.jwtSecret,
      publishableKey: localKeys.publishable,
      secretKey: localKeys.secret,
      siteUrl: 'http://127.0.0.1:3000',
    }, {
      log: () => {},
      // Not the 10 s after which the function gives up a call: a test that ends those at once would end Lite.
      watch: { everyMs: 2000, silentMs: 12_000 },
    });
    await lite.start();
    await lite.ready();
    const { apiUrl } = lite;
    api = startApiProxy(async () => await apiUrl(30_000) ?? fail('Lite'), (_, forwardRequest) => forwardRequest());
    api.unref();
  }
  const { url } = api ?? fail('the proxy');
  // Lite's connections ended with the database before this one. It notices when it uses one, and may restart. One that stays
  // silent is replaced.
  return await vi.waitFor(async () => {
    const answer = await fetch(`${url}/rest/v1/plans?limit=1`, {
      headers: { apikey: localKeys.publishable },
      // One connection may stay silent while the others answer: then the watch sees nothing, and another request gets another.
      signal: AbortSignal.timeout(5000),
    });
    await answer.body?.cancel();
    expect(answer.status).toBe(200);
    return url;
  }, { timeout: 60_000, interval: 20 });
}

function fail(what: string): never {
  throw new Error(`${what} is not there`);
}
