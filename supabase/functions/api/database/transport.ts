import type { Config } from '../config.ts';
import type { Transport } from './rpc.ts';

/**
 * Whether the Postgres server is on another machine and no CA certificate is set: then the connection is not encrypted,
 * or the server is not authenticated.
 */
export function isPoolWithoutCa(
  { databasePoolUrl, databasePoolCa }: Pick<Config, 'databasePoolUrl' | 'databasePoolCa'>,
): boolean {
  if (databasePoolUrl === null || databasePoolCa !== null) return false;
  const { hostname, searchParams } = new URL(databasePoolUrl);
  // As the driver reads it: the parameter wins, no host means localhost, and a path is a local socket.
  const host = searchParams.get('host') || hostname;
  return !/^(|(\/|%2f).*|localhost|127(\.\d{1,3}){3}|\[?::1\]?)$/i.test(host);
}

/** Creates the configured transport. The module of the other one is not loaded. */
export async function createTransport(
  { databasePoolUrl, databasePoolCa, supabaseUrl, secretKey }: Pick<
    Config,
    'databasePoolUrl' | 'databasePoolCa' | 'supabaseUrl' | 'secretKey'
  >,
  request: typeof fetch = fetch,
): Promise<Transport> {
  if (databasePoolUrl !== null) {
    const { createPoolTransport } = await import('./pool-transport.ts');
    return createPoolTransport(databasePoolUrl, databasePoolCa);
  }
  const { createRestTransport } = await import('./rest-transport.ts');
  return createRestTransport(supabaseUrl, secretKey, request);
}
