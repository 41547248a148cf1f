import { migrationVersions } from '../stack/postgres/migration-versions.ts';
import { root } from '../stack/root.ts';

/** Path of the function's schema version. */
export const schemaVersionFile = `${root}/supabase/functions/api/generated/schema-version.ts`;

/** @returns the text of that file for the migrations of a folder, by default the project's. */
export async function schemaVersionText(folder?: string): Promise<string> {
  const newest = (await migrationVersions(folder)).at(-1);
  if (newest === undefined) throw new Error('There are no migrations');
  return `// GENERATED from the migrations by \`npm run generate\`. DO NOT EDIT.

/** The newest migration that the function is made for. */
export const schemaVersion = '${newest}';
`;
}
