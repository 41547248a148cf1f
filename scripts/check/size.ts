import { Buffer } from 'node:buffer';
import { brotliCompressSync, constants } from 'node:zlib';
import { importedPackages, neededPackages, readPackageLock } from '../generate/dependencies/deployed-packages.ts';
import { writeLine } from '../stack/process/child.ts';
import { root } from '../stack/root.ts';

/** The platform accepts 5 MB, compressed. The difference is for the app's own code. */
const limitBytes = 3_300_000;

const folder = `${root}/supabase/functions/api`;

/**
 * Sums up what a deploy uploads: the function's own files and every package that they need, since a deploy contains
 * whole packages. Prints the sizes. @returns a line when the sum is too large.
 */
export async function checkSize(): Promise<string[]> {
  const packages = neededPackages(await readPackageLock(), await importedPackages());
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
