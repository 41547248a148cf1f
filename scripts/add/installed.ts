import { z } from 'zod';

/** What an earlier run installed in the folder of an app. */
export type Installed = z.infer<typeof record>;

/** The record of an installation, in the folder of the app. */
export const recordPath = 'supabase/subscriptions.json';

const record = z.object({
  version: z.string(),
  function: z.string().regex(/^[A-Za-z][\w-]*$/),
  /** The SHA-256 of each file, in hex. */
  files: z.record(z.string(), z.string().regex(/^[0-9a-f]{64}$/)),
}).refine(({ function: name, files }) => {
  // What a record names may be removed by an upgrade: files of the folders that we write, and no others.
  const rooms = ['migrations', 'client', 'emails', `functions/${name}`].map((room) => `supabase/${room}/`);
  return Object.keys(files).every((path) =>
    rooms.some((room) => path.startsWith(room)) && path.split('/').every((part) => !['', '.', '..'].includes(part))
  );
});

/** Reads the record. @returns undefined where there is none @throws Error where it is damaged */
export async function readInstalled(folder: string): Promise<Installed | undefined> {
  const bytes = await readIfExists(`${folder}/${recordPath}`);
  if (bytes === undefined) return undefined;
  const parsed = record.safeParse(parseJson(new TextDecoder().decode(bytes)));
  if (parsed.success) return parsed.data;
  throw new Error(`${recordPath} is damaged: restore it from your repository`);
}

/** The hash of each file by its path. */
export async function installedFiles(files: ReadonlyMap<string, Uint8Array>): Promise<Record<string, string>> {
  const hashes = [...files].map(async ([path, bytes]) => [path, await hashOf(bytes)] as const);
  return Object.fromEntries((await Promise.all(hashes)).toSorted(([one], [other]) => one < other ? -1 : 1));
}

/** The SHA-256 of bytes, in hex. */
export async function hashOf(bytes: Uint8Array): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', new Uint8Array(bytes))).toHex();
}

/** @returns the bytes of a file; undefined where it does not exist. */
export async function readIfExists(path: string): Promise<Uint8Array | undefined> {
  try {
    return await Deno.readFile(path);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return undefined;
    throw error;
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
