import { lockTimeout, readStatements, schemaFiles, themeOf } from '../migration/baseline.ts';
import { withBuilds } from '../migration/build.ts';
import { differences, firstOf } from '../migration/differences.ts';
import { createdBy, splitStatements } from '../stack/postgres/statements.ts';
import { laterMigrations } from '../release/file-hashes.ts';
import { deployedFolder, newestRelease } from '../release/release-files.ts';

/** Checks that all migrations make exactly the schema of the schema files. @returns the first differences, and the remedy */
export async function checkMigrations(folder = deployedFolder): Promise<string[]> {
  try {
    const found = await withBuilds(async (build) =>
      await differences(
        (await build(`${folder}/migrations`)).client,
        (await build(`${folder}/schemas`)).client,
        await readStatements(folder),
      )
    );
    return found.length === 0
      ? []
      : [...firstOf(found), 'The schema files are the source: npm run migration -- <name>'];
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

/** Checks that each migration that is not released begins with a limit for its locks. @returns one line for each problem */
export async function checkLockTimeouts(folder = deployedFolder): Promise<string[]> {
  const release = await newestRelease(folder);
  if (release === undefined) return [];
  const texts = await Promise.all((await laterMigrations(release, folder)).map(async (file) => {
    const [first] = splitStatements(await Deno.readTextFile(`${folder}/migrations/${file}`));
    return { file, code: first?.code ?? '' };
  }));
  return texts.filter(({ code }) => !/^set local lock_timeout = /.test(code))
    .map(({ file }) => `supabase/migrations/${file} does not begin with "${lockTimeout}"`);
}

/**
 * Checks that the schema files define each object once: `create` alone, which Postgres refuses for an object that exists.
 * Their names differ in more than the number, and no comment or body of a function, which Postgres reads only when it runs,
 * names an object of schema billing that no file defines. @returns one line for each problem
 */
export async function checkSchemaFiles(folder = deployedFolder): Promise<string[]> {
  const files = await schemaFiles(folder);
  const themes = files.map((file) => `${themeOf(file)}.sql`);
  const statements = (await Promise.all(files.map(async (file) => {
    const sql = await Deno.readTextFile(`${folder}/schemas/${file}`);
    return splitStatements(sql).map((statement) => ({ file, statement }));
  }))).flat();
  const defined = new Set(statements.map(({ statement }) => createdBy(statement)?.name));
  const undefinedNames = statements.flatMap(({ file, statement }) =>
    [...statement.text.matchAll(/\bbilling\.[a-z_]\w*/g)]
      .filter(([name]) => !defined.has(name))
      .map(([name]) => `supabase/schemas/${file}: no schema file defines ${name}`)
  );
  return [
    ...themes.filter((theme, index) => themes.indexOf(theme) !== index)
      .map((theme) => `supabase/schemas has two files of the name ${theme}`),
    ...statements.filter(({ statement: { code } }) => /^drop |^create (?:or replace|.* if not exists) /.test(code))
      .map(({ file, statement: { code } }) =>
        `supabase/schemas/${file}: "${code.slice(0, 60)}": a schema file only creates, and each object once`
      ),
    ...new Set(undefinedNames),
  ];
}
