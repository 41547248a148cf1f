import type { TestDatabase } from './test-database.ts';

/** Counts the notifications of a channel. */
export type Listener = Awaited<ReturnType<typeof listen>>;

/** Listens on a separate connection, which is closed with the database. */
export async function listen(database: TestDatabase, channel: string) {
  const client = await database.connect();
  let received = 0;
  client.on('notification', () => {
    received += 1;
  });
  await client.query(`listen ${channel}`);
  return {
    /** The number of notifications, including those of every transaction that ended before the call. */
    async count() {
      // Postgres sends a notification before the answer to a statement that starts after its commit.
      await client.query('select');
      return received;
    },
  };
}
