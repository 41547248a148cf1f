import type { TestDatabase } from './test-database.ts';

/** Runs work while the service may not execute one of its SQL functions: an unexpected failure. Contract: Errors. */
export async function whileBroken<T>(database: TestDatabase, name: string, work: () => Promise<T>): Promise<T> {
  const { signature } = await database.one(
    "select oid::regprocedure::text as signature from pg_proc where proname = $1 and pronamespace = 'public'::regnamespace",
    [name],
  );
  await database.query(`revoke execute on function ${signature} from service_role`);
  try {
    return await work();
  } finally {
    await database.query(`grant execute on function ${signature} to service_role`);
  }
}
