import type pg from 'pg';
import type { Row, TestDatabase } from '../database/test-database.ts';

/** The columns that an admin fills in. */
export type SupportAction = {
  readonly action: string;
  readonly email?: string | null;
  readonly tier?: string;
  readonly until?: string;
  readonly reference?: unknown;
  readonly reason?: string | null;
};

/** A connection whose login role is `subscriptions_support`. */
export async function openSupport(database: TestDatabase): Promise<pg.Client> {
  const client = await database.connect();
  await client.query('set session authorization subscriptions_support');
  return client;
}

/** Inserts a support action and returns its row. @throws the error of the database, when nothing was done */
export async function act(session: Pick<pg.Client, 'query'>, action: SupportAction): Promise<Row> {
  const { email, tier, until, reference, reason = 'the customer asked for it' } = action;
  const { rows } = await session.query(
    `insert into billing.support_actions (action, email, tier, until, reference, reason)
     values ($1, $2, $3, $4, $5, $6) returning *`,
    [action.action, email, tier, until, reference, reason],
  );
  return rows[0];
}
