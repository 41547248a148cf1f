import { deployedFolder, fileNamesBelow, releaseVersions } from '../release/release-files.ts';
import { splitStatements, type Statement } from '../stack/postgres/statements.ts';

/**
 * Less than the three seconds of a request: a change of a view waits for all readers, such as a backup, and all later readers
 * wait behind it. A push that gave up is repeated.
 */
export const lockTimeout = "set local lock_timeout = '2s';";

/** The baseline's versions begin with this day; the number of the schema file follows. */
const day = '20261122';

/**
 * Makes the migrations anew, one for each schema file, with a limit for its locks. @returns their names
 * @throws Error once there is a release: its migrations never change
 */
export async function writeBaseline(folder = deployedFolder): Promise<string[]> {
  const [release] = await releaseVersions(folder);
  if (release !== undefined) {
    throw new Error(`Release ${release} exists, and its migrations never change: npm run migration -- <name>`);
  }
  return await copySchemaFiles(folder);
}

/** Replaces all migrations of a folder by its schema files. @returns the names of the migrations */
export async function copySchemaFiles(folder: string): Promise<string[]> {
  await Deno.remove(`${folder}/migrations`, { recursive: true }).catch(ignoreMissing);
  await Deno.mkdir(`${folder}/migrations`);
  const names: string[] = [];
  for (const [index, file] of (await schemaFiles(folder)).entries()) {
    const name = baselineName(index + 1, file);
    const text = await Deno.readTextFile(`${folder}/schemas/${file}`);
    await Deno.writeTextFile(`${folder}/migrations/${name}`, `${lockTimeout}\n\n${text}`);
    names.push(name);
  }
  return names;
}

/** The schema files in their order, by the numbers of their folders and names: `06_access/03_settle.sql`. */
export async function schemaFiles(folder = deployedFolder): Promise<string[]> {
  return (await fileNamesBelow(`${folder}/schemas`)).filter((name) => name.endsWith('.sql'));
}

/** The statements of the schema files in their order. */
export async function readStatements(folder = deployedFolder): Promise<Statement[]> {
  const texts = (await schemaFiles(folder)).map((file) => Deno.readTextFile(`${folder}/schemas/${file}`));
  return (await Promise.all(texts)).flatMap(splitStatements);
}

/** The 14th file, `06_access/03_settle.sql`, becomes `20261122000014_settle.sql`. */
function baselineName(place: number, file: string): string {
  const theme = themeOf(file);
  if (theme === undefined) throw new Error(`supabase/schemas/${file} has no number: 06_access/03_settle.sql`);
  return `${day}${String(place).padStart(6, '0')}_${theme}.sql`;
}

/** The name of a schema file without its folder and number. */
export function themeOf(file: string): string | undefined {
  return /(?:^|\/)\d+_(\w+)\.sql$/.exec(file)?.[1];
}

function ignoreMissing(error: unknown): void {
  if (!(error instanceof Deno.errors.NotFound)) throw error;
}
