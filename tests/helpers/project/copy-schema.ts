import { root } from '../../../scripts/stack/root.ts';
import { copyFolder } from './copy-project.ts';

/** A copy of the schema files and the migrations. `folder` is a project's, `supabase` what is below it. */
export async function copySchema() {
  const folder = await Deno.makeTempDir({ prefix: 'schema-' });
  const supabase = `${folder}/supabase`;
  await Deno.mkdir(supabase);
  await Deno.copyFile(`${root}/supabase/config.toml`, `${supabase}/config.toml`);
  for (const name of ['schemas', 'migrations']) await copyFolder(`${root}/supabase/${name}`, `${supabase}/${name}`);
  return {
    folder,
    supabase,
    /** Replaces a text that stands once in a file. @throws Error when it does not */
    async edit(path: string, text: string, by: string) {
      const parts = (await Deno.readTextFile(`${supabase}/${path}`)).split(text);
      if (parts.length !== 2) throw new Error(`${path} has ${parts.length - 1} times: ${text}`);
      await Deno.writeTextFile(`${supabase}/${path}`, parts.join(by));
    },
    remove: () => Deno.remove(folder, { recursive: true }),
  };
}
