import { functionVariables } from '../stack/function/environment.ts';

/**
 * The names that are nearly, but not, the name of a variable of the function. Others, and short ones, may be of
 * the app's own functions.
 */
export async function misspelled(names: readonly string[]): Promise<string[]> {
  const known = await functionVariables();
  const isNear = (name: string) => known.some((one) => one.length >= 10 && distance(name, one) <= 2);
  return names.filter((name) => !known.includes(name) && isNear(name)).toSorted();
}

/** How many characters differ (Levenshtein). */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (const [i, letter] of [...one].entries()) {
    const next = [i + 1];
    for (const [j, compared] of [...other].entries()) {
      const [above = 0, diagonal = 0, left = 0] = [row[j + 1], row[j], next[j]];
      next.push(Math.min(above + 1, left + 1, diagonal + (letter === compared ? 0 : 1)));
    }
    row = next;
  }
  return row.at(-1) ?? 0;
}
