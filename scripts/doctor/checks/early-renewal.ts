import { createHash } from 'node:crypto';
import { type Check, fail, type Outcome, pass, skip, warn } from '../check.ts';
import type { Context } from '../context.ts';
import { readHostedSecrets } from '../hosted-secrets.ts';

const values = ['replace', 'extend'];

/** The setting `early_renewal` of the database is EARLY_RENEWAL of this environment. */
export const earlyRenewal: Check = {
  name: 'early-renewal',
  needs: ['database'],

  async run(context) {
    const wanted = context.environment.EARLY_RENEWAL;
    if (wanted && !values.includes(wanted)) return [skip('EARLY_RENEWAL is invalid: see the check "secrets"')];
    const [row] = await context.query('select private.early_renewal() as setting');
    const setting = String(row?.setting);
    const outcomes = [...checkRow(setting, wanted), ...await checkSecret(context, setting)];
    return outcomes.length > 0 ? outcomes : [pass(`the setting is ${setting}`)];
  },
};

function checkRow(setting: string, wanted: string | undefined): Outcome[] {
  if (!wanted || setting === wanted) return [];
  const statement = `update private.settings set early_renewal = '${wanted}'`;
  return [
    fail(
      `the setting early_renewal is ${setting}, and EARLY_RENEWAL of this environment is ${wanted}`,
      `Run "${statement};" or correct EARLY_RENEWAL.`,
      {
        title: `set early_renewal to ${wanted} in private.settings`,
        async apply(context) {
          await context.change(statement);
        },
      },
    ),
  ];
}

/** A secret of the function with another value may be taken for the setting. */
async function checkSecret(context: Context, setting: string): Promise<Outcome[]> {
  if (context.accessToken === null) return [];
  const answer = await readHostedSecrets(context);
  const others = values.filter((value) => value !== setting);
  const digest = 'value' in answer ? answer.value.get('EARLY_RENEWAL') : undefined;
  if (!others.some((value) => createHash('sha256').update(value).digest('hex') === digest)) return [];
  return [
    warn(
      `the secret EARLY_RENEWAL has no effect: the setting of the database is ${setting}`,
      'Run `npx supabase secrets unset EARLY_RENEWAL`, or give the secret the value of the setting.',
    ),
  ];
}
