import { readdir } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { root } from '../../scripts/stack/root.ts';

// A database that a file opens with one of these is compared when it is closed; closed-databases.ts asserts the
// closing.
const compared =
  /\b(createTestDatabase|useDatabase|useConsole|openDatabase|startProject|useProject|startFaultProject|npmStart)\(/;
const others =
  /\b(createTestDatabase|useDatabase|startProject|useProject|startFaultProject|npmStart)\(|\bopenDatabase\([^{}]*\);/;

// Other imports that open a Postgres; imports of types do not.
const leads = [
  /^import (?!type)[^;]* from '(pg|postgres)';/m,
  /^import (?!type)[^;]*\/(postgres-client|hosted-postgres|postgres|migrate|lite|stack|migrated-database)\.ts';/m,
];

/** Their Postgres has no migrations. */
const exceptions = ['tests/stack/postgres.test.ts', 'tests/contract/pool-encrypted.test.ts'];

const paths = (await readdir(`${root}/tests`, { recursive: true })).filter((path) => path.endsWith('.test.ts'));
const files = await Promise.all(
  paths.map(async (path) => [`tests/${path}`, await Deno.readTextFile(`${root}/tests/${path}`)] as const),
);
const escapes = (text: string) => leads.some((lead) => lead.test(text)) && !compared.test(text);

test('every test file that opens a database compares its findings, but for the exceptions', () => {
  expect(escapes("import pg from 'pg';\n")).toBe(true);
  expect(escapes("import type pg from 'pg';\n")).toBe(false);
  const escaped = files.filter(([, text]) => escapes(text)).map(([path]) => path);
  expect(escaped.toSorted()).toEqual(exceptions.toSorted());
});

test('no test file declares a stack as not compared, or its only database as compared elsewhere', () => {
  const uncompared = files.filter(([path, text]) =>
    !path.endsWith('findings-are-compared.test.ts') &&
    (text.includes("'not compared'") || text.includes("'compared elsewhere'") && !others.test(text))
  );
  expect(uncompared.map(([path]) => path)).toEqual([]);
});
