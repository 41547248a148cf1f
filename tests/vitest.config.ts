import { readFileSync, statfsSync } from 'node:fs';
import { defineConfig } from 'vitest/config';
import { isLong } from './helpers/is-long.ts';

// A database is a thousand files. On a disk with ext4 a fifth of the run would be their creation and removal.
const memory = '/dev/shm';
const neededBytes = 4 * 1024 ** 3;
if (Deno.env.get('TMPDIR') === undefined && hasRoomInMemory()) Deno.env.set('TMPDIR', memory);

/** The quick suite, `npm test`; with LONG=1 the one that takes longer, `npm run test:long`. */
export default defineConfig({
  test: {
    include: isLong
      ? ['tests/long/**/*.test.ts', 'tests/database/{request-plans,outbox-plans,plans-of-empty-tables}.test.ts']
      : ['tests/**/*.test.ts'],
    exclude: isLong ? [] : ['tests/long/**'],
    globalSetup: ['tests/helpers/global-setup.ts'],
    setupFiles: ['tests/helpers/closed-databases.ts'],
    pool: 'forks',
    // A worker loads the modules once for all of its files.
    isolate: false,
    // Twice the cores of a small machine: many tests wait for a timeout or for another process.
    maxWorkers: 4,
    // Bounds for a slow machine; nothing waits this long where things work.
    testTimeout: isLong ? 300_000 : 60_000,
    hookTimeout: isLong ? 300_000 : 120_000,
    teardownTimeout: 30_000,
  },
});

/** Whether the memory file system of Linux exists, has room for the temporary data, and may contain programs. */
function hasRoomInMemory(): boolean {
  try {
    const { bavail, bsize } = statfsSync(memory);
    const mount = readFileSync('/proc/mounts', 'utf8').split('\n').find((line) => line.startsWith(`tmpfs ${memory} `));
    return mount !== undefined && !mount.includes('noexec') && bavail * bsize >= neededBytes;
  } catch {
    return false; // not Linux
  }
}
