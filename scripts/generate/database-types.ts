import { root } from '../stack/root.ts';
import { supabaseCli } from '../stack/postgres/supabase-cli.ts';

/** Path of the generated types. */
export const databaseTypesFile = `${root}/supabase/functions/api/generated/database.types.ts`;

/** @returns the text of that file for a migrated database. */
export async function databaseTypes(databaseUrl: string): Promise<string> {
  const types = await supabaseCli(
    databaseUrl,
    'gen',
    'types',
    'typescript',
    '--schema',
    'public',
  );
  return await format(
    `// GENERATED from the migrations by \`npm run generate\`. DO NOT EDIT.\n\n${types}\n`,
  );
}

async function format(source: string): Promise<string> {
  const formatter = new Deno.Command(Deno.execPath(), {
    args: [
      'fmt',
      '--ext=ts',
      '--no-config',
      '--line-width=120',
      '--single-quote',
      '-',
    ],
    stdin: 'piped',
    stdout: 'piped',
  }).spawn();
  const writer = formatter.stdin.getWriter();
  await writer.write(new TextEncoder().encode(source));
  await writer.close();
  const { success, stdout } = await formatter.output();
  if (!success) throw new Error('The generated types could not be formatted');
  return new TextDecoder().decode(stdout);
}
