import pg from 'pg';
import { connectionError, tlsOptions } from '../doctor/connection.ts';

/** Longer than the statement timeout of the role, so that the server ends what takes too long. */
const TIMEOUT_MS = 65_000;
const CONNECT_MS = 5_000;

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

/** Connects with the first statement. @param certificate the CA of a hosted database (PEM), if it is known */
export function createSupportDatabase(url: string, certificate?: string): SupportDatabase {
  let pool: pg.Pool | undefined;

  async function run(text: string, values: unknown[]): Promise<Texts[]> {
    try {
      pool ??= openPool(url, certificate);
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
    close() {
      pool?.end().catch(() => {});
      pool = undefined;
    },
  };
}

function openPool(url: string, certificate: string | undefined): pg.Pool {
  const ssl = tlsOptions(url, certificate);
  const pool = new pg.Pool({
    connectionString: url,
    max: 4,
    application_name: 'subscriptions console',
    connectionTimeoutMillis: CONNECT_MS,
    query_timeout: TIMEOUT_MS,
    // The text, because JSON.parse of pg would run before the type is known.
    types: { getTypeParser: () => String },
    ...(ssl !== undefined && { ssl }),
  });
  // An idle connection ended. Without a listener the event would end the process.
  pool.on('error', () => {});
  return pool;
}

function explain(error: unknown): Refused | Unreachable {
  if (!(error instanceof pg.DatabaseError)) return new Unreachable(connectionError(error));
  const { code = '', message } = error;
  if (code === '42501') return new Refused('The role of this console may not do that.');
  // Invalid input, a violated constraint, an exception of the schema: own codes begin with PS.
  return /^(22|23|P0|PS)/.test(code) ? new Refused(message) : new Unreachable(connectionError(error));
}
