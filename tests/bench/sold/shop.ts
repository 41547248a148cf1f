import type { Postgres } from '../../../scripts/stack/postgres/postgres.ts';
import { root } from '../../../scripts/stack/root.ts';
import { poolUrl } from '../../helpers/database/pool-role.ts';
import { localKeys } from '../../helpers/project/keys.ts';
import { benchSecrets } from '../bench-project.ts';
import { createOurDatabase, markDelivered, type Users } from '../our-database.ts';
import type { Readers } from '../peers/reads.ts';
import { startReceivers } from '../receivers.ts';

/** A database with its function, which delivers mails and revalidations. */
export type Shop = {
  readonly url: string;
  readonly server: { readonly pid: number; readonly port: number };
  stop(): Promise<void>;
};

type Settings = {
  readonly postgres: Postgres;
  readonly name: string;
  readonly users: Users;
  readonly readers: Readers;
  /** The checkout whose migrations and function it has; default: this one. */
  readonly folder?: string;
};

export async function startShop({ postgres, name, users, readers, folder = root }: Settings): Promise<Shop> {
  const url = await createOurDatabase(postgres, name, users, folder);
  await markDelivered(url);
  const receivers = await startReceivers();
  const { createFunction }: typeof import('../../../scripts/stack/function/function.ts') = await import(
    `${folder}/scripts/stack/function/function.ts`
  );
  const served = createFunction({
    port: 0,
    env: {
      SUPABASE_URL: readers.apiUrl,
      SUPABASE_PUBLISHABLE_KEYS: JSON.stringify({ default: localKeys.publishable }),
      SUPABASE_SECRET_KEYS: JSON.stringify({ default: localKeys.secret }),
      DATABASE_POOL_URL: poolUrl(url),
      ...benchSecrets,
      ...receivers.environment,
    },
    log: () => {},
  });
  await served.start();
  await served.ready();
  return {
    url,
    server: { pid: served.pid() ?? 0, port: Number(new URL(served.url).port) },
    async stop() {
      await served.stop();
      await receivers.stop();
    },
  };
}
