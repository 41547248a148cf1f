import type { EmbeddedFont } from './embedded-font.ts';
import { writeFontSubset } from './font-subset.ts';
import { type PdfObjects, streamOf, writeObjects } from './pdf-objects.ts';
import { hex, utf16 } from './pdf-text.ts';

/** How many objects a font has. The last one is named by a page. */
export const objectsOfFont = 5;

/** Writes the objects of a font. @param first number of the first object */
export function writeFont(font: EmbeddedFont, name: string, first: number): PdfObjects {
  const file = writeFontSubset(font);
  const toThousandths = (units: number) => Math.round(units * 1000 / font.file.unitsPerEm);
  const [ascent, descent] = [toThousandths(font.file.ascent), toThousandths(font.file.descent)];
  const widths = font.slots.map(({ advance }) => toThousandths(advance)).join(' ');
  const names = `/BaseFont /${name} /Type /Font`;
  return writeObjects([
    streamOf(file, `/Length1 ${file.length} `),
    [
      `<< /Type /FontDescriptor /FontName /${name} /Flags 4 /FontBBox [-1000 ${descent} 2000 ${ascent}] /ItalicAngle 0 ` +
      `/Ascent ${ascent} /Descent ${descent} /CapHeight ${ascent} /StemV 80 /FontFile2 ${first} 0 R >>`,
    ],
    [
      `<< ${names} /Subtype /CIDFontType2 /CIDToGIDMap /Identity /FontDescriptor ${first + 1} 0 R ` +
      `/CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /W [0 [${widths}]] >>`,
    ],
    streamOf(toUnicode(font)),
    [
      `<< ${names} /Subtype /Type0 /Encoding /Identity-H /DescendantFonts [${first + 2} 0 R] ` +
      `/ToUnicode ${first + 3} 0 R >>`,
    ],
  ], first);
}

/** The map from glyphs to texts, in the blocks of at most 100 that its format allows. */
function toUnicode(font: EmbeddedFont): string {
  const entries = font.slots.flatMap(({ text }, id) => text === '' ? [] : [`<${hex(id)}> <${utf16(text)}>`]);
  const blocks: string[] = [];
  for (let at = 0; at < entries.length; at += 100) {
    const block = entries.slice(at, at + 100);
    blocks.push(`${block.length} beginbfchar\n${block.join('\n')}\nendbfchar`);
  }
  return `/CIDInit /ProcSet findresource begin
12 dict begin
begincmap
/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def
/CMapName /Adobe-Identity-UCS def
/CMapType 2 def
1 begincodespacerange
<0000> <FFFF>
endcodespacerange
${blocks.join('\n')}
endcmap
CMapName currentdict /CMap defineresource pop
end
end`;
}
