import { schemaVersionFile, schemaVersionText } from '../generate/schema-version.ts';

/** Checks that the committed version is that of the newest migration. @returns a line when it is not. */
export async function checkSchemaVersion(folder?: string): Promise<string[]> {
  const committed = await Deno.readTextFile(schemaVersionFile);
  return committed === await schemaVersionText(folder)
    ? []
    : ['generated/schema-version.ts is not the version of the newest migration: run `npm run generate`'];
}
