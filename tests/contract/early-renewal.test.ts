import { describe, expect, test } from 'vitest';
import { servedTargets } from '../helpers/project/targets.ts';
import { useProject, useService } from '../helpers/project/use-project.ts';

const project = useProject();

// Only served targets: `index.ts` logs this, and it does not run in process.
describe.each(servedTargets)('%s', (target) => {
  const extend = useService(target, project, { EARLY_RENEWAL: 'extend' });
  const replace = useService(target, project, { EARLY_RENEWAL: 'replace' });
  const unset = useService(target, project);

  test('the start with EARLY_RENEWAL=extend → one line early_renewal_is_a_database_setting in the log', () => {
    const lines = [extend, replace, unset].map(({ log }) =>
      log.filter(({ event }) => event === 'early_renewal_is_a_database_setting')
    );
    expect(lines).toEqual([[{ level: 'info', event: 'early_renewal_is_a_database_setting' }], [], []]);
  });
});
