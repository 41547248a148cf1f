import { databaseTypes, databaseTypesFile } from './database-types.ts';
import { withMigratedDatabase } from '../stack/postgres/migrated-database.ts';
import { schemaVersionFile, schemaVersionText } from './schema-version.ts';

/** Writes the two generated files of the function that follow from the migrations: the schema version and the types. */
export async function generateTypes(): Promise<void> {
  await Deno.writeTextFile(schemaVersionFile, await schemaVersionText());
  await Deno.writeTextFile(databaseTypesFile, await withMigratedDatabase(databaseTypes));
}
