import type { EmbeddedFont, Sign } from './embedded-font.ts';
import type { Colour } from './colours.ts';
import { utf16 } from './pdf-text.ts';
import { inVisualOrder } from './visual-order.ts';

/** How a text is drawn: font 0 is regular, 1 is semibold; the size in points. */
export type Style = { readonly font: 0 | 1; readonly size: number; readonly colour: Colour };

/** A line of a text, as wide as it is drawn, in points. */
export type Line = { readonly signs: readonly Sign[]; readonly width: number };

/** Draws on a page. Lengths are in points, `y` from the top of the page. */
export type Canvas = {
  /** Breaks a text into lines that are at most so wide. */
  wrap(text: string, style: Style, width: number): Line[];
  /** Draws a line with its base line at `y`, from `x` to the right, or with `x` at its right end. */
  line(line: Line, style: Style, x: number, y: number, align?: 'left' | 'right'): void;
  rectangle(x: number, y: number, width: number, height: number, colour: Colour): void;
  /** The operators of all that was drawn. */
  content(): string;
};

/** @param height of the page */
export function createCanvas(fonts: readonly [EmbeddedFont, EmbeddedFont], height: number): Canvas {
  const operators: string[] = [];
  return {
    wrap(text, { font, size }, width) {
      const lines: Line[] = [];
      for (const paragraph of paragraphsOf(text)) wrapSigns(fonts[font].encode(paragraph), size / 1000, width, lines);
      return lines;
    },
    line({ signs, width }, { font, size, colour }, x, y, align = 'left') {
      if (signs.length === 0) return;
      const start = align === 'left' ? x : x - width;
      operators.push(
        `${colour} rg BT /F${font} ${size} Tf ${point(start)} ${point(height - y)} Td ${
          showSigns(inVisualOrder(signs, fonts[font]))
        } ET`,
      );
    },
    rectangle(x, y, width, tall, colour) {
      operators.push(`${colour} rg ${point(x)} ${point(height - y - tall)} ${point(width)} ${point(tall)} re f`);
    },
    content: () => operators.join('\n'),
  };
}

/** Words with syllables of several letters state their text once more: some readers drop a repeated sign at one place. */
function showSigns(signs: readonly Sign[]): string {
  if (!signs.some(({ isSyllable }) => isSyllable)) return show(signs);
  return wordsOf(signs).map((word) => {
    if (!word.some(({ isSyllable }) => isSyllable)) return show(word);
    return `/Span << /ActualText <FEFF${utf16(word.map(({ text }) => text).join(''))}> >> BDC ${show(word)} EMC`;
  }).join(' ');
}

function show(signs: readonly Sign[]): string {
  let codes = '';
  for (const sign of signs) codes += sign.codes;
  return `<${codes}> Tj`;
}

/** Each space is a word of its own. */
function wordsOf(signs: readonly Sign[]): Sign[][] {
  const words: Sign[][] = [];
  signs.forEach((sign, index) => {
    const before = signs[index - 1];
    if (before === undefined || isSpace(before) || isSpace(sign)) words.push([]);
    words.at(-1)?.push(sign);
  });
  return words;
}

const lineBreak = /[\n\r\u2028\u2029]+/;
/** Controls of the layout and of the direction, which have no shape. Joiners shape a syllable. */
// deno-lint-ignore no-control-regex -- they are replaced
const shapeless = /[\0-\x1f\x7f-\x9f\xad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff]+/;

function paragraphsOf(text: string): string[] {
  if (!shapeless.test(text)) return [text];
  return text.split(lineBreak).map((paragraph) => paragraph.split(shapeless).join(' '));
}

/**
 * Breaks at spaces, and inside of a word that is wider than a line.
 * @param unit width of a thousandth of the font size
 * @param lines to which it adds
 */
function wrapSigns(signs: readonly Sign[], unit: number, room: number, lines: Line[]): void {
  let rest = signs;
  let width = widthOf(rest) * unit;
  while (width > room) {
    let used = 0;
    let end = 0;
    for (const sign of rest) {
      if ((used + sign.width) * unit > room && end > 0) break;
      used += sign.width;
      end++;
    }
    const space = rest.slice(0, end + 1).findLastIndex(isSpace);
    const line = trimEnd(rest.slice(0, space > 0 ? space : end));
    lines.push({ signs: line, width: widthOf(line) * unit });
    rest = rest.slice(space > 0 ? space + 1 : end);
    width = widthOf(rest) * unit;
    if (rest.length === 0) return;
  }
  lines.push({ signs: rest, width });
}

function trimEnd(signs: readonly Sign[]): readonly Sign[] {
  return signs.slice(0, signs.findLastIndex((sign) => !isSpace(sign)) + 1);
}

function isSpace({ text }: Sign): boolean {
  return text === ' ';
}

function widthOf(signs: readonly Sign[]): number {
  let width = 0;
  for (const sign of signs) width += sign.width;
  return width;
}

function point(length: number): number {
  return Math.round(length * 100) / 100;
}
