import pg from 'pg';
import { deployedFolder } from './release-files.ts';
import { sampleMarker } from './write-sql.ts';

/**
 * Restores a release into a database that `prepareDatabase` has prepared. `sample`: with the rows of the sample; without
 * them the database is as newly installed. @throws the error of Postgres; nothing is restored then
 */
export async function restoreRelease(url: string, version: string, { sample }: { sample: boolean }): Promise<void> {
  await restoreText(url, await Deno.readTextFile(`${deployedFolder}/releases/${version}.sql`), { sample });
}

/** The same for the text of the file. */
export async function restoreText(url: string, text: string, { sample }: { sample: boolean }): Promise<void> {
  const [schema = ''] = text.split(sampleMarker, 1);
  const client = new pg.Client({ connectionString: url });
  client.on('notice', () => {});
  await client.connect();
  try {
    // Several statements in one message are one transaction.
    await client.query(sample ? text : schema);
  } finally {
    await client.end();
  }
}
