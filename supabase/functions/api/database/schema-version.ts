import { z } from 'zod';
import { schemaVersion } from '../generated/schema-version.ts';
import type { Log } from '../http/log.ts';
import { DatabaseError, type Transport } from './rpc.ts';

const result = z.object({ version: z.string().nullable() });

/** The codes of a schema without `get_schema_version`: over REST and over Postgres. */
const unknownFunction: readonly (string | undefined)[] = ['PGRST202', '42883'];

/**
 * Compares the database's schema with the one that this function is made for, in one call. Logs a warning when the
 * schema is older, for example when the function was deployed before the migrations. Never throws: requests do not
 * depend on this check.
 */
export async function warnOfOlderSchema(transport: Transport, log: Log): Promise<void> {
  const warn = (version: string | null) =>
    log({
      level: 'warn',
      event: 'schema_older_than_function',
      schema_version: version,
      function_version: schemaVersion,
      remedy: 'Run: npx supabase db push --remote',
    });
  try {
    const { version } = result.parse(await transport('get_schema_version', { p_function_version: schemaVersion }));
    if (version !== null && version < schemaVersion) warn(version);
  } catch (error) {
    const code = error instanceof DatabaseError ? error.code : undefined;
    if (unknownFunction.includes(code)) return warn(null);
    log({ level: 'debug', event: 'schema_version_unknown', ...(code !== undefined && { code }) });
  }
}
