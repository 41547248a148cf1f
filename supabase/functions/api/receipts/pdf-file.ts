import { objectsOfFont } from './pdf-font.ts';
import type { PdfObjects } from './pdf-objects.ts';
import { utf16 } from './pdf-text.ts';

export type PdfPage = {
  /** Points. */
  readonly width: number;
  readonly height: number;
  /** Operators of a content stream, in ASCII. The fonts are `/F0`, `/F1`, … */
  readonly content: string;
  /** The first font has the first objects, and so on. */
  readonly fonts: readonly PdfObjects[];
};

// The second line says that the file is binary.
const header = new Uint8Array([...new TextEncoder().encode('%PDF-1.7\n%'), 0xe2, 0xe3, 0xcf, 0xd3, 0x0a]);
const encoder = new TextEncoder();

/** Writes a PDF of one page: the same bytes for the same page, without compression, whose result depends on the runtime. */
export function writePdf(title: string, { width, height, content, fonts }: PdfPage): Uint8Array {
  const offsets: number[] = [];
  let start = header.length;
  for (const font of fonts) {
    for (const offset of font.offsets) offsets.push(start + offset);
    start += font.bytes.length;
  }
  let text = '';
  const first = offsets.length + 1;
  const fontEntries = fonts.map((_, index) => `/F${index} ${(index + 1) * objectsOfFont} 0 R`).join(' ');
  const objects = [
    `<< /Length ${content.length} >>\nstream\n${content}\nendstream`,
    `<< /Type /Page /Parent ${first + 2} 0 R /MediaBox [0 0 ${width} ${height}] /Contents ${first} 0 R ` +
    `/Resources << /Font << ${fontEntries} >> >> >>`,
    `<< /Type /Pages /Kids [${first + 1} 0 R] /Count 1 >>`,
    `<< /Type /Catalog /Pages ${first + 2} 0 R /Lang (en-IN) /ViewerPreferences << /DisplayDocTitle true >> >>`,
    `<< /Title <FEFF${utf16(title)}> >>`,
  ];
  objects.forEach((object, index) => {
    offsets.push(start + text.length);
    text += `${first + index} 0 obj\n${object}\nendobj\n`;
  });
  const table = start + text.length;
  const count = offsets.length + 1;
  text += `xref\n0 ${count}\n0000000000 65535 f \n`;
  for (const offset of offsets) text += `${String(offset).padStart(10, '0')} 00000 n \n`;
  text += `trailer\n<< /Size ${count} /Root ${first + 3} 0 R /Info ${first + 4} 0 R >>\nstartxref\n${table}\n%%EOF\n`;

  const file = new Uint8Array(start + text.length);
  file.set(header);
  let offset = header.length;
  for (const { bytes } of fonts) {
    file.set(bytes, offset);
    offset += bytes.length;
  }
  encoder.encodeInto(text, file.subarray(start));
  return file;
}
