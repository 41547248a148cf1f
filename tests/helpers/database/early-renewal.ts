import type { TestDatabase } from './test-database.ts';

export type EarlyRenewal = 'replace' | 'extend';

/** Sets what a purchase of the running tier does, as an admin does. A new database has `replace`. */
export async function setEarlyRenewal(database: Pick<TestDatabase, 'query'>, setting: EarlyRenewal): Promise<void> {
  await database.query('update billing.settings set early_renewal = $1', [setting]);
}
