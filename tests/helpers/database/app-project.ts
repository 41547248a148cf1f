import { migrate } from '../../../scripts/stack/postgres/migrate.ts';
import { prepareDatabase } from '../../../scripts/stack/postgres/prepare-database.ts';
import { root } from '../../../scripts/stack/root.ts';
import type { Findings } from './findings.ts';
import { withClient } from './postgres-client.ts';
import { createDatabase, openDatabase } from './test-database.ts';

/** The project of an app: a database that the service is not installed in yet, and a folder of migrations. */
export type AppProject = Awaited<ReturnType<typeof createAppProject>>;

/** As hosted projects have it: what the owner creates in schema public is open to the roles of the API. */
const platformRights = `
alter default privileges in schema public grant all on tables to anon, authenticated, service_role;
alter default privileges in schema public grant all on functions to anon, authenticated, service_role;
alter default privileges in schema public grant all on sequences to anon, authenticated, service_role;`;

/** Creates the project of an app. Without `findings` they are not compared: the service is not installed in the end. */
export async function createAppProject({ findings }: { readonly findings?: Findings } = {}) {
  const folder = await Deno.makeTempDir({ prefix: 'app-' });
  const migrations = `${folder}/supabase/migrations`;
  await Deno.mkdir(migrations, { recursive: true });
  await Deno.copyFile(`${root}/supabase/config.toml`, `${folder}/supabase/config.toml`);
  const { url, drop } = await createDatabase();
  await prepareDatabase(url);
  await withClient(url, (client) => client.query(platformRights));

  const database = openDatabase(url, { findings: findings ?? 'compared elsewhere', close: drop });
  return {
    database,
    /** The folder of the app. */
    folder,
    /** Adds a migration of the app to the folder. The name of the file starts with its version. */
    add: (file: string, sql: string) => Deno.writeTextFile(`${migrations}/${file}`, sql),
    async addService() {
      await Deno.copyFile(`${root}/supabase/seed.sql`, `${folder}/supabase/seed.sql`);
      for await (const { name } of Deno.readDir(`${root}/supabase/migrations`)) {
        await Deno.copyFile(`${root}/supabase/migrations/${name}`, `${migrations}/${name}`);
      }
    },
    /** Runs `supabase db push`. @returns the names of the applied files @throws Error with the output of the CLI */
    async push({ includeAll = false, seed = false } = {}) {
      const lines: string[] = [];
      try {
        await migrate({ url, seed, includeAll, folder, log: (line) => lines.push(line) });
      } catch {
        throw new Error(lines.join('\n'));
      }
      return lines.flatMap((line) => /Applying migration (\w+\.sql)\.\.\./.exec(line)?.[1] ?? []);
    },
    /** Drops the database. With `findings` it sweeps and compares them first. */
    async close() {
      try {
        await database.close();
      } finally {
        await Deno.remove(folder, { recursive: true });
      }
    },
  };
}
