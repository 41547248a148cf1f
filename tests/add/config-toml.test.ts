import { parse } from '@decimalturn/toml-patch';
import { expect, test } from 'vitest';
import { functionSection, withFunction } from '../../scripts/add/config-toml.ts';

// What an app may have in config.toml, and what it has afterwards.

const section = `\n${functionSection('api')}`;

test.each<[what: string, before: string, after: string]>([
  ['no function', 'project_id = "app" # ours\n', `project_id = "app" # ours\n${section}`],
  ['no line break at the end', 'project_id = "app"', `project_id = "app"\n${section}`],
  [
    'another function in a table',
    '[functions]\nhello = { verify_jwt = true }\n',
    `[functions]\nhello = { verify_jwt = true }\n${section}`,
  ],
  [
    'the section in a text',
    'a = """\n[functions.api]\nverify_jwt = true\n"""\n',
    `a = """\n[functions.api]\nverify_jwt = true\n"""\n${section}`,
  ],
  [
    'a quoted name',
    '[functions."api"] # ours\nenabled = true\n',
    '[functions."api"] # ours\nenabled = true\nverify_jwt = false\n',
  ],
  [
    'an inline table',
    '[functions]\n# ours\napi = { enabled = true } # too\n',
    '[functions]\n# ours\napi = { enabled = true, verify_jwt = false } # too\n',
  ],
  [
    'a dotted key of an inline table',
    'functions.api = { enabled = true }\n[db]\nport = 1\n',
    'functions.api = { enabled = true, verify_jwt = false }\n[db]\nport = 1\n',
  ],
  ['dotted keys', '[functions]\napi.enabled = true\n', '[functions]\napi.enabled = true\napi.verify_jwt = false\n'],
  ['the line already', '[functions]\napi = { verify_jwt = false }\n', '[functions]\napi = { verify_jwt = false }\n'],
  ['the line already, in a dotted key', 'functions.api.verify_jwt = false\n', 'functions.api.verify_jwt = false\n'],
])('%s', (_, before, after) => {
  expect(withFunction(before, 'api')).toBe(after);
  expect(parse(after)).toMatchObject({ functions: { api: { verify_jwt: false } } });
  const inWindows = (text: string) => text.replaceAll('\n', '\r\n');
  expect(withFunction(inWindows(before), 'api')).toBe(before.includes('\n') ? inWindows(after) : after);
});

test('all functions in one inline table: ours is added to it', () => {
  const added = withFunction('functions = { hello = { verify_jwt = true } } # ours\n', 'api');
  expect(added).toMatch(/^functions = \{ hello = .* # ours\n$/);
  expect(JSON.parse(JSON.stringify(parse(added ?? '')))).toEqual({
    functions: {
      hello: { verify_jwt: true },
      api: { verify_jwt: false, static_files: ['./functions/api/deno.lock'] },
    },
  });
});

test.each([
  '[functions.api]\nverify_jwt = true\n',
  '[functions]\napi = { verify_jwt = true }\n',
  'functions.api.verify_jwt = "no"\n',
])(
  'sessions are checked by the platform: refused: %j',
  (text) => expect(withFunction(text, 'api')).toBeUndefined(),
);

test.each([
  ['[functions.api\n', 'supabase/config.toml is not valid TOML. Way out: mend it, and run again.'],
  ['a = 1\na = 2\n', 'supabase/config.toml is not valid TOML. Way out: mend it, and run again.'],
  ['functions = 1\n', 'functions of supabase/config.toml is not a table.'],
  ['functions.api = true\n', 'functions.api of supabase/config.toml is not a table.'],
])('%j is refused with a sentence', (text, sentence) => {
  expect(() => withFunction(text, 'api')).toThrow(sentence);
});
