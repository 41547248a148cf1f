// @ts-types="npm:@types/pg@8.23.1"
import pg from 'pg';
import { DatabaseError, type Transport } from './database.ts';
import { driverCode } from './driver-code.ts';
import { withDeadline } from '../http/with-deadline.ts';

/** Of one isolate; others of the same function have their own. */
const connections = 8;

/** A free connection is there within this, or the call fails: it is told apart from a slow call. */
const connectTimeoutMilliseconds = 3000;

/** As long as the REST API is given. */
const callTimeoutMilliseconds = 4000;

/** Poolers drop clients that do nothing; so does this one, before they do. */
const idleTimeoutMilliseconds = 10_000;

/** What Postgres has as `json`, not `jsonb`, is there to be sent: it stays the text that it is. */
const types = {
  getTypeParser: (type: number, format?: 'text' | 'binary') =>
    type === pg.types.builtins.JSON ? String : pg.types.getTypeParser(type, format),
};

/**
 * Calls the RPCs straight over Postgres: one statement and one round trip a call. A transaction pooler may stand between,
 * so statements have no name and the session is left alone; the role of the URL brings its rights with it.
 * @param authority PEM: the connection is encrypted, to a server whose certificate it signed; null: as the URL says
 */
export function createPoolTransport(url: string, authority: string | null): Transport {
  let pool: pg.Pool | undefined;
  return async (name, parameters) => {
    pool ??= createPool(url, authority);
    // What is left out gets the function's default, as over REST.
    const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
    const list = given.map(([parameter], index) => `${parameter} => $${index + 1}`).join(', ');
    const text = `select public.${name}(${list}) as result`;
    let client: pg.PoolClient | undefined;
    try {
      client = await pool.connect();
      const { rows } = await withDeadline(
        query(client, text, given.map(([, value]) => value)),
        callTimeoutMilliseconds,
      );
      client.release();
      return rows[0]?.result;
    } catch (error) {
      // Closed, not used again: it may still be at work on this call.
      client?.release(true);
      throw new DatabaseError(name, driverCode(error));
    }
  };
}

/** As `client.query` without a callback; but the promise of that one, and the rows in it, outlive the call by far. */
function query(client: pg.PoolClient, text: string, values: unknown[]): Promise<pg.QueryResult> {
  return new Promise((resolve, reject) => {
    client.query(text, values, (error, result) => error ? reject(error) : resolve(result));
  });
}

function createPool(url: string, authority: string | null): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    ...(authority === null ? {} : { ssl: { ca: authority } }),
    types,
    max: connections,
    connectionTimeoutMillis: connectTimeoutMilliseconds,
    idleTimeoutMillis: idleTimeoutMilliseconds,
  });
  // A connection that dies is replaced when the next call needs one; unheard, its end would be ours.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}
