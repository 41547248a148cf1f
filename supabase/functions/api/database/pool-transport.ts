// @ts-types="npm:@types/pg@8.23.1"
import pg from 'pg';
import { DatabaseError, type Transport } from './rpc.ts';
import { driverCode } from './driver-code.ts';
import { withDeadline } from '../http/with-deadline.ts';

/** For one isolate: each isolate of the function has its own pool. */
const connections = 8;

/** Shorter than the call timeout, so that the error code tells a full pool from a slow call. */
const connectTimeoutMilliseconds = 3000;

/** The same as over REST. */
const callTimeoutMilliseconds = 4000;

/** Idle connections are closed, except one: a new one would make a rare call ten times as slow. */
const idleTimeoutMilliseconds = 10_000;

/** A `json` result is sent to the client as it is, so it stays text. A `jsonb` result is parsed. */
const types = {
  getTypeParser: (type: number, format?: 'text' | 'binary') =>
    type === pg.types.builtins.JSON ? String : pg.types.getTypeParser(type, format),
};

/**
 * Calls the SQL functions over a Postgres connection: one statement and one round trip a call. Transaction poolers
 * support neither named statements nor session settings, so none are used. The role of the URL must have the rights.
 * @param authority CA certificate (PEM) for TLS; null: the URL decides about encryption
 */
export function createPoolTransport(url: string, authority: string | null): Transport {
  let pool: pg.Pool | undefined;
  return async (name, parameters) => {
    pool ??= createPool(url, authority);
    // A parameter that is left out gets the SQL function's default, as over REST.
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
      // Close the connection: it may still be running this call.
      client?.release(true);
      throw new DatabaseError(name, driverCode(error));
    }
  };
}

/** With a callback, because pg keeps the promise of `client.query`, and its rows, in memory long after the call. */
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
    min: 1,
    max: connections,
    keepAlive: true,
    connectionTimeoutMillis: connectTimeoutMilliseconds,
    idleTimeoutMillis: idleTimeoutMilliseconds,
  });
  // The pool replaces a lost connection. Without a listener the error event would crash the process.
  pool.on('error', () => {});
  pool.on('connect', (client) => client.on('error', () => {}));
  return pool;
}
