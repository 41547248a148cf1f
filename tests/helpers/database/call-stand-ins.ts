import type { Row, TestDatabase } from './test-database.ts';

/** The stand-ins for pg_net and Vault: they work, have no entry, or raise. */
export type CallStandIns = { readonly net?: keyof typeof bodies; readonly vault?: keyof typeof secrets };

const bodies = {
  records: `insert into net.http_request_queue (url, body, headers, timeout_milliseconds)
    values (url, body, headers, timeout_milliseconds) returning id`,
  raises: `select (1 / 0)::bigint`,
};

const secrets = {
  filled:
    `values ('subscriptions_url', E' http://functions.test/functions/v1/\\n'), ('subscriptions_internal_key', E'k\\n')`,
  empty: `select 'another', 'secret'`,
  // Not a constant: that would fail when the view is created.
  raises: `select 'subscriptions_url', (1 / (random() * 0)::int)::text`,
};

/** Schema `net` as pg_net creates it. `post` is the body of the function that queues a call. */
export const netSchema = (post = bodies.records): string => `
  create schema net;
  create table net.http_request_queue (
    id bigint generated always as identity, url text, body jsonb, headers jsonb, timeout_milliseconds int
  );
  create table net._http_response (
    id bigint, status_code int, timed_out bool, error_msg text, created timestamptz not null default now()
  );
  create function net.http_post(
    url text,
    body jsonb default '{}',
    params jsonb default '{}',
    headers jsonb default '{"content-type": "application/json"}',
    timeout_milliseconds int default 5000
  )
  returns bigint language sql security definer as $$ ${post} $$;`;

/** Creates schemas `net` and `vault` as a hosted project has them. Clients have no rights there. */
export async function createCallStandIns(
  database: TestDatabase,
  { net = 'records', vault = 'filled' }: CallStandIns = {},
): Promise<void> {
  await dropCallStandIns(database);
  await database.query(`${netSchema(bodies[net])}
    create table net.calls (like net.http_request_queue);
    create schema vault;
    create view vault.decrypted_secrets (name, decrypted_secret) as ${secrets[vault]}`);
}

/** Sends the queued calls, as pg_net's worker does. @returns the calls so far, oldest first */
export async function recordedCalls(database: TestDatabase): Promise<Row[]> {
  await database.query(
    'with sent as (delete from net.http_request_queue returning *) insert into net.calls select * from sent',
  );
  return await database.query('select url, body, headers, timeout_milliseconds from net.calls order by id');
}

/** Drops the stand-ins and the calls. Stand-ins without an entry in Vault, and calls that failed, are findings. */
export async function dropCallStandIns(database: TestDatabase): Promise<void> {
  await database.query('drop schema if exists net cascade; drop schema if exists vault cascade');
  await database.query('truncate billing.function_calls');
}
