import { emailsFile } from '../emails.ts';
import { bidiFile, receiptFontsFile, scriptFontsFile, shaperFile } from '../receipt-fonts.ts';
import { root } from '../../stack/root.ts';

/** What `package-lock.json` says of a package. */
export type LockedPackage = {
  version: string;
  integrity?: string;
  license?: string;
  dev?: boolean;
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
};

/** The packages of `package-lock.json` by their paths, without the project itself. */
export type PackageLock = Record<string, LockedPackage>;

const folder = `${root}/supabase/functions/api`;

/** Reads `package-lock.json`. */
export async function readPackageLock(): Promise<PackageLock> {
  const { packages } = JSON.parse(await Deno.readTextFile(`${root}/package-lock.json`));
  delete packages[''];
  return packages;
}

type Module = { specifier: string; dependencies?: { code?: { specifier?: string }; type?: { specifier?: string } }[] };

/**
 * The names of the packages that the function's files import, with packages of types: a deploy may upload them, too.
 */
export async function importedPackages(): Promise<string[]> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: [
      ...['info', '--json', '--node-modules-dir=manual', '--no-lock'],
      ...['--config', `${folder}/deno.json`, `${folder}/index.ts`],
    ],
    cwd: root,
  }).output();
  const { modules }: { modules: Module[] } = JSON.parse(new TextDecoder().decode(stdout));
  const own = modules.filter(({ specifier }) => specifier.startsWith(`file://${folder}/`));
  const imported = own.flatMap(({ dependencies = [] }) =>
    dependencies.flatMap(({ code, type }) => [code?.specifier ?? '', type?.specifier ?? ''])
  );
  const names = imported.flatMap((specifier) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(specifier)?.[1] ?? []);
  return [...new Set(names)].toSorted();
}

/** The paths of the packages of which the generated modules have parts. */
export async function bundledPackages(): Promise<string[]> {
  const texts = await Promise.all(
    [emailsFile, receiptFontsFile, scriptFontsFile, bidiFile, shaperFile].map((file) => Deno.readTextFile(file)),
  );
  return texts.flatMap((text) => {
    const [, paths = ''] = /^\/\/ Contains (.*)\.$/m.exec(text) ?? [];
    return paths.split(', ').map((path) => `node_modules/${path}`);
  });
}

/** @returns the paths of these packages and of all that they need. */
export function neededPackages(packages: PackageLock, names: string[]): string[] {
  const found = new Set<string>();
  const visit = (path: string) => {
    if (found.has(path)) return;
    found.add(path);
    needsOf(packages, path).forEach(visit);
  };
  for (const name of names) visit(`node_modules/${name}`);
  return [...found].toSorted();
}

/** @returns the paths of the packages that a package needs, as npm installs them: no optional peers. */
export function needsOf(packages: PackageLock, path: string): string[] {
  const { dependencies, optionalDependencies } = packages[path] ?? {};
  const names = Object.keys({ ...dependencies, ...optionalDependencies });
  return [...names.flatMap((name) => pathsOf(packages, name, path)), ...peersOf(packages, path)];
}

/** @returns the paths of the peers that a package needs. */
export function peersOf(packages: PackageLock, path: string): string[] {
  const { peerDependencies = {}, peerDependenciesMeta = {} } = packages[path] ?? {};
  const needed = Object.keys(peerDependencies).filter((name) => !peerDependenciesMeta[name]?.optional);
  return needed.flatMap((name) => pathsOf(packages, name, path));
}

function pathsOf(packages: PackageLock, name: string, from: string): string[] {
  return [`${from}/node_modules/${name}`, `node_modules/${name}`].filter((path) => path in packages).slice(0, 1);
}

/** @returns the name of the package at a path. */
export function nameOf(path: string): string {
  return path.replace(/^.*node_modules\//, '');
}

/** Name and version of a package, by its path. */
export function idOf(packages: PackageLock, path: string): string {
  return `${nameOf(path)}@${packages[path]?.version}`;
}
