import { readFile } from 'node:fs/promises';
import type { TestDatabase } from '../test-database.ts';

/** Gives a database the functions that walk, and plans that the gateway bills. */
export async function prepareToWalk(database: TestDatabase): Promise<void> {
  await database.query(await readFile(new URL('walk.sql', import.meta.url), 'utf8'));
  await database.query("update public.plans set gateway_plan_id = 'plan_' || tier");
}
