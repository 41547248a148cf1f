import { createClient } from '@supabase/supabase-js';
import { localKeys } from '../../../scripts/stack/defaults.ts';
import { createLite, type Lite } from '../../../scripts/stack/supabase-lite/lite.ts';
import type { Declared } from '../database/findings.ts';
import { poolUrl } from '../database/pool-role.ts';
import { uniqueId } from '../records/records.ts';
import { createTestDatabase, type TestDatabase } from '../database/test-database.ts';

/** A user who signed up over HTTP. */
export type SignedUpUser = {
  readonly id: string;
  readonly email: string;
  readonly accessToken: string;
};

/** A Supabase project: a database, an auth server and a REST API. */
export type Project = {
  readonly database: TestDatabase;
  readonly lite: Lite;
  /** The URL for supabase-js. It changes when Lite is restarted. */
  readonly apiUrl: string;
  /** The database URL with the service's role. */
  readonly poolUrl: string;
  signUp(email?: string): Promise<SignedUpUser>;
  stop(): Promise<void>;
};

export async function startProject(declared: Declared = {}): Promise<Project> {
  const database = await createTestDatabase(declared);
  const lite = createLite({
    databaseUrl: database.url,
    jwtSecret: localKeys.jwtSecret,
    publishableKey: localKeys.publishable,
    secretKey: localKeys.secret,
    siteUrl: 'http://127.0.0.1:3000',
  }, () => {});
  await lite.start();
  await lite.ready();
  const apiUrl = await lite.apiUrl();
  if (apiUrl === undefined) throw new Error('Lite has no address');

  return {
    database,
    lite,
    apiUrl,
    poolUrl: poolUrl(database.url),
    async signUp(email = `${uniqueId('user')}@example.com`) {
      const client = createClient(apiUrl, localKeys.publishable, {
        auth: { persistSession: false },
      });
      const { data, error } = await client.auth.signUp({
        email,
        password: 'correct-horse-battery',
      });
      if (error) throw error;
      if (!data.user || !data.session) {
        throw new Error('signed up without a session');
      }
      return {
        id: data.user.id,
        email,
        accessToken: data.session.access_token,
      };
    },
    async stop() {
      await lite.stop();
      await database.close();
    },
  };
}
