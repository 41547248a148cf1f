import { denoLockText } from './dependencies/deno-lock.ts';
import {
  bundledPackages,
  idOf,
  importedPackages,
  nameOf,
  neededPackages,
  type PackageLock,
  readPackageLock,
} from './dependencies/deployed-packages.ts';
import { readLicence } from './dependencies/licences.ts';
import { root } from '../stack/root.ts';

const folder = `${root}/supabase/functions/api`;
/** Path of the lock file of the function. */
export const denoLockFile = `${folder}/deno.lock`;
/** Path of the document that ends with the table of the deployed packages. */
export const dependenciesDocument = `${root}/supabase/docs/dependencies.md`;

/** Writes the function's lock file and the table of its packages, from `package-lock.json`. */
export async function generateDependencies(): Promise<void> {
  const { denoLock, table } = await describeDeployed(await readPackageLock());
  await Deno.writeTextFile(denoLockFile, denoLock);
  await Deno.writeTextFile(dependenciesDocument, withTable(await Deno.readTextFile(dependenciesDocument), table));
}

/** The packages in the deployed function: what it imports, what these need, and what the bundle of the mails contains. */
export async function describeDeployed(
  packages: PackageLock,
): Promise<{ denoLock: string; table: string; problems: string[] }> {
  const { imports } = JSON.parse(await Deno.readTextFile(`${folder}/deno.json`));
  const imported = await importedPackages();
  const uploaded = neededPackages(packages, imported);
  const rows: string[][] = [];
  const problems: string[] = [];
  for (const path of new Set([...uploaded, ...await bundledPackages()].toSorted())) {
    const { version = '', license = 'none' } = packages[path] ?? {};
    const licence = await readLicence(`${root}/${path}`, idOf(packages, path), license);
    if ('problem' in licence) problems.push(licence.problem);
    else rows.push([nameOf(path), version, license, licence.place]);
  }
  return {
    denoLock: denoLockText(packages, uploaded, imported, Object.values(imports)),
    table: tableOf(rows),
    problems,
  };
}

/** A Markdown table as `deno fmt` writes it. */
function tableOf(rows: string[][]): string {
  const head = ['package', 'version', 'licence', 'its text'];
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => row[column]?.length ?? 0)));
  const line = (cells: string[], fill: string) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0, fill)).join(' | ')} |\n`;
  return [line(head, ' '), line(['', '', '', ''], '-'), ...rows.map((row) => line(row, ' '))].join('');
}

/** The document ends with the table. */
export function withTable(document: string, table: string): string {
  return document.replace(/^\| package[\s\S]*/m, table);
}
