import type pg from 'pg';
import type { TestDatabase } from './test-database.ts';
import { repeatUntil } from '../project/repeat-until.ts';

type Person = { role: 'anon' | 'service_role' } | { role: 'authenticated'; userId: string };

/** A connection on which every statement runs as that person, as through the REST API. */
export async function openSession(database: TestDatabase, person: Person): Promise<pg.Client> {
  const client = await database.connect();
  const userId = person.role === 'authenticated' ? person.userId : '';
  // Both spellings: hosted projects read the claims as one JSON object, Lite reads each by its name.
  await client.query(
    "select set_config('request.jwt.claims', $1, false), set_config('request.jwt.claim.sub', $2, false)",
    [JSON.stringify({ sub: userId, role: person.role }), userId],
  );
  await client.query(`set role ${person.role}`);
  return client;
}

const shared = new WeakMap<TestDatabase, Promise<pg.Client>>();

/** A session of the service that the tests of a database share: it plans each statement only once. */
export function sharedSession(database: TestDatabase): Promise<pg.Client> {
  const session = shared.get(database) ?? openSession(database, { role: 'service_role' });
  shared.set(database, session);
  return session;
}

/** Calls a function of schema public with positional parameters and returns its jsonb. */
export async function callRpc(
  client: pg.Client,
  name: string,
  ...parameters: unknown[]
): Promise<Record<string, unknown>> {
  const places = parameters.map((_, index) => `$${index + 1}`).join(', ');
  const { rows } = await client.query(`select public.${name}(${places}) as result`, parameters);
  return rows[0].result;
}

/** Waits until a session waits for a lock of another one. @throws when the call of the session is over */
export async function waitUntilBlocked(
  database: TestDatabase,
  client: pg.Client,
  isOver = () => false,
): Promise<void> {
  const pid = Reflect.get(client, 'processID');
  await repeatUntil('the call waits for a lock', 6000, async () => {
    if (isOver()) throw new Error('the call did not wait');
    const { blocked } = await database.one('select cardinality(pg_blocking_pids($1)) > 0 as blocked', [pid]);
    if (blocked !== true) await new Promise((resolve) => setTimeout(resolve, 5));
    return blocked === true;
  });
}
