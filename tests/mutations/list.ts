import type { Mutation } from './mutation.ts';

const folder = new URL('.', import.meta.url).pathname;

/** At least one wrong version of each rule of supabase/README.md and of each row of the contract. */
export const mutations: readonly Mutation[] = ['access', 'events', 'upkeep', 'function'].flatMap((name) =>
  readMutations(Deno.readTextFileSync(`${folder}${name}.diff`))
);

/**
 * Reads a list: `=== file`, then paragraphs of `rule | breaks` or `rule | money | breaks`, the text that is replaced in
 * lines with `-`, the text that takes its place in lines with `+`, and after `>` the tests that could see it.
 */
function readMutations(list: string): Mutation[] {
  return list.split(/^=== /m).slice(1).flatMap((part) => {
    const [file = '', ...paragraphs] = part.trimEnd().split('\n\n');
    return paragraphs.map((paragraph) => {
      const [head = '', ...lines] = paragraph.split('\n');
      const [rule = '', ...rest] = head.split(' | ');
      const after = (sign: string) => lines.filter((line) => line.startsWith(sign)).map((line) => line.slice(2));
      return {
        rule,
        breaks: rest.at(-1) ?? '',
        isMoney: rest.length > 1,
        file,
        text: after('-').join('\n'),
        by: after('+').join('\n'),
        tests: after('>').join(' ').split(' '),
      };
    });
  });
}
