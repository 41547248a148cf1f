import { decompress } from './decompress.ts';
import type { FontFile } from './font-file.ts';
import { isRightToLeft, type Script, tagOf } from './scripts.ts';

/** A glyph at its place. Lengths are in units of the font. */
export type PlacedGlyph = { readonly glyph: number; readonly x: number; readonly y: number };

/** What is drawn, and read back, as one: a letter with its marks, or a syllable. Its glyphs are from the left to the right. */
export type Cluster = { readonly text: string; readonly glyphs: readonly PlacedGlyph[]; readonly advance: number };

/** Turns a text in one script and direction into the glyphs of a font: the clusters in the order of the text. */
export type Shaper = { readonly file: FontFile; shape(text: string): Cluster[] };

/** The functions of HarfBuzz that are used. A pointer is a number. */
type HarfBuzz = WebAssembly.Exports & {
  readonly memory: WebAssembly.Memory;
  __wasm_call_ctors(): void;
  malloc(size: number): number;
  free(pointer: number): void;
  hb_blob_create(data: number, length: number, mode: number, userData: number, destroy: number): number;
  hb_face_create(blob: number, index: number): number;
  hb_font_create(face: number): number;
  hb_buffer_create(): number;
  hb_buffer_destroy(buffer: number): void;
  hb_buffer_add_utf16(buffer: number, text: number, length: number, offset: number, itemLength: number): void;
  hb_buffer_set_direction(buffer: number, direction: number): void;
  hb_buffer_set_script(buffer: number, script: number): void;
  hb_shape(font: number, buffer: number, features: number, count: number): void;
  hb_buffer_get_length(buffer: number): number;
  hb_buffer_get_glyph_infos(buffer: number, length: number): number;
  hb_buffer_get_glyph_positions(buffer: number, length: number): number;
};

const directions = { leftToRight: 4, rightToLeft: 5 };
const writable = 2;
let harfbuzz: Promise<HarfBuzz> | undefined;

/** Makes the shaper of a script in a font. HarfBuzz is loaded once, with the first text that needs it. */
export async function createShaper(file: FontFile, script: Script): Promise<Shaper> {
  const hb = await (harfbuzz ??= loadHarfBuzz());
  const size = file.bytes.byteLength;
  const data = hb.malloc(size);
  new Uint8Array(hb.memory.buffer).set(file.bytes, data);
  const hbFont = hb.hb_font_create(hb.hb_face_create(hb.hb_blob_create(data, size, writable, 0, 0), 0));
  return {
    file,
    shape(text) {
      const isReversed = isRightToLeft(script, text);
      const buffer = hb.hb_buffer_create();
      addText(hb, buffer, text);
      hb.hb_buffer_set_direction(buffer, isReversed ? directions.rightToLeft : directions.leftToRight);
      hb.hb_buffer_set_script(buffer, tagOf(script));
      hb.hb_shape(hbFont, buffer, 0, 0);
      const clusters = readClusters(hb, buffer, text, isReversed);
      hb.hb_buffer_destroy(buffer);
      return clusters;
    },
  };
}

async function loadHarfBuzz(): Promise<HarfBuzz> {
  const generated = await import('../generated/harfbuzz.ts');
  const { instance } = await WebAssembly.instantiate(await decompress(generated.harfbuzz), {
    wasi_snapshot_preview1: { proc_exit: nothing },
    env: {
      _emscripten_runtime_keepalive_clear: nothing,
      _abort_js: nothing, // it traps next
      _setitimer_js: nothing,
      emscripten_resize_heap: (bytes: number) => grow(hb.memory, bytes),
    },
  });
  const hb = instance.exports as HarfBuzz;
  hb.__wasm_call_ctors();
  return hb;
}

function nothing(): number {
  return 0;
}

/** @returns whether the memory has so many bytes. */
function grow(memory: WebAssembly.Memory, bytes: number): boolean {
  const limitBytes = 32_000_000;
  if (bytes > limitBytes) return false;
  memory.grow(Math.ceil((bytes - memory.buffer.byteLength) / 65_536));
  return true;
}

function addText(hb: HarfBuzz, buffer: number, text: string): void {
  const pointer = hb.malloc(text.length * 2);
  const units = new Uint16Array(hb.memory.buffer, pointer, text.length);
  for (let index = 0; index < text.length; index++) units[index] = text.charCodeAt(index);
  hb.hb_buffer_add_utf16(buffer, pointer, text.length, 0, text.length);
  hb.free(pointer);
}

/** Each cluster takes the text up to the next one. @param isReversed the glyphs begin at the end of the text */
function readClusters(hb: HarfBuzz, buffer: number, text: string, isReversed: boolean): Cluster[] {
  const length = hb.hb_buffer_get_length(buffer);
  const record = 5; // words of 32 bits
  const infos = new Uint32Array(hb.memory.buffer, hb.hb_buffer_get_glyph_infos(buffer, 0), length * record);
  const places = new Int32Array(hb.memory.buffer, hb.hb_buffer_get_glyph_positions(buffer, 0), length * record);
  const found: { start: number; glyphs: PlacedGlyph[]; advance: number }[] = [];
  for (let at = 0; at < length * record; at += record) {
    const [glyph = 0, , start = 0] = infos.subarray(at);
    const [advance = 0, , x = 0, y = 0] = places.subarray(at);
    let cluster = found.at(-1);
    if (cluster?.start !== start) found.push(cluster = { start, glyphs: [], advance: 0 });
    cluster.glyphs.push({ glyph, x: cluster.advance + x, y });
    cluster.advance += advance;
  }
  if (isReversed) found.reverse();
  return found.map(({ start, glyphs, advance }, index) => ({
    text: text.slice(start, found[index + 1]?.start),
    glyphs,
    advance,
  }));
}
