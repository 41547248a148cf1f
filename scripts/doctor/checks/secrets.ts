import { readConfig } from '../../../supabase/functions/api/config.ts';
import { type Check, fail, type Outcome, pass, skip, warn } from '../check.ts';
import type { Context } from '../context.ts';
import { readHostedSecrets } from '../hosted-secrets.ts';
import { howToGetToken } from '../management-api.ts';
import { misspelled } from '../misspelled.ts';
import { checkSecretValues, checkWhiteSpace, digest } from '../secret-values.ts';

/** Without these payments, webhooks or the schedule do not work. */
const required = [
  'GATEWAY_KEY_ID',
  'GATEWAY_KEY_SECRET',
  'GATEWAY_API_URL',
  'GATEWAY_WEBHOOK_SECRET',
  'INTERNAL_KEY',
];
const recommended = ['APP_URL', 'RESEND_API_KEY', 'EMAIL_FROM', 'REVALIDATE_SECRET'];

const emptyDigest = digest('');
const set = 'Set them with `npx supabase secrets set --env-file supabase/functions/.env`.';

/** All secrets are set, no name is misspelled, and the hosted values are good and those of this environment. */
export const secrets: Check = {
  name: 'secrets',

  async run(context) {
    const invalid = invalidValue(context);
    const outcomes = invalid === null
      ? []
      : [fail(invalid, 'Correct the value; supabase/docs/deployment.md, "Environment variables".')];
    return [...outcomes, ...context.mode === 'local' ? await localSecrets(context) : await hostedSecrets(context)];
  },
};

async function localSecrets({ environment, envFileNames }: Context): Promise<Outcome[]> {
  const unset = [...required, ...recommended].filter((name) => !environment[name]);
  const unknown = await misspelled(envFileNames);
  return [
    ...checkWhiteSpace(environment),
    ...unset.length === 0 ? [] : [warn(`not set: ${unset.join(', ')}`, 'The features that need them are off.')],
    ...unknownSecrets(unknown),
    pass(`${Object.keys(environment).length} variables`),
  ];
}

async function hostedSecrets(context: Context): Promise<Outcome[]> {
  if (context.accessToken === null) {
    return [
      skip('SUPABASE_ACCESS_TOKEN not given', howToGetToken),
      ...unknownSecrets(await misspelled(context.envFileNames)),
      ...checkSecretValues(context),
    ];
  }
  const answer = await readHostedSecrets(context);
  if ('outcome' in answer) return [answer.outcome, ...checkSecretValues(context)];
  const digests = answer.value;
  const isSet = (name: string) => digests.has(name) && digests.get(name) !== emptyDigest;
  // An empty REVALIDATE_URL means that the app has no cached pages.
  const isOff = digests.get('REVALIDATE_URL') === emptyDigest;
  const missing = required.filter((name) => !isSet(name) && !(name === 'GATEWAY_API_URL' && isSet('GATEWAY')));
  const unset = recommended.filter((name) => !isSet(name) && !(isOff && name === 'REVALIDATE_SECRET'));
  const different = Object.entries(context.environment)
    .filter(([name, value]) => digests.has(name) && digests.get(name) !== digest(value))
    .map(([name]) => name);
  return [
    ...missing.length === 0 ? [] : [fail(`not set: ${missing.join(', ')}`, set)],
    ...unset.length === 0 ? [] : [warn(`not set: ${unset.join(', ')}`, `The features that need them are off. ${set}`)],
    ...unknownSecrets(await misspelled([...digests.keys()])),
    ...checkSecretValues(context, digests),
    ...different.length === 0 ? [] : [
      warn(
        `other values than in this environment: ${different.join(', ')}`,
        'The checks use the values of this environment. Use the hosted values here, or set these values there.',
      ),
    ],
    pass(`${digests.size} secrets`),
  ];
}

function unknownSecrets(names: readonly string[]): Outcome[] {
  return names.length === 0 ? [] : [
    warn(
      `not read by the function: ${names.join(', ')}`,
      'Correct the spelling.',
    ),
  ];
}

/** The error with which the function would not start. The message names the variable, not its value. */
function invalidValue({ environment }: Context): string | null {
  const platform: Record<string, string> = {
    SUPABASE_URL: 'http://127.0.0.1',
    SUPABASE_ANON_KEY: 'any',
    SUPABASE_SERVICE_ROLE_KEY: 'any',
  };
  try {
    readConfig((name) => platform[name] ?? environment[name]);
    return null;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}
