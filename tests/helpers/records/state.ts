import type { Row, TestDatabase } from '../database/test-database.ts';

/** The subscription of a user as a client sees it, times in ISO 8601 UTC with milliseconds; null when there is none. */
export async function readSubscription(database: TestDatabase, userId: string): Promise<Row | null> {
  const rows = await database.query(
    `select s.tier, s.status, p.tier as plan_tier, s.gateway_subscription_id,
       private.iso_time(s.current_period_start) as start, private.iso_time(s.current_period_end) as "end"
     from public.subscriptions s
     left join public.plans p on p.id = s.plan_id
     where s.user_id = $1`,
    [userId],
  );
  if (rows.length > 1) throw new Error(`${rows.length} subscriptions of one user`);
  return rows[0] ?? null;
}

/** The tier of the profile; undefined when the user has no profile. */
export async function readTier(database: TestDatabase, userId: string): Promise<unknown> {
  const rows = await database.query('select subscription_tier from public.profiles where user_id = $1', [userId]);
  return rows[0]?.subscription_tier;
}

/** One payment, all columns. */
export function readPayment(database: TestDatabase, paymentId: string): Promise<Row> {
  return database.one('select * from public.payments where id = $1', [paymentId]);
}

/** Side effects of one destination whose payload names an address or a gateway subscription. */
export function readOutbox(
  database: TestDatabase,
  destination: 'email' | 'notice' | 'gateway',
  about: string | null,
): Promise<Row[]> {
  return database.query(
    `select key, kind, payload from private.outbox
     where destination = $1 and $2 in (payload ->> 'to', payload ->> 'gateway_subscription_id')
     order by id`,
    [destination, about],
  );
}

/** The number of revalidations in the outbox. */
export async function countRevalidations(database: TestDatabase): Promise<number> {
  const { count } = await database.one("select count(*)::int from private.outbox where destination = 'revalidation'");
  return Number(count);
}

/** The ledger row of a body. */
export function readLedger(database: TestDatabase, bodySha256: string): Promise<Row> {
  return database.one(
    `select event_id, event, subject_id, outcome, error, deliveries, attempts
     from private.gateway_events where body_sha256 = decode($1, 'hex')`,
    [bodySha256],
  );
}
