import { inject } from 'vitest';
import { newestRelease, readReleaseNotes, type ReleaseNotes } from '../../../scripts/release/release-files.ts';
import { restoreRelease } from '../../../scripts/release/restore-release.ts';
import { prepareDatabase } from '../../../scripts/stack/postgres/prepare-database.ts';
import { withClient } from './postgres-client.ts';
import { openDatabase, type TestDatabase } from './test-database.ts';

/** A database as the newest release left it, with its sample. */
export type ReleasedDatabase = { readonly database: TestDatabase; readonly notes: ReleaseNotes };

/** Restores the newest release. `close` compares the findings with those that its sample left open. */
export async function restoreReleasedDatabase(): Promise<ReleasedDatabase> {
  const server = inject('postgresUrl');
  const name = `released_${crypto.randomUUID().replaceAll('-', '')}`;
  const url = new URL(server);
  url.pathname = `/${name}`;
  const release = await newestRelease();
  const notes = await readReleaseNotes(release);
  await withClient(server, (client) => client.query(`create database ${name}`));
  await prepareDatabase(url.href);
  await restoreRelease(url.href, release, { sample: true });
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
