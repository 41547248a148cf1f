import type pg from 'pg';
import { root } from '../../../scripts/stack/root.ts';

const name = 'subscriptions_api';
const password = 'pool role of the tests';

/** Sets the password of the role of direct connections, with the statement of the deployment guide. */
export async function setPoolPassword(client: Pick<pg.Client, 'query'>): Promise<void> {
  const guide = await Deno.readTextFile(`${root}/supabase/docs/deployment.md`);
  const [, statement] = /```sql\n(alter role subscriptions_api password .*?)```/s.exec(guide) ?? [];
  if (statement === undefined) throw new Error(`The deployment guide gives role ${name} no password`);
  await client.query(statement.replace('<password>', password));
}

/** DATABASE_POOL_URL of a database. */
export function poolUrl(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.username = name;
  url.password = password;
  return url.href;
}
