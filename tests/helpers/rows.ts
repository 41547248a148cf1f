import type { Row, TestDatabase } from './test-database.ts';

/**
 * Every row of every table of schemas public and private. Two equal results mean that nothing was written in between.
 */
export function readAllRows(database: TestDatabase): Promise<Record<string, unknown>> {
  return readRowsExcept(database, []);
}

/** `readAllRows` without the ledger, which stores every signed delivery, and its derived tables. */
export function readRowsBesidesLedger(database: TestDatabase): Promise<Record<string, unknown>> {
  return readRowsExcept(database, ['private.gateway_events', 'private.unsettled_events', 'private.scheduled_jobs']);
}

/** `readRowsBesidesLedger` also without the mirror, which stores every event of a gateway subscription. */
export function readRowsBesidesEvents(database: TestDatabase): Promise<Record<string, unknown>> {
  return readRowsExcept(database, [
    'private.gateway_events',
    'private.unsettled_events',
    'private.gateway_subscriptions',
    'private.gateway_charges',
  ]);
}

async function readRowsExcept(database: TestDatabase, left: string[]): Promise<Record<string, unknown>> {
  const tables = await database.query(
    `select name from (select schemaname || '.' || tablename as name from pg_tables) t
     where name ~ '^(public|private)[.]' and name <> all ($1) order by name`,
    [left],
  );
  const columns = tables.map(({ name }) => `'${name}', (select json_agg(t order by t::text) from ${name} t)`);
  const { state } = await database.one(`select json_build_object(${columns.join(', ')}) as state`);
  return Object.fromEntries(Object.entries(state ?? {}));
}

/** The payment of an order, all columns. */
export function paymentOfOrder(database: TestDatabase, orderId: string): Promise<Row> {
  return database.one('select * from public.payments where gateway_order_id = $1', [orderId]);
}

/** The subscription of a user, all columns but `updated_at`; undefined when there is none. */
export async function subscriptionOf(database: TestDatabase, userId: string): Promise<Row | undefined> {
  const [row] = await database.query('select * from public.subscriptions where user_id = $1', [userId]);
  const { updated_at: _, ...subscription } = row ?? {};
  return row && subscription;
}

/** The tier in a user's profile; undefined without a profile. */
export async function tierOf(database: TestDatabase, userId: string): Promise<unknown> {
  const [profile] = await database.query('select subscription_tier from public.profiles where user_id = $1', [userId]);
  return profile?.subscription_tier;
}

/** The ledger row of a body, by the hash of its bytes; undefined when there is none. */
export async function ledgerRow(database: TestDatabase, body: unknown): Promise<Row | undefined> {
  const bytes = body instanceof Uint8Array
    ? new Uint8Array(body)
    : new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body));
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  const [row] = await database.query('select * from private.gateway_events where body_sha256 = $1', [hash]);
  return row;
}

/** Payloads of the side effects of a kind that contain an address or id; '' means all of the kind. */
export async function queued(database: TestDatabase, kind: string, about: string): Promise<unknown[]> {
  const rows = await database.query(
    'select payload from private.outbox where kind = $1 and payload::text like $2 order by id',
    [kind, `%${about}%`],
  );
  return rows.map((row) => row.payload);
}
