import { expect, test } from 'vitest';
import { readRelease } from '../../scripts/release/read-release.ts';
import { createTestDatabase } from '../helpers/database/test-database.ts';

/** A release of the current migrations. The sample compares its findings itself. */
async function read() {
  const database = await createTestDatabase({ findings: 'compared elsewhere' });
  try {
    return await readRelease(database.url, '9.9.9');
  } finally {
    await database.close();
  }
}

test('two runs of the sample read the same release', async () => {
  const release = await read();
  expect(release.sql.length).toBeLessThan(1_000_000);
  expect(await read()).toEqual(release);
});

test('the sample fills every table but those of platform calls, failing triggers, and orders that a page or a customer has open', async () => {
  const { tables } = await read();
  expect(tables.filter(({ rows }) => rows.length === 0).map(({ table }) => table)).toEqual([
    'private.function_calls',
    'private.order_reads',
    'private.settle_failures',
    'private.subscription_orders',
  ]);
});
