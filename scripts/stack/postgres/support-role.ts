import postgres from 'postgres';
import { asRole } from './database-url.ts';

const role = 'subscriptions_support';

/**
 * Lets the role of the console log in, with the statement of the deployment guide and the password of the URL. Safe to
 * run again.
 */
export async function openSupportRole(databaseUrl: string): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  try {
    await sql.unsafe(`alter role ${role} login password '${new URL(databaseUrl).password}'`);
  } finally {
    await sql.end();
  }
}

/** @returns the connection string of the same database for the role of the console. */
export function supportUrl(databaseUrl: string): string {
  return asRole(databaseUrl, role);
}
