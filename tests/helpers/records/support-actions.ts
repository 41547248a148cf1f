import type pg from 'pg';
import type { Row, TestDatabase } from '../database/test-database.ts';

/** The columns that an admin fills in. */
export type SupportAction = {
  readonly action: string;
  readonly email?: string | null | undefined;
  readonly tier?: string;
  readonly until?: string | null;
  readonly reference?: unknown;
  readonly entitlements?: unknown;
  /** Minor units. */
  readonly amount?: number;
  readonly at_period_end?: boolean;
  readonly corrects_seller?: boolean;
  readonly reason?: string | null;
};

/** A connection whose login role is `subscriptions_support`. */
export async function openSupport(database: TestDatabase): Promise<pg.Client> {
  const client = await database.connect();
  await client.query('set session authorization subscriptions_support');
  return client;
}

const insertion =
  `insert into billing.support_actions (action, email, tier, until, reference, reason, entitlements, amount, at_period_end, corrects_seller)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10) returning *`;

const values = (
  {
    action,
    email,
    tier,
    until,
    reference,
    reason = 'the customer asked for it',
    entitlements,
    amount,
    at_period_end,
    corrects_seller,
  }: SupportAction,
) => [
  ...[action, email, tier, until, reference, reason],
  ...[entitlements && JSON.stringify(entitlements), amount, at_period_end, corrects_seller],
];

/** Inserts a support action and returns its row. @throws the error of the database, when nothing was done */
export async function act(session: Pick<pg.Client, 'query'>, action: SupportAction): Promise<Row> {
  const { rows } = await session.query(insertion, values(action));
  return rows[0];
}

/** The same by the owner of the database. */
export const actAsOwner = (database: TestDatabase, action: SupportAction): Promise<Row> =>
  database.one(insertion, values(action));

/** Grants a tier to the user with this address or id. @returns the id of the grant */
export async function grantTier(
  database: TestDatabase,
  email: string | null | undefined,
  tier: string,
  until: string | null,
  reason = 'press copy',
): Promise<string> {
  return String((await actAsOwner(database, { action: 'grant', email, tier, until, reason })).reference);
}

/** Ends the access that a payment gives. */
export const endAccess = (database: TestDatabase, reference: string): Promise<Row> =>
  actAsOwner(database, { action: 'end_access', reference });
