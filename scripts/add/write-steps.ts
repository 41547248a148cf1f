import { dirname } from 'node:path';
import type { Step } from './plan.ts';

/** What changes files; a test replaces it. */
export type Disk = Pick<typeof Deno, 'mkdir' | 'writeFile' | 'rename' | 'remove'>;

/** New files wait here until all are written, so that a full disk or an end changes no file of the app. */
const waiting = 'supabase/.subscriptions-new';

/**
 * Carries out a plan: writes all new files beside the app's, puts each in its place by a rename, in the plan's order,
 * and removes what the version dropped, with the folders that become empty. Each file is the old or the new one at any
 * time. After an end in between, the next run goes on.
 */
export async function writeSteps(folder: string, steps: readonly Step[], disk: Disk = Deno): Promise<void> {
  const waitingFolder = `${folder}/${waiting}`;
  await removeWaiting(folder, disk);
  const written = steps.filter(({ kind }) => kind !== 'remove');
  let isPlaced = false;
  try {
    await disk.mkdir(waitingFolder);
    for (const [index, { path, bytes }] of written.entries()) {
      await disk.writeFile(`${waitingFolder}/${index}`, bytes, { mode: await modeOf(`${folder}/${path}`) });
    }
    isPlaced = true;
    for (const { path, kind } of steps) {
      const file = `${folder}/${path}`;
      if (kind === 'remove') {
        await disk.remove(file);
        await removeEmptyFolders(folder, dirname(path), disk);
      } else {
        await disk.mkdir(dirname(file), { recursive: true });
        // A link to a file inside the folder stays one.
        const index = written.findIndex((step) => step.path === path);
        await disk.rename(`${waitingFolder}/${index}`, kind === 'change' ? await Deno.realPath(file) : file);
      }
    }
    await removeWaiting(folder, disk);
  } catch (error) {
    await removeWaiting(folder, disk).catch(() => {});
    const reason = error instanceof Error ? error.message : String(error);
    throw new Error(`${reason}\n${isPlaced ? 'A part is written: run it again.' : 'Nothing is written.'}`);
  }
}

/** Removes the files that an ended run left waiting. */
export async function removeWaiting(folder: string, disk: Disk = Deno): Promise<void> {
  try {
    await disk.remove(`${folder}/${waiting}`, { recursive: true });
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}

async function modeOf(file: string): Promise<number | undefined> {
  try {
    return (await Deno.stat(file)).mode ?? undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

async function removeEmptyFolders(folder: string, path: string, disk: Disk): Promise<void> {
  for (let empty = path; empty.includes('/'); empty = dirname(empty)) {
    if ((await Array.fromAsync(Deno.readDir(`${folder}/${empty}`))).length > 0) return;
    await disk.remove(`${folder}/${empty}`);
  }
}
