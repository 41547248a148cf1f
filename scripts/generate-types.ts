import { databaseTypes, databaseTypesFile } from './database-types.ts';
import { withMigratedDatabase } from './migrated-database.ts';
import { schemaVersionFile, schemaVersionText } from './schema-version.ts';

await Deno.writeTextFile(schemaVersionFile, await schemaVersionText());
await Deno.writeTextFile(
  databaseTypesFile,
  await withMigratedDatabase(databaseTypes),
);
