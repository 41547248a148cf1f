import { defineConfig } from 'vitest/config';

/** The quick suite, `npm test`; with LONG=1 the one that takes longer, `npm run test:long`. */
const long = Deno.env.get('LONG') === '1';

export default defineConfig({
  test: {
    include: [long ? 'tests/long/**/*.test.ts' : 'tests/**/*.test.ts'],
    exclude: long ? [] : ['tests/long/**'],
    globalSetup: ['tests/helpers/database/global-setup.ts'],
    setupFiles: ['tests/helpers/database/closed-databases.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // Bounds for a slow machine; nothing waits this long where things work.
    testTimeout: long ? 300_000 : 60_000,
    hookTimeout: long ? 300_000 : 120_000,
    teardownTimeout: 30_000,
  },
});
