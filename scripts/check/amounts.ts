import { relative } from 'node:path';
import { filesBelow } from './words.ts';
import { root } from '../stack/root.ts';

const folders = ['supabase', 'scripts', 'emails'];
const own = 'scripts/check/amounts.ts';
const isProgram = /\.(?:ts|tsx|js)$/;

/** How programs guess the decimals of a currency. The division of bytes or a share is another one. */
const guesses: readonly RegExp[] = [
  /\bresolvedOptions\(\)\s*\.\s*m\w+FractionDigits\b/g,
  /\bm\w+FractionDigits\b[^;{}]*\}\s*=[^;]*\bresolvedOptions\(\)/g,
  /\b(?:\w*amount\w*|\w*price\w*|minor|paise|cents|paid|due|credit)\s*\/\s*100\b/gi,
  // A style without digits shows as many as Intl has.
  /\bstyle: 'currency',(?![^{}]*\.\.\.digits\b)/g,
];

/** Checks that the decimals of an amount come from `billing.minor_units`. @returns one line for each that does not. */
export async function checkAmounts(): Promise<string[]> {
  const files = (await Promise.all(folders.map((folder) => filesBelow(`${root}/${folder}`)))).flat();
  const programs = files.map((path) => relative(root, path)).filter((path) => isProgram.test(path) && path !== own);
  const problems = programs.map(async (path) => guessedDecimals(path, await Deno.readTextFile(`${root}/${path}`)));
  return (await Promise.all(problems)).flat();
}

/** @returns a line for each place where a program guesses the decimals of a currency. */
export function guessedDecimals(path: string, text: string): string[] {
  return guesses.flatMap((guess) =>
    [...text.matchAll(guess)].map(({ 0: found, index }) =>
      `${path}:${text.slice(0, index).split('\n').length}: "${
        found.replace(/\s+/g, ' ')
      }": use minorUnits or formatCurrency`
    )
  );
}
