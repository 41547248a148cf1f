/**
 * `npm run release`: writes the files of a release for the version in package.json: the rows of a sample, what the sample
 * leaves open, and the SHA-256 of these files and of all migrations. `-- --again` replaces a release that is not
 * published yet: one without its tag in git.
 */
import { deepStrictEqual } from 'node:assert/strict';
import pg from 'pg';
import { readArguments, refusePositionals } from './command-line.ts';
import { withMigratedDatabase } from './stack/postgres/migrated-database.ts';
import { dumpRows, type TableRows } from './release/dump-rows.ts';
import { checkHashes } from './release/file-hashes.ts';
import { readRelease } from './release/read-release.ts';
import { deployedFolder, releaseVersions } from './release/release-files.ts';
import { loadSample } from './release/restore-release.ts';
import { type Release, writeRelease } from './release/write-release.ts';
import { writeLine } from './stack/process/child.ts';
import { root } from './stack/root.ts';

const usage = `Usage: npm run release -- [--again]
  writes the files of a release for the version in package.json to supabase/releases/
  --again   replaces those of a release that is not published yet`;

const again = readArguments(usage, { again: { type: 'boolean', default: false } }, ({ again }, positionals) => {
  refusePositionals(positionals);
  return again;
});
const { version }: { version: string } = JSON.parse(await Deno.readTextFile(`${root}/package.json`));
const others = (await releaseVersions()).filter((release) => release !== version);
const problems = await findProblems();
if (problems.length > 0) {
  for (const problem of problems) writeLine(problem);
  Deno.exit(1);
}

const release = await withMigratedDatabase(readRelease);
await withMigratedDatabase((url) => checkRows(url, release));
await writeRelease(version, release);
writeLine(`Release ${version}: supabase/releases/${version}.sql, ${Math.round(release.sql.length / 1000)} kB`);

async function findProblems(): Promise<string[]> {
  const exists = (await releaseVersions()).includes(version);
  return [
    ...(exists && again && await isTagged()
      ? [`Release ${version} is published: its tag v${version} exists. Raise the version in package.json`]
      : []),
    ...(exists && !again
      ? [
        `Release ${version} exists. Raise the version in package.json; before it is published: npm run release -- --again`,
      ]
      : []),
    ...await checkHashes(deployedFolder, others),
  ];
}

async function isTagged(): Promise<boolean> {
  const git = new Deno.Command('git', { args: ['tag', '--list', `v${version}`], cwd: root, stderr: 'null' });
  return await git.output().then(({ stdout }) => stdout.length > 0, () => false);
}

/** Loads the sample into a database with the same migrations. @throws Error with the rows that differ */
async function checkRows(url: string, { sql, tables }: Release): Promise<void> {
  await loadSample(url, sql);
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query("set timezone = 'UTC'");
    deepStrictEqual(linesOf(await dumpRows(client)), linesOf(tables));
  } finally {
    await client.end();
  }
}

function linesOf(tables: readonly TableRows[]): string[] {
  return tables.flatMap(({ table, rows }) => rows.map((row) => `${table} ${row}`)).sort();
}
