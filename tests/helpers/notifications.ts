import type { TestDatabase } from './test-database.ts';

/** Hears the notifications of a channel. */
export type Listener = {
  /** How many came, up to those of every transaction that ended before the call. */
  count(): Promise<number>;
};

/** Listens on a connection of its own, which is closed with the database. */
export async function listen(database: TestDatabase, channel: string): Promise<Listener> {
  const client = await database.connect();
  let heard = 0;
  client.on('notification', () => {
    heard += 1;
  });
  await client.query(`listen ${channel}`);
  return {
    async count() {
      // A notification travels before the answer to a statement that begins after its commit.
      await client.query('select');
      return heard;
    },
  };
}
