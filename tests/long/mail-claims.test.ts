import { expect, test } from 'vitest';
import { proveClaims } from '../helpers/access-model/prove-claims.ts';
import { useSubjects } from '../helpers/access-model/use-subjects.ts';

const newSubject = useSubjects();

test('after a mail about a failed or the last charge, and no later payment, access ends when the mail says', async () => {
  const checked = await proveClaims(newSubject, { numRuns: 300, seed: 20261122 });
  expect(checked.withTime).toBeGreaterThan(20);
  expect(checked.withoutTime).toBeGreaterThan(20);
});
