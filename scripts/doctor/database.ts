import type pg from 'pg';
import { type Connection, connectionConfig, connectionError, createConnection } from './connection.ts';
import type { Project } from './project.ts';

export type Row = Record<string, unknown>;

/** The database connection of one check. */
export type Database = {
  /** Runs one statement in its own transaction. */
  run(access: 'read only' | 'read write', sql: string, parameters?: unknown[]): Promise<Row[]>;
  /** Closes the connection cleanly. */
  close(): Promise<void>;
  /** Closes the connection at once, also while a statement runs. */
  cut(): void;
};

/** Connecting failed. The message contains only the driver's code; `cause` is its error. */
export class DatabaseUnreachable extends Error {
  override readonly name = 'DatabaseUnreachable';
}

/**
 * Connects with the first statement. The statement timeout is set inside the transaction, since a transaction pooler
 * refuses or shares session settings.
 */
export function createDatabase(
  { databaseUrl, environment, withoutCa }: Pick<Project, 'databaseUrl' | 'environment' | 'withoutCa'>,
  milliseconds: number,
): Database {
  let connection: Connection | undefined;
  let connecting: Promise<pg.Client> | undefined;

  async function connect(): Promise<pg.Client> {
    if (databaseUrl === null) throw new DatabaseUnreachable('DATABASE_URL is not given');
    try {
      const certificate = environment.DATABASE_POOL_CA;
      connection = createConnection(connectionConfig(databaseUrl, { certificate, withoutCa }));
      await connection.client.connect();
      return connection.client;
    } catch (error) {
      throw new DatabaseUnreachable(connectionError(error), { cause: error });
    }
  }

  return {
    async run(access, sql, parameters) {
      const client = await (connecting ??= connect());
      await client.query(`begin ${access}; set local statement_timeout = ${milliseconds}`);
      try {
        const { rows } = await client.query(sql, parameters);
        await client.query('commit');
        return rows;
      } catch (error) {
        await client.query('rollback').catch(() => {});
        throw error;
      }
    },
    async close() {
      if (connecting !== undefined) await connection?.end();
    },
    cut: () => connection?.cut(),
  };
}
