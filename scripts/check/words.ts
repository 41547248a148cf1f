import { relative } from 'node:path';
import { root } from '../stack/root.ts';

/** Folders that are never checked: generated ones, and released files, which never change. */
const excluded = ['node_modules', 'generated', 'migrations', 'releases', '.git', '.temp'];

/** Unclear wording, and what to write instead. */
const unclear: readonly [words: RegExp, instead: string][] = [
  [/\bwhoever\b/gi, 'the caller, the customer, an admin'],
  [/(?<!\bin\s+)\bwhatever\b/gi, 'any, each, or the noun'],
  [/\b(?:nobody|somebody|anybody)\b/gi, 'no caller, a user, an admin'],
  [/\bon the house\b/gi, 'complimentary'],
  [/\bgives out\b/gi, 'ends'],
  [/\bits turn\b/gi, 'runs'],
  [/\b(?:brought|brings?) back\b/gi, 'verified, verifies'],
  [/\b(?:given|gives?) back\b/gi, 'refunded, refunds'],
  [/\bcomes to run\b/gi, 'becomes active'],
  [/\bis asked about\b/gi, 'is reconciled'],
  [/\bown words?\b/gi, 'confirmed by the gateway, the output of'],
  [/\b(?:hears|hear of|unheard)\b/gi, 'receives, learns, without a listener'],
  [/\bSPEC\s/g, 'the heading of supabase/docs/contract.md'],
];

/** Checks the wording of comments and documents. @returns one line for each problem. */
export async function checkWords(): Promise<string[]> {
  const problems = (await filesBelow(root)).map(async (path) =>
    unclearWords(relative(root, path), await Deno.readTextFile(path))
  );
  return (await Promise.all(problems)).flat();
}

/** @returns one line for each unclear wording in the comments of a source file, or in a document. */
export function unclearWords(path: string, text: string): string[] {
  const prose = proseOf(path, text);
  return unclear.flatMap(([words, instead]) =>
    [...prose.matchAll(spacesAsWhitespace(words))].map(({ 0: found, index }) =>
      `${path}:${prose.slice(0, index).split('\n').length}: "${found.replace(/\s+/g, ' ').trim()}": write ${instead}`
    )
  );
}

/** A wording may continue on the next line. */
function spacesAsWhitespace({ source, flags }: RegExp): RegExp {
  return new RegExp(source.replaceAll(' ', '\\s+'), flags);
}

// Strings and regular expressions are matched, too, so that a comment mark inside them starts no comment.
const comment = /(\/\/[^\n]*|\/\*[\s\S]*?\*\/)/;
const string = /'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`/;
const regex = /(?<=[(=,:[!&|?{};>]\s*)\/(?![*/])(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/[a-z]*/;
const scriptToken = new RegExp([comment, string, regex].map(({ source }) => source).join('|'), 'g');
const sqlToken = /(--[^\n]*|\/\*[\s\S]*?\*\/|(?<=\bcomment on [^;']*\sis\s+)'(?:[^']|'')*')|'(?:[^']|'')*'/g;
const cssToken = /(\/\*[\s\S]*?\*\/)/g;
/** For each extension a pattern whose first group is a comment. Other files are documents. */
const tokens: Readonly<Record<string, RegExp>> = {
  ts: scriptToken,
  tsx: scriptToken,
  js: scriptToken,
  sql: sqlToken,
  css: cssToken,
};

/** @returns the text with spaces in place of code and of comment marks, so that line numbers stay. */
function proseOf(path: string, text: string): string {
  const token = tokens[path.split('.').at(-1) ?? ''];
  let prose = '';
  if (token === undefined) {
    prose = text.replace(/^(\s*`{3,})[\s\S]*?^\1/gm, blank);
  } else {
    for (const { 1: comment, index } of text.matchAll(token)) {
      if (comment !== undefined) prose += blank(text.slice(prose.length, index)) + comment;
    }
  }
  return prose.replace(/`[^`\n]*`/g, blank).replace(/^\s*(?:\*|--|\/\/)/gm, blank);
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, ' ');
}

/** The source files and documents below a folder, without generated ones. */
export async function filesBelow(folder: string): Promise<string[]> {
  const files: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    if (excluded.includes(name)) continue;
    if (isDirectory) files.push(...await filesBelow(path));
    else if (/\.(?:ts|tsx|js|sql|md|html|css)$/.test(name)) files.push(path);
  }
  return files.toSorted();
}
