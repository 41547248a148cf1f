import type { TestProject } from 'vitest/node';
import { newestRelease } from '../../../scripts/release/release-files.ts';
import { installRelease } from '../../../scripts/release/restore-release.ts';
import { localPassword } from '../project/keys.ts';
import { migrate } from '../../../scripts/stack/postgres/migrate.ts';
import { createPostgres, type Postgres } from '../../../scripts/stack/postgres/postgres.ts';
import { openRoles } from '../../../scripts/stack/postgres/local-roles.ts';
import { prepareDatabase } from '../../../scripts/stack/postgres/prepare-database.ts';
import { freePort } from '../../../scripts/stack/ports.ts';
import { removeFolder } from '../../../scripts/stack/postgres/init-database.ts';
import { type Clusters, copyFolder, createCluster } from './clusters.ts';
import { setPoolPassword } from './pool-role.ts';
import { templateDatabase, withClient } from './postgres-client.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** Connection URL of the tests' Postgres, database `postgres`. */
    postgresUrl: string;
    clusters: Clusters;
    /** Whether only some tests of each file run, selected by title. */
    isPart: boolean;
  }
}

/**
 * One Postgres for all test files, with a migrated template that each of them clones. The template of the project
 * `upgraded` is the newest release with the later migrations, without the rows of its sample. `TEST_CLUSTER` names a folder
 * that keeps the migrated data for later runs: remove the folder when a migration changes.
 */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  const kept = project.name === 'upgraded' ? undefined : Deno.env.get('TEST_CLUSTER') || undefined;
  const isNew = kept === undefined || await Deno.stat(kept).then(() => false, () => true);
  const folder = await createCluster(isNew ? 'new' : 'kept', kept);
  const clusters = { empty: `${folder}/empty`, migrated: `${folder}/migrated` };
  // The connections are for the workers together: a file uses up to a hundred.
  const options = { password: localPassword, dataFolder: folder, ephemeral: true, maxConnections: 500, log: () => {} };
  const postgres = createPostgres({ port: freePort(), ...options });
  const stop = async () => {
    await postgres.stop();
    await removeFolder(folder);
  };
  try {
    if (isNew) {
      await copyFolder(`${folder}/postgres`, clusters.empty);
      await migrateTemplate(postgres, project.name);
      await copyFolder(`${folder}/postgres`, clusters.migrated);
      if (kept !== undefined) await copyFolder(folder, kept);
    }
    await postgres.start();
    await postgres.ready();
    // No job sweeps the tests' databases. Without this, a long run would have the finding sweep_overdue, and a test's own
    // sweep would create the profiles that the test deleted.
    await withClient(
      postgres.url(templateDatabase),
      (client) => client.query("update billing.scheduled_jobs set since = 'infinity', profiled_until = null"),
    );
  } catch (error) {
    await stop();
    throw error;
  }
  project.provide('postgresUrl', postgres.url());
  project.provide('clusters', clusters);
  project.provide('isPart', project.vitest.config.testNamePattern !== undefined);
  return stop;
}

/** Creates the template and the roles, and stops the server. */
async function migrateTemplate(postgres: Postgres, projectName: string): Promise<void> {
  await postgres.start();
  await postgres.ready();
  await withClient(postgres.url(), async (client) => {
    // Passwords are hashed once instead of 4096 times, which each connection would repeat.
    await client.query('alter system set scram_iterations = 1');
    await client.query('select pg_reload_conf()');
    await client.query(`set scram_iterations = 1; alter role postgres password '${localPassword}'`);
    await client.query(`create database ${templateDatabase}`);
  });
  await prepareDatabase(postgres.url(templateDatabase));
  const release = projectName === 'upgraded' ? await newestRelease() : undefined;
  if (release !== undefined) await installRelease(postgres.url(templateDatabase), release);
  await migrate({ url: postgres.url(templateDatabase), seed: false, log: () => {} });
  await withClient(postgres.url(), setPoolPassword);
  await openRoles(postgres.url(), ['subscriptions_support']);
  await postgres.stop();
}
