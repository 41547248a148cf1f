import { openapiDocument } from './openapi/document.ts';
import { root } from '../stack/root.ts';

/** Path of the API's description. */
export const openapiFile = `${root}/supabase/functions/api/generated/openapi.json`;

/** Writes that file. */
export async function generateOpenapi(): Promise<void> {
  await Deno.writeTextFile(openapiFile, await openapiText());
}

/** @returns the text of that file, from the routes, their descriptions and the error table. */
export async function openapiText(): Promise<string> {
  return `${JSON.stringify(openapiDocument(await newestVersion()), null, 2)}\n`;
}

/** The version of the newest heading of the changelog. */
async function newestVersion(): Promise<string> {
  const changelog = await Deno.readTextFile(`${root}/supabase/CHANGELOG.md`);
  const version = /^## (\d+\.\d+\.\d+)/m.exec(changelog)?.[1];
  if (version === undefined) throw new Error('The changelog names no version');
  return version;
}
