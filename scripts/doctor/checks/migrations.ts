import { migrationVersions } from '../../stack/postgres/migration-versions.ts';
import { type Check, fail, pass } from '../check.ts';

/** The database has applied the migrations of this checkout, or those that the app has installed. It may have more: those of the app. */
export const migrations: Check = {
  name: 'migrations',
  needs: ['database'],

  async run({ query, migrations }) {
    const files = migrations ?? await migrationVersions();
    const [row] = await query("select to_regclass('supabase_migrations.schema_migrations') is not null as is_recorded");
    const applied = row?.is_recorded === true
      ? (await query('select m.version from supabase_migrations.schema_migrations m'))
        .map(({ version }) => String(version))
      : [];
    const missing = files.filter((version) => !applied.includes(version));
    if (missing.length === 0) return [pass(`applied up to ${files.at(-1)}`)];
    return [
      fail(
        `the database lacks ${missing.length} of ${files.length} migrations, the oldest ${missing[0]}`,
        'Run `npx supabase db push --remote`, with `--include-all` if it says so; locally, restart `npm start`.',
      ),
    ];
  },
};
