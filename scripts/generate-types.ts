import { databaseTypes, databaseTypesFile } from './database-types.ts';
import { withMigratedDatabase } from './migrated-database.ts';

// The types of the RPCs' parameters, as the migrations make them.
await Deno.writeTextFile(
  databaseTypesFile,
  await withMigratedDatabase(databaseTypes),
);
