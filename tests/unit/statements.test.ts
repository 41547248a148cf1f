import { expect, test } from 'vitest';
import { createdBy, namesIn, splitStatements } from '../../scripts/migration/statements.ts';

const codes = (sql: string) => splitStatements(sql).map(({ code }) => code);

test.each([
  ['a string', "select ';', e'\\';', 'it''s;'; select 2;", ["select '', '', ''", 'select 2']],
  ['a name', 'create policy "Ends; here" on a.b; select 2;', ['create policy ends; here on a.b', 'select 2']],
  ['a comment', 'select 1 -- ; no end\n; /* ; */ select 2;', ['select 1', 'select 2']],
  ['a dollar quote', 'do $a$ begin $$;$$; end $a$; select 2;', ["do ''", 'select 2']],
  [
    'a body in standard SQL',
    'create function a.b() returns int begin atomic select case when 1 = 1 then 2 end; select 3; end; select 2;',
    ['create function a.b() returns int begin atomic select case when 1 = 1 then 2 end; select 3; end', 'select 2'],
  ],
])('a semicolon inside %s ends no statement', (_, sql, statements) => {
  expect(codes(sql)).toEqual(statements);
});

test('a statement has the comments before it, and a comment alone is none', () => {
  const sql = '-- The first.\nselect 1;\n\n-- The second;\n-- of two.\nSELECT  2;\n-- The end.\n';
  expect(splitStatements(sql)).toEqual([
    { text: '-- The first.\nselect 1;', code: 'select 1' },
    { text: '-- The second;\n-- of two.\nSELECT  2;', code: 'select 2' },
  ]);
});

test.each([
  ['create function public.has_tier(p_tier text) returns boolean', { kind: 'function', name: 'public.has_tier' }],
  ['CREATE OR REPLACE FUNCTION "public"."has_tier" (\n  p_tier text)', { kind: 'function', name: 'public.has_tier' }],
  ['create view billing.users\nwith (security_invoker = false)', { kind: 'view', name: 'billing.users' }],
  ['create unique index users_idx on billing.users (id)', { kind: 'index', name: 'users_idx' }],
  ['create policy "Users read" on billing.users', undefined],
  ['comment on function billing.users() is null', undefined],
])('what is created by %s', (sql, created) => {
  const [statement] = splitStatements(sql);
  expect(statement && createdBy(statement)).toEqual(created);
});

test('a statement mentions the names of its code', () => {
  const [statement] = splitStatements('grant select on public.a, billing.b to c; -- d.e\n');
  expect(statement && namesIn(statement)).toEqual(['public.a', 'billing.b']);
});
