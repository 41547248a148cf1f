import type { Sign } from './embedded-font.ts';

/** Letters and marks of the scripts that are written from right to left, such as Arabic and Hebrew. */
const rightToLeft =
  /^[\u0590-\u065f\u066d-\u06ef\u06fa-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;
const otherLetter = /^\p{L}/u;
const digit = /^\p{Nd}/u;

/**
 * Orders the signs of a line as they stand on the page, from the left: what is written from right to left is reversed, but
 * for its numbers. Readers of a PDF expect this order, and restore that of the text.
 */
export function inVisualOrder(signs: readonly Sign[]): readonly Sign[] {
  const first = signs.findIndex(isRightToLeft);
  if (first < 0) return signs;
  const rest = signs.slice(first);
  const other = rest.findIndex((sign) => !isRightToLeft(sign) && otherLetter.test(sign.text));
  const end = first + rest.slice(0, other < 0 ? undefined : other).findLastIndex(isRightToLeft) + 1;
  const reversed = signs.slice(first, end).toReversed();
  return [...signs.slice(0, first), ...turnNumbers(reversed), ...inVisualOrder(signs.slice(end))];
}

function isRightToLeft({ text }: Sign): boolean {
  return rightToLeft.test(text);
}

function turnNumbers(signs: readonly Sign[]): Sign[] {
  const ordered: Sign[] = [];
  let start = 0;
  for (const sign of signs) {
    if (digit.test(sign.text)) ordered.splice(start, 0, sign);
    else start = ordered.push(sign);
  }
  return ordered;
}
