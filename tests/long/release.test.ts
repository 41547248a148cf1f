import { expect, test } from 'vitest';
import { readCurrentRelease } from '../helpers/database/released-database.ts';

test('two runs of the sample read the same release', async () => {
  const release = await readCurrentRelease();
  expect(release.sql.length).toBeLessThan(1_000_000);
  expect(await readCurrentRelease()).toEqual(release);
});

test('the sample fills every table but those of platform calls, and of subscriptions that a customer asked for', async () => {
  const { tables } = await readCurrentRelease();
  expect(tables.filter(({ rows }) => rows.length === 0).map(({ table }) => table)).toEqual([
    'billing.function_calls',
    'billing.subscription_orders',
  ]);
});
