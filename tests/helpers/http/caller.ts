import type { SignedUpUser } from '../project/project.ts';
import { createPayment, createUser, uniqueId } from '../records/records.ts';
import type { TestDatabase } from '../database/test-database.ts';
import { type Checkout, checkout } from './requests.ts';
import { createToken } from './tokens.ts';

/** A user with a session as the auth server issues it. Faster than a sign-up, which hashes a password. */
export async function createCaller(database: TestDatabase): Promise<SignedUpUser> {
  const email = `${uniqueId('caller')}@example.com`;
  const { id } = await createUser(database, { email });
  return { id, email, accessToken: await createToken(sessionClaims(id, email)) };
}

/** A user, an order of the app, and its paid checkout. */
export type Buyer = SignedUpUser & {
  readonly user: SignedUpUser;
  readonly paymentId: string;
  readonly orderId: string;
  readonly paid: Checkout;
};

/** A user, by default a new one, who has paid an order of the app: by default 999.00 for pro. */
export async function createBuyer(
  database: TestDatabase,
  { user, ...payment }: { user?: SignedUpUser; amount?: number; meta?: unknown } = {},
): Promise<Buyer> {
  const owner = user ?? await createCaller(database);
  const { id, orderId } = await createPayment(database, { userId: owner.id, ...payment });
  return { ...owner, user: owner, paymentId: id, orderId, paid: await checkout(orderId) };
}

/** The claims of a session that starts now and lasts an hour. */
export function sessionClaims(userId: string, email = 'caller@example.com'): Record<string, unknown> {
  const now = Math.floor(Date.now() / 1000);
  return { sub: userId, aud: 'authenticated', role: 'authenticated', email, iat: now, exp: now + 3600 };
}
