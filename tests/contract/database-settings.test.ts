import { describe, expect, test } from 'vitest';
import { servedTargets } from '../helpers/project/targets.ts';
import { useProject, useService } from '../helpers/project/use-project.ts';

const project = useProject();

// Only served targets: `index.ts` logs this, and it does not run in process.
describe.each(servedTargets)('%s', (target) => {
  const extend = useService(target, project, { EARLY_RENEWAL: 'extend', CREDIT: 'off' });
  const replace = useService(target, project, { EARLY_RENEWAL: 'replace', CREDIT: 'on' });
  const unset = useService(target, project);

  test.each([
    ['EARLY_RENEWAL=extend', 'early_renewal_is_a_database_setting'],
    ['CREDIT=off', 'credit_is_a_database_setting'],
  ])('the start with %s → one line %s in the log', (_, name) => {
    const lines = [extend, replace, unset].map(({ log }) => log.filter(({ event }) => event === name));
    expect(lines).toEqual([[{ level: 'info', event: name }], [], []]);
  });
});
