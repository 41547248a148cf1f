import { deployedFolder, migrationNames, releaseVersions } from './release-files.ts';

/** The SHA-256 of a file by its path below `supabase/`. */
export type Hashes = ReadonlyMap<string, string>;

/** Hashes the files of a release: all migrations, its sample and its notes. */
export async function hashRelease(version: string, folder = deployedFolder): Promise<Hashes> {
  const paths = [
    ...(await migrationNames(folder)).map((name) => `migrations/${name}`),
    `releases/${version}.json`,
    `releases/${version}.sql`,
  ];
  const hashes = new Map<string, string>();
  for (const path of paths) {
    const hash = await hashFile(`${folder}/${path}`);
    if (hash === null) throw new Error(`${path} does not exist`);
    hashes.set(path, hash);
  }
  return hashes;
}

/** The text of `releases/<version>.sha256`, as `sha256sum` writes it: `cd supabase && sha256sum -c releases/…` checks it. */
export function hashesText(hashes: Hashes): string {
  return [...hashes].map(([path, hash]) => `${hash}  ${path}\n`).join('');
}

/** Reads the hashes of a release. */
export async function readHashes(version: string, folder = deployedFolder): Promise<Hashes> {
  const text = await Deno.readTextFile(`${folder}/releases/${version}.sha256`);
  return new Map(
    text.trim().split('\n').map((line) => {
      const [hash = '', path = ''] = line.split('  ', 2);
      return [path, hash];
    }),
  );
}

/** @returns the names of the migrations that a release does not have. */
export async function laterMigrations(version: string, folder = deployedFolder): Promise<string[]> {
  const released = await readHashes(version, folder);
  return (await migrationNames(folder)).filter((name) => !released.has(`migrations/${name}`));
}

/**
 * Compares the files with the hashes of the releases, by default of all. @returns one line for each released file that
 * was changed or is missing, and for each new migration whose version is not later than the released ones
 */
export async function checkHashes(folder = deployedFolder, versions?: readonly string[]): Promise<string[]> {
  const problems = new Set<string>();
  for (const version of versions ?? await releaseVersions(folder)) {
    const released = await readHashes(version, folder);
    for (const [path, hash] of released) {
      const now = await hashFile(`${folder}/${path}`);
      if (now === null) problems.add(`${path} is part of release ${version} and is missing`);
      else if (now !== hash) problems.add(`${path} is part of release ${version} and was changed`);
    }
    const newest = [...released.keys()].filter((path) => path.startsWith('migrations/')).sort().at(-1) ?? '';
    for (const path of (await laterMigrations(version, folder)).map((name) => `migrations/${name}`)) {
      if (versionOf(path) <= versionOf(newest)) {
        problems.add(`${path} is new and not later than ${newest} of release ${version}`);
      }
    }
  }
  return [...problems];
}

/** The 14 digits of a migration's path. */
function versionOf(path: string): string {
  return path.slice('migrations/'.length).split('_', 1)[0] ?? '';
}

async function hashFile(path: string): Promise<string | null> {
  try {
    const digest = await crypto.subtle.digest('SHA-256', await Deno.readFile(path));
    return new Uint8Array(digest).toHex();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}
