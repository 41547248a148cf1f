import { expect, test } from 'vitest';
import { unclearWords } from '../../scripts/check-words.ts';

test.each([
  ['a line comment', 'a.ts', "const url = 'http://a'; // nobody calls it", 'nobody'],
  ['a block comment, over two lines', 'a.ts', '/**\n * A payment that is brought\n * back.\n */', 'brought back'],
  ['a comment after a regular expression with a quote', 'a.ts', 'f(/[`]/);\n// Whoever calls.', 'Whoever'],
  ['a comment in JSX', 'a.tsx', '<p>{/* the gateway hears it */}</p>', 'hears'],
  ['a comment inside a function body', 'a.sql', "select 'it';\nas $$\n-- its turn\n$$", 'its turn'],
  ['the text of comment on', 'a.sql', "comment on table t is 'A tier on the house.';", 'on the house'],
  ['a style sheet', 'a.css', '/* unheard */', 'unheard'],
  ['a document', 'a.md', '# Refunds\n\nMoney is given back.', 'given back'],
  ['a citation by number', 'a.ts', '/** SPEC 4 */', 'SPEC'],
])('unclear wording is found in %s', (_, path, text, words) => {
  const [problem, ...others] = unclearWords(path, text);
  expect(problem).toMatch(new RegExp(`^${path}:\\d+: "${words}": write `));
  expect(others).toEqual([]);
});

test.each([
  ['a string', 'a.ts', "const text = 'nobody // nobody';"],
  ['a template', 'a.ts', 'const text = `whoever\n// whoever`;'],
  ['an identifier', 'a.ts', 'const whatever = 1;'],
  ['a code span', 'a.ts', '// The column `nobody`.'],
  ['an SQL string', 'a.sql', "select 'nobody -- nobody';"],
  ['a code block', 'a.md', '```ts\nnobody();\n```'],
  ['"in whatever order"', 'a.md', 'Events arrive in whatever order.'],
  ['a specification in lower case', 'a.ts', '// The spec of HTTP.'],
])('%s is no unclear wording', (_, path, text) => {
  expect(unclearWords(path, text)).toEqual([]);
});

test('a problem names the line', () => {
  expect(unclearWords('a.ts', 'const a = 1;\n\n// Somebody.')[0]).toMatch(/^a\.ts:3: /);
});
