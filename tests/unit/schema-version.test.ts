import { expect, test } from 'vitest';
import { DatabaseError, type Transport } from '../../supabase/functions/api/database/database.ts';
import { warnOfOlderSchema } from '../../supabase/functions/api/database/schema-version.ts';
import { schemaVersion } from '../../supabase/functions/api/generated/schema-version.ts';

/** The lines that the check logs for an answer of the database. */
async function logged(transport: Transport): Promise<unknown[]> {
  const lines: unknown[] = [];
  await warnOfOlderSchema(transport, (entry) => lines.push(entry));
  return lines;
}

const answered = (result: unknown) => logged(() => Promise.resolve(result));
const refused = (error: unknown) => logged(() => Promise.reject(error));
const warning = (version: string | null) => ({
  level: 'warn',
  event: 'schema_older_than_function',
  schema_version: version,
  function_version: schemaVersion,
  remedy: 'Run: npx supabase db push --remote',
});

test('the check is one call with the version of the function', async () => {
  const calls: unknown[] = [];
  await logged((...call) => {
    calls.push(call);
    return Promise.resolve({ version: schemaVersion });
  });
  expect(calls).toEqual([['get_schema_version', { p_function_version: schemaVersion }]]);
});

test('an equal version, a newer one and an unknown one log nothing', async () => {
  for (const version of [schemaVersion, '29991231000000', null]) expect(await answered({ version })).toEqual([]);
});

test('an older version logs one warning with both versions and the remedy', async () => {
  expect(await answered({ version: '20261121000000' })).toEqual([warning('20261121000000')]);
});

test('a schema without the SQL function is older', async () => {
  for (const code of ['PGRST202', '42883']) {
    expect(await refused(new DatabaseError('get_schema_version', code))).toEqual([warning(null)]);
  }
});

test('a failed call logs one debug line, with the code where there is one', async () => {
  const unknown = { level: 'debug', event: 'schema_version_unknown' };
  expect(await refused(new DatabaseError('get_schema_version', 'ECONNREFUSED'))).toEqual([
    { ...unknown, code: 'ECONNREFUSED' },
  ]);
  expect(await refused(new DatabaseError('get_schema_version', undefined))).toEqual([unknown]);
  expect(await refused(new TypeError('fetch failed'))).toEqual([unknown]);
  expect(await answered('<html>')).toEqual([unknown]);
});
