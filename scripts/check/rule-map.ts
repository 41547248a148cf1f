import { schemaFiles } from '../migration/baseline.ts';
import { createdBy, splitStatements } from '../stack/postgres/statements.ts';
import { deployedFolder, fileNames } from '../release/release-files.ts';

/**
 * Checks the table of `supabase/README.md` that says which rule is in which file: each file exists, and each schema file
 * defines the functions, tables, views and types that follow it. @returns one line for each problem
 */
export async function checkRuleMap(folder = deployedFolder): Promise<string[]> {
  const document = await Deno.readTextFile(`${folder}/README.md`);
  const [, section = ''] = /\n## Which rule lives where\n([^]*?)\n## /.exec(document) ?? [];
  const rows = [...section.matchAll(/^\| (?!-|section )(.*?) +\| (.*?) +\|$/gm)];
  if (rows.length === 0) return ['supabase/README.md has no table of which rule lives where'];
  const defined = new Map<string, Set<string>>();
  for (const file of await schemaFiles(folder)) defined.set(file, await definedIn(`${folder}/schemas/${file}`));
  const problems = rows.map(async ([, rule = '', cell = '']) =>
    (await problemsOf(cell, defined, folder)).map((problem) => `supabase/README.md, "${rule}": ${problem}`)
  );
  return (await Promise.all(problems)).flat();
}

/** The names, without their schema, of what a schema file creates. */
export async function definedIn(path: string): Promise<Set<string>> {
  const created = splitStatements(await Deno.readTextFile(path)).flatMap((statement) => createdBy(statement) ?? []);
  return new Set(created.map(({ name }) => name.split('.').at(-1) ?? name));
}

/** A cell has files in code spans; a schema file is followed by what it defines. */
async function problemsOf(cell: string, defined: Map<string, Set<string>>, folder: string): Promise<string[]> {
  const problems: string[] = [];
  const files: { name: string; objects: string[] }[] = [];
  for (const [, span = ''] of cell.matchAll(/`([^`]+)`/g)) {
    if (/\.\w+$/.test(span)) files.push({ name: span, objects: [] });
    else files.at(-1)?.objects.push(span);
  }
  for (const { name, objects } of files) {
    const isSql = name.endsWith('.sql');
    const path = isSql ? `schemas/${name}` : `functions/api/${name}`;
    const missing = objects.filter((object) => !defined.get(name)?.has(object));
    if (!await isFile(`${folder}/${path}`)) problems.push(`supabase/${path} does not exist`);
    else if (isSql && objects.length === 0) problems.push(`what ${name} defines is not named`);
    else problems.push(...missing.map((object) => `${name} does not define ${object}`));
  }
  return files.length > 0 ? problems : ['it names no file'];
}

async function isFile(path: string): Promise<boolean> {
  const [, folder = '', name = ''] = /^(.*)\/([^/]+)$/.exec(path) ?? [];
  return (await fileNames(folder)).includes(name);
}
