import { root } from '../root.ts';

/** A folder for `migrate`. `remove` removes it, unless it is the project's. */
export type MigrationFolder = { readonly folder: string; readonly remove: () => Promise<void> };

/**
 * The migrations and the seed of this project; with an app that has installed it, in a temporary folder with the app's
 * migrations. They belong together: an app's `public.profiles` is created before ours or not at all.
 */
export async function projectMigrations(app: string | undefined): Promise<MigrationFolder> {
  if (app === undefined || !await exists(`${app}/supabase/subscriptions.json`)) {
    return { folder: root, remove: () => Promise.resolve() };
  }
  const folder = await Deno.makeTempDir({ prefix: 'migrations-' });
  await Deno.mkdir(`${folder}/supabase/migrations`, { recursive: true });
  for (const name of ['config.toml', 'seed.sql']) {
    if (await exists(`${root}/supabase/${name}`)) {
      await Deno.copyFile(`${root}/supabase/${name}`, `${folder}/supabase/${name}`);
    }
  }
  // Of those in both, the ones of this project, whose function is served.
  for (const from of [app, root]) {
    for await (const { name } of Deno.readDir(`${from}/supabase/migrations`)) {
      if (name.endsWith('.sql')) {
        await Deno.copyFile(`${from}/supabase/migrations/${name}`, `${folder}/supabase/migrations/${name}`);
      }
    }
  }
  return { folder, remove: () => Deno.remove(folder, { recursive: true }) };
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
