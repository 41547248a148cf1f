/**
 * `npm run release`: writes the files of a release for the version in package.json: the schema with a filled sample, what
 * the sample leaves open, and the SHA-256 of all released files. `-- --again` replaces a release that is not published
 * yet.
 */
import { parseArgs } from 'node:util';
import pg from 'pg';
import { withMigratedDatabase, withPreparedDatabase } from './migrated-database.ts';
import { describeSchema } from './release/describe-schema.ts';
import { dumpRows, type TableRows } from './release/dump-rows.ts';
import { checkHashes, hashesText, hashRelease } from './release/file-hashes.ts';
import { readRelease, type Release } from './release/read-release.ts';
import { deployedFolder, releaseVersions } from './release/release-files.ts';
import { restoreText } from './release/restore-release.ts';
import { writeLine } from './stack/process/child.ts';
import { root } from './stack/root.ts';

const { values: { again } } = parseArgs({ args: Deno.args, options: { again: { type: 'boolean', default: false } } });
const { version }: { version: string } = JSON.parse(await Deno.readTextFile(`${root}/package.json`));
const others = (await releaseVersions()).filter((release) => release !== version);
const problems = await findProblems();
if (problems.length > 0) {
  for (const problem of problems) writeLine(problem);
  Deno.exit(1);
}

const release = await withMigratedDatabase((url) => readRelease(url, version));
await withPreparedDatabase((url) => checkRestore(url, release));
await Deno.mkdir(`${deployedFolder}/releases`, { recursive: true });
const file = `${deployedFolder}/releases/${version}`;
await Deno.writeTextFile(`${file}.sql`, release.sql);
await Deno.writeTextFile(`${file}.json`, JSON.stringify(release.notes, null, 2) + '\n');
await Deno.writeTextFile(`${file}.sha256`, hashesText(await hashRelease(version)));
writeLine(`Release ${version}: supabase/releases/${version}.sql, ${Math.round(release.sql.length / 1000)} kB`);

async function findProblems(): Promise<string[]> {
  const exists = (await releaseVersions()).includes(version) && !again;
  return [
    ...(exists
      ? [
        `Release ${version} exists. Raise the version in package.json; before it is published: npm run release -- --again`,
      ]
      : []),
    ...await checkHashes(deployedFolder, others),
  ];
}

/** Restores the release and compares. @throws Error with the first line of schema or rows that differs */
async function checkRestore(url: string, { sql, schema, tables }: Release): Promise<void> {
  await restoreText(url, sql, { sample: true });
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("set timezone = 'UTC'");
    compare(schema, await describeSchema(client));
    compare(linesOf(tables), linesOf(await dumpRows(client)));
  } finally {
    await client.end();
  }
}

function linesOf(tables: readonly TableRows[]): string[] {
  return tables.flatMap(({ table, rows }) => rows.map((row) => `${table} ${row}`)).sort();
}

function compare(expected: readonly string[], restored: readonly string[]): void {
  const different = expected.findIndex((line, index) => line !== restored[index]);
  if (different !== -1 || expected.length !== restored.length) {
    throw new Error(
      `The release does not restore what it was made of:\n${expected[different]}\n${restored[different]}`,
    );
  }
}
