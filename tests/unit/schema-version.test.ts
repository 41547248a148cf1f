import { expect, test } from 'vitest';
import { DatabaseError } from '../../supabase/functions/api/database/rpc.ts';
import { warnOfOlderSchema } from '../../supabase/functions/api/database/schema-version.ts';
import { schemaVersion } from '../../supabase/functions/api/generated/schema-version.ts';

const warning = (version: string | null) => ({
  level: 'warn',
  event: 'schema_older_than_function',
  schema_version: version,
  function_version: schemaVersion,
  remedy: 'Run: npx supabase db push --remote',
});
const unknown = { level: 'debug', event: 'schema_version_unknown' };
const failed = (code?: string) => new DatabaseError('get_schema_version', code);

test.each<[string, answer: unknown, lines: unknown[]]>([
  ['an equal version', { version: schemaVersion }, []],
  ['a newer version', { version: '29991231000000' }, []],
  ['an older version', { version: '20261121000000' }, [warning('20261121000000')]],
  ['a schema without the SQL function, over REST', failed('PGRST202'), [warning(null)]],
  ['a schema without the SQL function', failed('42883'), [warning(null)]],
  ['a failed call with a code', failed('ECONNREFUSED'), [{ ...unknown, code: 'ECONNREFUSED' }]],
  ['another error', new TypeError('fetch failed'), [unknown]],
  ['an answer that is none', '<html>', [unknown]],
])('%s is one call with the version of the function, and logs %j', async (_, answer, expected) => {
  const calls: unknown[] = [];
  const lines: unknown[] = [];
  await warnOfOlderSchema((...call) => {
    calls.push(call);
    return answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer);
  }, (entry) => lines.push(entry));
  expect(calls).toEqual([['get_schema_version', { p_function_version: schemaVersion }]]);
  expect(lines).toEqual(expected);
});
