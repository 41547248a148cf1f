import { inject } from 'vitest';
import { readRelease } from '../../../scripts/release/read-release.ts';
import {
  copyMigrations,
  deployedFolder,
  migrationNames,
  newestRelease,
  readReleaseNotes,
  type ReleaseNotes,
} from '../../../scripts/release/release-files.ts';
import { restoreRelease } from '../../../scripts/release/restore-release.ts';
import { type Release, writeRelease } from '../../../scripts/release/write-release.ts';
import { prepareDatabase } from '../../../scripts/stack/postgres/prepare-database.ts';
import { withClient } from './postgres-client.ts';
import { createTestDatabase, openDatabase, type TestDatabase } from './test-database.ts';

/** The files of a release: `migrations` and `releases` of the folder. */
export type ReleaseFiles = { readonly version: string; readonly folder: string; readonly remove: () => Promise<void> };

/** The newest release. While there is none, one of the current migrations, in a temporary folder that `remove` removes. */
export async function releaseToUpgrade(): Promise<ReleaseFiles> {
  const newest = await newestRelease();
  if (newest !== undefined) return { version: newest, folder: deployedFolder, remove: () => Promise.resolve() };
  const version = '0.0.0';
  const project = await copyMigrations(await migrationNames());
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

/** A database as a release left it, with its sample. */
export type ReleasedDatabase = { readonly database: TestDatabase; readonly notes: ReleaseNotes };

/** Restores a release. `close` compares the findings with those that its sample left open. */
export async function restoreReleasedDatabase({ version, folder }: ReleaseFiles): Promise<ReleasedDatabase> {
  const server = inject('postgresUrl');
  const name = `released_${crypto.randomUUID().replaceAll('-', '')}`;
  const url = new URL(server);
  url.pathname = `/${name}`;
  const notes = await readReleaseNotes(version, folder);
  await withClient(server, (client) => client.query(`create database ${name}`));
  await prepareDatabase(url.href);
  await restoreRelease(url.href, version, folder);
  const database = openDatabase(url.href, {
    at: notes.at,
    findings: countByKind(notes),
    close: () =>
      withClient(server, async (client) => {
        await client.query(`drop database ${name} with (force)`);
      }),
  });
  return { database, notes };
}

function countByKind({ findings }: ReleaseNotes): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const { finding } of findings) counts[String(finding)] = (counts[String(finding)] ?? 0) + 1;
  return counts;
}
