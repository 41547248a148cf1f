import { migrationVersions } from '../../schema-version.ts';
import { type Check, fail, type Outcome, pass, warn } from '../check.ts';
import type { Context } from '../context.ts';

/**
 * The database has applied the migrations of this checkout, and the function is made for the newest of them. The database may
 * have more: those of the app.
 */
export const versions: Check = {
  name: 'versions',

  async run(context) {
    const files = await migrationVersions();
    const newest = files.at(-1) ?? '';
    const outcomes = [...await checkFunction(context, newest), ...await checkDatabase(context, files)];
    return outcomes.length > 0 ? outcomes : [pass(`all have version ${newest}`)];
  },
};

async function checkFunction({ request, functionsUrl }: Context, newest: string): Promise<Outcome[]> {
  const { status, headers } = await request(`${functionsUrl}/api/health`);
  if (status !== 200) return [fail(`GET /api/health answers ${status}`, 'See the check "webhook-ping".')];
  const version = headers.get('x-schema-version');
  if (version === newest) return [];
  if (version !== null && version > newest) {
    return [warn(`the function is made for ${version}, newer than ${newest} here`, 'Update this checkout.')];
  }
  return [
    fail(
      `the function is made for ${version ?? 'an older schema'}, not for ${newest}`,
      'Run `npm run generate` and `npx supabase functions deploy api --use-api`; locally, restart `npm start`.',
    ),
  ];
}

async function checkDatabase({ query, databaseUrl }: Context, files: string[]): Promise<Outcome[]> {
  if (databaseUrl === null) return [];
  const rows = await query(`
    select to_regclass('supabase_migrations.schema_migrations') is not null as is_recorded`);
  const applied = rows[0]?.is_recorded === true
    ? (await query('select m.version from supabase_migrations.schema_migrations m'))
      .map(({ version }) => String(version))
    : [];
  const missing = files.filter((version) => !applied.includes(version));
  if (missing.length > 0) {
    return [
      fail(
        `the database lacks ${missing.length} of ${files.length} migrations, the oldest ${missing[0]}`,
        'Run `npx supabase db push --remote`, with `--include-all` if it says so; locally, restart `npm start`.',
      ),
    ];
  }
  return [];
}
