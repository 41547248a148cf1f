import pg from 'pg';
import type { Project } from './project.ts';

export type Row = Record<string, unknown>;

/** The database's connection of one check. */
export type Database = {
  /** Runs one statement in a transaction of its own. */
  run(access: 'read only' | 'read write', sql: string, parameters?: unknown[]): Promise<Row[]>;
  /** Ends the connection, also while a statement runs. */
  close(): Promise<void>;
};

/** The connection could not be made; the message is the driver's code alone. */
export class DatabaseUnreachable extends Error {
  override readonly name = 'DatabaseUnreachable';
}

/**
 * Opens the connection with the first statement. The statement's time limit is set inside the transaction, since a
 * transaction pooler refuses or shares the settings of a session.
 */
export function createDatabase(
  { databaseUrl, environment }: Pick<Project, 'databaseUrl' | 'environment'>,
  milliseconds: number,
): Database {
  let connecting: Promise<pg.Client> | undefined;
  let client: pg.Client | undefined;

  async function connect(): Promise<pg.Client> {
    if (databaseUrl === null) throw new DatabaseUnreachable('DATABASE_URL is not given');
    client = createClient(databaseUrl, tlsOptions(databaseUrl, environment.DATABASE_POOL_CA || null), milliseconds);
    try {
      await client.connect();
      return client;
    } catch (error) {
      throw new DatabaseUnreachable(connectionError(error));
    }
  }

  return {
    async run(access, sql, parameters) {
      const connected = await (connecting ??= connect());
      await connected.query(`begin ${access}; set local statement_timeout = ${milliseconds}`);
      try {
        const { rows } = await connected.query(sql, parameters);
        await connected.query('commit');
        return rows;
      } catch (error) {
        await connected.query('rollback').catch(() => {});
        throw error;
      }
    },
    async close() {
      await client?.end().catch(() => {});
    },
  };
}

/** A client whose connection may break at any time: who waits for a statement is told. */
export function createClient(url: string, ssl: pg.ClientConfig['ssl'], milliseconds: number): pg.Client {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: milliseconds,
    ...(ssl !== undefined && { ssl }),
  });
  client.on('error', () => {});
  return client;
}

/** Why a connection was not made: the code of Postgres or of the system; the message may quote the address. */
export function connectionError(error: unknown): string {
  const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : undefined;
  if (code === '28P01' || code === '28000') return `the login is refused (${code})`;
  return typeof code === 'string' ? code : 'no connection';
}

/** Whether an address is one of this machine. */
export function isLoopback(url: string): boolean {
  return /^(127(\.\d+){3}|localhost|\[::1\])$/.test(URL.parse(url)?.hostname ?? '');
}

/** Encrypted on the way to another machine; verified where the authority is known. `sslmode` in the address wins. */
function tlsOptions(url: string, authority: string | null): pg.ClientConfig['ssl'] {
  if (isLoopback(url)) return undefined;
  return authority === null ? { rejectUnauthorized: false } : { ca: authority.replaceAll('\\n', '\n') };
}
