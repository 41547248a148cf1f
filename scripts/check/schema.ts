import pg from 'pg';
import { checkRpcs } from './rpcs.ts';
import { databaseTypes, databaseTypesFile } from '../generate/database-types.ts';
import { withMinorUnits } from '../generate/minor-units.ts';
import { houseRules } from './house-rules.ts';
import { withMigratedDatabase } from '../stack/postgres/migrated-database.ts';
import { supabaseCli } from '../stack/postgres/supabase-cli.ts';

/** Checks the schema of a migrated database. @returns one line for each problem. */
export async function checkSchema(): Promise<string[]> {
  return await withMigratedDatabase(async (url) => [
    ...await brokenRules(url),
    ...await driftedTypes(url),
    ...await driftedMinorUnits(url),
    ...await checkRpcs(url),
    ...await advice(url),
  ]);
}

async function brokenRules(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const broken: string[] = [];
    for (const { name, violations } of houseRules) {
      const { rows } = await client.query<{ detail: string }>(violations);
      broken.push(...rows.map(({ detail }) => `${detail}: ${name}`));
    }
    return broken;
  } finally {
    await client.end();
  }
}

async function driftedTypes(url: string): Promise<string[]> {
  const fresh = await databaseTypes(url) === await Deno.readTextFile(databaseTypesFile);
  return fresh ? [] : [
    'generated/database.types.ts does not match the migrations: run `npm run generate`',
  ];
}

async function driftedMinorUnits(url: string): Promise<string[]> {
  return (await withMinorUnits(url)).filter(({ text, fresh }) => text !== fresh).map(({ path }) =>
    `${path} has other decimals than billing.minor_units: run \`npm run generate\``
  );
}

async function advice(url: string): Promise<string[]> {
  try {
    await supabaseCli(
      url,
      'db',
      'advisors',
      '--level',
      'warn',
      '--fail-on',
      'warn',
    );
    return [];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}
