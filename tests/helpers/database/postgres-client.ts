import pg from 'pg';

/** The migrated database that test databases are cloned from. */
export const templateDatabase = 'template_migrated';

/** Runs work on a new connection and closes it. */
export async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
