import { freePort } from '../../scripts/stack/ports.ts';
import { createPostgres, type Postgres } from '../../scripts/stack/postgres/postgres.ts';
import { unprivilegedUser } from '../../scripts/stack/process/unprivileged-user.ts';
import { withClient } from '../helpers/database/postgres-client.ts';

/**
 * Runs work against a new Postgres server that waits for the disk at each commit, like a production server, and
 * removes the server and its data afterwards. The other benchmarks use a server without `fsync`.
 * @throws Error when a setting that makes commits durable is off
 */
export function withDurablePostgres<T>(work: (postgres: Postgres) => Promise<T>): Promise<T> {
  return withPostgresOnDisk(false, async (postgres) => {
    await checkDurability(postgres.url());
    return await work(postgres);
  });
}

/** The same with any settings, for data that are larger than the memory. @param ephemeral without `fsync` */
export async function withPostgresOnDisk<T>(ephemeral: boolean, work: (postgres: Postgres) => Promise<T>): Promise<T> {
  const dataFolder = await Deno.makeTempDir({ prefix: 'bench-postgres-' });
  const user = await unprivilegedUser();
  if (user) await Deno.chown(dataFolder, user.uid, user.gid);
  const postgres = createPostgres({ port: freePort(), dataFolder, ephemeral, log: () => {} });
  try {
    await postgres.start();
    await postgres.ready();
    return await work(postgres);
  } finally {
    await postgres.stop();
    await Deno.remove(dataFolder, { recursive: true });
  }
}

async function checkDurability(url: string): Promise<void> {
  const { rows } = await withClient(url, (client) =>
    client.query(
      `select name from pg_settings
       where name in ('fsync', 'synchronous_commit', 'full_page_writes') and setting <> 'on'`,
    ));
  if (rows.length > 0) throw new Error(`off: ${rows.map(({ name }) => name).join(', ')}`);
}
