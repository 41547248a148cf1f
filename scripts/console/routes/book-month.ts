import { Refused } from '../database.ts';

/** Checks a month such as 2026-11. @throws Refused */
export function readMonth(text: string | undefined): string {
  if (text === undefined || !/^20\d\d-(0[1-9]|1[0-2])$/.test(text)) {
    throw new Refused('Choose a month, such as 2026-11.');
  }
  return text;
}
