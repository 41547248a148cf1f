import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { laterMigrations } from '../scripts/release/file-hashes.ts';
import { newestRelease } from '../scripts/release/release-files.ts';
import { memoryFolder } from '../scripts/stack/memory-folder.ts';
import { isLong, suite } from './helpers/project/suite.ts';

const memory = memoryFolder();
if (memory !== undefined) Deno.env.set('TMPDIR', memory);

/** In a browser, and what installs the project or runs its commands: `npm run test:apps`, and part of the long suite. */
const apps = [
  'tests/{add,browser}/*.test.ts',
  'tests/stack/{checkout-window,clock,closed-folder,further-starts,project-functions,restart}.test.ts',
  'tests/doctor/hosted.test.ts',
  'tests/unit/command-line.test.ts',
];
/** The long suite, and the files with rows, orders, targets or cases that `npm test` does not run. */
const long = [
  ...apps,
  'tests/long/**/*.test.ts',
  'tests/real/*.test.ts',
  'tests/stories/*.test.ts',
  'tests/database/{access-histories,book-files,books,convergence-orders,renewal-ways,request-plans,set-up,time-zone}.test.ts',
  'tests/concurrency/convergence.test.ts',
  'tests/contract/**/*.test.ts',
  'tests/faults/{database-outage,flows,lives}.test.ts',
];
/** The lives that `npm test` leaves to the long suite. */
const moreStories = 'tests/stories/{05,06,07,09,10,11}-*.test.ts';
/** The files of the contract that run on every target in `npm test`. */
const everyTarget = 'tests/contract/{one-round-trip,outages,sessions,start}.test.ts';
const globalSetup = ['tests/helpers/database/global-setup.ts'];

/** The contract of the endpoints, which call the database; without that of HTTP, sessions and outages. */
const endpoints = 'tests/contract/**/{cancel,change,create,dispatch,gateway,get,list,reconcile,verify}*.test.ts';

/** Whether the newest release lacks migrations. Until then an upgraded database is a new one. */
const release = await newestRelease();
const isUpgraded = release !== undefined && (await laterMigrations(release)).length > 0;
const exclude = isUpgraded ? [everyTarget, endpoints] : [everyTarget];

/** Files that take longer than their size tells, by which the others are ordered where no earlier run was measured. */
const slowFiles =
  /\/(faults\/(acts|flows|lives)|database\/(convergence-orders|request-cost)|stack\/(postgres|start)|contract\/outages)\.test\.ts$/;
/** Starts what takes long first: started last, one file would run alone while the other workers have nothing to do. */
class SlowFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    const rank = ({ moduleId }: TestSpecification) => slowFiles.test(moduleId) ? 0 : 1;
    return sorted.toSorted((a, b) => rank(a) - rank(b));
  }
}

export default defineConfig({
  test: {
    ...(isLong
      ? {
        projects: [
          { extends: true, test: { name: 'long', include: long, exclude, globalSetup } },
          // On a database that was upgraded from the newest release.
          ...(isUpgraded
            ? [{ extends: true as const, test: { name: 'upgraded', include: [endpoints], globalSetup } }]
            : []),
        ],
      }
      : {
        include: suite === 'apps' ? apps : ['tests/**/*.test.ts'],
        exclude: ['tests/{long,real}/**', moreStories, ...suite === 'gate' ? apps : []],
        globalSetup,
      }),
    setupFiles: ['tests/helpers/database/closed-databases.ts'],
    pool: 'forks',
    // A worker loads the modules once for all of its files.
    isolate: false,
    sequence: { sequencer: SlowFirst },
    // More than the cores of a small machine: many tests wait for a timeout or for another process. The long ones compute.
    maxWorkers: isLong ? 3 : 5,
    // Bounds for a slow machine; nothing waits this long where things work.
    testTimeout: suite === 'gate' ? 60_000 : 180_000,
    hookTimeout: suite === 'gate' ? 120_000 : 300_000,
    teardownTimeout: 30_000,
  },
});
