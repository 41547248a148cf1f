import { root } from './stack/root.ts';

/** Path of the function's schema version. */
export const schemaVersionFile = `${root}/supabase/functions/api/generated/schema-version.ts`;

/** The versions of the migration files, oldest first: the 14 digits that their names start with. */
export async function migrationVersions(folder = `${root}/supabase/migrations`): Promise<string[]> {
  const entries = await Array.fromAsync(Deno.readDir(folder));
  return entries.flatMap(({ name }) => /^(\d{14})_.*\.sql$/.exec(name)?.[1] ?? []).sort();
}

/** @returns the text of that file for the migrations of a folder, by default the project's. */
export async function schemaVersionText(folder?: string): Promise<string> {
  const newest = (await migrationVersions(folder)).at(-1);
  if (newest === undefined) throw new Error('There are no migrations');
  return `// GENERATED from the migrations by \`npm run generate\`. DO NOT EDIT.

/** The newest migration that the function is made for. */
export const schemaVersion = '${newest}';
`;
}

/** Checks that the committed version is that of the newest migration. @returns a line when it is not. */
export async function checkSchemaVersion(folder?: string): Promise<string[]> {
  const committed = await Deno.readTextFile(schemaVersionFile);
  return committed === await schemaVersionText(folder)
    ? []
    : ['generated/schema-version.ts is not the version of the newest migration: run `npm run generate`'];
}
