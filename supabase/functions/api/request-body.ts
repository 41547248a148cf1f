const maxBytes = 1024 * 1024;

/** Read on for this much before refusing: closing on a sender in full flow loses the answer. */
const maxDrainedBytes = 8 * maxBytes;

/** @returns the bytes of a request's body, or null when they are more than 1 MiB. */
export async function readBody(request: Request): Promise<Uint8Array | null> {
  if (request.body === null) return new Uint8Array();
  const chunks: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of request.body) {
    length += chunk.length;
    if (length > maxDrainedBytes) break;
    if (length <= maxBytes) chunks.push(chunk);
  }
  if (length > maxBytes) return null;

  const bytes = new Uint8Array(length);
  let offset = 0;
  for (const chunk of chunks) {
    bytes.set(chunk, offset);
    offset += chunk.length;
  }
  return bytes;
}
