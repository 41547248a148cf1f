import { z } from 'zod';
import { type Check, fail, type Outcome, pass, warn } from '../check.ts';
import type { Context } from '../context.ts';
import { readManagementApi } from '../management-api.ts';

const lints = z.object({ lints: z.array(z.object({ name: z.string(), level: z.string() })) });

/** The platform's advisors report no error and no warning. */
export const advisors: Check = {
  name: 'advisors',
  needs: ['access token'],

  async run(context) {
    return [...await advise(context, 'security'), ...await advise(context, 'performance')];
  },
};

async function advise(context: Context, kind: 'security' | 'performance'): Promise<Outcome[]> {
  const answer = await readManagementApi(context, `/advisors/${kind}`, lints);
  if ('outcome' in answer) return [answer.outcome];
  const names = (level: string) => answer.value.lints.filter((lint) => lint.level === level).map(({ name }) => name);
  const [errors, warnings] = [names('ERROR'), names('WARN')];
  const remedy = 'Open the advisors in the dashboard. Each finding there has a remedy.';
  return [
    ...errors.length === 0 ? [] : [fail(`${kind}: ${counted(errors, 'error')}`, remedy)],
    ...warnings.length === 0 ? [] : [warn(`${kind}: ${counted(warnings, 'warning')}`, remedy)],
    ...errors.length + warnings.length > 0 ? [] : [pass(`${kind}: nothing to do`)],
  ];
}

function counted(names: string[], noun: string): string {
  return `${names.length} ${noun}${names.length === 1 ? '' : 's'} (${[...new Set(names)].join(', ')})`;
}
