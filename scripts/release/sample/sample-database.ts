import pg from 'pg';
import type { Database } from '../../../supabase/functions/api/generated/database.types.ts';

type Rpcs = Database['public']['Functions'];
export type Row = Record<string, unknown>;

/** A migrated database whose clock stands still, so that every run of the sample leaves the same rows. */
export type SampleDatabase = {
  /** Sets the clock: ISO 8601 in UTC. `call` advances it by a second. */
  setClock(at: string): Promise<void>;
  /** The time of the clock in Unix seconds, as the gateway writes times. */
  seconds(): number;
  /** Calls a function of the API as the service does. */
  call<Name extends keyof Rpcs & string>(name: Name, parameters: Rpcs[Name]['Args']): Promise<Row>;
  /** Runs a statement as an admin does, as `postgres`. */
  query(sql: string, parameters?: unknown[]): Promise<Row[]>;
  close(): Promise<void>;
};

/** Replaces `billing.clock()`. A release has the rows of this database but not its functions, so not this clock. */
const sampleClock = `
create or replace function billing.clock()
returns timestamptz
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return current_setting('sample.clock')::timestamptz;
end
$$`;

export async function openSampleDatabase(url: string): Promise<SampleDatabase> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  await client.query(sampleClock);
  let time = 0;

  async function moveClock(milliseconds: number): Promise<void> {
    time = milliseconds;
    await client.query("select set_config('sample.clock', $1, false)", [new Date(time).toISOString()]);
  }

  return {
    setClock: (at) => moveClock(Date.parse(at)),
    seconds: () => Math.floor(time / 1000),
    async call(name, parameters) {
      await moveClock(time + 1000);
      const given = Object.entries<unknown>(parameters).filter(([, value]) => value !== undefined);
      const list = given.map(([parameter], index) => `${parameter} => $${index + 1}`).join(', ');
      await client.query('set role service_role');
      try {
        const { rows } = await client.query(
          `select public.${name}(${list}) as result`,
          given.map(([, value]) => value),
        );
        return rows[0].result;
      } finally {
        await client.query('reset role');
      }
    },
    async query(sql, parameters) {
      return (await client.query<Row>(sql, parameters)).rows;
    },
    close: () => client.end(),
  };
}
