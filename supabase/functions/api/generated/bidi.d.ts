// GENERATED from packages by `npm run generate`. DO NOT EDIT.
type Levels = { levels: Uint8Array; paragraphs: { start: number; end: number; level: number }[] };
/** See https://github.com/lojjic/bidi-js. */
export default function createBidi(): {
  getEmbeddingLevels(text: string): Levels;
  getReorderSegments(text: string, levels: Levels): [start: number, end: number][];
  getMirroredCharactersMap(text: string, levels: Uint8Array): Map<number, string>;
};
