/** Objects of a PDF with consecutive numbers, and where each begins. */
export type PdfObjects = { readonly bytes: Uint8Array; readonly offsets: readonly number[] };

type Part = string | Uint8Array;

/** Returns the parts of a stream. */
export function streamOf(data: Part, entries = ''): Part[] {
  return [`<< ${entries}/Length ${data.length} >>\nstream\n`, data, '\nendstream'];
}

/** @param first number of the first object */
export function writeObjects(objects: readonly Part[][], first: number): PdfObjects {
  const encoder = new TextEncoder();
  const offsets: number[] = [];
  const chunks: Uint8Array[] = [];
  let size = 0;
  objects.forEach((parts, index) => {
    offsets.push(size);
    for (const part of [`${first + index} 0 obj\n`, ...parts, '\nendobj\n']) {
      const chunk = typeof part === 'string' ? encoder.encode(part) : part;
      chunks.push(chunk);
      size += chunk.length;
    }
  });
  const bytes = new Uint8Array(size);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return { bytes, offsets };
}
