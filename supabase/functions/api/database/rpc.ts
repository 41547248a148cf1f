import type { Database as DatabaseTypes } from '../generated/database.types.ts';

/** The SQL functions that the API offers. */
export type Rpcs = DatabaseTypes['public']['Functions'];
/** The generated types have no null. A tier is null where a price names it. */
type Nullable<Args> = { [Key in keyof Args]: Key extends 'p_tier' ? string | null : Args[Key] };
/** The parameters of one of them. */
export type Parameters<Name extends keyof Rpcs> = Nullable<Rpcs[Name]['Args']>;

/** Calls an SQL function with scalar parameters, in one round trip. @throws DatabaseError */
export type Transport = <Name extends keyof Rpcs & string>(
  name: Name,
  parameters: Parameters<Name>,
) => Promise<unknown>;

/** A call of the database failed. The message names the SQL function, never its data. */
export class DatabaseError extends Error {
  /** SQLSTATE, or a code of `driverCode`. Undefined for everything that does not look like a code. */
  readonly code: string | undefined;
  /** When to send a call again that found the database busy: seconds. */
  readonly retryAfter = 1;

  constructor(rpc: string, code: string | undefined) {
    const safe = code !== undefined && /^[A-Z0-9_]{3,64}$/.test(code) ? code : undefined;
    super(safe ? `${rpc} failed: ${safe}` : `${rpc} failed`);
    this.name = 'DatabaseError';
    this.code = safe;
  }

  /** The server, or REST in front of it, has no connection left or starts: the call had no effect. Send it again soon. */
  get isBusy(): boolean {
    return /^(53300|57P03|PGRST00[023])$/.test(this.code ?? '');
  }
}

/**
 * One retry where it is safe: a serialization failure or a deadlock rolled everything back, a busy server did nothing.
 * After 50 to 150 ms: connections of other requests become free in that time, and the other side of a deadlock has its lock.
 */
export function retryOnce(transport: Transport): Transport {
  return async (name, parameters) => {
    try {
      return await transport(name, parameters);
    } catch (error) {
      if (!(error instanceof DatabaseError)) throw error;
      if (!error.isBusy && error.code !== '40001' && error.code !== '40P01') throw error;
      await new Promise((resolve) => setTimeout(resolve, 50 + Math.random() * 100));
      return await transport(name, parameters);
    }
  };
}
