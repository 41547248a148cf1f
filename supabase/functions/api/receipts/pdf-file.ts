import type { EmbeddedFont } from './embedded-font.ts';
import { writeFontSubset } from './font-subset.ts';
import { hex, utf16 } from './pdf-text.ts';

export type PdfPage = {
  /** Points. */
  readonly width: number;
  readonly height: number;
  /** Operators of a content stream, in ASCII. The fonts are `/F0`, `/F1`, … */
  readonly content: string;
  readonly fonts: readonly EmbeddedFont[];
};

/** Writes a PDF of one page: the same bytes for the same page, without compression, whose result depends on the runtime. */
export function writePdf(title: string, { width, height, content, fonts }: PdfPage): Uint8Array {
  const objects: (string | Uint8Array)[][] = [];
  const add = (...parts: (string | Uint8Array)[]) => `${objects.push(parts)} 0 R`;
  const addStream = (entries: string, data: string | Uint8Array) =>
    add(`<< ${entries}/Length ${data.length} >>\nstream\n`, data, '\nendstream');

  const fontEntries = fonts.map((font, index) => `/F${index} ${addFont(font, index, add, addStream)}`);
  const stream = addStream('', content);
  const pages = `${objects.length + 2} 0 R`;
  const page = add(
    `<< /Type /Page /Parent ${pages} /MediaBox [0 0 ${width} ${height}] /Contents ${stream} ` +
      `/Resources << /Font << ${fontEntries.join(' ')} >> >> >>`,
  );
  add(`<< /Type /Pages /Kids [${page}] /Count 1 >>`);
  const catalog = add(
    `<< /Type /Catalog /Pages ${pages} /Lang (en-IN) /ViewerPreferences << /DisplayDocTitle true >> >>`,
  );
  const info = add(`<< /Title <FEFF${utf16(title)}> >>`);
  return writeObjects(objects, `/Root ${catalog} /Info ${info}`);
}

type Add = (...parts: (string | Uint8Array)[]) => string;
type AddStream = (entries: string, data: string | Uint8Array) => string;

function addFont(font: EmbeddedFont, index: number, add: Add, addStream: AddStream): string {
  const file = writeFontSubset(font);
  const toThousandths = (units: number) => Math.round(units * 1000 / font.file.unitsPerEm);
  const [ascent, descent] = [toThousandths(font.file.ascent), toThousandths(font.file.descent)];
  const name = `/RECEIP+NotoSans-${index === 0 ? 'Regular' : 'SemiBold'}`;
  const fontFile = addStream(`/Length1 ${file.length} `, file);
  const descriptor = add(
    `<< /Type /FontDescriptor /FontName ${name} /Flags 4 /FontBBox [-1000 ${descent} 2000 ${ascent}] /ItalicAngle 0 ` +
      `/Ascent ${ascent} /Descent ${descent} /CapHeight 714 /StemV ${index === 0 ? 80 : 120} /FontFile2 ${fontFile} >>`,
  );
  const widths = font.slots.map(({ advance }) => toThousandths(advance)).join(' ');
  const descendant = add(
    `<< /Type /Font /Subtype /CIDFontType2 /BaseFont ${name} /CIDToGIDMap /Identity /FontDescriptor ${descriptor} ` +
      `/CIDSystemInfo << /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /W [0 [${widths}]] >>`,
  );
  return add(
    `<< /Type /Font /Subtype /Type0 /BaseFont ${name} /Encoding /Identity-H /DescendantFonts [${descendant}] ` +
      `/ToUnicode ${addStream('', toUnicode(font))} >>`,
  );
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

function writeObjects(objects: readonly (string | Uint8Array)[][], trailer: string): Uint8Array {
  const parts: Uint8Array[] = [];
  const offsets: number[] = [];
  let size = 0;
  const encoder = new TextEncoder();
  const write = (part: string | Uint8Array) => {
    const bytes = typeof part === 'string' ? encoder.encode(part) : part;
    parts.push(bytes);
    size += bytes.length;
  };
  write('%PDF-1.7\n%');
  write(new Uint8Array([0xe2, 0xe3, 0xcf, 0xd3, 0x0a])); // says that the file is binary
  objects.forEach((object, index) => {
    offsets.push(size);
    write(`${index + 1} 0 obj\n`);
    object.forEach(write);
    write('\nendobj\n');
  });
  const table = size;
  const rows = offsets.map((offset) => `${String(offset).padStart(10, '0')} 00000 n \n`).join('');
  write(`xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${rows}`);
  write(`trailer\n<< /Size ${objects.length + 1} ${trailer} >>\nstartxref\n${table}\n%%EOF\n`);
  const file = new Uint8Array(size);
  let offset = 0;
  for (const part of parts) {
    file.set(part, offset);
    offset += part.length;
  }
  return file;
}
