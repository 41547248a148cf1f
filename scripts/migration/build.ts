import pg from 'pg';
import { withPreparedDatabase } from '../stack/postgres/migrated-database.ts';
import { fileNamesBelow } from '../release/release-files.ts';

/** A temporary database. Its sessions name every object with its schema. */
export type Built = { readonly url: string; readonly client: pg.Client };

/**
 * Runs work on a temporary server, and removes it. `build` makes a database from the SQL files below a folder, in the order of
 * their paths. @throws Error with the file, and the line if Postgres says it
 */
export async function withBuilds<T>(work: (build: (folder: string) => Promise<Built>) => Promise<T>): Promise<T> {
  return await withPreparedDatabase(async (server) => {
    const clients: pg.Client[] = [];
    const connect = async (url: string) => {
      const client = new pg.Client({ connectionString: url });
      clients.push(client);
      await client.connect();
      return client;
    };
    try {
      return await work(async (folder) => {
        const name = `build_${clients.length}`;
        const maker = await connect(new URL('/template1', server).href);
        await maker.query(`create database ${name} template postgres strategy file_copy`);
        const url = new URL(`/${name}`, server).href;
        const client = await connect(url);
        for (const file of await fileNamesBelow(folder)) {
          if (file.endsWith('.sql')) await applyFile(client, `${folder}/${file}`);
        }
        await client.query("set search_path = ''");
        return { url, client };
      });
    } finally {
      await Promise.all(clients.map((client) => client.end()));
    }
  });
}

/** Applies a file in one transaction, as the Supabase CLI does. */
async function applyFile(client: pg.Client, path: string): Promise<void> {
  const sql = await Deno.readTextFile(path);
  try {
    await client.query(sql);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError)) throw error;
    const line = error.position === undefined ? '' : `:${sql.slice(0, Number(error.position)).split('\n').length}`;
    throw new Error(`${path.slice(path.lastIndexOf('supabase/'))}${line}: ${error.message}`);
  }
}
