import type pg from 'pg';
import { root } from '../../scripts/stack/root.ts';

const name = 'subscriptions_api';
const password = 'pool role of the tests';

/** Makes the role of a direct connection with the README's own statements, unless the server has it. */
export async function createPoolRole(client: Pick<pg.Client, 'query'>): Promise<void> {
  const readme = await Deno.readTextFile(`${root}/README.md`);
  const [, statements] = /```sql\n(create role subscriptions_api .*?)```/s.exec(readme) ?? [];
  if (statements === undefined) throw new Error(`The README makes no role ${name}`);
  await client.query(statements.replace('<password>', password));
}

/** DATABASE_POOL_URL of a database. */
export function poolUrl(databaseUrl: string): string {
  const url = new URL(databaseUrl);
  url.username = name;
  url.password = password;
  return url.href;
}
