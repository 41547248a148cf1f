import { sep } from 'node:path';
import { hashOf, type Installed, readIfExists } from './installed.ts';
import { pathsBelow, type Product } from './product.ts';
import { takenNames } from './taken-names.ts';

const migrationsFolder = 'supabase/migrations/';

/** Looks for what the app has under a name of ours. @returns a sentence for each, with its way out */
export async function findCollisions(
  folder: string,
  installed: Installed | undefined,
  product: Product,
): Promise<string[]> {
  return [
    ...await takenObjects(folder, installed, product),
    ...await takenVersions(folder, installed, product),
    ...await foreignFiles(folder, installed, product),
  ];
}

/** The migrations of the app, without ours, in their order. */
export async function appMigrations(
  folder: string,
  installed: Installed | undefined,
  product: Product,
): Promise<string[]> {
  const names = await pathsBelow(`${folder}/${migrationsFolder}`);
  return names.filter((name) => {
    const path = migrationsFolder + name;
    return /^\d+_.*\.sql$/.test(name) && !product.files.has(path) && installed?.files[path] === undefined;
  });
}

/** The names of our migrations, in their order. */
export function ownMigrations({ files }: Product): string[] {
  const paths = [...files.keys()].filter((path) => path.startsWith(migrationsFolder));
  return paths.map((path) => path.slice(migrationsFolder.length)).toSorted();
}

/**
 * Looks at the places of files that are written or removed. @returns a sentence for each that is outside of the folder,
 * because of a link, or that has a file in place of a folder, or the reverse
 */
export async function findBlockedPlaces(folder: string, paths: readonly string[]): Promise<string[]> {
  const root = await Deno.realPath(folder);
  const problems = new Set<string>();
  for (const path of paths) {
    const [outer, ...parts] = path.split('/');
    let place = outer ?? '';
    for (const part of [undefined, ...parts]) {
      if (part !== undefined) place += `/${part}`;
      const problem = await problemAt(root, place, place === path);
      if (problem === undefined) continue;
      problems.add(problem);
      break;
    }
  }
  return [...problems];
}

/** @returns undefined where a place is free, or is a file or a folder inside of the root as it shall be */
async function problemAt(root: string, place: string, isFile: boolean): Promise<string | undefined> {
  const found = await infoOf(Deno.lstat, `${root}/${place}`);
  if (found === undefined) return undefined;
  const target = found.isSymlink ? await infoOf(Deno.stat, `${root}/${place}`) : found;
  const real = target && await Deno.realPath(`${root}/${place}`);
  if (real === undefined || !real.startsWith(root + sep)) {
    return `${place} is a link that leaves the folder of the app. Way out: replace it by what it names.`;
  }
  if (isFile && !target?.isFile) return `${place} is not a file. Way out: move it.`;
  if (!isFile && !target?.isDirectory) return `${place} is not a folder. Way out: move it.`;
  return undefined;
}

async function infoOf(
  read: (path: string) => Promise<Deno.FileInfo>,
  path: string,
): Promise<Deno.FileInfo | undefined> {
  try {
    return await read(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

async function takenObjects(folder: string, installed: Installed | undefined, product: Product): Promise<string[]> {
  const app = (await appMigrations(folder, installed, product)).map(async (file) => ({
    file,
    sql: await Deno.readTextFile(`${folder}/${migrationsFolder}${file}`),
  }));
  const ours = ownMigrations(product).map((file) => ({
    file,
    sql: new TextDecoder().decode(product.files.get(migrationsFolder + file)),
  }));
  return takenNames(await Promise.all(app), ours).map(({ object, file }) => {
    const [, kind = '', name = ''] = /^(.*) (.*)$/.exec(object) ?? [];
    const created = `${object} is created by ${migrationsFolder}${file}`;
    if (name === 'public.profiles') {
      return `${created}: in a new database ours has the name by then. Way out: ${
        newVersion(`older than ${ours[0]?.file}`)
      }`;
    }
    const indexes = kind === 'table' ? ', and its indexes, which keep their names' : '';
    return `${created}. Way out: rename it there, or in a migration older than ` +
      `${ours[0]?.file}, such as \`alter ${kind} ${name} rename to app_${name.replace(/^.*\./, '')}\`${indexes}.`;
  });
}

async function takenVersions(folder: string, installed: Installed | undefined, product: Product): Promise<string[]> {
  const versions = new Map(ownMigrations(product).map((name) => [versionOf(name), name]));
  return (await appMigrations(folder, installed, product)).flatMap((name) => {
    const ours = versions.get(versionOf(name));
    return ours === undefined ? [] : [
      `${migrationsFolder}${name} has the version of ours, ${ours}. Way out: ${newVersion('of its own')}`,
    ];
  });
}

async function foreignFiles(folder: string, installed: Installed | undefined, product: Product): Promise<string[]> {
  const functionFolder = `supabase/functions/${product.function}`;
  if (product.function !== installed?.function && await isForeign(folder, functionFolder, product)) {
    const other = product.function === 'billing' ? 'payments' : 'billing';
    return [
      `${functionFolder} is a function of the app. Way out: give ours another name with \`--function ${other}\`.`,
    ];
  }
  const foreign: string[] = [];
  for (const [path, bytes] of product.files) {
    if (installed?.files[path] !== undefined) continue;
    const found = await readIfExists(`${folder}/${path}`);
    if (found === undefined || await hashOf(found) === await hashOf(bytes)) continue;
    foreign.push(`${path} is a file of the app. Way out: move it to another folder or name.`);
  }
  return foreign;
}

/** Whether a folder has a file that is not as we would write it. */
async function isForeign(folder: string, path: string, { files }: Product): Promise<boolean> {
  for (const name of await pathsBelow(`${folder}/${path}`)) {
    const ours = files.get(`${path}/${name}`);
    const found = await Deno.readFile(`${folder}/${path}/${name}`);
    if (ours === undefined || await hashOf(found) !== await hashOf(ours)) return true;
  }
  return false;
}

function newVersion(which: string): string {
  return `rename the file to a version ${which}; where it is applied, \`supabase migration repair\` gives its row the new one.`;
}

function versionOf(name: string): string {
  return name.split('_', 1)[0] ?? '';
}
