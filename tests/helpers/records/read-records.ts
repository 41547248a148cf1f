import type { Row, TestDatabase } from '../database/test-database.ts';

/** The subscription of a user as a client sees it, times in ISO 8601 UTC with milliseconds; null when there is none. */
export async function readSubscription(database: TestDatabase, userId: string): Promise<Row | null> {
  const rows = await database.query(
    `select s.tier, s.status, p.tier as plan_tier, s.gateway_subscription_id,
       billing.iso_time(s.current_period_start) as start, billing.iso_time(s.current_period_end) as "end"
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
    `select key, kind, payload from billing.outbox
     where destination = $1 and $2 in (payload ->> 'to', payload ->> 'gateway_subscription_id')
     order by id`,
    [destination, about],
  );
}

/** The number of revalidations in the outbox. */
export async function countRevalidations(database: TestDatabase): Promise<number> {
  const { count } = await database.one("select count(*)::int from billing.outbox where destination = 'revalidation'");
  return Number(count);
}

/** The ledger row of a body. */
export function readLedger(database: TestDatabase, bodySha256: string): Promise<Row> {
  return database.one(
    `select event_id, event, subject_id, outcome, error, deliveries, attempts
     from billing.gateway_events where body_sha256 = decode($1, 'hex')`,
    [bodySha256],
  );
}

/** How a gateway subscription is cancelled: `at` is `cycle end` or `once`, `state` pending, delivered or withdrawn. */
export async function readCancellation(database: TestDatabase, id: string): Promise<Row | null> {
  const [row] = await database.query(
    `select case when payload @> '{"at_cycle_end": true}' then 'cycle end' else 'once' end as at,
       case
         when delivered_at is not null then 'delivered'
         when parked_at is not null then 'withdrawn'
         else 'pending'
       end as state
     from billing.outbox where key = 'cancel-subscription/' || $1`,
    [id],
  );
  return row ?? null;
}

/** The rows of every table of schemas public and billing, as lines of JSON. Equal results: nothing was written. */
export function readAllRows(database: TestDatabase): Promise<Record<string, unknown>> {
  return readRowsExcept(database, []);
}

/** `readAllRows` without the ledger, which stores every signed delivery, and its derived tables. */
export function readRowsBesidesLedger(database: TestDatabase): Promise<Record<string, unknown>> {
  return readRowsExcept(database, ['billing.gateway_events', 'billing.unsettled_events', 'billing.scheduled_jobs']);
}

/** `readAllRows` without these tables. */
export async function readRowsExcept(database: TestDatabase, left: string[]): Promise<Record<string, unknown>> {
  const tables = await database.query(
    `select name from (select schemaname || '.' || tablename as name from pg_tables) t
     where name ~ '^(public|billing)[.]' and name <> all ($1) order by name`,
    [left],
    'tables',
  );
  const columns = tables.map(({ name }) =>
    `(select string_agg(row_to_json(t)::text, e'\\n' order by t::text) from ${name} t) as "${name}"`
  );
  const text = `select ${columns.join(', ')}`;
  const [rows] = await database.query(text, [], `${columns.length} tables, ${text.length}`);
  return rows ?? {};
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

/** The ledger row of a body, by the hash of its bytes; undefined when there is none. */
export async function ledgerRow(database: TestDatabase, body: unknown): Promise<Row | undefined> {
  const bytes = body instanceof Uint8Array
    ? new Uint8Array(body)
    : new TextEncoder().encode(typeof body === 'string' ? body : JSON.stringify(body));
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  const [row] = await database.query('select * from billing.gateway_events where body_sha256 = $1', [hash]);
  return row;
}

/** Payloads of the side effects of a kind that contain an address or id; '' means all of the kind. */
export async function queued(database: TestDatabase, kind: string, about: string): Promise<unknown[]> {
  const rows = await database.query(
    'select payload from billing.outbox where kind = $1 and payload::text like $2 order by id',
    [kind, `%${about}%`],
  );
  return rows.map((row) => row.payload);
}
