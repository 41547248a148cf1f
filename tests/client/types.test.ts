import ts from 'typescript';
import { expect, test } from 'vitest';
import { root } from '../../scripts/stack/root.ts';
import description from '../../supabase/functions/api/generated/openapi.json' with { type: 'json' };
import { describeTypes } from './described-types.ts';

/** Not a file: the compiler reads the comparison under this name. */
const comparison = `${root}/tests/client/comparison.ts`;
const options: ts.CompilerOptions = {
  strict: true,
  exactOptionalPropertyTypes: true,
  noEmit: true,
  lib: ['lib.es2020.d.ts'],
  types: [],
  module: ts.ModuleKind.ESNext,
  moduleResolution: ts.ModuleResolutionKind.Bundler,
  allowImportingTsExtensions: true,
};

/**
 * TypeScript assigns `{ a: string }` to `{ a: string; b?: string }`, and `any` to everything. Here an optional field is
 * a required field of another type, and `any` is a type of its own, so that types are equal that are assignable to each
 * other.
 */
const exact = `
  type Exact<T> = 0 extends 1 & T ? { any: true }
    : unknown extends T ? { unknown: true }
    : T extends readonly (infer Item)[] ? { items: Exact<Item> }
    : T extends object ? { [Key in keyof T]-?: {} extends Pick<T, Key> ? { optional: Exact<T[Key]> } : Exact<T[Key]> }
    : T;
  type Of<Api, Name> = Name extends keyof Api & keyof Endpoints ? Exact<Api[Name]> : null;`;

const libraries = new Map<string, ts.SourceFile | undefined>();

/** Compares each operation of the client with the document. @returns the operation and the reason for each difference */
function differences(document: unknown): string[] {
  const { source, operations } = describeTypes(document);
  const imported = "import type { Endpoints } from '../../supabase/client/subscriptions.ts';";
  const heading = [imported, exact, source].join('\n');
  const checks = [
    { name: 'an operation', check: 'null! as keyof Endpoints satisfies keyof Described;' },
    ...operations.flatMap((name) => [
      { name, check: `null! as Of<Described, '${name}'> satisfies Of<Endpoints, '${name}'>;` },
      { name, check: `null! as Of<Endpoints, '${name}'> satisfies Of<Described, '${name}'>;` },
    ]),
  ];
  const text = [heading, ...checks.map(({ check }) => check)].join('\n');
  const host = ts.createCompilerHost(options);
  const { getSourceFile } = host;
  host.getSourceFile = (file, target) => {
    if (file === comparison) return ts.createSourceFile(file, text, target);
    if (!libraries.has(file)) libraries.set(file, getSourceFile(file, target));
    return libraries.get(file);
  };
  const program = ts.createProgram([comparison], options, host);
  const firstLine = heading.split('\n').length;
  return [...program.getSyntacticDiagnostics(), ...program.getSemanticDiagnostics(program.getSourceFile(comparison))]
    .map(({ file, start = 0, messageText }) => {
      const line = file ? ts.getLineAndCharacterOfPosition(file, start).line : -1;
      return `${checks[line - firstLine]?.name}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`;
    });
}

test('every request and answer of the client has exactly the type of the API description', () => {
  expect(differences(description)).toEqual([]);
});

test('a type that differs is found in its operation', () => {
  const changed = JSON.stringify(description).replace('"startsAt":{', '"beginsAt":{');
  expect(differences(JSON.parse(changed)).join('\n')).toContain('POST /api/payments/verify: ');
});
