import { defineConfig } from 'vitest/config';

/** The quick suite, `npm test`; with LONG=1 the one that takes longer, `npm run test:long`. */
const long = Deno.env.get('LONG') === '1';

export default defineConfig({
  test: {
    include: [long ? 'tests/long/**/*.test.ts' : 'tests/**/*.test.ts'],
    exclude: long ? [] : ['tests/long/**'],
    globalSetup: ['tests/helpers/global-setup.ts'],
    setupFiles: ['tests/helpers/closed-databases.ts'],
    pool: 'forks',
    // A worker loads the modules once for all of its files.
    isolate: false,
    // Twice the cores of a small machine: many tests wait for a timeout or for another process.
    maxWorkers: 4,
    // Bounds for a slow machine; nothing waits this long where things work.
    testTimeout: long ? 300_000 : 60_000,
    hookTimeout: long ? 300_000 : 120_000,
    teardownTimeout: 30_000,
  },
});
