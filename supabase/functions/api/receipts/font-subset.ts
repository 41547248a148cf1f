import type { EmbeddedFont, Slot } from './embedded-font.ts';
import type { FontFile } from './font-file.ts';

/** The flags of a component in the table `glyf`. */
const flag = { areWords: 0x1, areOffsets: 0x2, hasScale: 0x8, more: 0x20, hasTwoScales: 0x40, hasMatrix: 0x80 };

/** Writes a TrueType font of the glyphs that a document uses, as PDF embeds it. */
export function writeFontSubset(font: EmbeddedFont): Uint8Array {
  const outlines: Uint8Array[] = [];
  // The components of a glyph become further slots while the loop runs.
  for (let slot = font.slots[0]; slot !== undefined; slot = font.slots[outlines.length]) {
    outlines.push(outlineOf(font, slot));
  }
  const count = outlines.length;
  const loca = new DataView(new ArrayBuffer((count + 1) * 4));
  const hmtx = new DataView(new ArrayBuffer(count * 4));
  let offset = 0;
  outlines.forEach((outline, id) => {
    loca.setUint32(id * 4, offset);
    offset += padded(outline.length);
    hmtx.setUint16(id * 4, font.slots[id]?.advance ?? 0);
    if (outline.length > 0) hmtx.setInt16(id * 4 + 2, viewOf(outline).getInt16(2));
  });
  loca.setUint32(count * 4, offset);
  const glyf = new Uint8Array(offset);
  outlines.forEach((outline, id) => glyf.set(outline, loca.getUint32(id * 4)));
  return writeTables([
    ['glyf', glyf],
    ['head', patch(font.file.table('head'), [[8, 0], [10, 0], [50, 1]])], // no check sum of the whole; long offsets
    ['hhea', patch(font.file.table('hhea'), [[34, count]])],
    ['hmtx', new Uint8Array(hmtx.buffer)],
    ['loca', new Uint8Array(loca.buffer)],
    // Points and contours of a composite, components and their depth: enough for any syllable.
    ['maxp', patch(font.file.table('maxp'), [[4, count], [10, 4000], [12, 400], [28, 64], [30, 4]])],
  ]);
}

function outlineOf(font: EmbeddedFont, { file, glyphs }: Slot): Uint8Array {
  const drawn = glyphs.filter(({ glyph }) => file.outlineOf(glyph).length > 0);
  const [only] = drawn;
  if (only === undefined) return new Uint8Array();
  if (drawn.length > 1 || only.x !== 0 || only.y !== 0) return compose(font, file, drawn);
  const outline = file.outlineOf(only.glyph).slice();
  if (viewOf(outline).getInt16(0) < 0) renumberComponents(font, file, outline);
  return outline;
}

/** Makes one glyph of several. */
function compose(font: EmbeddedFont, file: FontFile, glyphs: Slot['glyphs']): Uint8Array {
  const composite = new DataView(new ArrayBuffer(10 + glyphs.length * 8));
  const boxes = glyphs.map(({ glyph, x, y }) => {
    const box = viewOf(file.outlineOf(glyph));
    return [box.getInt16(2) + x, box.getInt16(4) + y, box.getInt16(6) + x, box.getInt16(8) + y] as const;
  });
  composite.setInt16(0, -1);
  composite.setInt16(2, Math.min(...boxes.map(([left]) => left)));
  composite.setInt16(4, Math.min(...boxes.map(([, bottom]) => bottom)));
  composite.setInt16(6, Math.max(...boxes.map(([, , right]) => right)));
  composite.setInt16(8, Math.max(...boxes.map(([, , , top]) => top)));
  glyphs.forEach(({ glyph, x, y }, index) => {
    const at = 10 + index * 8;
    const more = index < glyphs.length - 1 ? flag.more : 0;
    composite.setUint16(at, flag.areWords | flag.areOffsets | more);
    composite.setUint16(at + 2, font.partOf(glyph, file));
    composite.setInt16(at + 4, x);
    composite.setInt16(at + 6, y);
  });
  return new Uint8Array(composite.buffer);
}

/** The components of an accented letter have other numbers in the subset. */
function renumberComponents(font: EmbeddedFont, file: FontFile, outline: Uint8Array): void {
  const view = viewOf(outline);
  let at = 10;
  let flags = flag.more;
  while (flags & flag.more) {
    flags = view.getUint16(at);
    view.setUint16(at + 2, font.partOf(view.getUint16(at + 2), file));
    at += 4 + (flags & flag.areWords ? 4 : 2);
    at += flags & flag.hasMatrix ? 8 : flags & flag.hasTwoScales ? 4 : flags & flag.hasScale ? 2 : 0;
  }
}

function writeTables(tables: readonly [tag: string, data: Uint8Array][]): Uint8Array {
  const start = 12 + tables.length * 16;
  const file = new Uint8Array(tables.reduce((size, [, data]) => size + padded(data.length), start));
  const view = viewOf(file);
  const power = Math.floor(Math.log2(tables.length));
  view.setUint32(0, 0x10000);
  view.setUint16(4, tables.length);
  view.setUint16(6, 16 << power);
  view.setUint16(8, power);
  view.setUint16(10, (tables.length - (1 << power)) * 16);
  let offset = start;
  tables.forEach(([tag, data], index) => {
    const record = 12 + index * 16;
    file.set(data, offset);
    for (let letter = 0; letter < 4; letter++) file[record + letter] = tag.charCodeAt(letter);
    view.setUint32(record + 4, checkSum(view, offset, padded(data.length)));
    view.setUint32(record + 8, offset);
    view.setUint32(record + 12, data.length);
    offset += padded(data.length);
  });
  return file;
}

function checkSum(view: DataView, start: number, length: number): number {
  let sum = 0;
  for (let at = start; at < start + length; at += 4) sum = (sum + view.getUint32(at)) >>> 0;
  return sum;
}

/** Copies a table with other values of 16 bits. */
function patch(table: DataView, values: readonly [offset: number, value: number][]): Uint8Array {
  const copy = new Uint8Array(table.buffer, table.byteOffset, table.byteLength).slice();
  for (const [offset, value] of values) viewOf(copy).setUint16(offset, value);
  return copy;
}

function viewOf(bytes: Uint8Array): DataView {
  return new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function padded(length: number): number {
  return (length + 3) & ~3;
}
