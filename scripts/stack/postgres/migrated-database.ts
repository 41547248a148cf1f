import { migrate } from './migrate.ts';
import { createPostgres } from './postgres.ts';
import { prepareDatabase } from './prepare-database.ts';
import { freePort } from '../ports.ts';

/** Runs work on a temporary database with the migrations only, and removes it. */
export function withMigratedDatabase<T>(work: (url: string) => Promise<T>): Promise<T> {
  return withPreparedDatabase(async (url) => {
    await migrate({ url, seed: false, log: () => {} });
    return await work(url);
  });
}

/** The same without the migrations: a database as every new project has it. */
export async function withPreparedDatabase<T>(work: (url: string) => Promise<T>): Promise<T> {
  const postgres = createPostgres({
    port: freePort(),
    ephemeral: true,
    log: () => {},
  });
  await postgres.start();
  try {
    await postgres.ready();
    await prepareDatabase(postgres.url());
    return await work(postgres.url());
  } finally {
    await postgres.stop();
  }
}
