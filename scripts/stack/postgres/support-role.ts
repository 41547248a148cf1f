import postgres from 'postgres';
import { localPassword } from '../defaults.ts';

const role = 'subscriptions_support';

/**
 * Lets the role of the console log in, with the statement of the deployment guide. The password is the public one of
 * the local stack. Safe to run again.
 */
export async function openSupportRole(databaseUrl: string): Promise<void> {
  const sql = postgres(databaseUrl, { max: 1, onnotice: () => {} });
  try {
    await sql.unsafe(`alter role ${role} login password '${localPassword}'`);
  } finally {
    await sql.end();
  }
}

/** @returns the connection string of the same database for the role of the console. */
export function supportUrl(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.username = role;
  url.password = localPassword;
  return url.href;
}
