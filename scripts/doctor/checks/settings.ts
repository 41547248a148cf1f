import { type Check, fail, type Outcome, pass, skip, warn } from '../check.ts';
import type { Context } from '../context.ts';
import { readHostedSecrets } from '../hosted-secrets.ts';
import { digest } from '../secret-values.ts';

/** A setting of the rules: a column of `billing.settings`, and the variable that names its value. */
type Setting = {
  readonly column: string;
  readonly variable: string;
  readonly values: readonly string[];
};

export const earlyRenewal = settingCheck({
  column: 'early_renewal',
  variable: 'EARLY_RENEWAL',
  values: ['replace', 'extend'],
});
export const credit = settingCheck({ column: 'credit', variable: 'CREDIT', values: ['on', 'off'] });

/** The setting of the database is the variable of this environment. */
function settingCheck(setting: Setting): Check {
  const { column, variable, values } = setting;
  return {
    name: column.replaceAll('_', '-'),
    needs: ['database'],

    async run(context) {
      const wanted = context.environment[variable];
      if (wanted && !values.includes(wanted)) {
        return [skip(`${variable} is invalid`, `Set it to ${values.join(' or ')}.`)];
      }
      const [row] = await context.query(`select ${column} as setting from billing.settings`);
      const value = String(row?.setting);
      const outcomes = [...checkRow(setting, value, wanted), ...await checkSecret(context, setting, value)];
      return outcomes.length > 0 ? outcomes : [pass(`the setting is ${value}`)];
    },
  };
}

function checkRow({ column, variable }: Setting, value: string, wanted: string | undefined): Outcome[] {
  if (!wanted || value === wanted) return [];
  const statement = `update billing.settings set ${column} = '${wanted}'`;
  return [
    fail(
      `the setting ${column} is ${value}, and ${variable} of this environment is ${wanted}`,
      `Run "${statement};" or correct ${variable}.`,
      {
        title: `set ${column} to ${wanted} in billing.settings`,
        async apply(context) {
          await context.change(statement);
        },
      },
    ),
  ];
}

/** A secret of the function with another value may be taken for the setting. */
async function checkSecret(context: Context, { variable, values }: Setting, value: string): Promise<Outcome[]> {
  if (context.accessToken === null) return [];
  const answer = await readHostedSecrets(context);
  const others = values.filter((other) => other !== value);
  const hosted = 'value' in answer ? answer.value.get(variable) : undefined;
  if (!others.some((other) => digest(other) === hosted)) return [];
  return [
    warn(
      `the secret ${variable} has no effect: the setting of the database is ${value}`,
      `Run \`npx supabase secrets unset ${variable}\`, or give the secret the value of the setting.`,
    ),
  ];
}
