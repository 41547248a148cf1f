import { Buffer } from 'node:buffer';
import { brotliCompressSync, constants } from 'node:zlib';
import { writeLine } from './stack/process/child.ts';
import { root } from './stack/root.ts';

/** The platform accepts 5 MB, compressed. The difference is for the app's own code. */
const limitBytes = 3_000_000;

const folder = `${root}/supabase/functions/api`;

/**
 * Sums up what a deploy uploads: the function's own files and every package that they need, since a deploy contains
 * whole packages. Prints the sizes. @returns a line when the sum is too large.
 */
export async function checkSize(): Promise<string[]> {
  const packages = await neededPackages(await importedPackages());
  const sizes = await Promise.all([
    compressedSize('the function', await filesBelow(folder)),
    ...packages.map(async (path) =>
      compressedSize(path.replace(/^node_modules\//, ''), await filesBelow(`${root}/${path}`))
    ),
  ]);
  const total = sizes.reduce((sum, { bytes }) => sum + bytes, 0);
  const largest = sizes.toSorted((one, other) => other.bytes - one.bytes).slice(0, 5);
  writeLine(
    `       ${
      megabytes(total)
    } compressed: ${packages.length} packages and the function's own files; the largest are ` +
      largest.map(({ name, bytes }) => `${name} ${megabytes(bytes)}`).join(', '),
  );
  return total > limitBytes ? [`The function is larger than ${megabytes(limitBytes)}`] : [];
}

type Module = { specifier: string; dependencies?: { code?: { specifier?: string }; type?: { specifier?: string } }[] };

/**
 * The names of the packages that the function's files import, with packages of types: a deploy may upload them, too.
 */
async function importedPackages(): Promise<string[]> {
  const { stdout } = await new Deno.Command(Deno.execPath(), {
    args: ['info', '--json', '--node-modules-dir=manual', '--config', `${folder}/deno.json`, `${folder}/index.ts`],
    cwd: root,
  }).output();
  const { modules }: { modules: Module[] } = JSON.parse(new TextDecoder().decode(stdout));
  const own = modules.filter(({ specifier }) => specifier.startsWith(`file://${folder}/`));
  const imported = own.flatMap(({ dependencies = [] }) =>
    dependencies.flatMap(({ code, type }) => [code?.specifier ?? '', type?.specifier ?? ''])
  );
  const names = imported.flatMap((specifier) => /\/node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(specifier)?.[1] ?? []);
  return [...new Set(names)];
}

type Locked = {
  dependencies?: Record<string, string>;
  optionalDependencies?: Record<string, string>;
  peerDependencies?: Record<string, string>;
  peerDependenciesMeta?: Record<string, { optional?: boolean }>;
};

/** @returns the paths of these packages and of their dependencies, from the lock file. */
async function neededPackages(names: string[]): Promise<string[]> {
  const { packages }: { packages: Record<string, Locked> } = JSON.parse(
    await Deno.readTextFile(`${root}/package-lock.json`),
  );
  const found = new Set<string>();
  const visit = (name: string, from: string) => {
    const path = [`${from}/node_modules/${name}`, `node_modules/${name}`].find((path) => path in packages);
    if (path === undefined || found.has(path)) return;
    found.add(path);
    const { dependencies, optionalDependencies, peerDependencies = {}, peerDependenciesMeta } = packages[path] ?? {};
    // npm does not install optional peers.
    const peers = Object.keys(peerDependencies).filter((peer) => !peerDependenciesMeta?.[peer]?.optional);
    for (const needed of [...Object.keys({ ...dependencies, ...optionalDependencies }), ...peers]) visit(needed, path);
  };
  for (const name of names) visit(name, '');
  return [...found];
}

/** Returns no files for a package that is not installed, for example one for another operating system. */
async function filesBelow(path: string): Promise<string[]> {
  const files: string[] = [];
  try {
    for await (const { name, isDirectory } of Deno.readDir(path)) {
      if (isDirectory && name === 'node_modules') continue;
      if (isDirectory) files.push(...await filesBelow(`${path}/${name}`));
      else files.push(`${path}/${name}`);
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return files;
}

async function compressedSize(name: string, files: string[]): Promise<{ name: string; bytes: number }> {
  const contents = await Promise.all(files.toSorted().map((file) => Deno.readFile(file)));
  const options = { params: { [constants.BROTLI_PARAM_QUALITY]: 6 } };
  return { name, bytes: brotliCompressSync(Buffer.concat(contents), options).byteLength };
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(2)} MB`;
}
