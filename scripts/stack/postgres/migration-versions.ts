import { root } from '../root.ts';

/** The versions of the migration files, oldest first: the 14 digits that their names start with. */
export async function migrationVersions(folder = `${root}/supabase/migrations`): Promise<string[]> {
  const entries = await Array.fromAsync(Deno.readDir(folder));
  return entries.flatMap(({ name }) => /^(\d{14})_.*\.sql$/.exec(name)?.[1] ?? []).sort();
}
