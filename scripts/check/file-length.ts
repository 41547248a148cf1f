import { relative } from 'node:path';
import { filesBelow } from './words.ts';
import { root } from '../stack/root.ts';

const folders = ['supabase', 'scripts', 'emails'];

/** A file has one subject, and is short enough to be read in one go. SQL has a clause per line. */
const maxLines = 200;
const maxLinesOfSql = 300;
/** The texts of a language stay one file, which a translator reads. */
const texts = { path: /^emails\/texts\/|\/billing-page\/(en|hi)\.ts$/, maxLines: 250 };
/** Apps copy this file, so it stays one: a third are types, a third documents what apps call. */
const client = { path: 'supabase/client/subscriptions.ts', maxLines: 880 };

/** Checks the length of source files, without documents and generated files. @returns one line for each problem. */
export async function checkFileLength(): Promise<string[]> {
  const files = (await Promise.all(folders.map((folder) => filesBelow(`${root}/${folder}`)))).flat();
  // A schema file is one subject, whole.
  const sources = files.filter((path) => !path.endsWith('.md') && !path.startsWith(`${root}/supabase/schemas/`));
  const problems = sources.map(async (path) => tooLong(relative(root, path), await Deno.readTextFile(path)));
  return (await Promise.all(problems)).flat();
}

/** @returns a line when a file has too many lines. */
export function tooLong(path: string, text: string): string[] {
  const max = path === client.path
    ? client.maxLines
    : texts.path.test(path)
    ? texts.maxLines
    : path.endsWith('.sql')
    ? maxLinesOfSql
    : maxLines;
  const lines = text.trimEnd().split('\n').length;
  return lines > max ? [`${path} has ${lines} lines, more than ${max}`] : [];
}
