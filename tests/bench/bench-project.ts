import { localKeys } from '../helpers/project/keys.ts';
import { createLite, type Lite } from '../../scripts/stack/supabase-lite/lite.ts';
import { migrate } from '../../scripts/stack/postgres/migrate.ts';
import { freePort } from '../../scripts/stack/ports.ts';
import { createPostgres, type Postgres } from '../../scripts/stack/postgres/postgres.ts';
import { prepareDatabase } from '../../scripts/stack/postgres/prepare-database.ts';
import { base64Url, encodeJson } from '../helpers/http/tokens.ts';
import { startBenchProcess } from './bench-process.ts';
import { sessionClaims } from '../helpers/http/caller.ts';
import { poolUrl, setPoolPassword } from '../helpers/database/pool-role.ts';
import { withClient } from '../helpers/database/postgres-client.ts';
import { openDatabase, type TestDatabase } from '../helpers/database/test-database.ts';

/** A project to measure: Postgres, Lite, and sessions signed with ES256 as on a hosted project. */
export type BenchProject = {
  readonly database: TestDatabase;
  readonly postgres: Postgres;
  readonly lite: Lite;
  readonly apiUrl: string;
  /** Connection URL of the role that the function uses over the pool. */
  readonly poolUrl: string;
  /** The public keys, JSON. */
  readonly jwks: string;
  /** Creates a session of a user that is valid for the whole bench. */
  createToken(userId: string): Promise<string>;
  stop(): Promise<void>;
};

/** The secrets of the gateway. */
export const benchSecrets = {
  GATEWAY_KEY_ID: 'key_bench',
  GATEWAY_KEY_SECRET: 'bench-key-secret',
  GATEWAY_WEBHOOK_SECRET: 'bench-webhook-secret',
} as const;

export async function startBenchProject(): Promise<BenchProject> {
  const log = () => {};
  const postgres = createPostgres({ port: freePort(), ephemeral: true, log });
  await postgres.start();
  await postgres.ready();
  await prepareDatabase(postgres.url());
  await migrate({ url: postgres.url(), seed: false, log });
  const database = openDatabase(postgres.url(), { findings: 'compared elsewhere' });
  await withClient(postgres.url(), setPoolPassword);

  const lite = createLite({
    databaseUrl: postgres.url(),
    jwtSecret: localKeys.jwtSecret,
    publishableKey: localKeys.publishable,
    secretKey: localKeys.secret,
    siteUrl: 'http://127.0.0.1:3000',
  }, { log });
  await lite.start();
  await lite.ready();
  const sessions = await createSessions();
  const api = await startBenchProcess('api-server.ts', {
    BENCH_API: JSON.stringify({ lite: await lite.apiUrl(), jwks: sessions.jwks }),
  });
  const apiUrl = `http://127.0.0.1:${api.port}`;
  return {
    database,
    postgres,
    lite,
    apiUrl,
    poolUrl: poolUrl(postgres.url()),
    jwks: sessions.jwks,
    createToken: (userId) => sessions.createToken(userId, `${apiUrl}/auth/v1`),
    async stop() {
      await api.stop();
      await lite.stop();
      await database.close();
      await postgres.stop();
    },
  };
}

/** Sessions signed with ES256 as on a hosted project. */
export type Sessions = {
  /** The public keys, JSON. */
  readonly jwks: string;
  /** Creates a session of a user that is valid for the whole bench. */
  createToken(userId: string, issuer: string): Promise<string>;
};

export async function createSessions(): Promise<Sessions> {
  const { privateKey, publicKey } = await crypto.subtle.generateKey({ name: 'ECDSA', namedCurve: 'P-256' }, true, [
    'sign',
    'verify',
  ]);
  const key = { ...await crypto.subtle.exportKey('jwk', publicKey), kid: 'bench', alg: 'ES256', use: 'sig' };
  return {
    jwks: JSON.stringify({ keys: [key] }),
    async createToken(userId, issuer) {
      const claims = { ...sessionClaims(userId), iss: issuer };
      const signed = `${encodeJson({ alg: 'ES256', typ: 'JWT', kid: 'bench' })}.${encodeJson(claims)}`;
      const bytes = new TextEncoder().encode(signed);
      const signature = await crypto.subtle.sign({ name: 'ECDSA', hash: 'SHA-256' }, privateKey, bytes);
      return `${signed}.${base64Url(new Uint8Array(signature))}`;
    },
  };
}
