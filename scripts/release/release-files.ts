import { root } from '../stack/root.ts';

/** The folder of the deployed part. Its subfolders `migrations` and `releases` belong together. */
export const deployedFolder = `${root}/supabase`;

/** @returns the versions of the releases, oldest first: `1.2.3` has `releases/1.2.3.sql`. */
export async function releaseVersions(folder = deployedFolder): Promise<string[]> {
  const names = await fileNames(`${folder}/releases`);
  return names.flatMap((name) => /^(\d+\.\d+\.\d+)\.sql$/.exec(name)?.[1] ?? []).sort(compareVersions);
}

/** @returns the version of the newest release; undefined before the first one. */
export async function newestRelease(folder = deployedFolder): Promise<string | undefined> {
  return (await releaseVersions(folder)).at(-1);
}

/** What the sample of a release leaves open, and when: ISO 8601. */
export type ReleaseNotes = { readonly at: string; readonly findings: readonly Readonly<Record<string, unknown>>[] };

/** Reads `releases/<version>.json`. */
export async function readReleaseNotes(version: string, folder = deployedFolder): Promise<ReleaseNotes> {
  return JSON.parse(await Deno.readTextFile(`${folder}/releases/${version}.json`));
}

/** @returns the file names of the migrations, oldest first. */
export async function migrationNames(folder = deployedFolder): Promise<string[]> {
  return (await fileNames(`${folder}/migrations`)).filter((name) => name.endsWith('.sql'));
}

/** @returns a temporary folder with these migrations for `supabase db push --workdir`. The caller removes it. */
export async function copyMigrations(names: readonly string[], folder = deployedFolder): Promise<string> {
  const project = await Deno.makeTempDir({ prefix: 'migrations-' });
  await Deno.mkdir(`${project}/supabase/migrations`, { recursive: true });
  for (const path of ['config.toml', ...names.map((name) => `migrations/${name}`)]) {
    await Deno.copyFile(`${folder}/${path}`, `${project}/supabase/${path}`);
  }
  return project;
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

/** The paths of the files below a folder, sorted; none where the folder does not exist. */
export async function fileNamesBelow(folder: string): Promise<string[]> {
  try {
    const entries = await Array.fromAsync(Deno.readDir(folder));
    const names = entries.map(async ({ name, isDirectory }) =>
      isDirectory ? (await fileNamesBelow(`${folder}/${name}`)).map((below) => `${name}/${below}`) : [name]
    );
    return (await Promise.all(names)).flat().sort();
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
