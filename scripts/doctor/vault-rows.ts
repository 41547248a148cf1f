import { createHash } from 'node:crypto';
import pg from 'pg';
import { fail, type Fix, type Outcome, warn } from './check.ts';
import type { Context } from './context.ts';
import { readHostedSecrets } from './hosted-secrets.ts';

type VaultName = 'subscriptions_url' | 'subscriptions_internal_key';

/**
 * Compares the two Vault rows that the schedule needs to call the function. The database compares, so no secret leaves
 * it. A server without pg_net needs no rows: an external scheduler calls the function.
 */
export async function checkVault(context: Context): Promise<Outcome[]> {
  const [server] = await context.query(`
    select
      to_regclass('vault.decrypted_secrets') is not null as has_vault,
      to_regnamespace('net') is not null as has_net`);
  if (server?.has_net !== true) return [];
  if (server.has_vault !== true) {
    return [fail('missing: extension supabase_vault', 'Enable it in the dashboard, under database extensions.')];
  }
  try {
    return [...await checkRow(context, 'subscriptions_url'), ...await checkRow(context, 'subscriptions_internal_key')];
  } catch (error) {
    // For example rows that were encrypted with the key of another project, after a restore.
    if (!(error instanceof pg.DatabaseError)) throw error;
    return [fail(`Vault secrets can't be read (${error.code})`, 'Delete both rows and create them again.')];
  }
}

async function checkRow(context: Context, name: VaultName): Promise<Outcome[]> {
  const expected = name === 'subscriptions_url' ? context.functionsUrl : context.environment.INTERNAL_KEY;
  // The same trimming as in billing.call_function.
  const rows = await context.query(
    `select
      case s.name
        when 'subscriptions_url' then rtrim(btrim(s.decrypted_secret, E' \\t\\r\\n'), '/')
        else btrim(s.decrypted_secret, E' \\t\\r\\n')
      end = $2 as is_same
    from vault.decrypted_secrets s
    where s.name = $1`,
    [name, expected ?? ''],
  );
  if (rows.some(({ is_same }) => is_same === true)) return [];
  const exists = rows.length > 0;
  const remedy = exists
    ? `Run "select vault.update_secret(id, '...') from vault.secrets where name = '${name}';" with its value.`
    : `Run "select vault.create_secret('...', '${name}');" with its value.`;
  if (!expected) {
    return exists ? [] : [fail(`missing: Vault secret ${name}`, `${remedy} Or set INTERNAL_KEY and use --fix.`)];
  }
  const fix: Fix = {
    title: `${exists ? 'replace' : 'create'} the Vault secret ${name}`,
    apply: (context) => writeRow(context, name, expected),
  };
  if (!exists) return [fail(`missing: Vault secret ${name}`, remedy, fix)];
  // Writing a key that the function does not have would stop a working schedule.
  if (name === 'subscriptions_internal_key' && !await isHostedInternalKey(context)) {
    return [
      warn(`the Vault secret ${name} is not INTERNAL_KEY of this environment`, `If the function has it: ${remedy}`),
    ];
  }
  return [fail(`the Vault secret ${name} is not what the function has`, remedy, fix)];
}

/** Whether INTERNAL_KEY of this environment is that of the function, by its digest. */
async function isHostedInternalKey(context: Context): Promise<boolean> {
  if (context.accessToken === null) return false;
  const answer = await readHostedSecrets(context);
  const digest = createHash('sha256').update(context.environment.INTERNAL_KEY ?? '').digest('hex');
  return 'value' in answer && answer.value.get('INTERNAL_KEY') === digest;
}

async function writeRow(context: Context, name: string, value: string): Promise<void> {
  const updated = await context.change(
    'select vault.update_secret(s.id, $2) from vault.secrets s where s.name = $1',
    [name, value],
  );
  if (updated.length === 0) await context.change('select vault.create_secret($2, $1)', [name, value]);
}
