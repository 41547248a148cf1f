import postgres from 'postgres';
import { asRole } from './database-url.ts';

/** Of the console, and of the function's direct connections. */
const [support, pool] = ['subscriptions_support', 'subscriptions_api'];

/**
 * Lets roles log in, by default both, with the statements of the deployment guide and the password of the URL. Safe to
 * run again.
 */
export async function openRoles(databaseUrl: string, roles = [support, pool]): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  try {
    const { password } = new URL(databaseUrl);
    for (const role of roles) await sql.unsafe(`alter role ${role} login password '${password}'`);
  } finally {
    await sql.end();
  }
}

/** @returns the connection string of the same database for the role of the console. */
export function supportUrl(databaseUrl: string): string {
  return asRole(databaseUrl, support);
}

/** @returns the connection string of the same database for the role of the function. */
export function poolUrl(databaseUrl: string): string {
  return asRole(databaseUrl, pool);
}
