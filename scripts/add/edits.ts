import { bundlePath, mailsRoom, readAppMails } from '../emails/app-mails.ts';
import { hashOf, type Installed, readIfExists } from './installed.ts';
import type { Product } from './product.ts';
import { unifiedDiff } from './unified-diff.ts';

/**
 * Looks for installed files that the app edited or deleted, and for installed migrations that the new version would
 * rewrite or drop. @returns a text with a diff for each
 */
export async function findEdits(folder: string, installed: Installed, product: Product): Promise<string[]> {
  const problems: string[] = [];
  for (const [path, hash] of Object.entries(installed.files)) {
    // The templates are the app's, and what the function sends is made from them.
    if (path.startsWith(mailsRoom) || path === bundlePath(installed.function)) continue;
    const expected = product.files.get(newPath(path, installed, product));
    const found = await readIfExists(`${folder}/${path}`);
    if (found === undefined) {
      // An interrupted run has removed it, if it has no place in this version or under the new name of the function.
      if (!product.files.has(path)) continue;
      problems.push(`${path} was deleted:\n${unifiedDiff(path, textOf(expected), undefined)}`);
      continue;
    }
    const foundHash = await hashOf(found);
    const expectedHash = expected && await hashOf(expected);
    if (foundHash !== hash && foundHash !== expectedHash) {
      const what = installed.version === product.version
        ? 'was edited'
        : `was edited; compared with ${product.version}`;
      problems.push(`${path} ${what}:\n${unifiedDiff(path, textOf(expected), textOf(found))}`);
    } else if (path.startsWith('supabase/migrations/') && expectedHash !== hash) {
      problems.push(
        expected === undefined
          ? `${path} is installed, and version ${product.version} does not have it: a migration is never removed`
          : `${path} is installed, and version ${product.version} has another text: a migration is never rewritten\n` +
            unifiedDiff(path, textOf(found), textOf(expected)),
      );
    }
  }
  return problems;
}

/** The files whose hash is not the recorded one. A template of a mail may be edited; the bundle must match it. */
export async function changedFiles(folder: string, installed: Installed, product: Product): Promise<string[]> {
  const { edited, bundle } = await readAppMails(folder, installed, product);
  const changed: string[] = [];
  for (const [path, hash] of Object.entries(installed.files)) {
    if (edited.some((mail) => mail.path === path)) continue;
    const expected = bundle !== undefined && path === bundlePath(installed.function) ? await hashOf(bundle) : hash;
    const found = await readIfExists(`${folder}/${path}`);
    if (found === undefined || await hashOf(found) !== expected) changed.push(path);
  }
  return changed;
}

/** The path that a file has under the new name of the function. */
function newPath(path: string, installed: Installed, product: Product): string {
  const before = `supabase/functions/${installed.function}/`;
  return path.startsWith(before) ? `supabase/functions/${product.function}/${path.slice(before.length)}` : path;
}

function textOf(bytes: Uint8Array | undefined): string | undefined {
  return bytes && new TextDecoder().decode(bytes);
}
