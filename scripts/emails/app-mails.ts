import { dirname } from 'node:path';
import { hashOf, type Installed, readIfExists } from '../add/installed.ts';
import { pathsBelow, type Product } from '../add/product.ts';
import { buildEmails } from '../generate/emails.ts';
import { renderSamples } from './render-samples.ts';

/** The templates in the folder of an app. They belong to the app, which edits them. */
export const mailsRoom = 'supabase/emails/';

/** What an app made of the mails. */
export type AppMails = {
  /** The templates that the app has edited. */
  readonly edited: readonly EditedMail[];
  /** What the function sends, made from the templates of the app; undefined where it has edited none. */
  readonly bundle: Uint8Array | undefined;
  /** Why the templates can't be used. */
  readonly problem: string | undefined;
};

export type EditedMail = {
  readonly path: string;
  /** The text of this version, where it is not the one that the app has edited; null: this version does not have the file. */
  readonly changedTo: Uint8Array | null | undefined;
};

/** The path of what the function sends. */
export function bundlePath(functionName: string): string {
  return `supabase/functions/${functionName}/generated/emails.js`;
}

/** Compares the templates of an app with those that were installed, and bundles them with those of a product. */
export async function readAppMails(folder: string, installed: Installed, product: Product): Promise<AppMails> {
  const edited = await findEditedMails(folder, installed, product);
  if (edited.length === 0) return { edited, bundle: undefined, problem: undefined };
  try {
    const text = await withMails(folder, product, edited, async (entry) => {
      await renderSamples(entry, folder);
      return await buildEmails(entry, folder);
    });
    return { edited, bundle: new TextEncoder().encode(text), problem: undefined };
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const problem =
      `${mailsRoom} can't be rendered. Way out: \`npm run emails -- <folder>\` shows the mails.\n${reason}`;
    return { edited, bundle: undefined, problem };
  }
}

/** The templates of an app that are neither as they were installed nor as in this version. */
export async function findEditedMails(
  folder: string,
  installed: Installed,
  product: Product,
): Promise<EditedMail[]> {
  const edited: EditedMail[] = [];
  for (const [path, hash] of Object.entries(installed.files)) {
    const found = path.startsWith(mailsRoom) ? await readIfExists(`${folder}/${path}`) : undefined;
    const ours = product.files.get(path);
    if (found === undefined) continue;
    const [foundHash, ourHash] = [await hashOf(found), ours && await hashOf(ours)];
    if (foundHash === hash || foundHash === ourHash) continue;
    edited.push({ path, changedTo: ourHash === hash ? undefined : ours ?? null });
  }
  return edited;
}

/**
 * Puts the templates of an app together, as an installation leaves them, in a folder that is removed afterwards.
 * @param use gets the path of the module with the renderer
 */
export async function withMails<T>(
  folder: string,
  { files }: Product,
  edited: readonly EditedMail[],
  use: (entry: string) => Promise<T>,
): Promise<T> {
  const together = await Deno.makeTempDir({ prefix: 'mails-' });
  try {
    const write = async (name: string, bytes: Uint8Array) => {
      await Deno.mkdir(dirname(`${together}/${name}`), { recursive: true });
      await Deno.writeFile(`${together}/${name}`, bytes);
    };
    // The bundle depends on it.
    await write('package.json', new TextEncoder().encode('{"type": "module"}'));
    for (const name of await pathsBelow(`${folder}/${mailsRoom}`)) {
      await write(name, await Deno.readFile(`${folder}/${mailsRoom}${name}`));
    }
    for (const [path, bytes] of files) {
      if (!path.startsWith(mailsRoom) || edited.some((mail) => mail.path === path)) continue;
      await write(path.slice(mailsRoom.length), bytes);
    }
    return await use(`${together}/render.ts`);
  } finally {
    await Deno.remove(together, { recursive: true });
  }
}
