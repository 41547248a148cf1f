import { root } from '../stack/root.ts';

/** The folder of the deployed part. Its subfolders `migrations` and `releases` belong together. */
export const deployedFolder = `${root}/supabase`;

/** @returns the versions of the releases, oldest first: `1.2.3` has `releases/1.2.3.sql`. */
export async function releaseVersions(folder = deployedFolder): Promise<string[]> {
  const names = await fileNames(`${folder}/releases`);
  return names.flatMap((name) => /^(\d+\.\d+\.\d+)\.sql$/.exec(name)?.[1] ?? []).sort(compareVersions);
}

/** @returns the version of the newest release. @throws Error when there is none */
export async function newestRelease(folder = deployedFolder): Promise<string> {
  const version = (await releaseVersions(folder)).at(-1);
  if (version === undefined) throw new Error(`${folder}/releases has no release: run \`npm run release\``);
  return version;
}

/** What the sample of a release leaves open, and when: ISO 8601. */
export type ReleaseNotes = { readonly at: string; readonly findings: readonly Readonly<Record<string, unknown>>[] };

/** Reads `releases/<version>.json`. */
export async function readReleaseNotes(version: string): Promise<ReleaseNotes> {
  return JSON.parse(await Deno.readTextFile(`${deployedFolder}/releases/${version}.json`));
}

/** The names of the files of a folder; none where the folder does not exist. */
export async function fileNames(folder: string): Promise<string[]> {
  try {
    return (await Array.fromAsync(Deno.readDir(folder))).map(({ name }) => name).sort();
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return [];
    throw error;
  }
}

function compareVersions(one: string, other: string): number {
  const [a, b] = [one, other].map((version) => version.split('.').map(Number));
  for (let index = 0; index < 3; index += 1) {
    const difference = (a?.[index] ?? 0) - (b?.[index] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
