import { denoLockText } from './dependencies/deno-lock.ts';
import {
  bundledPackages,
  idOf,
  importedPackages,
  neededPackages,
  type PackageLock,
  readPackageLock,
} from './dependencies/deployed-packages.ts';
import { readLicence } from './dependencies/licences.ts';
import { root } from '../stack/root.ts';

const folder = `${root}/supabase/functions/api`;
/** Path of the lock file of the function. */
export const denoLockFile = `${folder}/deno.lock`;
/** Path of the document that ends with the list of the deployed packages. */
export const dependenciesDocument = `${root}/supabase/docs/dependencies.md`;

/** Writes the function's lock file and the list of its packages, from `package-lock.json`. */
export async function generateDependencies(): Promise<void> {
  const { denoLock, list } = await describeDeployed(await readPackageLock());
  await Deno.writeTextFile(denoLockFile, denoLock);
  await Deno.writeTextFile(dependenciesDocument, withList(await Deno.readTextFile(dependenciesDocument), list));
}

/** The packages in the deployed function: what it imports, what these need, and what the generated modules contain. */
export async function describeDeployed(
  packages: PackageLock,
): Promise<{ denoLock: string; list: string; problems: string[] }> {
  const { imports } = JSON.parse(await Deno.readTextFile(`${folder}/deno.json`));
  const imported = await importedPackages();
  const uploaded = neededPackages(packages, imported);
  const described: { licence: string; id: string }[] = [];
  const problems: string[] = [];
  for (const path of new Set([...uploaded, ...await bundledPackages()].toSorted())) {
    const { license = 'none' } = packages[path] ?? {};
    const id = idOf(packages, path);
    const licence = await readLicence(`${root}/${path}`, id, license);
    if ('problem' in licence) problems.push(licence.problem);
    else {described.push({
        licence: license,
        id: isAddress(licence.place) ? `[\`${id}\`](${licence.place})` : `\`${id}\``,
      });}
  }
  return {
    denoLock: denoLockText(packages, uploaded, imported, Object.values(imports)),
    list: listOf(described),
    problems,
  };
}

/** True for a licence whose text is not in the package. */
function isAddress(place: string): boolean {
  return place.startsWith('https:');
}

/** A Markdown list: each licence with its packages. */
function listOf(packages: { licence: string; id: string }[]): string {
  const byLicence = Object.groupBy(packages, ({ licence }) => licence);
  return Object.entries(byLicence).map(([licence, found = []]) =>
    `- ${licence}: ${found.map(({ id }) => id).join(', ')}\n`
  ).join('');
}

/** The document ends with the list. */
export function withList(document: string, list: string): string {
  return document.replace(/(?<=^## Deployed packages\n\n.*\n\n)[\s\S]*/m, list);
}
