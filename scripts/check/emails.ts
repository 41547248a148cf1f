import { buildEmails, emailsFile, emailsTypes, emailsTypesFile } from '../generate/emails.ts';

/** Checks that the committed bundle and its types match the templates. @returns one line for each that does not. */
export async function checkEmails(): Promise<string[]> {
  const fresh = [
    ['emails.js', emailsFile, await buildEmails()],
    ['emails.d.ts', emailsTypesFile, await emailsTypes()],
  ] as const;
  const problems: string[] = [];
  for (const [name, file, text] of fresh) {
    if (await read(file) !== text) {
      problems.push(`generated/${name} does not match emails/: run \`npm run generate\``);
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
