import { expect, test } from 'vitest';
import { NoDatabase, runStatement, serverText } from '../../scripts/sql/run-statement.ts';
import { freePort } from '../../scripts/stack/ports.ts';
import { useDatabase } from '../helpers/database/use-database.ts';
import { runScript } from '../helpers/project/run-script.ts';

const database = useDatabase();

const sql = (...args: string[]) => runScript('sql', args);

test.each([
  [
    "select 1 as id, 'Pro' as name, null as note union all select 20, e'a\\nb\\x1b', 'x' order by 1",
    'id | name     | note\n---+----------+-----\n1  | Pro      |\n20 | a\\nb\\x1b | x\n(2 rows)\n',
  ],
  ['select \'{"a": 1}\'::jsonb as json', 'json\n--------\n{"a": 1}\n(1 row)\n'],
  ['select tier from public.plans where false', 'tier\n----\n(0 rows)\n'],
  [
    'create temp table t (id int); insert into t values (1), (2); select id from t where id = 2',
    ['CREATE', '', 'INSERT 2', '', 'id\n--\n2\n(1 row)\n'].join('\n'),
  ],
])('%s is printed as a table', async (statement, text) => {
  expect(await runStatement(database.url, statement)).toBe(text);
});

test('an error of the server has its message, detail and hint', async () => {
  const error = await runStatement(database.url, "do $$ begin raise 'No' using detail = 'one', hint = 'two'; end $$")
    .catch((error: unknown) => error);
  expect(serverText(error)).toBe('ERROR: No\nDETAIL: one\nHINT: two');
});

test('without a stack the command says so on stderr and exits with 1; with wrong arguments with 2', async () => {
  await expect(runStatement('postgresql://postgres:x@127.0.0.1:1/postgres', 'select 1')).rejects.toThrow(NoDatabase);
  const port = String(freePort(2));
  const stopped = await sql('select 1', '--port', port);
  expect(stopped).toMatchObject({ code: 1, stdout: '' });
  const said = new RegExp(`^No stack answers at port ${port}: run \`npm start\`.*\n$`);
  expect(stopped.stderr).toMatch(said);
  const env = { SUPPORT_DB_URL: '' };
  expect((await runScript('books', ['2026-11', '--port', port], { env })).stderr).toMatch(said);
  for (const args of [[], ['select', '1'], ['select 1', '--port', 'x']]) {
    expect(await sql(...args)).toMatchObject({
      code: 2,
      stdout: '',
      stderr: expect.stringContaining('Usage: npm run'),
    });
  }
});
