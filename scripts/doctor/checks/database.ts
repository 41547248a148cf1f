import { type Check, fail, pass } from '../check.ts';
import { checkClock } from '../clock.ts';
import { howToConnect, howToVerify, Unverified } from '../connection.ts';
import { DatabaseUnreachable } from '../database.ts';

/** The database accepts the login that the other checks use. */
export const database: Check = {
  name: 'database',
  needs: ['database'],
  gateOf: 'database',

  async run(context) {
    try {
      const [row] = await context.query(
        "select current_setting('server_version') as version, current_user::text as role, clock_timestamp() as time",
      );
      return [
        pass(`Postgres ${row?.version} answers, as ${row?.role}`),
        ...checkClock('the database', String(row?.time)),
      ];
    } catch (error) {
      if (!(error instanceof DatabaseUnreachable)) throw error;
      return [
        fail(
          `the database can't be reached: ${error.message}`,
          error.cause instanceof Unverified ? howToVerify : howToConnect,
        ),
      ];
    }
  },
};
