import { afterAll, expect } from 'vitest';
import { openDatabases } from './test-database.ts';

// Runs after all hooks of a test file: `afterAll` hooks run in reverse order, and this one is registered first.
afterAll(() => {
  expect(openDatabases(), 'databases that were not closed, so that their findings were not compared').toEqual(
    [],
  );
});
