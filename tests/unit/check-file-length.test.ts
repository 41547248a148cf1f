import { expect, test } from 'vitest';
import { tooLong } from '../../scripts/check-file-length.ts';

const lines = (count: number) => 'select 1;\n'.repeat(count);

test.each([
  ['supabase/functions/api/app.ts', 200],
  ['emails/theme.tsx', 200],
  ['supabase/client/subscriptions.ts', 700],
  ['supabase/client/another.ts', 200],
  ['supabase/schemas/01_schema.sql', 600],
  ['supabase/seed.sql', 300],
])('%s may have %i lines and no more', (path, max) => {
  expect(tooLong(path, lines(max))).toEqual([]);
  expect(tooLong(path, lines(max + 1))).toEqual([`${path} has ${max + 1} lines, more than ${max}`]);
});
