import { databaseTypes, databaseTypesFile } from './database-types.ts';
import { generateMinorUnits } from './minor-units.ts';
import { withMigratedDatabase } from '../stack/postgres/migrated-database.ts';
import { schemaVersionFile, schemaVersionText } from './schema-version.ts';

/** Writes what follows from the migrations: the schema version, the types and the decimals of currencies. */
export async function generateTypes(): Promise<void> {
  await Deno.writeTextFile(schemaVersionFile, await schemaVersionText());
  await withMigratedDatabase(async (url) => {
    await Deno.writeTextFile(databaseTypesFile, await databaseTypes(url));
    await generateMinorUnits(url);
  });
}
