import type { Config } from './config.ts';
import type { Transport } from './database.ts';

/** The way to the database that is configured; the other one is not loaded. */
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
