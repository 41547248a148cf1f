import pg from 'pg';
import { fail, type Fix, type Outcome, warn } from './check.ts';
import type { Context } from './context.ts';
import { readHostedSecrets } from './hosted-secrets.ts';
import { digest } from './secret-values.ts';

const insufficientPrivilege = '42501';

type VaultName = 'subscriptions_url' | 'subscriptions_internal_key';

/**
 * Compares the two Vault rows that the schedule needs to call the function. The database compares, so no secret leaves
 * it. A server without pg_net needs no rows: an external scheduler calls the function. A dropped Vault is a finding.
 */
export async function checkVault(context: Context): Promise<Outcome[]> {
  const [server] = await context.query(`
    select to_regclass('vault.decrypted_secrets') is not null and to_regnamespace('net') is not null as is_used`);
  if (server?.is_used !== true) return [];
  return [...await checkRow(context, 'subscriptions_url'), ...await checkRow(context, 'subscriptions_internal_key')];
}

async function checkRow(context: Context, name: VaultName): Promise<Outcome[]> {
  const expected = name === 'subscriptions_url' ? context.functionsUrl : context.environment.INTERNAL_KEY;
  const state = await readState(context, name, expected ?? '');
  if (state === 'same') return [];
  // Without the delete, create_secret and update_secret fail for a secret that can't be decrypted.
  const remedy =
    `Run "delete from vault.secrets where name = '${name}'; select vault.create_secret('...', '${name}');" ` +
    'with its value.';
  const problem = {
    missing: `missing: Vault secret ${name}`,
    unreadable: `the Vault secret ${name} can't be decrypted: it is of another project`,
    other: `the Vault secret ${name} is not what the function has`,
  }[state];
  if (!expected) return state === 'other' ? [] : [fail(problem, `${remedy} Or set INTERNAL_KEY and use --fix.`)];
  // Writing a key that the function does not have would stop a working schedule.
  if (state === 'other' && name === 'subscriptions_internal_key' && !await isHostedInternalKey(context)) {
    return [
      warn(`the Vault secret ${name} is not INTERNAL_KEY of this environment`, `If the function has it: ${remedy}`),
    ];
  }
  const fix: Fix = {
    title: `${state === 'missing' ? 'create' : 'replace'} the Vault secret ${name}`,
    apply: (context) => writeRow(context, name, expected),
  };
  return [fail(problem, remedy, fix)];
}

async function readState(context: Context, name: VaultName, expected: string) {
  try {
    // The same trimming as in billing.call_function.
    const [row] = await context.query(
      `select
        case s.name
          when 'subscriptions_url' then rtrim(btrim(s.decrypted_secret, E' \\t\\r\\n'), '/')
          else btrim(s.decrypted_secret, E' \\t\\r\\n')
        end = $2 as is_same
      from vault.decrypted_secrets s
      where s.name = $1`,
      [name, expected],
    );
    if (row === undefined) return 'missing';
    return row.is_same === true ? 'same' : 'other';
  } catch (error) {
    if (!(error instanceof pg.DatabaseError) || error.code === insufficientPrivilege) throw error;
    return 'unreadable';
  }
}

/** Whether INTERNAL_KEY of this environment is that of the function, by its digest. */
async function isHostedInternalKey(context: Context): Promise<boolean> {
  if (context.accessToken === null) return false;
  const answer = await readHostedSecrets(context);
  return 'value' in answer && answer.value.get('INTERNAL_KEY') === digest(context.environment.INTERNAL_KEY ?? '');
}

async function writeRow(context: Context, name: VaultName, value: string): Promise<void> {
  await context.change(
    `with deleted as (delete from vault.secrets s where s.name = $1 returning s.id)
    select vault.create_secret($2, $1) from (select count(*) from deleted) first`,
    [name, value],
  );
  await forgetCalls(context);
}

/** After a repair: how a call ended before it does not matter, and until the next ones are answered it would be a finding. */
export async function forgetCalls({ change }: Context): Promise<void> {
  await change('delete from billing.function_calls');
}
