import { dirname } from 'node:path';
import type { Step } from './plan.ts';

/** Writes and removes the files of a plan, in its order, and removes the folders that become empty. */
export async function writeSteps(folder: string, steps: readonly Step[]): Promise<void> {
  for (const { path, kind, bytes } of steps) {
    const file = `${folder}/${path}`;
    if (kind === 'remove') {
      await Deno.remove(file);
      await removeEmptyFolders(folder, dirname(path));
    } else {
      await Deno.mkdir(dirname(file), { recursive: true });
      await Deno.writeFile(file, bytes);
    }
  }
}

async function removeEmptyFolders(folder: string, path: string): Promise<void> {
  for (let empty = path; empty.includes('/'); empty = dirname(empty)) {
    if ((await Array.fromAsync(Deno.readDir(`${folder}/${empty}`))).length > 0) return;
    await Deno.remove(`${folder}/${empty}`);
  }
}
