import { readIfExists } from './installed.ts';

/**
 * Whether the TypeScript of an app compiles the function, as that of a new app of Next.js does. It has Deno's imports, so
 * the app's build would stop there. @returns the lines that say what to change
 */
export async function tsconfigNotes(folder: string): Promise<string[]> {
  const path = `${folder}/tsconfig.json`;
  if (await readIfExists(path) === undefined) return [];
  const { default: { parseJsonConfigFileContent, readConfigFile, sys } } = await import('typescript');
  const { config } = readConfigFile(path, sys.readFile);
  const { fileNames } = parseJsonConfigFileContent(config ?? {}, sys, folder);
  return fileNames.some((name) => name.startsWith(`${folder}/supabase/functions/`))
    ? [
      '',
      'tsconfig.json of the app includes supabase/functions/, which Deno compiles: add "supabase" to its "exclude".',
    ]
    : [];
}
