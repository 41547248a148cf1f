import type { Mutation } from './mutation.ts';

/** Kinds of tests, by path: the first that matches counts. */
const kinds: readonly [kind: string, path: RegExp][] = [
  ['histories', /access-(model|histories)/],
  ['orders', /convergence|race/],
  ['findings', / > its findings$/],
  ['rights', /access-grants|house-rules/],
  ['over HTTP', /over-http/],
  ['rules', /^database\//],
];

/** The kinds of tests that failed. A suite that is not named above is a kind of its own. */
export function kindsOf(killers: readonly string[]): string[] {
  const all = killers.map((killer) => kinds.find(([, path]) => path.test(killer))?.[0] ?? killer.split('/')[0] ?? '');
  return [...new Set(all)].sort();
}

/** Whether enough tests failed: two, if the rule is about money or access. */
export function hasEnough({ isMoney }: Mutation, killers: readonly string[]): boolean {
  return killers.length >= (isMoney ? 2 : 1);
}
