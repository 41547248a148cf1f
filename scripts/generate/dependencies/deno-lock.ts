import { nameOf, needsOf, type PackageLock, peersOf } from './deployed-packages.ts';

/**
 * The text of the function's `deno.lock`, from what `package-lock.json` says of the deployed packages. Its format is
 * version 4: the hosted runtime's Deno does not read version 5.
 * @param paths of the deployed packages
 * @param imported names of the packages that the function's files import
 * @param pinned the targets of the imports in the function's `deno.json`
 */
export function denoLockText(packages: PackageLock, paths: string[], imported: string[], pinned: string[]): string {
  const versionOf = (path: string) => `${nameOf(path)}@${packages[path]?.version}`;
  const idOf = (path: string) => [path, ...peersOf(packages, path)].map(versionOf).join('_');
  const names = paths.map(nameOf);
  const isOnly = (name: string) => names.indexOf(name) === names.lastIndexOf(name);
  const needOf = (path: string) => isOnly(nameOf(path)) ? nameOf(path) : idOf(path);
  const npm = paths.map((path): [id: string, { integrity?: string; dependencies?: string[] }] => {
    const needs = needsOf(packages, path).map(needOf).toSorted();
    return [idOf(path), { integrity: packages[path]?.integrity, ...(needs.length > 0 && { dependencies: needs }) }];
  });
  const specifiers = imported.map((name) => {
    const version = packages[`node_modules/${name}`]?.version;
    return [`npm:${name}@${version}`, version];
  });
  const dependencies = [...new Set(pinned.map((target) => target.replace(/^npm:\//, 'npm:').replace(/\/$/, '')))];
  const lock = {
    version: '4',
    specifiers: Object.fromEntries(specifiers),
    npm: Object.fromEntries(npm.toSorted(([one], [other]) => one < other ? -1 : 1)),
    workspace: { dependencies: dependencies.toSorted() },
  };
  return `${JSON.stringify(lock, null, 2)}\n`;
}
