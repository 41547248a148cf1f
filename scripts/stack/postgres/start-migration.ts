import { hasCluster } from './init-database.ts';
import { migrate } from './migrate.ts';
import { guardMigrations } from './migration-guard.ts';
import { type MigrationFolder, projectMigrations } from './project-migrations.ts';

/** The migrations of one start. */
export type StartMigration = {
  /** Starts the CLI, which is the slowest part of a start, if there is no database yet: it loads and waits for `apply`. */
  load(): Promise<void>;
  /** Applies what the database lacks. @throws as `guardMigrations` and `migrate` do */
  apply(): Promise<void>;
  /** Ends a CLI that waits. */
  stop(): Promise<void>;
};

/**
 * @param kept the folder of the kept data and the record of `guardMigrations`; undefined: temporary data
 * @param app the folder of an app, whose migrations are applied, too
 * @param verbose whether to log the lines of the CLI; an error has the last ones anyway
 */
export function createStartMigration(
  url: string,
  kept: { folder: string; record: string } | undefined,
  app: string | undefined,
  verbose: boolean,
): StartMigration {
  const prepared = Promise.withResolvers<void>();
  prepared.promise.catch(() => {}); // without a CLI no one waits for it
  let migration: Promise<void> | undefined;
  let files: Promise<MigrationFolder> | undefined;
  const readFiles = () => files ??= projectMigrations(app);
  const start = ({ folder }: MigrationFolder) => {
    migration = migrate({
      url,
      folder,
      seed: true,
      includeAll: true,
      ready: prepared.promise,
      ...(!verbose && { log: () => {} }),
    });
    migration.catch(() => {}); // `apply` throws it
  };
  return {
    async load() {
      if (!kept || !await hasCluster(`${kept.folder}/postgres`)) start(await readFiles());
    },
    async apply() {
      const read = await readFiles();
      const isIncomplete = !kept || await guardMigrations(url, kept.record, read.folder);
      if (isIncomplete && !migration) start(read);
      prepared.resolve();
      await migration;
    },
    async stop() {
      prepared.reject(new Error('stopped'));
      await migration?.catch(() => {});
      await (await files)?.remove();
    },
  };
}
