import { readRelease } from '../../../scripts/release/read-release.ts';
import * as files from '../../../scripts/release/release-files.ts';
import { restoreRelease } from '../../../scripts/release/restore-release.ts';
import { type Release, writeRelease } from '../../../scripts/release/write-release.ts';
import { prepareDatabase } from '../../../scripts/stack/postgres/prepare-database.ts';
import { createDatabase, createTestDatabase, openDatabase, type TestDatabase } from './test-database.ts';

/** The files of a release: `migrations` and `releases` of the folder. */
export type ReleaseFiles = { readonly version: string; readonly folder: string; readonly remove: () => Promise<void> };

/** The newest release. While there is none, one of the current migrations, in a temporary folder that `remove` removes. */
export async function releaseToUpgrade(): Promise<ReleaseFiles> {
  const newest = await files.newestRelease();
  if (newest !== undefined) return { version: newest, folder: files.deployedFolder, remove: () => Promise.resolve() };
  const version = '0.0.0';
  const project = await files.copyMigrations(await files.migrationNames());
  const folder = `${project}/supabase`;
  await writeRelease(version, await readCurrentRelease(), folder);
  return { version, folder, remove: () => Deno.remove(project, { recursive: true }) };
}

/** A release of the current migrations, not written. The sample compares its findings itself. */
export async function readCurrentRelease(): Promise<Release> {
  const database = await createTestDatabase({ findings: 'compared elsewhere' });
  try {
    return await readRelease(database.url);
  } finally {
    await database.close();
  }
}

/** A database as a release left it, with its sample. `close` compares the findings with those that the sample left open. */
export async function restoreReleasedDatabase(
  { version, folder }: ReleaseFiles,
): Promise<{ database: TestDatabase; notes: files.ReleaseNotes }> {
  const notes = await files.readReleaseNotes(version, folder);
  const { url, drop } = await createDatabase();
  await prepareDatabase(url);
  await restoreRelease(url, version, folder);
  const kinds = Map.groupBy(notes.findings, ({ finding }) => String(finding));
  const findings = Object.fromEntries([...kinds].map(([kind, rows]) => [kind, rows.length]));
  return { database: openDatabase(url, { at: notes.at, findings, close: drop }), notes };
}
