import type { TestDatabase } from './test-database.ts';

/** Sets whether a purchase of a dearer tier gets a credit, as an admin does. A new database has `on`. */
export async function setCredit(database: Pick<TestDatabase, 'query'>, setting: 'on' | 'off'): Promise<void> {
  await database.query('update billing.settings set credit = $1', [setting]);
}
