import type pg from 'pg';
import { uniqueId } from '../records/records.ts';
import { callRpc } from '../database/session.ts';
import type { Row, TestDatabase } from '../database/test-database.ts';

/** A destination of side effects, as the outbox names it. */
export type Destination = 'email' | 'revalidation' | 'gateway';

/** A dispatcher's claim: its token, the ids of its rows, and how many rows were parked instead. */
export type Claim = { readonly token: string; readonly ids: readonly number[]; readonly parked: number };

/** Enqueues a side effect as the SQL functions do. @returns its id */
export async function enqueue(
  database: TestDatabase,
  destination: Destination,
  key = uniqueId('fact'),
): Promise<number> {
  const { id } = await database.one(
    `with noted as (select billing.enqueue($1, $2, 'kind', '{}'))
     select currval(pg_get_serial_sequence('billing.outbox', 'id'))::int as id from noted`,
    [key, destination],
  );
  return Number(id);
}

/** Claims due rows of a destination, as a dispatcher. */
export async function claim(client: pg.Client, destination: Destination): Promise<Claim> {
  const { token, rows, parked } = await callRpc(client, 'claim_outbox', destination);
  const ids = Array.isArray(rows) ? rows.map((row) => Number(row.id)) : [];
  return { token: String(token), ids, parked: Number(parked) };
}

/** Marks claimed rows as delivered. @returns how many were marked */
export async function complete(client: pg.Client, token: string, ids: readonly number[]): Promise<unknown> {
  const { completed } = await callRpc(client, 'complete_outbox', token, ids.join(','));
  return completed;
}

/** Records that claimed rows were not delivered. @returns {retried, parked} */
export function fail(
  client: pg.Client,
  token: string,
  ids: readonly number[],
  { error = 'HTTP 500', final = false, pauseSeconds = null }: {
    error?: string;
    final?: boolean;
    pauseSeconds?: number | null;
  } = {},
): Promise<Record<string, unknown>> {
  return callRpc(client, 'fail_outbox', token, ids.join(','), error, final, pauseSeconds);
}

/** A row of the outbox, with times in ISO 8601. */
export function readRow(database: TestDatabase, id: number): Promise<Row> {
  return database.one(
    `select key, destination, attempts, last_error, billing.iso_time(queued_at) as queued_at,
       billing.iso_time(next_attempt_at) as next_attempt_at, billing.iso_time(delivered_at) as delivered_at,
       billing.iso_time(parked_at) as parked_at
     from billing.outbox where id = $1`,
    [id],
  );
}
