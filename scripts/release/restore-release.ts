import pg from 'pg';
import { migrate } from '../stack/postgres/migrate.ts';
import { readHashes } from './file-hashes.ts';
import { copyMigrations, deployedFolder } from './release-files.ts';

/** Restores a release, with its sample, into a database that `prepareDatabase` has prepared. */
export async function restoreRelease(url: string, version: string, folder = deployedFolder): Promise<void> {
  await installRelease(url, version, folder);
  await loadSample(url, await Deno.readTextFile(`${folder}/releases/${version}.sql`));
}

/** The same without the sample: applies the migrations of the release as production does. */
export async function installRelease(url: string, version: string, folder = deployedFolder): Promise<void> {
  const paths = [...(await readHashes(version, folder)).keys()];
  const names = paths.flatMap((path) => path.match(/(?<=^migrations\/).+/) ?? []);
  const project = await copyMigrations(names, folder);
  try {
    await migrate({ url, seed: false, folder: project, log: () => {} });
  } finally {
    await Deno.remove(project, { recursive: true });
  }
}

/** Replaces the rows of a database by those of a release. @throws the error of Postgres; nothing is changed then */
export async function loadSample(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  client.on('notice', () => {});
  await client.connect();
  try {
    // Several statements in one message are one transaction.
    await client.query(sql);
  } finally {
    await client.end();
  }
}
