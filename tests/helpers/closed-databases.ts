import { afterAll, expect } from 'vitest';
import { openDatabases } from './test-database.ts';

// Runs after all of a file's own hooks: hooks after tests run in reverse, and this one is the first to be known.
afterAll(() => {
  expect(openDatabases(), 'databases that were opened and not closed, so that nobody looked at their findings').toEqual(
    [],
  );
});
