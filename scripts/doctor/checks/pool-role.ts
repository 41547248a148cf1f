import type pg from 'pg';
import { type Check, fail, type Outcome, pass, skip, warn } from '../check.ts';
import {
  type Connection,
  connectionError,
  createConnection,
  howToVerify,
  isUnverified,
  readCertificate,
  verifiedConfig,
} from '../connection.ts';
import { isLoopback } from '../../stack/http/local-host.ts';

const section = 'supabase/docs/deployment.md, "Direct database connection".';

/**
 * The role of DATABASE_POOL_URL has only the service's rights and a statement timeout, its connection is verified, and on a
 * hosted project it goes through the transaction pooler.
 */
export const poolRole: Check = {
  name: 'pool-role',

  async run({ environment, withoutCa, signal }) {
    const url = environment.DATABASE_POOL_URL;
    if (!url) {
      return [skip('DATABASE_POOL_URL not given: the function calls the database over REST', `To connect: ${section}`)];
    }
    const outcomes = isHosted(url) && portOf(url) !== transactionPort ? [unpooled] : [];
    if (isUnverified(url, { certificate: environment.DATABASE_POOL_CA, withoutCa })) return [...outcomes, unverified];
    const authority = readCertificate(environment.DATABASE_POOL_CA);
    const connection = createConnection(
      authority === null ? { connectionString: url } : verifiedConfig(url, authority),
    );
    signal.addEventListener('abort', connection.cut);
    try {
      const refusal = await connect(connection);
      if (refusal !== null) return [...outcomes, refusal];
      return [...outcomes, ...checkEncryption(url, authority), ...await checkRole(connection.client)];
    } finally {
      await connection.end();
    }
  },
};

/** The platform's port of the transaction pooler. On any other, each connection of the function keeps one of Postgres busy. */
const transactionPort = '6543';

const unpooled = warn(
  'DATABASE_POOL_URL does not name the transaction pooler: each isolate of the function takes up to 8 connections',
  `Use the URL of the transaction pooler, with port ${transactionPort}; ${section}`,
);

const unverified = warn('DATABASE_POOL_CA is not set: the connection of the function is not verified', howToVerify);

function isHosted(url: string): boolean {
  return URL.canParse(url) && /\.supabase\.(co|com)$/.test(new URL(url).hostname);
}

/** The port in the URL; without one Postgres' own. */
function portOf(url: string): string {
  return new URL(url).port || '5432';
}

async function connect({ client }: Connection): Promise<Outcome | null> {
  try {
    await client.connect();
    return null;
  } catch (error) {
    return fail(
      `DATABASE_POOL_URL can't be connected to: ${connectionError(error)}`,
      `Check its role, password, host and DATABASE_POOL_CA; ${section}`,
    );
  }
}

function checkEncryption(url: string, authority: string | null): Outcome[] {
  return authority !== null || isLoopback(url) ? [] : [unverified];
}

async function checkRole(client: pg.Client): Promise<Outcome[]> {
  const { rows: [role] } = await client.query(`
    select
      current_user::text as acts_as,
      session_user::text as name,
      r.rolsuper or r.rolbypassrls or r.rolcreaterole or r.rolcreatedb or r.rolinherit as has_more_rights,
      (select s.setting::int from pg_catalog.pg_settings s where s.name = 'statement_timeout') as timeout,
      coalesce(
        has_function_privilege(current_user, to_regprocedure('public.get_health(text)'), 'execute'), false
      ) as may_call
    from pg_catalog.pg_roles r
    where r.rolname = session_user`);
  const outcomes: Outcome[] = [];
  if (role.acts_as !== 'service_role' || !role.may_call) {
    outcomes.push(
      fail(`${role.name} acts as ${role.acts_as}, not as service_role`, `Create the role as in ${section}`),
    );
  }
  if (role.has_more_rights) {
    outcomes.push(fail(`${role.name} has more rights than the service`, `Use a separate role, as in ${section}`));
  }
  if (role.timeout === 0 || role.timeout > 4000) {
    outcomes.push(warn(
      `statement_timeout of ${role.name} is ${role.timeout === 0 ? 'off' : `${role.timeout} ms`}`,
      `Run "alter role ${role.name} set statement_timeout = '4s';".`,
    ));
  }
  return outcomes.length > 0 ? outcomes : [pass(`${role.name} acts as service_role, ${role.timeout} ms a statement`)];
}
