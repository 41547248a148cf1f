import pg from 'pg';
import { newestRelease } from '../release/release-files.ts';
import { installRelease } from '../release/restore-release.ts';
import { breakingChanges, readRpcs, type Rpc } from '../release/rpcs.ts';
import { prepareDatabase } from '../stack/postgres/prepare-database.ts';
import { root } from '../stack/root.ts';

/**
 * Checks that the functions of the API only gained something since the newest release, within a minor version. The
 * release is installed beside the migrated database. @returns one sentence for each change that is not additive
 */
export async function checkRpcs(migratedUrl: string): Promise<string[]> {
  const release = await newestRelease();
  const { version } = JSON.parse(await Deno.readTextFile(`${root}/package.json`));
  if (release === undefined || minorOf(String(version)) !== minorOf(release)) return [];
  const changes = breakingChanges(await releasedRpcs(migratedUrl, release), await rpcsOf(migratedUrl));
  return changes.map((change) => `${change}: only a new minor version may change what release ${release} has`);
}

async function releasedRpcs(serverUrl: string, release: string): Promise<Rpc[]> {
  const url = new URL(serverUrl);
  url.pathname = '/released';
  await withClient(serverUrl, (client) => client.query('create database released'));
  await prepareDatabase(url.href);
  await installRelease(url.href, release);
  return await rpcsOf(url.href);
}

function rpcsOf(url: string): Promise<Rpc[]> {
  return withClient(url, readRpcs);
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

/** `1.2` of `1.2.3`. */
function minorOf(version: string): string {
  return version.split('.', 2).join('.');
}
