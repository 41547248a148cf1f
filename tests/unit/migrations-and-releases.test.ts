import { describe, expect, test } from 'vitest';
import { namesIn, splitStatements } from '../../scripts/stack/postgres/statements.ts';
import { deployedFolder, fileNames } from '../../scripts/release/release-files.ts';
import { breakingChanges, type Rpc } from '../../scripts/release/rpcs.ts';
import { createStabilizer } from '../../scripts/release/stable-values.ts';

type Parameter = Rpc['parameters'][number];
const userId: Parameter = { name: 'p_user_id', type: 'uuid', isOptional: false };
const tier: Parameter = { name: 'p_tier', type: 'text', isOptional: true };
const until: Parameter = { name: 'p_until', type: 'timestamp with time zone', isOptional: true };
const rpc = (changes: Partial<Rpc> = {}): Rpc => ({
  name: 'grant',
  parameters: [userId, tier],
  returns: 'jsonb',
  callers: ['anon', 'service_role'],
  ...changes,
});

test.each<[string, later: Rpc[], problems: string[]]>([
  ['an unchanged function and a new one', [rpc(), rpc({ name: 'another' })], []],
  ['a new parameter with a default', [rpc({ parameters: [userId, tier, until] })], []],
  ['a removed function', [], ['public.grant was removed']],
  ['a removed parameter', [rpc({ parameters: [userId] })], ['public.grant has no parameter p_tier any more']],
  ['a parameter of another type', [rpc({ parameters: [{ ...userId, type: 'text' }, tier] })], [
    'The parameter p_user_id of public.grant is text instead of uuid',
  ]],
  ['a lost default', [rpc({ parameters: [userId, { ...tier, isOptional: false }] })], [
    'The parameter p_tier of public.grant has lost its default',
  ]],
  ['a new parameter without a default', [rpc({ parameters: [userId, tier, { ...until, isOptional: false }] })], [
    'public.grant has the new parameter p_until without a default',
  ]],
  ['another result, and a caller that lost its right', [rpc({ returns: 'json', callers: ['service_role'] })], [
    'public.grant returns json instead of jsonb',
    'anon may not call public.grant',
  ]],
  ['a second function of the name', [rpc(), rpc({ parameters: [userId] })], [
    'public.grant exists more than once: drop the one with the old parameters',
  ]],
])('what breaks callers of a release: %s', (_, later, problems) => {
  expect(breakingChanges([rpc()], later)).toEqual(problems);
});

test('a new parameter with a default breaks the policies that call a function for signed-in users', () => {
  const forPolicies = rpc({ callers: ['authenticated'] });
  const later = { ...forPolicies, parameters: [userId, tier, until] };
  expect(breakingChanges([forPolicies], [later])).toEqual([
    "public.grant has a new parameter: policies of apps call it, and Postgres can't replace it then",
  ]);
});

test('no migration names the role of support outside of a function: a project may be without it', async () => {
  const folder = `${deployedFolder}/migrations`;
  const texts = (await fileNames(folder)).map((file) => Deno.readTextFile(`${folder}/${file}`));
  const statements = (await Promise.all(texts)).flatMap(splitStatements);
  expect(statements.length).toBeGreaterThan(100);
  expect(statements.filter(({ code }) => code.includes('subscriptions_support'))).toEqual([]);
});

describe('a statement of a schema file', () => {
  test.each([
    ['a string', "select ';', e'\\';', 'it''s;'; select 2;", ["select '', '', ''", 'select 2']],
    ['a comment', 'select 1 -- ; no end\n; /* ; */ select 2;', ['select 1', 'select 2']],
    ['a comment in a comment', '/* ; /* ; */ ; */ select 1; select 2;', ['select 1', 'select 2']],
    ['a name in quotes', 'select "a;B", "c"; select 2;', ['select "a;b", c', 'select 2']],
    ['a dollar quote', 'do $a$ begin $$;$$; end $a$; select 2;', ["do ''", 'select 2']],
    [
      'a body in standard SQL',
      'create function a.b() returns int begin atomic select case when 1 = 1 then 2 end; select 3; end; select 2;',
      ['create function a.b() returns int begin atomic select case when 1 = 1 then 2 end; select 3; end', 'select 2'],
    ],
  ])('is not ended by a semicolon inside %s', (_, sql, statements) => {
    expect(splitStatements(sql).map(({ code }) => code)).toEqual(statements);
  });

  test('has the comments before it, and mentions the names of its code; a comment alone is none', () => {
    const first = '-- The first.\nselect 1;';
    const second = '-- The second;\n-- of two.\nSELECT  2 from public.a, billing.b;';
    const statements = splitStatements(`${first}\n\n${second}\n-- d.e\n`);
    expect(statements).toEqual([
      { text: first, code: 'select 1' },
      { text: second, code: 'select 2 from public.a, billing.b' },
    ]);
    expect(statements.map(namesIn)).toEqual([[], ['public.a', 'billing.b']]);
  });
});

describe('in the sample of a release', () => {
  const one = '11111111-2222-4333-8444-555555555555';
  const other = '99999999-2222-4333-8444-555555555555';
  const user = 'aaaaaaaa-0000-4000-8000-000000000001';
  const end = '2026-10-31T12:00:00+00:00';
  const minute = { from: new Date('2030-01-01T00:00:00Z'), until: new Date('2030-01-01T00:01:00Z') };
  const numbered = (number: number) => `bbbbbbbb-0000-4000-8000-00000000000${number}`;

  test.each([
    ['random ids are numbered as they appear, also in later texts; other ids stay', [
      [`${other} payment-success/${one} ${user}`, `${numbered(1)} payment-success/${numbered(2)} ${user}`],
      [one, numbered(2)],
    ]],
    ['times of the run become the end of the sample, other times stay', [
      ['2030-01-01T00:00:30.123456+00:00 2030-01-01T00:02:00+00:00', `${end} 2030-01-01T00:02:00+00:00`],
    ]],
    ['the key of a revalidation loses its time and transaction', [[
      'revalidation/1893456030.5-1234 revalidation/1893456031-1235 revalidation/1893456030.5-1234',
      'revalidation/sample-1 revalidation/sample-2 revalidation/sample-1',
    ]]],
  ])('%s', (_, texts) => {
    const { stabilize } = createStabilizer({ randomIds: new Set([one, other]), ...minute }, end);
    expect(texts.map(([text = '']) => stabilize(text))).toEqual(texts.map(([, stable]) => stable));
  });
});
