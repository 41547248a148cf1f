import { type Check, fail, pass } from '../check.ts';
import { DatabaseUnreachable } from '../database.ts';

/** The database accepts the login that the other checks use. */
export const database: Check = {
  name: 'database',
  needs: ['database'],

  async run(context) {
    try {
      const [row] = await context.query(
        "select current_setting('server_version') as version, current_user::text as role",
      );
      return [pass(`Postgres ${row?.version} answers, as ${row?.role}`)];
    } catch (error) {
      if (!(error instanceof DatabaseUnreachable)) throw error;
      return [
        fail(
          `the database can't be reached: ${error.message}`,
          'Take DATABASE_URL from the "Connect" dialog of the project, with the password of `postgres`.',
        ),
      ];
    }
  },
};
