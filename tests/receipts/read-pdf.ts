import { getDocumentProxy } from 'unpdf';

/** A text as it stands on the page, in points from its lower left corner. */
export type PlacedText = { text: string; x: number; y: number; width: number; size: number };

export type ReadPdf = { pages: number; title: string; width: number; height: number; texts: PlacedText[] };

/** The lines of a page, each from the left to the right. */
export function linesOf(texts: readonly PlacedText[]): string {
  const lines = Map.groupBy(texts, ({ y }) => Math.round(y));
  const fromLeft = (line: PlacedText[]) => line.toSorted((one, other) => one.x - other.x);
  return [...lines.values()].map((line) => fromLeft(line).map(({ text }) => text).join(' ')).join('\n');
}

/** Reads a PDF by pdf.js. */
export async function readPdf(bytes: Uint8Array): Promise<ReadPdf> {
  const document = await getDocumentProxy(bytes.slice());
  const page = await document.getPage(1);
  const { info } = await document.getMetadata();
  const { items } = await page.getTextContent({ disableNormalization: true });
  const [, , width = 0, height = 0] = page.view;
  const texts = items.flatMap((item) =>
    'str' in item && item.str.trim() !== ''
      ? [{ text: item.str, x: item.transform[4], y: item.transform[5], width: item.width, size: item.height }]
      : []
  );
  return { pages: document.numPages, title: 'Title' in info ? String(info.Title) : '', width, height, texts };
}

/** Reads the text of a PDF by poppler: a line of the page in a line. Undefined where poppler is not installed. */
export async function readByPoppler(bytes: Uint8Array): Promise<string | undefined> {
  try {
    const program = new Deno.Command('pdftotext', { args: ['-layout', '-', '-'], stdin: 'piped', stdout: 'piped' })
      .spawn();
    const input = program.stdin.getWriter();
    await input.write(bytes.slice());
    await input.close();
    return new TextDecoder().decode((await program.output()).stdout);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}
