import pg from 'pg';
import { connectionConfig, connectionError, type Verification } from '../doctor/connection.ts';

/** Longer than the statement timeout of the session, so that the server ends what takes too long. */
const TIMEOUT_MS = 65_000;
const CONNECT_MS = 5_000;
/** Not as parameters of the connection, which poolers refuse. The owner of the database may do more than this console. */
const OPEN_SESSION = `select
  set_config('statement_timeout', '60s', false),
  set_config('idle_in_transaction_session_timeout', '60s', false),
  set_config('jit', 'off', false),
  current_user as login,
  current_setting('subscriptions.is_local', true) = 'on' or (
    pg_has_role(to_regrole('subscriptions_support'), 'usage')
    and not pg_has_role((select n.nspowner from pg_namespace n where n.nspname = 'billing'), 'usage')
  ) as is_admitted`;
const HOW_TO_LOG_IN = 'Make one for each person: supabase/docs/operations.md, "Support role".';

type Texts = Record<string, string | null>;

/** The database, as the support role sees it. */
export type SupportDatabase = {
  /**
   * Runs a query, and returns its rows as Postgres writes them as JSON: times keep their microseconds, `bigint` is a
   * number. @throws Refused, Unreachable
   */
  read<Row>(query: string, parameters?: unknown[]): Promise<Row[]>;
  /** Runs a statement that writes, and returns its rows as texts. @throws Refused, Unreachable */
  write(statement: string, parameters: unknown[]): Promise<Texts[]>;
  /**
   * Calls a function with a connection of its own, in a transaction that reads one state of the database.
   * @throws Refused, Unreachable
   */
  snapshot<Result>(use: (client: pg.Client) => Promise<Result>): Promise<Result>;
  /** Closes the connections. A later statement opens new ones. */
  close(): void;
};

/** The database refused the statement because of its input. The message is for the person. */
export class Refused extends Error {
  override readonly name = 'Refused';
}

/** No answer, or an error that is not about the input. The message has no more than a code. */
export class Unreachable extends Error {
  override readonly name = 'Unreachable';
}

/** Connects with the first statement. @throws Unverified for a server that can't be verified */
export function createSupportDatabase(url: string, verification: Verification = {}): SupportDatabase {
  const config = connectionConfig(url, verification);
  let pool: pg.Pool | undefined;

  async function run(text: string, values: unknown[]): Promise<Texts[]> {
    try {
      pool ??= openPool(config);
      return (await pool.query({ text, values })).rows;
    } catch (error) {
      throw explain(error);
    }
  }

  return {
    async read<Row>(query: string, parameters: unknown[] = []) {
      const [all] = await run(`select coalesce(json_agg(r), '[]') as rows from (${query}) r`, parameters);
      const rows: Row[] = JSON.parse(String(all?.rows));
      return rows;
    },
    write: run,
    async snapshot(use) {
      const client = new pg.Client({ ...config, ...usual });
      client.on('error', () => {}); // the running query fails, too
      try {
        await client.connect();
        await openSession(client);
        await client.query('begin transaction isolation level repeatable read read only');
        return await use(client);
      } catch (error) {
        throw explain(error);
      } finally {
        await client.end().catch(() => {});
      }
    },
    close() {
      pool?.end().catch(() => {});
      pool = undefined;
    },
  };
}

/** Of every connection. */
const usual = {
  application_name: 'subscriptions console',
  connectionTimeoutMillis: CONNECT_MS,
  query_timeout: TIMEOUT_MS,
};

/** @throws Refused for a login that is not of support */
async function openSession(client: pg.ClientBase): Promise<void> {
  const { rows: [session] } = await client.query(OPEN_SESSION);
  if (String(session.is_admitted)[0] !== 't') {
    throw new Refused(`${session.login} is no support login. ${HOW_TO_LOG_IN}`);
  }
}

function openPool(config: pg.ClientConfig): pg.Pool {
  const pool = new pg.Pool({
    ...config,
    ...usual,
    max: 4,
    onConnect: openSession,
    // The text, because JSON.parse of pg would run before the type is known.
    types: { getTypeParser: () => String },
  });
  // An idle connection ended. Without a listener the event would end the process.
  pool.on('error', () => {});
  return pool;
}

function explain(error: unknown): Refused | Unreachable {
  if (error instanceof Refused) return error;
  if (!(error instanceof pg.DatabaseError)) return new Unreachable(connectionError(error));
  const { code = '', message } = error;
  if (code === '42501') return new Refused('The role of this console may not do that.');
  // Invalid input, a violated constraint, an exception of the schema: own codes begin with PS.
  return /^(22|23|P0|PS)/.test(code) ? new Refused(message) : new Unreachable(connectionError(error));
}
