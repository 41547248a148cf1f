import { buildEmails, emailsFile, emailsTypes, emailsTypesFile } from './build-emails.ts';

/** Whether the committed bundle and its types are what the templates make. @returns one line for each that is not. */
export async function checkEmails(): Promise<string[]> {
  const fresh = [
    ['emails.js', emailsFile, await buildEmails()],
    ['emails.d.ts', emailsTypesFile, await emailsTypes()],
  ] as const;
  const problems: string[] = [];
  for (const [name, file, text] of fresh) {
    if (await read(file) !== text) {
      problems.push(`generated/${name} is not what emails/ makes: run \`npm run generate\``);
    }
  }
  return problems;
}

async function read(file: string): Promise<string | null> {
  try {
    return await Deno.readTextFile(file);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return null;
    throw error;
  }
}
