import { dirname, relative, resolve } from 'node:path';
import { root } from '../stack/root.ts';

/** The README is the first page for a newcomer, so it stays short. */
const maxReadmeLines = 110;

/** Maximum of all documents together, counted as `wc -w` does: code, tables and comments, too. A changelog grows. */
const maxWords = 15_900;

/** Maximum length of a table line after `deno fmt`: longer lines wrap in an editor. */
const maxTableWidth = 160;

/** Folders that are not checked. */
const excluded = ['node_modules', '.git', '.temp'];

/** Checks the project's Markdown: length of the README, words of all but the changelog, width of tables, links. @returns one line for each problem. */
export async function checkDocuments(): Promise<string[]> {
  const texts = new Map<string, string>();
  for (const path of await documentsBelow(root)) texts.set(path, await Deno.readTextFile(path));
  const anchors = new Map([...texts].map(([path, text]) => [path, anchorsOf(text)]));
  return [
    ...readmeLength(texts.get(`${root}/README.md`) ?? ''),
    ...tooManyWords([...texts].flatMap(([path, text]) => path.endsWith('/CHANGELOG.md') ? [] : [text])),
    ...[...texts].flatMap(([path, text]) => wideTables(path, text)),
    ...(await Promise.all([...texts].map(([path, text]) => deadLinks(path, text, anchors)))).flat(),
  ];
}

/** The Markdown files below a folder, without the results of benchmarks. */
export async function documentsBelow(folder: string): Promise<string[]> {
  const documents: string[] = [];
  for await (const { name, isDirectory } of Deno.readDir(folder)) {
    const path = `${folder}/${name}`;
    if (isDirectory && !excluded.includes(name)) documents.push(...await documentsBelow(path));
    if (name.endsWith('.md') && !name.endsWith('.result.md')) documents.push(path);
  }
  return documents.toSorted();
}

function readmeLength(text: string): string[] {
  const lines = text.trimEnd().split('\n').length;
  return lines > maxReadmeLines ? [`README.md has ${lines} lines, more than ${maxReadmeLines}`] : [];
}

function tooManyWords(texts: string[]): string[] {
  const count = texts.flatMap((text) => text.split(/\s+/)).filter((word) => word !== '').length;
  return count > maxWords ? [`the documents have ${count} words together, more than ${maxWords}`] : [];
}

function wideTables(path: string, text: string): string[] {
  return linesOutsideCode(text).flatMap(({ line, number }) =>
    /^\s*\|/.test(line) && line.length > maxTableWidth
      ? [`${place(path, number)}: a table line of ${line.length} characters, more than ${maxTableWidth}`]
      : []
  );
}

async function deadLinks(path: string, text: string, anchors: Map<string, Set<string>>): Promise<string[]> {
  const links = linesOutsideCode(text).flatMap(({ line, number }) =>
    [...withoutCodeSpans(line).matchAll(/\]\(([^)\s]+)\)/g)].map(([, target = '']) => ({ target, number }))
  );
  const problems = await Promise.all(links.map(async ({ target, number }) => {
    if (/^[a-z][a-z+.-]*:/i.test(target)) return [];
    const [file = '', anchor] = target.split('#', 2);
    const linked = file === '' ? path : resolve(dirname(path), decodeURIComponent(file));
    if (!await exists(linked)) return [`${place(path, number)}: ${target} does not exist`];
    const isKnown = anchor === undefined || anchors.get(linked)?.has(anchor);
    return isKnown ? [] : [`${place(path, number)}: ${target} leads to no heading`];
  }));
  return problems.flat();
}

/** The anchors of headings, as GitHub builds them: a repeated one gets a number. */
function anchorsOf(text: string): Set<string> {
  const anchors = new Set<string>();
  const counts = new Map<string, number>();
  for (const { line } of linesOutsideCode(text)) {
    const [, heading] = /^#{1,6}\s+(.*?)\s*#*$/.exec(line) ?? [];
    if (heading === undefined) continue;
    const slug = heading.replace(/\]\([^)]*\)/g, '').toLowerCase().replace(/[^\p{L}\p{N}\s_-]/gu, '').replace(
      /\s/g,
      '-',
    );
    const count = counts.get(slug) ?? 0;
    counts.set(slug, count + 1);
    anchors.add(count === 0 ? slug : `${slug}-${count}`);
  }
  return anchors;
}

/** Lines with their numbers, without the lines of code blocks. */
function linesOutsideCode(text: string): { line: string; number: number }[] {
  let fence: string | undefined;
  return text.split('\n').flatMap((line, index) => {
    const [, mark] = /^\s*(`{3,}|~{3,})/.exec(line) ?? [];
    if (mark !== undefined && (fence === undefined || mark.startsWith(fence))) {
      fence = fence === undefined ? mark : undefined;
      return [];
    }
    return fence === undefined ? [{ line, number: index + 1 }] : [];
  });
}

function withoutCodeSpans(line: string): string {
  return line.replace(/(`+)(?!`).*?[^`]\1(?!`)/g, '');
}

async function exists(path: string): Promise<boolean> {
  try {
    await Deno.stat(path);
    return true;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
}

function place(path: string, line: number): string {
  return `${relative(root, path)}:${line}`;
}
