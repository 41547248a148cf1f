import type { Postgres } from '../../../scripts/stack/postgres/postgres.ts';
import { startBenchProcess } from '../bench-process.ts';
import { createSessions } from '../bench-project.ts';
import { httpRequest } from '../http-connection.ts';
import { createMinimalDatabase } from '../minimal/database.ts';
import type { Users } from '../our-database.ts';
import { installPeer, type Runtime, startPeer } from './peer-process.ts';
import type { Started, Subject } from './subject.ts';

/** Users with sessions, whose keys a server publishes as a project does. */
export type Readers = {
  /** The URL for `SUPABASE_URL`, the public keys as JSON, and a session of each buyer. */
  readonly apiUrl: string;
  readonly jwks: string;
  readonly tokens: readonly string[];
  stop(): Promise<void>;
};

export async function startReaders({ buyers }: Users): Promise<Readers> {
  const { jwks, createToken } = await createSessions();
  const api = await startBenchProcess('api-server.ts', {
    BENCH_API: JSON.stringify({ lite: 'http://127.0.0.1:1', jwks }),
  });
  const apiUrl = `http://127.0.0.1:${api.port}`;
  const tokens = await Promise.all(buyers.map((buyer) => createToken(buyer, `${apiUrl}/auth/v1`)));
  return { apiUrl, jwks, tokens, stop: () => api.stop() };
}

/** Reads of the own subscription, of one user after the other. */
export function readBatches(tokens: readonly string[]): Subject['createBatch'] {
  return (count) => {
    const request = (index: number) =>
      httpRequest('GET', '/api/subscriptions', { authorization: `Bearer ${tokens[index % tokens.length]}` });
    const requests = Array.from({ length: count }, (_, index) => request(index));
    return Promise.resolve({ requests, isApplied: () => Promise.resolve(true) });
  };
}

/** Installs and starts the hand-written read on its own database. @throws Error when it cannot be installed */
export async function startHandWritten(
  runtime: Runtime,
  postgres: Postgres,
  users: Users,
  { jwks, tokens }: Readers,
): Promise<Started> {
  const folder = await installPeer('fastify');
  const url = await createMinimalDatabase(postgres, `fastify_${runtime}`, users);
  const server = await startPeer('fastify', folder, runtime, { DATABASE_URL: url, JWKS: jwks });
  const name = `a hand-written Fastify on ${runtime === 'deno' ? 'Deno' : 'Node'}, a read`;
  const expected = '"currentTier":"pro"';
  return {
    subjects: [{ name, peer: 'fastify', server, expected, createBatch: readBatches(tokens) }],
    stop: () => server.stop(),
  };
}
