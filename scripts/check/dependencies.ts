import { denoLockFile, dependenciesDocument, describeDeployed, withList } from '../generate/dependencies.ts';
import { idOf, type PackageLock, readPackageLock } from '../generate/dependencies/deployed-packages.ts';
import { isPermissive } from '../generate/dependencies/licences.ts';
import { writeLine } from '../stack/process/child.ts';

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
    Deno.readTextFile(denoLockFile),
    Deno.readTextFile(dependenciesDocument),
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
    ...document === withList(document, deployed.list) ? [] : [`docs/dependencies.md ${stale}`],
  ];
}

const stale = 'does not match package-lock.json: run `npm run generate`';
