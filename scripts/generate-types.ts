import { databaseTypes, databaseTypesFile } from './database-types.ts';
import { withMigratedDatabase } from './migrated-database.ts';
import { schemaVersionFile, schemaVersionText } from './schema-version.ts';

// The newest migration that the function is made for, and the types of the RPCs' parameters, as the migrations make them.
await Deno.writeTextFile(schemaVersionFile, await schemaVersionText());
await Deno.writeTextFile(
  databaseTypesFile,
  await withMigratedDatabase(databaseTypes),
);
