import { inject } from 'vitest';
import { initDatabase } from '../../../scripts/stack/postgres/init-database.ts';
import { unprivilegedUser } from '../../../scripts/stack/process/unprivileged-user.ts';
import { localPassword } from '../project/keys.ts';

/** Data folders of stopped servers, which test files copy: faster than initdb and the migrations. */
export type Clusters = {
  /** As initdb leaves it. */
  readonly empty: string;
  /** With the migrated template. */
  readonly migrated: string;
};

/**
 * Creates a folder for a server and its data folder `postgres`: a new one, or a copy; `kept`: a copy of the whole folder
 * `from`. The caller removes it.
 */
export async function createCluster(which: 'new' | 'kept' | keyof Clusters, from = ''): Promise<string> {
  const user = await unprivilegedUser();
  const folder = await Deno.makeTempDir({ prefix: 'cluster-' });
  if (user) await Deno.chown(folder, user.uid, user.gid);
  if (which === 'kept') await copyFolder(`${from}/.`, folder);
  else if (which === 'new') await initDatabase(`${folder}/postgres`, localPassword, user);
  else await copyFolder(inject('clusters')[which], `${folder}/postgres`);
  return folder;
}

/** Copies a folder with the owners of its files. */
export async function copyFolder(from: string, to: string): Promise<void> {
  const { success, stderr } = await new Deno.Command('cp', { args: ['-a', from, to] }).output();
  if (!success) throw new Error(new TextDecoder().decode(stderr));
}
