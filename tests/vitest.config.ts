import { defineConfig } from 'vitest/config';

/** The quick suite, `npm test`; with LONG=1 the one that takes longer, `npm run test:long`. */
const long = Deno.env.get('LONG') === '1';
const globalSetup = ['tests/helpers/database/global-setup.ts'];

/** The contract of the endpoints, which call the database; without that of HTTP, sessions and outages. */
const endpoints =
  'tests/contract/**/{cancel,create,dispatch,expiry,gateway,get,list,purchase,reconcile,verify}*.test.ts';

export default defineConfig({
  test: {
    ...(long
      ? {
        projects: [
          { extends: true, test: { name: 'long', include: ['tests/long/**/*.test.ts'], globalSetup } },
          // On a database that was upgraded from the newest release.
          { extends: true, test: { name: 'upgraded', include: [endpoints], globalSetup } },
        ],
      }
      : { include: ['tests/**/*.test.ts'], exclude: ['tests/long/**'], globalSetup }),
    setupFiles: ['tests/helpers/database/closed-databases.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // Bounds for a slow machine; nothing waits this long where things work.
    testTimeout: long ? 300_000 : 60_000,
    hookTimeout: long ? 300_000 : 120_000,
    teardownTimeout: 30_000,
  },
});
