import createBidi from '../generated/bidi.js';
import type { EmbeddedFont, Sign } from './embedded-font.ts';

const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

let bidi: ReturnType<typeof createBidi> | undefined;

/**
 * Orders the signs of a line as they stand on the page, from the left, by the Unicode Bidirectional Algorithm. Readers of a PDF
 * expect this order, and restore that of the text.
 */
export function inVisualOrder(signs: readonly Sign[], font: Pick<EmbeddedFont, 'drawnAs'>): readonly Sign[] {
  if (!signs.some(({ text }) => text.charCodeAt(0) >= 0x590 && rightToLeft.test(text))) return signs;
  const text = signs.map((sign) => sign.text).join('');
  const signAt = signs.flatMap((sign, index) => Array.from({ length: sign.text.length }, () => index));
  bidi ??= createBidi();
  const levels = bidi.getEmbeddingLevels(text);
  const ordered = [...signs];
  for (const [at, shown] of bidi.getMirroredCharactersMap(text, levels.levels)) {
    const index = signAt[at] ?? 0;
    ordered[index] = font.drawnAs(text.charAt(at), shown);
  }
  for (const [start, end] of bidi.getReorderSegments(text, levels)) {
    const [first = 0, last = 0] = [signAt[start], signAt[end]];
    ordered.splice(first, last - first + 1, ...ordered.slice(first, last + 1).reverse());
  }
  return ordered;
}
