import { installedFiles } from './installed.ts';

/** What is installed: the version, the name of the function, and the bytes of each file by its path in the app's folder. */
export type Product = {
  readonly version: string;
  readonly function: string;
  readonly files: ReadonlyMap<string, Uint8Array>;
  /** The variables of the function, as `.env.example` has them. */
  readonly variables: string;
};

/** Local files that are no part of the product. */
const excluded = ['.temp', '.env', '.DS_Store', 'node_modules'];

/** Pages for apps, which the registry installs among an app's own components. */
const blocks = 'supabase/client/blocks/';

/** Reads the files to install, of a checkout of this project. */
export async function readProduct(folder: string, functionName: string): Promise<Product> {
  const { version }: { version: string } = JSON.parse(await Deno.readTextFile(`${folder}/package.json`));
  const rooms: readonly [from: string, to: string][] = [
    ['supabase/migrations', 'supabase/migrations'],
    ['supabase/functions/api', `supabase/functions/${functionName}`],
    ['supabase/client', 'supabase/client'],
    ['emails', 'supabase/emails'],
  ];
  const files = new Map<string, Uint8Array>();
  for (const [from, to] of rooms) {
    for (const path of await pathsBelow(`${folder}/${from}`)) {
      if (`${from}/${path}`.startsWith(blocks)) continue;
      files.set(`${to}/${path}`, await Deno.readFile(`${folder}/${from}/${path}`));
    }
  }
  const variables = await Deno.readTextFile(`${folder}/supabase/functions/.env.example`);
  return { version, function: functionName, files, variables };
}

/** The paths of all files below a folder, sorted; none where the folder does not exist. */
export async function pathsBelow(folder: string): Promise<string[]> {
  const paths: string[] = [];
  try {
    for await (const { name, isDirectory } of Deno.readDir(folder)) {
      if (excluded.includes(name)) continue;
      if (!isDirectory) paths.push(name);
      else paths.push(...(await pathsBelow(`${folder}/${name}`)).map((path) => `${name}/${path}`));
    }
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  return paths.toSorted();
}

/** The text of `supabase/subscriptions.json` for a product. */
export async function recordText({ version, function: name, files }: Product): Promise<string> {
  return `${JSON.stringify({ version, function: name, files: await installedFiles(files) }, null, 2)}\n`;
}
