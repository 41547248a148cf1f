import { root } from '../../../scripts/stack/root.ts';

/** A copy of the project in a temporary folder, without `.temp` and `.env`. The caller removes it. */
export async function copyProject(): Promise<string> {
  const copy = await Deno.makeTempDir({ prefix: 'project-' });
  await Deno.chmod(copy, 0o755); // Postgres runs as another user when the tests run as root
  for (const name of ['package.json', 'deno.json', 'tsconfig.json']) {
    await Deno.copyFile(`${root}/${name}`, `${copy}/${name}`);
  }
  await Deno.symlink(`${root}/node_modules`, `${copy}/node_modules`);
  await copyFolder(`${root}/scripts`, `${copy}/scripts`);
  await copyFolder(`${root}/supabase`, `${copy}/supabase`);
  return copy;
}

/** Copies a folder without `.temp` and `.env`. */
export async function copyFolder(from: string, to: string): Promise<void> {
  await Deno.mkdir(to);
  for await (const { name, isDirectory } of Deno.readDir(from)) {
    if (name === '.temp' || name === '.env') continue;
    if (isDirectory) await copyFolder(`${from}/${name}`, `${to}/${name}`);
    else await Deno.copyFile(`${from}/${name}`, `${to}/${name}`);
  }
}
