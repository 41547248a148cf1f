/** A TrueType font, read once. Lengths are in its own units, `unitsPerEm` to the height of a letter. */
export type FontFile = {
  readonly bytes: Uint8Array;
  readonly unitsPerEm: number;
  readonly ascent: number;
  readonly descent: number;
  /** Returns 0, the box of a missing glyph, for a character that the font lacks. */
  glyphOf(codePoint: number): number;
  advanceOf(glyph: number): number;
  /** The glyph's record in the table `glyf`; empty for a space. */
  outlineOf(glyph: number): Uint8Array;
  /** @throws when the font has no such table */
  table(tag: string): DataView;
};

/**
 * Reads a font with the tables `cmap` (format 4), `glyf`, `head`, `hhea`, `hmtx`, `loca` and `maxp`.
 * @throws when one is missing
 */
export function readFontFile(bytes: Uint8Array): FontFile {
  const tables = readTables(bytes);
  const table = (tag: string): DataView => {
    const found = tables.get(tag);
    if (found === undefined) throw new Error(`The font has no table ${tag}`);
    return found;
  };
  const [head, hhea, hmtx, loca, glyf] = ['head', 'hhea', 'hmtx', 'loca', 'glyf'].map(table) as [
    DataView,
    DataView,
    DataView,
    DataView,
    DataView,
  ];
  const advances = hhea.getUint16(34);
  const hasLongOffsets = head.getInt16(50) === 1;
  const offsetOf = (glyph: number) => hasLongOffsets ? loca.getUint32(glyph * 4) : loca.getUint16(glyph * 2) * 2;
  const glyphs = readCharacters(table('cmap'));
  return {
    bytes,
    unitsPerEm: head.getUint16(18),
    ascent: hhea.getInt16(4),
    descent: hhea.getInt16(6),
    glyphOf: (codePoint) => glyphs.get(codePoint) ?? 0,
    advanceOf: (glyph) => hmtx.getUint16(Math.min(glyph, advances - 1) * 4),
    outlineOf(glyph) {
      const start = offsetOf(glyph);
      return new Uint8Array(glyf.buffer, glyf.byteOffset + start, offsetOf(glyph + 1) - start);
    },
    table,
  };
}

function readTables(bytes: Uint8Array): Map<string, DataView> {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const tables = new Map<string, DataView>();
  for (let index = 0; index < view.getUint16(4); index++) {
    const record = 12 + index * 16;
    const tag = String.fromCharCode(...bytes.subarray(record, record + 4));
    const offset = bytes.byteOffset + view.getUint32(record + 8);
    tables.set(tag, new DataView(bytes.buffer, offset, view.getUint32(record + 12)));
  }
  return tables;
}

/** Reads the segments of format 4: the characters up to U+FFFF. */
function readCharacters(cmap: DataView): Map<number, number> {
  const glyphs = new Map<number, number>();
  for (let index = 0; index < cmap.getUint16(2); index++) {
    const start = cmap.getUint32(8 + index * 8);
    if (cmap.getUint16(start) !== 4) continue;
    const size = cmap.getUint16(start + 6); // twice the number of segments
    for (let segment = start + 14; segment < start + 14 + size; segment += 2) {
      const first = cmap.getUint16(segment + size + 2);
      const delta = cmap.getUint16(segment + 2 * size + 2);
      const rangeAt = segment + 3 * size + 2;
      const range = cmap.getUint16(rangeAt);
      for (let code = first; code <= cmap.getUint16(segment) && code < 0xffff; code++) {
        const found = range === 0 ? code : cmap.getUint16(rangeAt + range + 2 * (code - first));
        if (found !== 0) glyphs.set(code, (found + delta) & 0xffff);
      }
    }
  }
  return glyphs;
}
