/**
 * `npm run migration -- <name>`: makes one migration from what has changed in `supabase/schemas/`, and writes the schema
 * version and the types that follow from it. Exit code 1 when the migrations then differ from the schema files.
 *
 * `npm run migration -- --baseline`: makes all migrations anew, one for each schema file with its name and its text. Possible
 * until the first release: released migrations never change.
 */
import { readArguments } from './command-line.ts';
import { generateTypes } from './generate/types.ts';
import { writeBaseline } from './migration/baseline.ts';
import { firstOf } from './migration/differences.ts';
import { writeMigration } from './migration/write-migration.ts';
import { writeLine } from './stack/process/child.ts';

const usage = `Usage: npm run migration -- NAME
       npm run migration -- --baseline
  NAME         makes one migration of what has changed in supabase/schemas/, for example add_notes_to_plans
  --baseline   makes all migrations anew, until the first release`;

const { baseline, name } = readArguments(
  usage,
  { baseline: { type: 'boolean', default: false } },
  ({ baseline }, [name, ...more]) => {
    if (baseline ? name !== undefined : name === undefined || more.length > 0) throw new Error('Give one name');
    return { baseline, name: name ?? '' };
  },
);
try {
  Deno.exit(baseline ? await makeBaseline() : await makeMigration(name));
} catch (error) {
  writeLine(error instanceof Error ? error.message : String(error));
  Deno.exit(1);
}

/** @returns the exit code, as `makeMigration` */
async function makeBaseline(): Promise<number> {
  writeLine(`The baseline: ${(await writeBaseline()).length} migrations.`);
  await generateTypes();
  return 0;
}

async function makeMigration(name: string): Promise<number> {
  const migration = await writeMigration(name);
  if (migration === undefined) {
    writeLine('Nothing to do: the migrations make the schema of supabase/schemas.');
    return 0;
  }
  writeLine(`supabase/migrations/${migration.file}`);
  if (/\bdrop (?:column|table|attribute)\b/i.test(migration.sql)) {
    writeLine('It drops data. A rename is written by hand instead, with alter … rename.');
  }
  if (migration.differences.length > 0) {
    writeLine(
      'Complete the migration by hand, then npm run generate and npm run check. It differs from supabase/schemas:',
    );
    for (const line of firstOf(migration.differences)) writeLine(line);
    return 1;
  }
  await generateTypes();
  return 0;
}
