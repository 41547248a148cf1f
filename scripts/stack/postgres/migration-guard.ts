import postgres from 'postgres';
import { root } from '../root.ts';

/**
 * Refuses data that were created with an older text of a migration. Otherwise stores the SHA-256 of every migration
 * file in `record`, before the migrations run, so that an interrupted start leaves no applied file without a hash.
 * @throws Error with the files that were changed or removed after this database applied them
 */
export async function guardMigrations(url: string, record: string): Promise<void> {
  const recorded = await readRecord(record);
  const files = await hashMigrations(`${root}/supabase/migrations`);
  const applied = await appliedVersions(url);
  const differences = Object.entries(recorded).flatMap(([name, hash]) => {
    if (!applied.has(versionOf(name)) || files[name] === hash) return [];
    return [`  ${name} ${files[name] === undefined ? 'is gone' : 'was changed'}`];
  });
  if (differences.length > 0) {
    throw new Error(
      'The kept data were made by migrations that have changed since:\n' + differences.join('\n') +
        '\nUndo the change, or run `npm start -- --reset`, which deletes the local data.',
    );
  }
  await Deno.writeTextFile(record, JSON.stringify(files, null, 2));
}

async function readRecord(path: string): Promise<Record<string, string>> {
  try {
    const record: Record<string, string> = JSON.parse(await Deno.readTextFile(path));
    return record;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return {};
    throw error;
  }
}

async function hashMigrations(folder: string): Promise<Record<string, string>> {
  const hashes: Record<string, string> = {};
  for await (const { name } of Deno.readDir(folder)) {
    if (!name.endsWith('.sql')) continue;
    const digest = await crypto.subtle.digest('SHA-256', await Deno.readFile(`${folder}/${name}`));
    hashes[name] = new Uint8Array(digest).toHex();
  }
  return hashes;
}

async function appliedVersions(url: string): Promise<Set<string>> {
  const sql = postgres(url, { max: 1 });
  try {
    const [table] = await sql`select to_regclass('supabase_migrations.schema_migrations') is not null as exists`;
    if (!table?.exists) return new Set();
    const rows = await sql<{ version: string }[]>`select version from supabase_migrations.schema_migrations`;
    return new Set(rows.map((row) => row.version));
  } finally {
    await sql.end();
  }
}

function versionOf(name: string): string {
  return name.split('_', 1)[0] ?? name;
}
