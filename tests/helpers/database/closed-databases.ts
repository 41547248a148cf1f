import { afterAll, expect } from 'vitest';
import { takeOpenDatabases } from './test-database.ts';

// Runs after all hooks of a test file: `afterAll` hooks run in reverse order, and this one is registered first.
afterAll(() => {
  expect(takeOpenDatabases(), 'databases that were not closed, so that their findings were not compared').toEqual(
    [],
  );
});
