import type { SignedUpUser } from '../project/project.ts';
import { createUser, uniqueId } from '../records/records.ts';
import type { TestDatabase } from '../database/test-database.ts';
import { createToken } from './tokens.ts';

/** A user with a session as the auth server issues it. Faster than a sign-up, which hashes a password. */
export async function createCaller(database: TestDatabase): Promise<SignedUpUser> {
  const email = `${uniqueId('caller')}@example.com`;
  const { id } = await createUser(database, { email });
  return { id, email, accessToken: await createToken(sessionClaims(id, email)) };
}

/** The claims of a session that starts now and lasts an hour. */
export function sessionClaims(userId: string, email = 'caller@example.com'): Record<string, unknown> {
  const now = Math.floor(Date.now() / 1000);
  return { sub: userId, aud: 'authenticated', role: 'authenticated', email, iat: now, exp: now + 3600 };
}
