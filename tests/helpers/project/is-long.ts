/** Whether this is `npm run test:long`, in which some tests of `npm test` run on more data. */
export const isLong = Deno.env.get('LONG') === '1';

/** Cases of one rule: `npm test` runs those at the positions, the long suite the others. */
export function sampleOf<Case>(cases: readonly Case[], ...positions: number[]): readonly Case[] {
  return cases.filter((_, position) => positions.includes(position) !== isLong);
}
