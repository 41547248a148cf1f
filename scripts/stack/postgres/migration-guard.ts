import postgres from 'postgres';

/**
 * Refuses data that were created with an older text of a migration. Otherwise stores the SHA-256 of every migration
 * file in `record`, before the migrations run, so that an interrupted start leaves no applied file without a hash.
 * @returns whether the database lacks a migration or the seed, or has a migration that is no file
 * @throws Error with the files that were changed or removed after this database applied them
 */
export async function guardMigrations(url: string, record: string, folder: string): Promise<boolean> {
  const recorded = await readRecord(record);
  const files = await hashMigrations(`${folder}/supabase/migrations`);
  const { versions: applied, seeds } = await readApplied(url);
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
  const versions = new Set(Object.keys(files).map(versionOf));
  const seed = await hashOf(`${folder}/supabase/seed.sql`).catch(() => ''); // an app may have removed it
  return applied.symmetricDifference(versions).size > 0 || !seeds.includes(seed);
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
    hashes[name] = await hashOf(`${folder}/${name}`);
  }
  return hashes;
}

async function hashOf(file: string): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', await Deno.readFile(file))).toHex();
}

/** What the Supabase CLI recorded: the versions of the migrations, and the hashes of the seeds. */
async function readApplied(url: string): Promise<{ versions: Set<string>; seeds: string[] }> {
  const sql = postgres(url, { max: 1 });
  try {
    // A start that was interrupted may have left the first table without the second one.
    const [made] = await sql`select
      to_regclass('supabase_migrations.schema_migrations') is not null as has_versions,
      to_regclass('supabase_migrations.seed_files') is not null as has_seeds`;
    const versions = made?.has_versions ? await sql`select version from supabase_migrations.schema_migrations` : [];
    const seeds = made?.has_seeds ? await sql`select hash from supabase_migrations.seed_files` : [];
    return { versions: new Set(versions.map(({ version }) => version)), seeds: seeds.map(({ hash }) => hash) };
  } finally {
    await sql.end();
  }
}

function versionOf(name: string): string {
  return name.split('_', 1)[0] ?? name;
}
