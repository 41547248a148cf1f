// @ts-types="npm:@types/pg@8.23.1"
import pg from 'pg';
import { DatabaseError, type Transport } from './database.ts';

/** Of one isolate; others of the same function have their own. */
const connections = 8;

/** A free connection is there within this, or the call fails: it is told apart from a slow call. */
const connectTimeoutMilliseconds = 3000;

/** As long as the REST API is given. The connection of an unanswered call is closed, not used again. */
const callTimeoutMilliseconds = 4000;

/** Poolers drop clients that do nothing; so does this one, before they do. */
const idleTimeoutMilliseconds = 10_000;

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
    try {
      const { rows } = await pool.query(
        `select public.${name}(${list}) as result`,
        given.map(([, value]) => value),
      );
      return rows[0]?.result;
    } catch (error) {
      throw new DatabaseError(name, error instanceof pg.DatabaseError ? error.code : undefined);
    }
  };
}

function createPool(url: string, authority: string | null): pg.Pool {
  const pool = new pg.Pool({
    connectionString: url,
    ...(authority === null ? {} : { ssl: { ca: authority } }),
    max: connections,
    connectionTimeoutMillis: connectTimeoutMilliseconds,
    query_timeout: callTimeoutMilliseconds,
    idleTimeoutMillis: idleTimeoutMilliseconds,
  });
  // A connection that dies while nobody uses it is replaced when the next call needs one; unheard, it would end us.
  pool.on('error', () => {});
  return pool;
}
