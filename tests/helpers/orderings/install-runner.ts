import { readFile } from 'node:fs/promises';
import type { TestDatabase } from '../database/test-database.ts';

/** Installs the functions that run sequences of steps in a database, and gives each plan a `gateway_plan_id`. */
export async function installRunner(database: TestDatabase): Promise<void> {
  await database.query(await readFile(new URL('runner.sql', import.meta.url), 'utf8'));
  await database.query("update public.plans set gateway_plan_id = 'plan_' || tier");
}
