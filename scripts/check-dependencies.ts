import { denoLockText } from './dependencies/deno-lock.ts';
import {
  bundledPackages,
  importedPackages,
  nameOf,
  neededPackages,
  type PackageLock,
  readPackageLock,
} from './dependencies/deployed-packages.ts';
import { isPermissive, readLicence } from './dependencies/licences.ts';
import { writeLine } from './stack/process/child.ts';
import { root } from './stack/root.ts';

const folder = `${root}/supabase/functions/api`;
const documentFile = `${root}/supabase/docs/dependencies.md`;

/** Programs for other systems than Linux on x64 whose hashes the registry did not have when they were locked. */
const unavailable = [
  '@deno/darwin-arm64@2.1.4',
  '@deno/darwin-x64@2.1.4',
  '@deno/linux-arm64-glibc@2.1.4',
  '@deno/win32-arm64@2.1.4',
  '@deno/win32-x64@2.1.4',
  '@supabase/cli-darwin-arm64@3.1.0',
  '@supabase/cli-darwin-x64@3.1.0',
  '@supabase/cli-linux-arm64@3.1.0',
  '@supabase/cli-linux-arm64-musl@3.1.0',
  '@supabase/cli-linux-x64-musl@3.1.0',
  '@supabase/cli-windows-arm64@3.1.0',
  '@supabase/cli-windows-x64@3.1.0',
];

/** The committed files that the check compares. */
export type Dependencies = { packages: PackageLock; denoLock: string; document: string };

if (import.meta.main) {
  const { packages, document } = await readDependencies();
  const deployed = await describeDeployed(packages);
  await Deno.writeTextFile(`${folder}/deno.lock`, deployed.denoLock);
  await Deno.writeTextFile(documentFile, withTable(document, deployed.table));
}

/** Checks hashes and licences of the packages. Prints the licences of others than the deployed ones. */
export async function checkDependencies(): Promise<string[]> {
  const dependencies = await readDependencies();
  const others: Record<string, number> = {};
  for (const { license = 'not stated', dev } of Object.values(dependencies.packages)) {
    if (dev && !isPermissive(license)) others[license] = (others[license] ?? 0) + 1;
  }
  const counts = Object.entries(others).map(([licence, count]) => `${licence} ${count}`);
  writeLine(`       packages for development with other licences: ${counts.join(', ')}`);
  return findProblems(dependencies);
}

/** Reads the committed files. */
export async function readDependencies(): Promise<Dependencies> {
  const [packages, denoLock, document] = await Promise.all([
    readPackageLock(),
    Deno.readTextFile(`${folder}/deno.lock`),
    Deno.readTextFile(documentFile),
  ]);
  return { packages, denoLock, document };
}

/** @returns one line for each package without a hash or a permissive licence, and for each file that is out of date. */
export async function findProblems({ packages, denoLock, document }: Dependencies): Promise<string[]> {
  const unhashed = Object.keys(packages).filter((path) => packages[path]?.integrity === undefined)
    .map((path) => idOf(packages, path));
  const deployed = await describeDeployed(packages);
  return [
    ...unhashed.filter((id) => !unavailable.includes(id)).map((id) => `package-lock.json has no integrity of ${id}`),
    ...unavailable.filter((id) => !unhashed.includes(id)).map((id) => `${id} is no exception in package-lock.json`),
    ...deployed.problems,
    ...denoLock === deployed.denoLock ? [] : [`functions/api/deno.lock ${stale}`],
    ...document === withTable(document, deployed.table) ? [] : [`docs/dependencies.md ${stale}`],
  ];
}

const stale = 'does not match package-lock.json: run `npm run generate`';

/** The packages in the deployed function: what it imports, what these need, and what the bundle of the mails contains. */
async function describeDeployed(
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

function idOf(packages: PackageLock, path: string): string {
  return `${nameOf(path)}@${packages[path]?.version}`;
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
function withTable(document: string, table: string): string {
  return document.replace(/^\| package[\s\S]*/m, table);
}
