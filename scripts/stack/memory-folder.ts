import { readFileSync, statfsSync } from 'node:fs';

const memory = '/dev/shm';
const neededBytes = 4 * 1024 ** 3;

/**
 * The memory file system of Linux for throw-away data, where it has room and may contain programs: a database is a
 * thousand files, which a disk takes long to create and to remove. Undefined elsewhere, and where TMPDIR is set.
 */
export function memoryFolder(): string | undefined {
  if (Deno.env.get('TMPDIR') !== undefined) return undefined;
  try {
    const { bavail, bsize } = statfsSync(memory);
    const mount = readFileSync('/proc/mounts', 'utf8').split('\n').find((line) => line.startsWith(`tmpfs ${memory} `));
    return mount !== undefined && !mount.includes('noexec') && bavail * bsize >= neededBytes ? memory : undefined;
  } catch {
    return undefined; // not Linux
  }
}
